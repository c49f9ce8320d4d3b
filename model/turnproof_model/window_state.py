"""
Hold the state of contract ``window``, what can be seen of it, and the small moves that several rules share.

Input waits in three queues. ``queued``: prompts, each for a turn of its own. ``outbox``: steering and context for the
next step boundary, in acceptance order. ``due``: the front part of the outbox that the loop is taking now, or that was
retained for the next opening; everything in it was accepted before anything in ``outbox``. What the loop has put
beyond a cancel's reach is no longer pending: the prompt it has claimed, and ``contexts`` on their way into the log.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import define

from turnproof_model.algebra import EMPTY, Item, Queue
from turnproof_model.events import Dequeue, Discard, StatusChanged, SteeringMessage, UserMessage
from turnproof_model.observation import InboxView
from turnproof_model.policies import GATES_AFTER_ABORT
from turnproof_model.rulebook import LoopState, Reading, RuleBook
from turnproof_model.vocabulary import GateKind, Message, Outcome, Status

Abort: TypeAlias = Literal["", "aborted", "disposed"]
"""What the first cause made of the active admission or turn; empty while nothing has aborted it."""

Ending: TypeAlias = Literal["completed", "max-tokens", "aborted", "error", "disposed"]
"""Why a turn ends."""


@define(slots=False)
class WindowState(LoopState):
    """
    Hold one agent of contract ``window``.

    ``claimed``: the prompt in admission; ``prompt``: the one whose turn is being opened.
    ``window``: next-step input joins the current admission or turn. ``requeue``: only keep-inbox cancels aborted this
    admission. ``then`` and ``firm``: where a drain goes on, and whether it finishes under an abort. ``owed``: steering
    has been committed that no request has shown yet. ``retry``: a failed request is to be asked again. ``fixed``: the
    turn's ``reason`` is decided, so no cancel changes it any more.
    """

    queued: Queue = EMPTY
    outbox: Queue = EMPTY
    due: Queue = EMPTY
    contexts: Queue = EMPTY
    claimed: Item | None = None
    prompt: Item | None = None
    content: str | None = None  # what the admission put in the place of the prompt's own
    window: bool = False
    abort: Abort = ""
    requeue: bool = False
    trigger: Literal["message", "retry"] = "message"
    then: str = ""
    firm: bool = False
    owed: bool = False
    concluded: bool = False
    ceiling: bool = False
    failed: bool = False
    retry: bool = False
    fixed: bool = False
    reason: Ending = "completed"
    life: Literal["live", "closing", "gone"] = "live"


def _quiescent(s: WindowState) -> bool:
    """Tell whether a waiter is released: no admission, no turn, no checkpoint, no waking item (W-STAT-2)."""
    if s.at not in {"idle", "gone"}:
        return False
    return not s.queued.has_waking


def _inbox(s: WindowState) -> InboxView:
    """Show what is pending (W-FIFO-7)."""
    staged = s.due.join(s.outbox)
    return InboxView(s.queued.ids, staged.ids, staged.kinds)


BOOK: RuleBook[WindowState] = RuleBook(
    contract="window",
    new_state=lambda: WindowState(at="idle"),
    quiescent=_quiescent,
    accepts_next_step=lambda s: s.window,
    inbox=_inbox,
    aborting=lambda s: s.abort != "",
    reentry=("W-PUB-1",),
)
"""All rules of contract ``window``; its modules register them here."""


# ------------------------------------------------------------------------------------------------ queries
def aborted(s: WindowState) -> bool:
    """Tell whether a cause has aborted the active admission or turn."""
    return s.abort != ""


def abortable(s: WindowState) -> bool:
    """Tell whether an admission or turn is active whose outcome isn't fixed; rules: W-CAN-4."""
    return s.window and not s.fixed


def staged(s: WindowState) -> Queue:
    """List the whole outbox in acceptance order."""
    return s.due.join(s.outbox)


# ------------------------------------------------------------------------------------------------ moves
def take_outcome(s: WindowState) -> Outcome | None:
    """Take the outcome that the loop waited for."""
    outcome, s.outcome = s.outcome, None
    return outcome


def publish_status(m: Reading, s: WindowState, status: Status, *rules: str) -> None:
    """
    Take a status and publish it where it is a change.

    Rules: W-STAT-1
    """
    if s.status != status:
        s.status = status
        m.publish(StatusChanged(status), *rules, "W-STAT-1")


def drop_pending(m: Reading, s: WindowState, *rules: str) -> None:
    """
    Drop all that is pending: queued prompts and steering visibly, context silently.

    Rules: W-CAN-2, W-FIFO-8
    """
    dropped = s.queued.join(staged(s).steering())
    if staged(s).has_context:
        m.cite("W-FIFO-5")
    s.queued = s.outbox = s.due = EMPTY
    if dropped.occupied:
        m.publish(Discard(dropped.ids), *rules, "W-FIFO-8", "W-FIFO-2", "W-FIFO-3")


def user_message(message: Message, content: str | None = None) -> UserMessage:
    """Commit a message as it was accepted, or with the content that its admission replaced (W-ADM-4)."""
    text = message.text if content is None else content
    return UserMessage(message.id, message.source.kind, text, replaced=content is not None)


def begin_drain(s: WindowState, then: str, *, firm: bool = False) -> None:
    """
    Set out to commit what is staged now; input that comes meanwhile waits for the next boundary.

    An abort keeps an ordinary drain from beginning, and ends one under way; a ``firm`` one is finished.

    Rules: W-STEP-2, W-CAN-6
    """
    if aborted(s) and not firm:
        s.at = then
        return
    s.then, s.firm = then, firm
    s.due, s.outbox = staged(s), EMPTY
    s.at = "draining"


def commit_next(m: Reading, s: WindowState, *rules: str) -> None:
    """
    Commit the next due item; a dequeued steering item is written at once, whatever its listener does.

    Rules: W-STEP-2, W-FIFO-6
    """
    item, s.due = s.due.pop()
    if item.steering:
        s.owed = True
        m.publish(Dequeue(item.id, "steering"), *rules, "W-STEP-2", "W-FIFO-3", "W-FIFO-4", "W-FIFO-2")
        steering = SteeringMessage(s.turn, item.id, item.message.text)
        m.publish(steering, *rules, "W-STEP-2", "W-FIFO-6", "W-WIN-4", "W-TURN-2", "W-LOG-1")
    else:
        m.publish(user_message(item.message), *rules, "W-STEP-2", "W-WIN-4", "W-FIFO-5", "W-LOG-2", "W-LOG-1")


def end_drain(s: WindowState) -> None:
    """Go on after a drain; what it left stays staged, in order, before what came meanwhile."""
    s.due, s.outbox = EMPTY, staged(s)
    s.at, s.then, s.firm = s.then, "", False


def passes_over(m: Reading, s: WindowState, kind: GateKind) -> bool:
    """
    Tell whether the loop goes past a gate that it reaches after an abort, without asking.

    Rules: W-CAN-1
    """
    if not (aborted(s) and m.asks(kind)):
        return False
    return m.choose(GATES_AFTER_ABORT) == "skipped"
