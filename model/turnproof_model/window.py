"""
Specify contract ``window``: all that moves the state of one agent is here and in the ``window_`` modules beside it.

The loop, as one line of phases (``[gate]`` waits, ``*`` repeats, one item per move)::

    idle → [admission] → retained* → prompt → supplements* → draining* → hook → [hooked] → draining* → step → [reply]
         → tools* → draining* → step-end → hook … or [stopping] → draining* → stopped → hook … or closing
         → turn-end → [checkpoint] → settlement → next → [admission] … or idle

    off the line: [admission] → rejection → release* → next · [reply] → cut → ending
                  [reply] → unanswered → [recovery] → ending · settlement → supplements (a retry) · idle → gone

- A prompt is admitted before its turn exists; a turn is one execution of the model loop, for one prompt or a retry.
- The window is open from the claim of a prompt until the turn's outcome is announced, and decides where input goes.
- There is one abort slot per admission and turn; the loop looks at it where this file says so, and nowhere else.
- Deliberately absent: identity made by ``send``, any envelope around context, a queue for context, a turn for an idle
  injection, an admission or a retry beside a pending checkpoint, and any way back into a queue but the ones named.

``window_state`` holds the state and shared moves, ``window_commands`` what callers may do, ``window_steps`` the steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from turnproof_model import window_commands, window_steps
from turnproof_model.algebra import EMPTY, Queue
from turnproof_model.events import (
    AgentError,
    Dequeue,
    Disposed,
    Enqueue,
    Settled,
    TurnEnd,
    TurnStart,
)
from turnproof_model.policies import BESIDE_LATE_SEND, CLAIMED_ON_KEEP
from turnproof_model.rulebook import Reading
from turnproof_model.vocabulary import Allow, Fail
from turnproof_model.window_state import (
    BOOK,
    Ending,
    WindowState,
    aborted,
    begin_drain,
    commit_next,
    drop_pending,
    end_drain,
    publish_status,
    staged,
    take_outcome,
    user_message,
)

__all__ = ["BOOK", "WindowState", "window_commands", "window_steps"]

ENDED: Mapping[Ending, tuple[str, ...]] = {
    "completed": ("W-STEP-7",),
    "max-tokens": (),
    "aborted": ("W-CAN-1", "W-CAN-5", "W-STEP-3"),
    "error": (),
    "disposed": ("W-DIS-1", "W-CAN-5"),
}
"""The rules that speak at the end of a turn, by its reason."""

SETTLED: Mapping[Ending, Literal["completed", "aborted", "error"]] = {
    "completed": "completed",
    "max-tokens": "completed",
    "aborted": "aborted",
    "error": "error",
    "disposed": "aborted",
}
"""How a turn is reported as settled, by its reason."""


# ------------------------------------------------------------------------------------------------ idle, admission
def _leaves_idle(s: WindowState) -> bool:
    if s.disposals:
        return True
    return s.queued.has_waking


@BOOK.phase("idle", ready=_leaves_idle)
def leave_idle(m: Reading, s: WindowState) -> None:
    """
    Serve a waking prompt; else resolve the disposal.

    Rules: W-WAKE-1, W-DIS-2
    """
    if s.queued.has_waking:
        claim(m, s)
        return
    s.at, s.life = "gone", "gone"
    m.publish(Disposed(), "W-DIS-2", "W-DIS-1")


@BOOK.phase("gone", ready=lambda s: s.disposals > 0)
def resolve(m: Reading, s: WindowState) -> None:  # noqa: ARG001  # the reading counts disposals down
    """
    Resolve one disposal.

    Rules: W-DIS-2
    """
    m.dispose_resolved("W-DIS-2")


def claim(m: Reading, s: WindowState) -> None:
    """
    Claim the head of the queue for one admission: window, status, gate, dequeue, in this order.

    Rules: W-ADM-1, W-WIN-1, W-WAKE-3, W-FIFO-3, W-DIS-2
    """
    item, s.queued = s.queued.pop()
    s.claimed, s.due, s.outbox = item, staged(s), EMPTY
    s.window, s.abort, s.requeue, s.fixed = True, "", False, False
    late = s.life == "closing"
    order = () if item.waking else ("W-WAKE-3",)
    publish_status(m, s, "running", "W-ADM-1", "W-WAKE-1")
    if aborted(s):
        s.at = "rejection"
    else:
        s.at = "admission"
        m.open("prompt-submit", rules=("W-ADM-1", "W-WIN-1", "W-TURN-4"), message=item.id)
    m.publish(Dequeue(item.id, "queued"), *order, "W-ADM-1", "W-TURN-4", "W-FIFO-3", "W-FIFO-4", "W-FIFO-2")
    if late and not aborted(s):
        abort_late(m, s)


def abort_late(m: Reading, s: WindowState) -> None:
    """
    Abort the admission of a prompt that was sent during the disposal.

    Rules: W-DIS-2
    """
    s.abort = "disposed"
    if _drops_company(m, s):
        drop_pending(m, s, "W-DIS-1")
    m.abort_gates()


def _drops_company(m: Reading, s: WindowState) -> bool:
    if s.queued.join(staged(s)).empty:
        return False
    return m.choose(BESIDE_LATE_SEND) == "discarded"


@BOOK.phase("admission", awaits="prompt-submit")
def admit(m: Reading, s: WindowState) -> None:
    """
    Open the turn of an allowed prompt; a decision that comes after an abort counts for nothing.

    Rules: W-ADM-2, W-ADM-4, W-ADM-5, W-CAN-1
    """
    outcome = take_outcome(s)
    if aborted(s) or not isinstance(outcome, Allow) or s.claimed is None:
        reject(m, s)
        return
    s.content = outcome.content
    s.contexts = Queue.of((*outcome.additional_contexts, *s.claimed.attached))
    open_turn(m, s, "message")


@BOOK.phase("rejection")
def reject(m: Reading, s: WindowState) -> None:
    """
    End an admission without a turn: close the window, keep steering and what is beside it, release context alone.

    Rules: W-ADM-5, W-ADM-6, W-ADM-7, W-CAN-3, W-WIN-1
    """
    m.cite("W-ADM-5", "W-ADM-8", *(("W-CAN-1",) if aborted(s) else ()))
    everything = staged(s)
    s.window, s.abort, s.due, s.outbox = False, "", EMPTY, everything
    if everything.has_steering:
        m.cite("W-ADM-7")
    else:
        s.contexts, s.outbox = everything, EMPTY
    s.at = "release"
    put_back(m, s)


def put_back(m: Reading, s: WindowState) -> None:
    """
    Lose the claimed prompt of an aborted admission, or put it back at the head where only keep-inbox cancels came.

    Rules: W-CAN-3
    """
    item, s.claimed = s.claimed, None
    if not s.requeue or item is None:
        return
    s.requeue = False
    if m.choose(CLAIMED_ON_KEEP) == "requeued":
        s.queued = s.queued.unshift(item)
        m.publish(Enqueue(item.id, "queued"), "W-CAN-3", "W-FIFO-1")


@BOOK.phase("release")
def release(m: Reading, s: WindowState) -> None:
    """
    Commit what a rejected admission released, between turns; it left staging as a whole, so no cancel drops it.

    Rules: W-ADM-6
    """
    if s.contexts.empty:
        s.at = "next"
        return
    item, s.contexts = s.contexts.pop()
    m.publish(user_message(item.message), "W-ADM-6", "W-FIFO-5", "W-TURN-2", "W-LOG-2", "W-LOG-1")


@BOOK.phase("next")
def go_on(m: Reading, s: WindowState) -> None:
    """
    Claim the next prompt while a waking one is queued, or go idle.

    Rules: W-WAKE-3, W-WAKE-4, W-ADM-8, W-STAT-1
    """
    if s.queued.has_waking:
        claim(m, s)
        return
    s.at = "idle"
    if s.queued.occupied:
        m.cite("W-WAKE-2", "W-WAKE-3", "W-FIFO-7")
    if s.outbox.occupied:
        m.cite("W-FIFO-7")
    publish_status(m, s, "idle", "W-WAKE-4", "W-STAT-2")


# ------------------------------------------------------------------------------------------------ opening a turn
def open_turn(m: Reading, s: WindowState, trigger: Literal["message", "retry"]) -> None:
    """
    Open the next turn; what was retained is due first, whatever a listener does.

    Rules: W-TURN-1, W-TURN-6, W-ADM-2, W-ADM-3
    """
    s.turn, s.step, s.trigger = s.turn + 1, 0, trigger
    s.window, s.abort, s.retry, s.fixed = True, "", False, False
    s.owed = s.concluded = s.ceiling = s.failed = False
    if trigger == "message":
        s.at = "retained"
        s.prompt, s.claimed = s.claimed, None
        m.publish(TurnStart(s.turn, "message"), "W-ADM-2", "W-ADM-3", "W-TURN-1", "W-TURN-2")
    else:
        s.at = "supplements"
        m.publish(TurnStart(s.turn, "retry"), "W-TURN-6", "W-TURN-4", "W-TURN-1", "W-TURN-2")


@BOOK.phase("retained")
def commit_retained(m: Reading, s: WindowState) -> None:
    """
    Commit what earlier admissions and turns left behind, before the prompt.

    Rules: W-ADM-3, W-ADM-7, W-WIN-5, W-CAN-6
    """
    if s.due.empty:
        s.at = "prompt"
    else:
        commit_next(m, s, "W-ADM-3", "W-ADM-7", "W-WIN-5")


@BOOK.phase("prompt")
def commit_prompt(m: Reading, s: WindowState) -> None:
    """
    Commit the admitted prompt, its content perhaps replaced.

    Rules: W-ADM-3, W-ADM-4, W-TURN-3, W-FIFO-6, W-LOG-1
    """
    content, s.content = s.content, None
    s.at = "supplements"
    if s.prompt is not None:
        event = user_message(s.prompt.message, content)
        m.publish(
            event, *(("W-ADM-4", "W-ADM-9") if event.replaced else ()), "W-ADM-3", "W-FIFO-6", "W-TURN-3", "W-LOG-1"
        )


@BOOK.phase("supplements")
def commit_supplements(m: Reading, s: WindowState) -> None:
    """
    Commit the contexts of the admission's decision, then what was accepted meanwhile unless an abort came.

    Rules: W-ADM-4, W-CAN-6, W-TURN-6
    """
    if s.contexts.occupied:
        item, s.contexts = s.contexts.pop()
        reference = ("W-XREF-1",) if s.prompt and s.prompt.attached else ()
        m.publish(user_message(item.message), "W-ADM-4", "W-ADM-9", "W-ADM-3", *reference, "W-LOG-2", "W-LOG-1")
        return
    s.prompt = None
    if aborted(s):
        s.at = "ending"
    else:
        begin_drain(s, "hook")


@BOOK.phase("draining")
def drain(m: Reading, s: WindowState) -> None:
    """
    Commit one due item, until none is left or an abort stops the drain.

    Rules: W-STEP-2, W-CAN-6
    """
    if aborted(s) and not s.firm:
        m.cite("W-CAN-6")
        end_drain(s)
    elif s.due.empty:
        end_drain(s)
    else:
        commit_next(m, s, *_asked_by(s))


def _asked_by(s: WindowState) -> tuple[str, ...]:
    """Name the rules that ask for this drain beside W-STEP-2."""
    if s.then == "stopped":
        return ("W-STEP-8",)
    if s.then == "hook":
        return ("W-TURN-6",) if s.trigger == "retry" else ("W-ADM-3",)
    return () if s.batch.empty else ("W-STEP-3", "W-STEP-4")


# ------------------------------------------------------------------------------------------------ closing a turn
@BOOK.phase("closing", joined=True)
@BOOK.phase("ending")
def fix_reason(m: Reading, s: WindowState) -> None:
    """
    Fix why the turn ends: from here on no cancel aborts it. A failure is announced first.

    Nothing comes between finding no steering staged and this: it would be left behind (W-STEP-8).

    Rules: W-TURN-5, W-CAN-4, W-STEP-8
    """
    s.fixed, s.reason = True, _reason(s)
    if s.reason == "error":
        s.at = "turn-end"
        m.publish(AgentError(s.turn, s.step), "W-TURN-5")
    else:
        end_turn(m, s)


def _reason(s: WindowState) -> Ending:
    if s.abort:
        return s.abort
    if s.failed:
        return "error"
    return "max-tokens" if s.ceiling else "completed"


@BOOK.phase("turn-end")
def end_turn(m: Reading, s: WindowState) -> None:
    """
    Close the window, then the turn, and wait for the checkpoint.

    Rules: W-WIN-1, W-WIN-5, W-TURN-1, W-CAN-1, W-CAN-5
    """
    if aborted(s):
        m.cite("W-CAN-1", "W-CAN-5", "W-CAN-6")
    if s.outbox.occupied:
        m.cite("W-WIN-5", "W-FIFO-7")
    s.window, s.abort, s.at = False, "", "checkpoint"
    m.publish(TurnEnd(s.turn, s.reason), *ENDED[s.reason], "W-TURN-5", "W-TURN-1", "W-WIN-1")
    m.open("flush", rules=("W-TURN-4",))


@BOOK.phase("checkpoint", awaits="flush")
def pass_checkpoint(m: Reading, s: WindowState) -> None:
    """
    Go on after the checkpoint; one that failed is announced and changes nothing else.

    Rules: W-TURN-4
    """
    s.at = "settlement"
    if isinstance(take_outcome(s), Fail):
        m.publish(AgentError(s.turn, s.step), "W-TURN-4")


@BOOK.phase("settlement")
def settle(m: Reading, s: WindowState) -> None:
    """
    Ask a failed request again in a turn of its own, unless that was withdrawn; else settle the turn.

    Rules: W-TURN-6, W-CAN-7
    """
    if s.retry:
        open_turn(m, s, "retry")
        return
    s.at = "next"
    m.publish(Settled(s.turn, SETTLED[s.reason]), "W-TURN-6", "W-TURN-4")
