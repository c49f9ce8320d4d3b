"""
Run the loop of contract ``claim``: one durable inbox, claimed at each step boundary, one decision on what enters.

    idle → open → claim → claim-prompt → announce* → ask → decided → enter → commit* → request → answer → tools
         → close-step → boundary → claim … | stopping → end → ended → open … | stop → idle

Turns are here, from ``open`` to ``ended``; what happens inside one is in ``claim_steps.py`` and ``claim_tools.py``, the
state in ``claim_state.py``, what callers do in ``claim_commands.py``. Nothing else moves the loop. A phase is one short
move: it changes the state, publishes at most one event (a request with its gate behind it) and leaves the position
where the next move begins. The cause of an abort is looked at whenever the loop is about to go on: before a turn, a
claim, a decision and its effect, a request, after the model's answer, at the boundary and after the turn.

Absent on purpose: checkpoints (none of them changes what a caller may rely on here), and the text that a failed
request streamed (only an abort keeps it, as an interrupted message).
"""

from __future__ import annotations

from turnproof_model import claim_steps
from turnproof_model.algebra import EMPTY
from turnproof_model.claim_commands import resume
from turnproof_model.claim_state import BOOK, ClaimState, all_pending, begin, forget_lateness
from turnproof_model.events import AgentError, Disposed, StatusChanged, TurnEnd, TurnReason, TurnStart
from turnproof_model.policies import AFTER_EMPTY, AFTER_REJECT, IDLE_CONTEXT, WAKE_AFTER_ABORT
from turnproof_model.rulebook import Reading

__all__ = ["BOOK", "claim_steps"]

BOOK.resume = resume


# ------------------------------------------------------------------------------------------------ turn
@BOOK.phase("idle", ready=lambda s: s.disposals > 0)
def conclude_disposal(m: Reading, s: ClaimState) -> None:
    """
    Publish that the agent is gone, once, then resolve each call of dispose.

    Rules: C-DIS-1
    """
    if s.life == "closing":
        s.life = "gone"
        m.publish(Disposed(), "C-DIS-1")
    else:
        m.dispose_resolved("C-DIS-1")


@BOOK.phase("open")
def open_turn(m: Reading, s: ClaimState) -> None:
    """
    Open the next turn, unless a cancel came before it; nothing that is pending now is late.

    Rules: C-TURN-1, C-TURN-4, C-CAN-1, C-WAKE-3
    """
    if s.cause is not None:
        s.at = "stop"
        return
    forget_lateness(s)
    s.turn, s.step = s.turn + 1, 0
    s.at = "claim"
    m.publish(TurnStart(s.turn), *_occasion(s), "C-TURN-1", "C-TURN-4")


def _occasion(s: ClaimState) -> tuple[str, ...]:
    """Name the rule by which a turn begins: a wake, or input left after the turn before."""
    if s.reason is None:
        return ("C-WAKE-1",)
    return ("C-PRE-5",) if s.reason in {"blocked", "error"} else ("C-TURN-6",)


@BOOK.phase("end")
def end_turn(m: Reading, s: ClaimState) -> None:
    """
    Close the turn with the first reason that applies.

    Rules: C-TURN-1, C-TURN-5, C-CAN-1, C-CAN-5, C-PRE-2, C-PRE-3
    """
    s.reason, rules = _reason(s)
    s.at = "ended"
    s.owes, s.ceiling, s.verdict = False, False, ""
    s.claimed = s.prompt = EMPTY
    cause = s.cause if s.reason == "aborted" else None
    m.publish(TurnEnd(s.turn, s.reason, cause), *rules, "C-TURN-5", "C-TURN-1")


def _reason(s: ClaimState) -> tuple[TurnReason, tuple[str, ...]]:
    """Tell why the turn ends, and which rules say so beside C-TURN-5."""
    if s.verdict == "failed":
        return "error", ("C-PRE-2",) if s.step == 0 else ()
    if s.cause is not None:
        return "aborted", ("C-CAN-1", "C-CAN-5") if s.cause != "disposed" else ("C-DIS-1", "C-CAN-5")
    if s.verdict == "blocked":
        return "blocked", ("C-PRE-2",)
    return ("max-tokens" if s.ceiling else "completed"), ("C-PRE-3",) if s.step == 0 else ("C-STEP-4",)


@BOOK.phase("fail")
def announce_failure(m: Reading, s: ClaimState) -> None:
    """
    Publish the failure, which fixes the reason of the turn; an abort that came first is the reason instead.

    Rules: C-TURN-5
    """
    s.at = "end"
    if s.cause is None:
        s.verdict = "failed"
        m.publish(AgentError(s.turn, s.step), "C-TURN-5")


@BOOK.phase("ended")
def decide_next(m: Reading, s: ClaimState) -> None:
    """
    Go on with the next turn or stop the driver.

    Rules: C-TURN-6, C-PRE-3, C-PRE-5, C-CAN-1, C-CAN-2, C-DIS-1
    """
    s.at = "open" if s.cause is None and _goes_on(m, s) else "stop"


def _goes_on(m: Reading, s: ClaimState) -> bool:
    """
    Tell whether what is pending starts the next turn.

    Rules: C-TURN-6, C-PRE-3, C-PRE-5
    """
    left = all_pending(s)
    if left.empty:
        return False
    if s.reason in {"blocked", "error"}:
        m.cite("C-PRE-5")
        return m.choose(AFTER_REJECT) == "continue" if left.has_waking else False
    if s.step == 0 and m.choose(AFTER_EMPTY) == "park":
        return False
    m.cite("C-TURN-6")
    return True if left.has_waking else m.choose(IDLE_CONTEXT) == "any"


@BOOK.phase("stop")
def stop_driver(m: Reading, s: ClaimState) -> None:
    """
    Become idle; if a late waking message is pending after that, begin again in the same stack.

    Rules: C-STAT-1, C-STAT-2, C-WAKE-3, C-CAN-1, C-CAN-2
    """
    s.at, s.status = "idle", "idle"
    m.publish(StatusChanged("idle"), *_stopped(s), "C-STAT-1", "C-STAT-2")
    if s.at == "idle" and s.life == "live":
        _restart(m, s)


def _stopped(s: ClaimState) -> tuple[str, ...]:
    """Name the rules by which an abort stopped the driver, and left what is pending to the next wake."""
    if s.cause is None:
        return ()
    return ("C-CAN-1", "C-CAN-2") if all_pending(s).occupied else ("C-CAN-1",)


def _restart(m: Reading, s: ClaimState) -> None:
    """
    Begin again if a late waking message is pending, or leave it to the next wake.

    Rules: C-WAKE-3
    """
    if all_pending(s).has_late:
        if m.choose(WAKE_AFTER_ABORT) == "restart":
            begin(m, s, "C-WAKE-3", "C-STAT-2")
        else:
            m.cite("C-WAKE-3")
            forget_lateness(s)
