"""
Deliberate defects of the `claim` agent: each breaks one rule, in a way that real agents have broken it or well might.

A suite that doesn't catch one of these has a hole where that rule ought to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.interval import Interval
from turnproof_reference.claim.pending import Entry, Lists, PendingInput
from turnproof_reference.claim.step import Step
from turnproof_reference.claim.turn import StepRejected, Turn
from turnproof_reference.events import UserMessage
from turnproof_reference.fault import FaultBook
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target
from turnproof_reference.session import Session

FAULTS: Final = FaultBook("claim")


@FAULTS.enter("wake-lost-in-discard", "C-WAKE-3")
class WakeLostInDiscard(Agent):
    """
    A prompt that a listener of a discard sends, while the cancel is still under way, wakes nobody.

    Its sender watches an idle agent until somebody else sends something.
    """

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        interval = self._interval
        unheard = interval is not None and interval.discarding > 0
        super()._deliver(command, message, target, wakeup=wakeup and not unheard, snapshot=snapshot)


@FAULTS.enter("late-bit", "C-WAKE-3")
class LateBit(Agent):
    """
    One bit says that some waking input came late, and stays set when that input is removed.

    Quiet context that still waits then starts a turn that nobody asked for.
    """

    _late = False

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        self._late |= wakeup and self._interval is not None and self._interval.too_late
        super()._deliver(command, message, target, wakeup=wakeup, snapshot=snapshot)

    def _owes_start(self, interval: Interval) -> bool:  # noqa: ARG002 - the defect is to look at the bit
        late, self._late = self._late, False
        return late and self._parts.pending.any()


class _ForgettingHeirs(PendingInput):
    def _heir(self, entry: Entry, message: Message) -> Entry:  # noqa: ARG002 - the defect is not to look at it
        return Entry(message)


@FAULTS.enter("replacement-not-late", "C-WAKE-3")
class ReplacementNotLate(Agent):
    """
    A late prompt that its sender corrects while the canceled turn closes is left waiting.

    Correcting a typing error costs the answer.
    """

    pending_type: ClassVar[type[PendingInput]] = _ForgettingHeirs


@FAULTS.enter("restart-is-idle", "C-STAT-1")
class RestartIsIdle(Agent):
    """
    Whoever waits for idle is let go although the agent starts again in the same breath.

    A script reads the answer to a prompt that is only just being asked.
    """

    def _owes_start(self, interval: Interval) -> bool:
        self._waiters.release()
        return super()._owes_start(interval)


@FAULTS.enter("inject-wakes", "C-SEND-4")
class InjectWakes(Agent):
    """
    Supplementary input starts the model as if it were a prompt.

    A plugin that reports now and then keeps an idle agent talking to itself.
    """

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        super()._deliver(command, message, target, wakeup=wakeup or target == NEXT_STEP, snapshot=snapshot)


class _TakingAllIds(PendingInput):
    def check_free(self, command: str, messages: Iterable[Message], leaving: Sequence[Entry] = ()) -> None:
        """Find every id free."""


@FAULTS.enter("duplicate-accepted", "C-SEND-3")
class DuplicateAccepted(Agent):
    """
    A message that waits already is accepted again.

    A client that repeats a delivery after a lost answer has its prompt run twice.
    """

    pending_type: ClassVar[type[PendingInput]] = _TakingAllIds


class _Greedy(PendingInput):
    def claim(self, turn: int, *, prompt: bool) -> Sequence[Entry]:  # noqa: ARG002 - the defect is not to look at it
        return super().claim(turn, prompt=True)


@FAULTS.enter("two-prompts-one-turn", "C-TURN-3")
class TwoPromptsOneTurn(Agent):
    """
    A later step of a turn claims the next prompt too.

    Two questions share one turn, and canceling the first takes the second along.
    """

    pending_type: ClassVar[type[PendingInput]] = _Greedy


class _PromptFirst(PendingInput):
    def claim(self, turn: int, *, prompt: bool) -> Sequence[Entry]:
        with_prompt = prompt and self.any(NEXT_TURN)
        batch = super().claim(turn, prompt=prompt)
        return [batch[-1], *batch[:-1]] if with_prompt else batch


@FAULTS.enter("prompt-before-context", "C-CLAIM-1")
class PromptBeforeContext(Agent):
    """
    The prompt enters before the context that was waiting for it.

    The model reads the question before it reads what the question is about.
    """

    pending_type: ClassVar[type[PendingInput]] = _PromptFirst


class _Silent(PendingInput):
    def _tell_discarded(self, entries: Iterable[Entry]) -> None:
        """Tell nobody."""


@FAULTS.enter("silent-discard", "C-CLAIM-4")
class SilentDiscard(Agent):
    """
    What is discarded leaves the inbox without a word.

    A user interface shows a message as waiting that is gone.
    """

    pending_type: ClassVar[type[PendingInput]] = _Silent


@FAULTS.enter("keep-inbox-ignored", "C-CAN-2")
class KeepInboxIgnored(Agent):
    """
    A cancel discards what waits although it was told to keep it.

    Whoever stops one answer loses all the questions behind it.
    """

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:  # noqa: ARG002 - the defect is not to look at it
        """Cancel and discard."""
        super().cancel(cause)


@FAULTS.enter("stale-cancel", "C-CAN-5")
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


@FAULTS.enter("last-cause-wins", "C-CAN-1")
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


@FAULTS.enter("runs-after-disposal", "C-DIS-1")
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


@FAULTS.enter("turn-number-reused", "C-LOG-4")
class TurnNumberReused(Agent):
    """
    A resumed agent counts its turns from one again.

    Two turns of one session have the same number, and whoever looks one up gets the other.
    """

    _count = 0

    def _next_number(self) -> int:
        self._count += 1
        return self._count


@FAULTS.enter("inbox-not-resumed", "C-LOG-3")
class InboxNotResumed(Agent):
    """
    What was waiting when the process ended is not waiting any more when the session goes on.

    A prompt that was accepted and confirmed is never answered.
    """

    def _pending_in(self, session: Session) -> Lists:  # noqa: ARG002 - the defect is not to look
        return {}


class _OwingNothingAfterCeiling(Turn):
    def _goes_on(self) -> bool:
        self._owes_request = self._owes_request and not self._hit_ceiling
        return super()._goes_on()


@FAULTS.enter("ceiling-ends-turn", "C-STEP-4")
class CeilingEndsTurn(Agent):
    """
    In a turn in which one answer was cut off, the results of later tools are never shown to the model.

    The tools have acted, and the conversation ends without a word about it.
    """

    turn_type: ClassVar[type[Turn]] = _OwingNothingAfterCeiling


class _Deaf(Turn):
    def _goes_on(self) -> bool:
        return self._owes_request


@FAULTS.enter("steering-waits-for-turn", "C-STEP-4")
class SteeringWaitsForTurn(Agent):
    """
    Steering that comes while the last answer is being written waits for another turn.

    The correction arrives after the work that it was to correct has been declared done.
    """

    turn_type: ClassVar[type[Turn]] = _Deaf


class _PuttingBack(Turn):
    async def _decide(self, batch: Sequence[Entry]) -> Sequence[Message]:
        try:
            return await super()._decide(batch)
        except StepRejected:
            for entry in reversed(batch):
                self._parts.pending.insert("reject", NEXT_STEP, entry, start=0)
            raise


@FAULTS.enter("rejected-put-back", "C-CLAIM-3")
class RejectedPutBack(Agent):
    """
    A rejected batch is put back into the inbox.

    What a policy has refused reaches the model with the next prompt.
    """

    turn_type: ClassVar[type[Turn]] = _PuttingBack


class _Committing(Turn):
    async def _decide(self, batch: Sequence[Entry]) -> Sequence[Message]:
        entered = await super()._decide(batch)
        if self.signal.aborted:
            await self._step(entered)
        return entered


@FAULTS.enter("canceled-batch-committed", "C-CAN-4")
class CanceledBatchCommitted(Agent):
    """
    A batch enters the conversation although the turn was canceled before its step.

    What the user took back is part of every later request.
    """

    turn_type: ClassVar[type[Turn]] = _Committing


class _OpeningEmptySteps(Turn):
    def _opens_step(self, entered: Sequence[Message]) -> bool:  # noqa: ARG002 - the defect is not to look
        return True


@FAULTS.enter("empty-step", "C-PRE-3")
class EmptyStep(Agent):
    """
    A batch that was emptied on purpose opens a step all the same.

    The model is asked again with nothing new to say, and pays for it in money and nonsense.
    """

    turn_type: ClassVar[type[Turn]] = _OpeningEmptySteps


class _Interleaving(Step):
    def _stage(self, context: Message) -> None:
        self._parts.log.append(UserMessage(context))


class _InterleavingTurn(Turn):
    step_type: ClassVar[type[Step]] = _Interleaving


@FAULTS.enter("context-in-batch", "C-STEP-2")
class ContextInBatch(Agent):
    """
    The context of a tool is written right behind its result, whatever results are still to come.

    Providers refuse a conversation in which something stands between a call and its result.
    """

    turn_type: ClassVar[type[Turn]] = _InterleavingTurn
