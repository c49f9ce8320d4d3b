"""
Perform the commands of contract ``claim`` in the caller's stack: send, edit, cancel, dispose, reference; and resume.

A command changes the lists or sets the cause of an abort; what follows from that is decided by the loop when it runs
next. One exception is a rule: waking an idle agent runs the loop through its first claim before the command returns.
A list or a cause is looked at when it is needed and never kept across a publication, since a listener may call back.
"""

from __future__ import annotations

from turnproof_model.algebra import Item
from turnproof_model.claim_state import (
    BOOK,
    ClaimState,
    abort,
    all_pending,
    begin,
    discard_list,
    forget_lateness,
    guard_id,
    guard_log,
    insert,
    is_late,
    logged_at,
    pending,
    running,
    splice,
)
from turnproof_model.events import Discarded, Inserted, Spliced, StepEnd, ToolResult, TurnEnd
from turnproof_model.policies import DISPOSED_SEND, SECOND_KEEP_CANCEL
from turnproof_model.rulebook import Reading, Refused
from turnproof_model.vocabulary import Cancel, Dispose, Prepend, Reference, Remove, Replace, ResumeMode, Send, Target

AFTER_CLAIM = frozenset({"claim-prompt", "announce", "ask", "decided", "enter", "commit", "request"})
"""Where a boundary's claim has begun and its request isn't made."""

IN_STEP = frozenset({"commit", "request", "answer", "tools", "contexts", "failed-request"})
"""Where a step is open."""

BEFORE_STEP = frozenset({"claim-prompt", "announce", "ask", "decided", "enter"})
"""Where a claimed batch hasn't reached the log."""


# ------------------------------------------------------------------------------------------------ send
@BOOK.command(Send)
def send(m: Reading, s: ClaimState, op: Send) -> None:
    """
    Append a message to the list it names, and wake the driver if it asks for that.

    Raises:
        Refused: its id is pending, the log can't be appended to now, or the agent is disposed of and refuses input.

    Rules: C-SEND-1, C-SEND-2, C-SEND-3, C-SEND-4, C-WAKE-1, C-WAKE-2
    """
    if op.preset is not None:
        m.cite("C-SEND-1")
    deliver(m, s, Item(op.message, waking=op.wakeup), op.target)


def deliver(m: Reading, s: ClaimState, item: Item, target: Target) -> None:
    """
    Accept an item, for next-turn if it wakes an aborted activity, and start an idle driver.

    Rules: C-SEND-2, C-WAKE-1, C-WAKE-3
    """
    _accept(m, s, item.id)
    _place(m, s, item, target)


def _place(m: Reading, s: ClaimState, item: Item, target: Target) -> None:
    """Put accepted input where it belongs; rules: C-SEND-2, C-WAKE-1, C-WAKE-3."""
    if not item.waking:
        insert(m, s, item, target, *_parked(s, target), *_meanwhile(s))
        return
    late = is_late(s)
    joins: Target = "next-turn" if running(s) and s.cause is not None else target
    insert(m, s, item if not late else _as_late(item), joins, *(("C-WAKE-3",) if late else ()), *_meanwhile(s))
    if not running(s) and s.life == "live":
        begin(m, s, "C-WAKE-1")
        m.run_in_stack("ask", "stop")


def _as_late(item: Item) -> Item:
    return Item(item.message, waking=True, late=True, attached=item.attached)


def _accept(m: Reading, s: ClaimState, message_id: str) -> None:
    """Refuse input that can't be accepted now; rules: C-DIS-1, C-SEND-3, C-EDIT-2."""
    if s.life != "live" and m.choose(DISPOSED_SEND) == "refused":
        raise Refused("the agent is disposed of and takes no input", "C-DIS-1")
    guard_id(s, message_id)
    guard_log(m)


def _parked(s: ClaimState, target: Target) -> tuple[str, ...]:
    """Name the rule by which quiet input stays where it is while the agent is idle."""
    if running(s):
        return ()
    return ("C-WAKE-2",) if target == "next-turn" else ("C-SEND-4",)


def _meanwhile(s: ClaimState) -> tuple[str, ...]:
    """Name the rules for input that comes after a claim, or after a disposal."""
    return (*(("C-CLAIM-3",) if s.at in AFTER_CLAIM else ()), *(("C-DIS-1",) if s.life != "live" else ()))


@BOOK.command(Reference)
def refer(m: Reading, s: ClaimState, op: Reference) -> None:
    """
    Deliver a prompt with a snapshot: idle, the snapshot is attached to it; running, it is injected before it.

    Raises:
        Refused: as ``send``, for either message.

    Rules: C-XREF-1
    """
    m.cite("C-XREF-1")
    if not running(s):
        deliver(m, s, Item(op.message, waking=True, attached=(op.snapshot,)), "next-turn")
        return
    if op.snapshot.id == op.message.id:
        raise Refused(f"message {op.message.id!r} can't be its own snapshot", "C-SEND-3")
    _accept(m, s, op.message.id)
    deliver(m, s, Item(op.snapshot), "next-step")
    guard_id(s, op.message.id)
    _place(m, s, Item(op.message, waking=True), "next-step")


# ------------------------------------------------------------------------------------------------ edits
@BOOK.command(Prepend)
def prepend(m: Reading, s: ClaimState, op: Prepend) -> None:
    """
    Put a message ahead of a list; it wakes nobody.

    Raises:
        Refused: as ``send``.

    Rules: C-EDIT-2, C-SEND-3
    """
    _accept(m, s, op.message.id)
    insert(m, s, Item(op.message), op.target, "C-EDIT-2", *_meanwhile(s), ahead=True)


def _list_of(s: ClaimState, message_id: str) -> Target | None:
    """Find the list where a message is pending."""
    if s.next_turn.has(message_id):
        return "next-turn"
    return "next-step" if s.next_step.has(message_id) else None


@BOOK.command(Remove)
def remove(m: Reading, s: ClaimState, op: Remove) -> None:
    """
    Discard a pending message, and answer whether it was pending.

    Raises:
        Refused: it is pending and the log can't be appended to now.

    Rules: C-EDIT-1
    """
    target = _list_of(s, op.id)
    if target is not None:
        guard_log(m)
        queue = pending(s, target)
        gone = Spliced(target, logged_at(m, s, target, queue.index(op.id)), 1, (), "canceled")
        splice(m, s, gone, queue.without(op.id), "C-EDIT-1")
        m.publish(Discarded(op.id), "C-EDIT-1", "C-CLAIM-4")
    m.cite("C-EDIT-1")
    m.reply(answer=target is not None)


@BOOK.command(Replace)
def replace(m: Reading, s: ClaimState, op: Replace) -> None:
    """
    Swap a pending message in place, lateness handed on, and answer whether it was pending.

    Raises:
        Refused: it is pending and the log can't be appended to now, or the new id is pending beside it.

    Rules: C-EDIT-1, C-WAKE-3
    """
    target = _list_of(s, op.id)
    if target is not None:
        _swap(m, s, op, target)
    m.cite("C-EDIT-1")
    m.reply(answer=target is not None)


def _swap(m: Reading, s: ClaimState, op: Replace, target: Target) -> None:
    if op.message.id != op.id:
        guard_id(s, op.message.id)
    guard_log(m)
    queue = pending(s, target)
    old = queue.get(op.id)
    changed = queue if old is None else queue.swap(op.id, old.renewed(op.message))
    swapped = Spliced(target, logged_at(m, s, target, queue.index(op.id)), 1, (op.message.id,), "canceled")
    splice(m, s, swapped, changed, "C-EDIT-1")
    m.publish(Discarded(op.id), "C-EDIT-1", "C-CLAIM-4")
    m.publish(Inserted(op.message.id), "C-EDIT-1", "C-CLAIM-4")


# ------------------------------------------------------------------------------------------------ cancel, dispose
@BOOK.command(Cancel)
def cancel(m: Reading, s: ClaimState, op: Cancel) -> None:
    """
    Discard what is pending, unless it is to be kept, then abort the activity that was running at the call.

    Raises:
        Refused: something is to be discarded and the log can't be appended to now.

    Rules: C-CAN-1, C-CAN-2, C-CAN-3, C-CAN-4
    """
    active = running(s)
    if op.keep_inbox:
        _keep(m, s)
    else:
        _discard_pending(m, s, "C-CAN-1")
    if active:
        _cite_abort(m, s)
        abort(m, s, op.cause)
    else:
        m.cite("C-CAN-3")


def _keep(m: Reading, s: ClaimState) -> None:
    """
    Leave the lists as they are, except that a later cancel may take lateness back.

    Rules: C-CAN-2, C-WAKE-3
    """
    m.cite("C-CAN-2")
    if all_pending(s).has_late:
        m.cite("C-WAKE-3")
        _take_back(m, s)


def _take_back(m: Reading, s: ClaimState) -> None:
    if m.choose(SECOND_KEEP_CANCEL) == "lateness-lost":
        forget_lateness(s)


def _discard_pending(m: Reading, s: ClaimState, *rules: str) -> None:
    """
    Discard next-step, then what next-turn holds by then; waking input sent meanwhile is late.

    Rules: C-CAN-1, C-WAKE-3
    """
    _guard_discard(m, s, "C-CAN-1")
    counted = int(running(s))
    s.discarding += counted
    discard_list(m, s, "next-step", *rules)
    discard_list(m, s, "next-turn", *rules)
    s.discarding -= counted


def _guard_discard(m: Reading, s: ClaimState, rule: str) -> None:
    """Refuse to discard anything while that can't be logged; rules: C-CAN-1, C-DIS-1, C-EDIT-2."""
    if all_pending(s).occupied:
        guard_log(m, rule)


def _cite_abort(m: Reading, s: ClaimState) -> None:
    """Note which rules say what an abort here does."""
    m.cite("C-CAN-1", "C-CAN-5", *(("C-CAN-4",) if s.at in BEFORE_STEP else ()))


@BOOK.command(Dispose)
def dispose(m: Reading, s: ClaimState, op: Dispose) -> None:  # noqa: ARG001  # every command has the same shape
    """
    Cancel for good and discard what is pending; a second call only waits for the same end.

    Raises:
        Refused: something is to be discarded and the log can't be appended to now.

    Rules: C-DIS-1
    """
    m.cite("C-DIS-1")
    if s.life != "live":
        s.disposals += 1
        return
    _guard_discard(m, s, "C-DIS-1")
    s.disposals += 1
    s.life = "closing"
    active = running(s)
    _discard_pending(m, s, "C-DIS-1", "C-CAN-1")
    if active:
        abort(m, s, "disposed")


# ------------------------------------------------------------------------------------------------ resume
def resume(m: Reading, s: ClaimState, mode: ResumeMode) -> ClaimState:  # noqa: ARG001  # what the machine does by mode
    """
    Repair the log and begin with a new agent over it: what is pending stays pending, turn numbers go on.

    Calls without a result are answered first: aborted where they were logged, aborted before that otherwise. Then an
    open step is closed, and its turn.

    Rules: C-LOG-3, C-LOG-4, C-STEP-2, C-TURN-1, C-EDIT-2
    """
    for call_id, started in s.batch.unanswered:
        m.repair(ToolResult(call_id, is_error=True, code="ABORTED" if started else "ABORTED_BEFORE_DISPATCH"))
    if s.at in IN_STEP:
        m.repair(StepEnd(s.turn, s.step))
    if m.history.in_turn:
        m.repair(TurnEnd(s.turn, "interrupted"))
    m.cite("C-LOG-3", "C-LOG-4", "C-TURN-1", "C-EDIT-2")
    fresh = BOOK.new_state()
    fresh.turn = s.turn
    fresh.next_turn, fresh.next_step = s.next_turn.restored(), s.next_step.restored()
    return fresh
