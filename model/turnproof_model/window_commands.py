"""
Perform the commands of contract ``window`` in the caller's stack: send, cancel, dispose, reference; and resume.

Nothing here moves the loop. A command changes queues and flags and publishes; what follows from that is decided by
the loop when it runs next. Placement is decided at acceptance, by the window alone, and never again.

=============  ==================================  ================================
target, wake   inside the window                   outside
=============  ==================================  ================================
next-turn      queued FIFO                         queued FIFO
next-step      steering, staged in the outbox      queued FIFO, a waking prompt
next-step, no  context, staged in the outbox       committed at once, between turns
=============  ==================================  ================================
"""

from __future__ import annotations

from turnproof_model.algebra import Item
from turnproof_model.events import CancelRequested, Enqueue, StepEnd, ToolResult, TurnEnd
from turnproof_model.policies import CLAIMED_ON_KEEP, LATE_SEND, SENT_AFTER_DISPOSAL, WINDOW_AT_ERROR
from turnproof_model.rulebook import Reading, Refused
from turnproof_model.vocabulary import Cancel, Dispose, Message, Reference, ResumeMode, Send
from turnproof_model.window_state import (
    BOOK,
    WindowState,
    abortable,
    aborted,
    drop_pending,
    staged,
    user_message,
)


# ------------------------------------------------------------------------------------------------ send
@BOOK.command(Send)
def send(m: Reading, s: WindowState, op: Send) -> None:
    """
    Route one message by its target, its wakeup and the window.

    Raises:
        Refused: the agent is disposed of, or the log can't take an injection now; nothing has changed.

    Rules: W-SEND-1, W-ROUTE-1, W-ROUTE-2, W-ROUTE-3
    """
    m.cite("W-SEND-1")
    if _is_ignored(m, s):
        return
    item = Item(op.message, waking=op.wakeup)
    if op.target == "next-turn":
        queue_prompt(m, s, item, "W-ROUTE-1")
    elif not op.wakeup:
        inject(m, s, op.message)
    elif _joins(m, s):
        stage_steering(m, s, op.message)
    else:
        _note_placement(m, s)
        queue_prompt(m, s, item, "W-ROUTE-2")


def _joins(m: Reading, s: WindowState) -> bool:
    """
    Tell whether next-step input joins the active admission or turn.

    Rules: W-WIN-1, W-WIN-2
    """
    m.cite("W-WIN-2")
    if s.window and s.fixed:
        return m.choose(WINDOW_AT_ERROR) == "open"
    return s.window


def _note_placement(m: Reading, s: WindowState) -> None:
    """Cite what decides that a steer outside the window is a prompt: settlement, or a stack made while idle."""
    if s.status == "running":
        m.cite("W-WIN-3")
    elif s.queued.has_waking:
        m.cite("W-ROUTE-5")


def queue_prompt(m: Reading, s: WindowState, item: Item, *rules: str) -> None:
    """
    Queue a prompt, waking or quiet, as it was asked for.

    Rules: W-FIFO-1, W-WAKE-1, W-WAKE-2
    """
    s.queued = s.queued.push(item)
    m.cite("W-WAKE-1" if item.waking else "W-WAKE-2")
    m.publish(Enqueue(item.id, "queued"), *rules, "W-FIFO-1", "W-FIFO-4")
    _discard_late(m, s)


def stage_steering(m: Reading, s: WindowState, message: Message) -> None:
    """
    Stage steering for the next boundary.

    Rules: W-ROUTE-2, W-FIFO-1
    """
    s.outbox = s.outbox.push(Item(message, waking=True, steering=True))
    m.publish(Enqueue(message.id, "steering"), "W-ROUTE-2", "W-FIFO-1", "W-FIFO-4")
    _discard_late(m, s)


def inject(m: Reading, s: WindowState, message: Message) -> None:
    """
    Stage context inside the window; outside, commit it at the current position of the log.

    Raises:
        Refused: the log would have to be appended to inside the publication of a durable event.

    Rules: W-ROUTE-3, W-ROUTE-4, W-FIFO-5
    """
    if _joins(m, s):
        s.outbox = s.outbox.push(Item(message))
        m.cite("W-ROUTE-3", "W-FIFO-5")
        _discard_late(m, s)
        return
    if m.in_durable and not m.has("sessionReentry"):
        raise Refused("the session can't append while it publishes an event", "W-ROUTE-3")
    if _discards_late(m, s):
        return
    m.publish(user_message(message), "W-ROUTE-3", "W-ROUTE-4", "W-FIFO-5", "W-LOG-2", "W-LOG-1", "W-TURN-2")


# ------------------------------------------------------------------------------------------------ reference
@BOOK.command(Reference)
def reference(m: Reading, s: WindowState, op: Reference) -> None:
    """
    Deliver a prompt with a snapshot: in the prompt's own admission, or injected beside steering.

    Raises:
        Refused: the capability isn't declared, or the agent is disposed of; nothing has changed.

    Rules: W-XREF-1
    """
    if not m.has("reference"):
        raise Refused("this agent takes no references", "W-XREF-1")
    m.cite("W-XREF-1")
    if _is_ignored(m, s):
        return
    if _joins(m, s):
        inject(m, s, op.snapshot)
        stage_steering(m, s, op.message)
    else:
        queue_prompt(m, s, Item(op.message, waking=True, attached=(op.snapshot,)), "W-XREF-1", "W-ROUTE-1")


# ------------------------------------------------------------------------------------------------ cancel, dispose
@BOOK.command(Cancel)
def cancel(m: Reading, s: WindowState, op: Cancel) -> None:
    """
    Abort what is active and, unless the inbox is kept, drop what is pending.

    The first cause stands, and the gates hear of it from the command that brought it, last of all. What a listener of
    ``cancel-requested`` sends is dropped with the rest.

    Rules: W-CAN-1, W-CAN-2, W-CAN-3, W-CAN-4, W-CAN-5, W-CAN-7
    """
    if not _has_effect(m, s, op):
        m.cite("W-CAN-4")
        return
    m.cite("W-CAN-3" if op.keep_inbox else "W-CAN-2")
    first = abortable(s) and not aborted(s)
    if first:
        s.abort = "aborted"
    s.requeue = op.keep_inbox and (s.requeue or (first and s.claimed is not None))
    withdrawn, s.retry = s.retry, False
    m.publish(
        CancelRequested(op.cause), *(("W-CAN-7",) if withdrawn else ()), "W-CAN-4", *(("W-CAN-1",) if first else ())
    )
    if not op.keep_inbox:
        drop_pending(m, s, "W-CAN-2", "W-CAN-4")
    if first:
        m.abort_gates()


def _has_effect(m: Reading, s: WindowState, op: Cancel) -> bool:
    """Tell whether a cancel aborts, withdraws or drops anything (W-CAN-4)."""
    if s.retry or (abortable(s) and not aborted(s)):
        return True
    if op.keep_inbox:
        return False
    if s.requeue and m.choose(CLAIMED_ON_KEEP) == "requeued":
        return True
    return s.queued.join(staged(s)).occupied


@BOOK.command(Dispose)
def dispose(m: Reading, s: WindowState, _: Dispose) -> None:
    """
    Cancel for good; the loop resolves the disposal at its next idle moment. A second call only waits for that.

    Rules: W-DIS-1, W-DIS-2, W-CAN-5, W-CAN-7
    """
    s.disposals += 1
    if s.life != "live":
        return
    s.life = "closing"
    m.cite("W-DIS-1", "W-DIS-2", *(("W-CAN-7",) if s.retry else ()))
    first = abortable(s) and not aborted(s)
    if first:
        s.abort = "disposed"
    s.retry = s.requeue = False
    drop_pending(m, s, "W-DIS-1")
    if first:
        m.abort_gates()


def _is_ignored(m: Reading, s: WindowState) -> bool:
    """
    Tell whether a send has no effect because of a disposal.

    Raises:
        Refused: this agent refuses such a send.

    Rules: W-DIS-2
    """
    if s.life == "live":
        return False
    if s.life == "gone":
        if m.choose(SENT_AFTER_DISPOSAL) == "refused":
            raise Refused("the agent is disposed of", "W-DIS-2")
        m.cite("W-DIS-2")
        return True
    if m.choose(LATE_SEND) == "refused":
        raise Refused("the agent is being disposed of", "W-DIS-2")
    return False


def _discards_late(m: Reading, s: WindowState) -> bool:
    """Tell whether this agent discards what is sent while it is being disposed of (W-DIS-2)."""
    return s.life == "closing" and m.choose(LATE_SEND) == "discarded"


def _discard_late(m: Reading, s: WindowState) -> None:
    """
    Discard at once what was sent during a disposal, where the agent does so.

    Rules: W-DIS-2
    """
    if _discards_late(m, s):
        drop_pending(m, s, "W-DIS-2")


# ------------------------------------------------------------------------------------------------ resume
def resume(m: Reading, s: WindowState, mode: ResumeMode) -> WindowState:  # noqa: ARG001  # all modes are alike here
    """
    Go on over the log so far: repair an open turn, keep the numbers, forget what was not durable.

    Rules: W-LOG-3, W-LOG-4, W-TURN-1
    """
    m.cite("W-LOG-3", "W-LOG-4", "W-TURN-1")
    if s.at in {"reply", "tools"}:
        for call_id, started in s.batch.unanswered:
            m.repair(ToolResult(call_id, is_error=True, code="ABORTED" if started else "ABORTED_BEFORE_DISPATCH"))
        m.repair(StepEnd(s.turn, s.step))
    if m.history.in_turn:
        m.repair(TurnEnd(s.turn, "interrupted"))
    return WindowState(at="idle", turn=s.turn)


BOOK.resume = resume
