"""
Hold the state of contract ``claim``, what can be seen of it, and the one place where its inbox changes.

Input waits in two lists, ``next_turn`` and ``next_step``, until a step boundary claims it. Every change of a list is a
splice in the log, and what a listener of that splice sees depends on the candidate: where the log can't be appended to
from inside a publication, a splice is published before the list changes; where it can, the list changes first.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import define

from turnproof_model.algebra import EMPTY, Item, Queue
from turnproof_model.events import Discarded, Inserted, Spliced, StatusChanged, TurnReason
from turnproof_model.observation import InboxView
from turnproof_model.rulebook import LoopState, Reading, Refused, RuleBook
from turnproof_model.vocabulary import Cause, Target

REENTRY = "sessionReentry"
"""The capability to append to the log from inside the publication of a durable event."""

Abort: TypeAlias = Cause | Literal["disposed"]
"""What aborted the activity, first cause."""

Verdict: TypeAlias = Literal["", "blocked", "failing", "failed"]
"""What went against the turn; ``failed`` once ``agent/error`` is out and nothing can change the reason any more."""


@define(slots=False)
class ClaimState(LoopState):
    """
    Hold one agent of contract ``claim``.

    ``claimed``: the batch of the current boundary, ``prompt`` its part from next-turn. ``due``: what of a batch is
    still to be announced, committed or inserted, one item a move. ``cause``: aborts the current activity, which lasts
    from ``running`` to ``idle``. ``discarding``: cancels of this activity that are under way. ``owes``: the model has
    tool results to answer. ``ceiling``: a step hit it. ``together``: results of a group wait for the whole group.
    ``reason``: why the last turn of this activity ended.
    """

    next_turn: Queue = EMPTY
    next_step: Queue = EMPTY
    claimed: Queue = EMPTY
    prompt: Queue = EMPTY
    due: Queue = EMPTY
    cause: Abort | None = None
    discarding: int = 0
    owes: bool = False
    ceiling: bool = False
    together: bool = False
    verdict: Verdict = ""
    reason: TurnReason | None = None
    life: Literal["live", "closing", "gone"] = "live"


BOOK: RuleBook[ClaimState] = RuleBook(
    contract="claim",
    new_state=lambda: ClaimState(at="idle"),
    quiescent=lambda s: s.at == "idle",
    inbox=lambda s: InboxView(s.next_turn.ids, s.next_step.ids),
    aborting=lambda s: s.cause is not None,
)
"""All rules of contract ``claim``; its modules register them here."""


# ------------------------------------------------------------------------------------------------ queries
def running(s: ClaimState) -> bool:
    """Tell whether the driver is at work, or about to publish that it isn't any more."""
    return s.at != "idle"


def pending(s: ClaimState, target: Target) -> Queue:
    """Look at one list."""
    return s.next_turn if target == "next-turn" else s.next_step


def all_pending(s: ClaimState) -> Queue:
    """Look at both lists, in the order in which a claim and a cancel take them."""
    return s.next_step.join(s.next_turn)


def is_late(s: ClaimState) -> bool:
    """
    Tell whether the driver can't take a waking message any more that is sent now.

    Rules: C-WAKE-3
    """
    if not running(s):
        return False
    return s.cause is not None or s.discarding > 0 or s.at in {"ended", "stop"}


# ------------------------------------------------------------------------------------------------ the inbox
def put(s: ClaimState, target: Target, queue: Queue) -> None:
    """Change one list."""
    if target == "next-turn":
        s.next_turn = queue
    else:
        s.next_step = queue


def guard_log(m: Reading, *rules: str) -> None:
    """
    Refuse an operation that would change the log while a durable event is being published, where that is refused.

    Raises:
        Refused: nothing has changed; ``rules`` and C-EDIT-2 demand it.

    Rules: C-EDIT-2
    """
    if m.in_durable and not m.has(REENTRY):
        raise Refused("the log can't be appended to while an event of it is being published", *rules, "C-EDIT-2")


def guard_id(s: ClaimState, message_id: str) -> None:
    """
    Refuse an id that is pending.

    Raises:
        Refused: nothing has changed.

    Rules: C-SEND-3
    """
    if all_pending(s).has(message_id):
        raise Refused(f"message {message_id!r} is pending already", "C-SEND-3")


def splice(m: Reading, s: ClaimState, event: Spliced, changed: Queue, *rules: str) -> None:
    """
    Log one change of a list and make it.

    Rules: C-EDIT-2, C-CLAIM-4
    """
    if m.has(REENTRY):
        put(s, event.target, changed)
        m.publish(event, *rules, "C-EDIT-2", "C-CLAIM-4")
    else:
        m.publish(event, *rules, "C-EDIT-2", "C-CLAIM-4")
        put(s, event.target, changed)


def logged_at(m: Reading, s: ClaimState, target: Target, index: int) -> int:
    """
    Tell where a log shows a place of a list: one further on, while a claim has taken a prompt and not logged it yet.

    Only a listener of the claim's first splice can be there, in an agent whose listeners may change the log.

    Rules: C-CLAIM-1, C-EDIT-2
    """
    if target == "next-turn" and s.at == "claim-prompt" and m.has(REENTRY) and s.prompt.occupied:
        return index + 1
    return index


def insert(m: Reading, s: ClaimState, item: Item, target: Target, *rules: str, ahead: bool = False) -> None:
    """
    Append a message to a list, or put it ahead of the others: one splice, then one live event.

    Rules: C-SEND-2, C-CLAIM-4, C-EDIT-2
    """
    queue = pending(s, target)
    start, changed = (0, queue.unshift(item)) if ahead else (queue.size, queue.push(item))
    splice(m, s, Spliced(target, logged_at(m, s, target, start), 0, (item.id,)), changed, *rules, "C-SEND-2")
    m.publish(Inserted(item.id), *rules, "C-SEND-2")


def discard_list(m: Reading, s: ClaimState, target: Target, *rules: str) -> None:
    """
    Discard what a list holds now: one splice, then one live event for each message.

    Rules: C-CAN-1, C-CLAIM-4
    """
    dropped = pending(s, target)
    if dropped.occupied:
        start = logged_at(m, s, target, 0)
        splice(m, s, Spliced(target, start, dropped.size, (), "canceled"), EMPTY, *rules)
        m.each(dropped, lambda item: Discarded(item.id), *rules, "C-CLAIM-4")


# ------------------------------------------------------------------------------------------------ the activity
def forget_lateness(s: ClaimState) -> None:
    """
    Take lateness from everything pending.

    Rules: C-WAKE-3
    """
    s.next_turn, s.next_step = s.next_turn.punctual(), s.next_step.punctual()


def begin(m: Reading, s: ClaimState, *rules: str) -> None:
    """
    Begin an activity of the driver; nothing of an earlier one aborts it, and nothing is late for it.

    Rules: C-STAT-1, C-WAKE-3
    """
    forget_lateness(s)
    s.at, s.status, s.cause, s.reason = "open", "running", None, None
    m.publish(StatusChanged("running"), *rules, "C-STAT-1")


def abort(m: Reading, s: ClaimState, cause: Abort) -> None:
    """
    Abort the current activity, unless it is aborted already; the open gates hear of it either way.

    Rules: C-CAN-1, C-TURN-5
    """
    if s.cause is None:
        s.cause = cause
        s.batch = s.batch.sealed()
    m.abort_gates("C-CAN-1", "C-CAN-5")
