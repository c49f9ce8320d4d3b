"""
One turn: boundaries and steps from `turn/start` to `turn/end`.

    turn/start → claim → pre-step → [reject: turn/end] | step/start → batch → model → tools* → step/end → claim → …
               → turn-stopping → turn/end

Every wait is followed by a look at the signal, and so is everything that listeners hear of, because any of them may
cancel. What the turn owes the model and what the turn will be said to have ended with are two variables: a step that
hit the ceiling decides the reason, yet the results of a later step still want an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from turnproof_reference.abort import AbortSignal
from turnproof_reference.claim.decisions import Enter, PreStep
from turnproof_reference.claim.extensions import Extensions
from turnproof_reference.claim.pending import Entry
from turnproof_reference.claim.state import Parts
from turnproof_reference.claim.step import Step
from turnproof_reference.events import AgentError, StepEnd, StepStart, TurnEnd, TurnStart, UserMessage
from turnproof_reference.messages import NEXT_STEP, Message
from turnproof_reference.model import TurnStopping

ABORTED: Final = "aborted"
BLOCKED: Final = "blocked"
COMPLETED: Final = "completed"
ERROR: Final = "error"
MAX_TOKENS: Final = "max-tokens"


class StepRejected(Exception):  # noqa: N818 - a decision, not a fault
    """Say that the pre-step decision let no step open."""


class Turn:
    """
    Run one turn. `reason` tells what it ended with, and is None until then.

    Args:
        parts: of the agent.
        extensions: what the turn asks.
        signal: of the running interval; a cancel of it aborts the turn.
        number: of the turn, higher than that of any turn before it in the session.
    """

    step_type: ClassVar[type[Step]] = Step

    def __init__(self, parts: Parts, extensions: Extensions, signal: AbortSignal, number: int) -> None:
        self.number = number
        self.steps = 0
        self.reason: str | None = None
        self.signal = signal
        self._parts = parts
        self._extensions = extensions
        self._owes_request = False
        self._hit_ceiling = False
        self._opening: Sequence[Entry] = ()

    def open(self) -> None:
        """
        Log the start and make the first claim, within the caller's stack.

        A cancel by a listener of the start leaves nothing to wait for, so the turn closes in the same stack.

        Rules: C-WAKE-1, C-CLAIM-1, C-CLAIM-2, C-TURN-3, C-CAN-5
        """
        self._parts.log.append(TurnStart(self.number))
        if self.signal.aborted:
            self._close(ABORTED)
        else:
            self._opening = self._parts.pending.claim(self.number, prompt=True)

    async def run(self) -> None:
        """
        Go from the first claim to the end of the turn.

        Rules: C-TURN-5
        """
        if self.reason is not None:
            return
        failure: Exception | None = None
        try:
            await self._steps()
        except Exception as error:  # noqa: BLE001 - whatever a listener raises ends the turn, not the agent
            failure = error
        reason = self._reason_after(failure)
        if reason == ERROR:
            message = str(failure) or type(failure).__name__
            self._parts.publisher.publish(AgentError(self.number, self.steps, message))
        self._close(reason)

    def _reason_after(self, failure: Exception | None) -> str:
        if self.signal.aborted:
            return ABORTED
        if isinstance(failure, StepRejected):
            return BLOCKED
        if failure is not None:
            return ERROR
        return MAX_TOKENS if self._hit_ceiling else COMPLETED

    def _close(self, reason: str) -> None:
        self.reason = reason
        cause = self.signal.cause if reason == ABORTED else None
        self._parts.log.append(TurnEnd(self.number, reason, cause))

    async def _steps(self) -> None:
        """
        Enter step after step until the turn has nothing left to do.

        Rules: C-PRE-1, C-PRE-3, C-STEP-4, C-STEP-5, C-CAN-5
        """
        batch = self._opening
        while True:
            self.signal.check()
            entered = await self._decide(batch)
            self.signal.check()
            if not self._opens_step(entered):
                return
            await self._step(entered)
            self.signal.check()
            if not self._goes_on():
                await self._extensions.turn_stopping.ask(TurnStopping(self.number, self.signal))
                self.signal.check()
                if not self._goes_on():
                    return
            batch = self._parts.pending.claim(self.number, prompt=False)

    def _opens_step(self, entered: Sequence[Message]) -> bool:
        """
        Tell whether there is anything to ask the model.

        Rules: C-PRE-3
        """
        return bool(entered) or self._owes_request

    def _goes_on(self) -> bool:
        """
        Tell whether another boundary follows.

        Rules: C-STEP-4, C-STEP-5
        """
        return self._owes_request or self._parts.pending.any(NEXT_STEP)

    async def _decide(self, batch: Sequence[Entry]) -> Sequence[Message]:
        """
        Ask what enters the next step.

        Raises:
            StepRejected: when nothing does and the turn is to close.

        Rules: C-PRE-1, C-PRE-2, C-XREF-1
        """
        claimed = tuple(entry.message for entry in batch)
        question = PreStep(self.number, self.steps + 1, claimed, self.signal)
        decision = await self._extensions.pre_step.ask(question)
        if not isinstance(decision, Enter):
            raise StepRejected
        ids = {message.id for message in decision.messages}
        snapshots = (entry.snapshot for entry in batch if entry.message.id in ids)
        return (*decision.messages, *(snapshot for snapshot in snapshots if snapshot is not None))

    async def _step(self, entered: Sequence[Message]) -> None:
        """
        Open a step with its batch, and close it whatever happens inside.

        Rules: C-STEP-1, C-CAN-4
        """
        log = self._parts.log
        self.steps += 1
        step = self.step_type(self.number, self.steps, self._parts, self._extensions, self.signal)
        log.append(StepStart(self.number, self.steps))
        for message in entered:
            log.append(UserMessage(message))
        try:
            await step.run()
        except Exception:
            log.append(StepEnd(self.number, self.steps))
            raise
        self._owes_request = step.owes_request
        self._hit_ceiling = self._hit_ceiling or step.hit_ceiling
        log.append(StepEnd(self.number, self.steps))
