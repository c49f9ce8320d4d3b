"""
Defects of how the `claim` agent takes cancels and disposals.
"""

from __future__ import annotations

from typing import ClassVar

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.events import CANCELED, InboxSpliced
from turnproof_reference.claim.interval import Interval
from turnproof_reference.claim.pending import PendingInput
from turnproof_reference.claim.step import Step
from turnproof_reference.claim.turn import Turn
from turnproof_reference.events import ABORTED
from turnproof_reference.faults.books import CLAIM
from turnproof_reference.messages import NEXT_STEP, ToolCall
from turnproof_reference.tools import ToolOutcome


class _LosingResults(Step):
    def answered(self, call: ToolCall, outcome: ToolOutcome) -> None:
        if outcome.code != ABORTED:
            super().answered(call, outcome)


class _LosingResultsTurn(Turn):
    step_type: ClassVar[type[Step]] = _LosingResults


@CLAIM.enter("sibling-result-lost", "C-STEP-2", origin="case bike4mind-abort-drops-finished-sibling-results")
class SiblingResultLost(Agent):
    """
    A cancel jumps over the code that stores what running tools have returned.

    The calls stay unanswered in the log, one that had finished among them.
    """

    turn_type: ClassVar[type[Turn]] = _LosingResultsTurn


@CLAIM.enter("last-moment-wake-lost", "C-WAKE-3", origin="dsh wake-after-last-turn-end-lost")
class LastMomentWakeLost(Agent):
    """
    The agent becomes idle a moment after it has decided to, and doesn't look again.

    Whoever answers right when a turn ends waits until somebody else sends something.
    """

    def _rest(self, interval: Interval) -> None:
        self._extensions.loop.call_soon(super()._rest, interval)


@CLAIM.enter("keep-inbox-ignored", "C-CAN-2", origin="case openclaw-compact-deletes-queued")
class KeepInboxIgnored(Agent):
    """
    A cancel discards what waits although it was told to keep it.

    Whoever stops one answer loses all the questions behind it.
    """

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:  # noqa: ARG002 - the defect is not to look at it
        """Cancel and discard."""
        super().cancel(cause)


@CLAIM.enter("stale-cancel", "C-CAN-5", origin="case paseo-session-abort-kills-replacement")
class StaleCancel(Agent):
    """
    A cancel that finds nothing to abort aborts the next turn.

    The user presses stop once too often and loses the following question.
    """

    _stale: str | None = None

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """Cancel, and remember it if nothing runs."""
        self._stale = cause if self._interval is None else None
        super().cancel(cause, keep_inbox=keep_inbox)

    def _open_turn(self, interval: Interval) -> Turn | None:
        turn = super()._open_turn(interval)
        stale, self._stale = self._stale, None
        if stale is not None:
            interval.signal.abort(stale)
        return turn


@CLAIM.enter("last-cause-wins", "C-CAN-1", origin="case bobbit-dispatch-while-aborting")
class LastCauseWins(Agent):
    """
    A second cancel of a turn replaces the cause of the first.

    A turn that its user stopped is reported as stopped by the parent agent.
    """

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """Cancel, and write the cause over that of an earlier cancel."""
        super().cancel(cause, keep_inbox=keep_inbox)
        if self._interval is not None and self._interval.aborted:
            self._interval.signal.cause = cause


@CLAIM.enter("runs-after-disposal", "C-DIS-1", origin="dsh disposed-agent-runs-unlogged")
class RunsAfterDisposal(Agent):
    """
    Input that arrives after the disposal still runs.

    An agent whose owner believes it gone goes on spending money.
    """

    def _check_open(self, command: str) -> None:
        """Take everything."""

    def _wake(self) -> None:
        disposal, self._disposal = self._disposal, None
        super()._wake()
        self._disposal = disposal


class _Verbose(PendingInput):
    def discard_all(self, command: str) -> None:
        super().discard_all(command)
        if not self._log.publishing:
            self._log.append(InboxSpliced(NEXT_STEP, 0, 0, (), CANCELED))


@CLAIM.enter(
    "idle-cancel-logged", "C-CAN-3", "C-CAN-1", "C-CLAIM-4", "C-EDIT-2", origin="family: an effect without a cause"
)
class IdleCancelLogged(Agent):
    """
    A cancel writes to the log even when there is nothing to cancel.

    Logs grow while nobody does anything.
    """

    pending_type: ClassVar[type[PendingInput]] = _Verbose


@CLAIM.enter("disposal-keeps-inbox", "C-DIS-1", "C-CLAIM-4", origin="dsh refused-disposal-detaches-running-agent")
class DisposalKeepsInbox(Agent):
    """
    A disposal leaves what waits where it is.

    Its authors never learn that nobody will answer.
    """

    def _discard_pending(self, command: str, interval: Interval | None) -> None:
        if command != "dispose":
            super()._discard_pending(command, interval)
