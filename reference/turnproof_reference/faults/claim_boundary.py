"""
Defects of the step boundaries of the `claim` agent: what is claimed, and what is decided about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.events import CANCELED
from turnproof_reference.claim.interval import Interval
from turnproof_reference.claim.pending import Entry, PendingInput
from turnproof_reference.claim.turn import BLOCKED, StepRejected, Turn
from turnproof_reference.events import UserMessage
from turnproof_reference.faults.books import CLAIM
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target


class _Greedy(PendingInput):
    def claim(self, turn: int, *, prompt: bool) -> Sequence[Entry]:  # noqa: ARG002 - the defect is not to look at it
        return super().claim(turn, prompt=True)


@CLAIM.enter("two-prompts-one-turn", "C-TURN-3", origin="case hermes-queue-mode-newline-join")
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


@CLAIM.enter("prompt-before-context", "C-CLAIM-1", origin="case oculith-transcript-sorted-by-enqueue-time")
class PromptBeforeContext(Agent):
    """
    The prompt enters before the context that was waiting for it.

    The model reads the question before it reads what the question is about.
    """

    pending_type: ClassVar[type[PendingInput]] = _PromptFirst


class _PuttingBack(Turn):
    async def _decide(self, batch: Sequence[Entry]) -> Sequence[Message]:
        try:
            return await super()._decide(batch)
        except StepRejected:
            for entry in reversed(batch):
                self._parts.pending.insert("reject", NEXT_STEP, entry, start=0)
            raise


@CLAIM.enter("rejected-put-back", "C-CLAIM-3", origin="case dsh-blocked-prompt-vanishes-in-mixed-batch")
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


@CLAIM.enter("canceled-batch-committed", "C-CAN-4", "C-PRE-4", origin="case codex-exec-queue-popped-then-aborted")
class CanceledBatchCommitted(Agent):
    """
    A batch enters the conversation although the turn was canceled before its step.

    What the user took back is part of every later request.
    """

    turn_type: ClassVar[type[Turn]] = _Committing


class _OpeningEmptySteps(Turn):
    def _opens_step(self, entered: Sequence[Message]) -> bool:  # noqa: ARG002 - the defect is not to look
        return True


@CLAIM.enter("empty-step", "C-PRE-3", origin="family: a request with nothing new to say")
class EmptyStep(Agent):
    """
    A batch that was emptied on purpose opens a step all the same.

    The model is asked again with nothing new to say, and pays for it in money and nonsense.
    """

    turn_type: ClassVar[type[Turn]] = _OpeningEmptySteps


class _Piecemeal(PendingInput):
    def _claim_from(self, target: Target, count: int) -> Sequence[Entry]:
        return super()._claim_from(target, min(count, 1))


@CLAIM.enter("one-at-a-boundary", "C-CLAIM-1", origin="case zed-queued-prompt-ends-tool-turn-early")
class OneAtABoundary(Agent):
    """
    A boundary claims only the first of what waits for the next step.

    Three corrections cost three requests, and the first of them is answered without the others.
    """

    pending_type: ClassVar[type[PendingInput]] = _Piecemeal


class _Discarding(PendingInput):
    def _claim_from(self, target: Target, count: int) -> Sequence[Entry]:
        return self.splice("claim", target, 0, count, outcome=CANCELED) if count else ()


@CLAIM.enter("claims-logged-as-discards", "C-CLAIM-2", "C-CLAIM-4", origin="case openclaw-compact-deletes-queued")
class ClaimsLoggedAsDiscards(Agent):
    """
    The log says of a claimed message that it was taken back.

    Whoever rebuilds the queue's history finds prompts that were discarded and answered.
    """

    pending_type: ClassVar[type[PendingInput]] = _Discarding


class _Stubborn(Turn):
    async def _decide(self, batch: Sequence[Entry]) -> Sequence[Message]:
        await super()._decide(batch)
        return tuple(entry.message for entry in batch)


@CLAIM.enter(
    "decision-ignored", "C-PRE-1", "C-PRE-3", "C-PRE-4", origin="family: a policy that is asked and not heeded"
)
class DecisionIgnored(Agent):
    """
    Whatever is decided about a batch, what was claimed enters.

    A filter that takes a message out has no effect.
    """

    turn_type: ClassVar[type[Turn]] = _Stubborn


class _Keeping(Turn):
    async def _decide(self, batch: Sequence[Entry]) -> Sequence[Message]:
        try:
            return await super()._decide(batch)
        except StepRejected:
            for entry in batch:
                self._parts.log.append(UserMessage(entry.message))
            raise


@CLAIM.enter("rejected-batch-logged", "C-PRE-2", "C-TURN-2", origin="case vellum-blocked-prompt-stays-in-history")
class RejectedBatchLogged(Agent):
    """
    A rejected batch is written to the log although no step opens for it.

    What a policy has refused reaches the model with the next prompt.
    """

    turn_type: ClassVar[type[Turn]] = _Keeping


class _AdditionsFirst(Turn):
    async def _decide(self, batch: Sequence[Entry]) -> Sequence[Message]:
        claimed = {entry.message.id for entry in batch}
        return sorted(await super()._decide(batch), key=lambda message: message.id in claimed)


@CLAIM.enter("additions-first", "C-PRE-4", "C-PRE-1", origin="case dsh-rejected-turn-start-bricks-and-leaks")
class AdditionsFirst(Agent):
    """
    What a decision adds to a batch is written before what it was added to.

    The model reads an explanation before it reads what is explained.
    """

    turn_type: ClassVar[type[Turn]] = _AdditionsFirst


@CLAIM.enter("quiet-runs-after-reject", "C-PRE-5", "C-TURN-6", "C-STAT-1", origin="family: a wake that nobody gave")
class QuietRunsAfterReject(Agent):
    """
    After a rejected turn whatever waits gets the next one, parked input too.

    A policy that says no is answered with the next attempt.
    """

    def _goes_on(self, turn: Turn) -> bool:
        return super()._goes_on(turn) or (turn.reason == BLOCKED and self._parts.pending.any())


@CLAIM.enter("refusal-hangs-the-driver", "C-PRE-5", "C-STAT-1", origin="family: idle told too early or never")
class RefusalHangsTheDriver(Agent):
    """
    After a turn that was refused, with prompts behind it, the driver neither goes on nor stops.

    The agent says that it works, and nothing is under way.
    """

    _refused = False

    def _goes_on(self, turn: Turn) -> bool:
        self._refused = turn.reason == BLOCKED and self._parts.pending.any()
        return super()._goes_on(turn)

    def _rest(self, interval: Interval) -> None:
        if not self._refused:
            super()._rest(interval)
