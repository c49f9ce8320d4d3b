"""
Defects of how the `window` agent admits prompts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable
from dataclasses import replace

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import UserMessage
from turnproof_reference.faults.books import WINDOW
from turnproof_reference.messages import Message
from turnproof_reference.status import IDLE, RUNNING
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.decision import PromptDecision
from turnproof_reference.window.steps import Turn


@WINDOW.enter("steering-before-prompt", "W-ADM-3", origin="case openclaw-later-overtakes-queued-steer")
class SteeringFirst(Agent):
    """
    Steering that arrives while a prompt is being admitted is written before that prompt.

    The model reads the correction before it reads what is corrected.
    """

    def _open_turn(self, turn: Turn, prompt: Message | None, contexts: tuple[Message, ...]) -> None:
        self._inbox.retain()
        super()._open_turn(turn, prompt, contexts)


@WINDOW.enter("blocked-context-leaks", "W-ADM-5", origin="case vellum-blocked-prompt-stays-in-history")
class BlockedContextLeaks(Agent):
    """
    The contexts that a hook returned with its veto are written to the log.

    The model sees fragments of a prompt that was never admitted.
    """

    async def _decision(self, asked: Awaitable[PromptDecision] | None, signal: AbortSignal) -> PromptDecision | None:
        said: list[PromptDecision] = []

        async def overheard(answer: Awaitable[PromptDecision]) -> PromptDecision:
            said.append(await answer)
            return said[0]

        decision = await super()._decision(None if asked is None else overheard(asked), signal)
        for context in said[0].contexts if said and decision is None else ():
            self._stage(context, steering=False)
        return decision


@WINDOW.enter("context-stranded", "W-ADM-6", origin="case dsh-blocked-admission-strands-caller-context")
class ContextStranded(Agent):
    """
    Context that arrived with a blocked prompt stays staged instead of going to the log.

    A later turn sees it in the wrong place, or never.
    """

    def _reject(self) -> None:
        self._close_window()


@WINDOW.enter(
    "idle-during-admission", "W-ADM-1", "W-STAT-1", origin="case dsh-idle-inside-send-and-for-uncommitted-turn"
)
class IdleDuringAdmission(Agent):
    """
    The agent says idle while it is asked whether a prompt may have a turn.

    A supervisor that waits for rest stops it in the middle of its work.
    """

    async def _decision(self, asked: Awaitable[PromptDecision] | None, signal: AbortSignal) -> PromptDecision | None:
        self._status.become(IDLE)
        decision = await super()._decision(asked, signal)
        self._status.become(RUNNING)
        return decision


@WINDOW.enter(
    "prompt-logged-early", "W-ADM-2", "W-ADM-5", "W-FIFO-6", origin="case vellum-blocked-prompt-stays-in-history"
)
class PromptLoggedEarly(Agent):
    """
    A prompt is in the log before anybody has decided whether it may be.

    What a policy refuses stays in the history and reaches the model with the next prompt.
    """

    def _tell_claim(self, prompt: Message) -> None:
        super()._tell_claim(prompt)
        self.log.append(UserMessage(prompt))


@WINDOW.enter("block-hangs-the-agent", "W-ADM-8", "W-STAT-1", origin="family: idle told too early or never")
class BlockHangsTheAgent(Agent):
    """
    After a prompt was blocked the agent neither serves the next one nor rests.

    It says that it works, and whoever waits for it waits for ever.
    """

    async def _decision(self, asked: Awaitable[PromptDecision] | None, signal: AbortSignal) -> PromptDecision | None:
        decision = await super()._decision(asked, signal)
        if decision is None and not signal.aborted:
            self._reject()
            await self._loop.create_future()
        return decision


class _Anonymous(PromptDecision):
    def admitted(self, prompt: Message) -> Message:
        return prompt if self.content is None else Message(prompt.id, self.content, {"kind": "hook"})


@WINDOW.enter("replaced-prompt-loses-source", "W-ADM-4", "W-LOG-1", origin="case kirocrew-steer-identity-by-text")
class ReplacedPromptLosesSource(Agent):
    """
    A hook that rewrites a prompt becomes its author.

    Nobody can tell any more what a person has said.
    """

    async def _decision(self, asked: Awaitable[PromptDecision] | None, signal: AbortSignal) -> PromptDecision | None:
        decision = await super()._decision(asked, signal)
        return decision and _Anonymous(decision.allow, decision.content, decision.contexts)


@WINDOW.enter(
    "decision-loses-contexts", "W-ADM-9", "W-ADM-4", "W-ADM-3", origin="case wuu-parallel-batch-drops-hook-context"
)
class DecisionLosesContexts(Agent):
    """
    What a hook adds to a prompt is lost when it also rewrites it.

    The model reads a question whose explanation was dropped on the way.
    """

    async def _decision(self, asked: Awaitable[PromptDecision] | None, signal: AbortSignal) -> PromptDecision | None:
        decision = await super()._decision(asked, signal)
        if decision is None or decision.content is None:
            return decision
        return PromptDecision(content=decision.content)


@WINDOW.enter(
    "context-torn-from-steering", "W-ADM-7", "W-WIN-5", origin="case dsh-blocked-prompt-vanishes-in-mixed-batch"
)
class ContextTornFromSteering(Agent):
    """
    When a prompt is blocked, context that came beside steering is written at once, and the steering waits.

    The two were sent to be read together, in this order.
    """

    def _reject(self) -> None:
        self._close_window()
        staged, self._inbox.outbox = tuple(self._inbox.outbox), deque(i for i in self._inbox.outbox if i.steering)
        for item in staged:
            if not item.steering:
                self.log.append(UserMessage(item.message))


@WINDOW.enter(
    "block-stops-queue", "W-ADM-8", "W-WAKE-4", "W-STAT-1", origin="family: a wake lost with somebody else's prompt"
)
class BlockStopsQueue(Agent):
    """
    A blocked prompt takes the wake of those behind it along.

    Prompts that nobody objected to wait for somebody to send another one.
    """

    def _reject(self) -> None:
        super()._reject()
        self._inbox.queued = deque(replace(item, waking=False) for item in self._inbox.queued)


@WINDOW.enter("snapshot-sent-ahead", "W-XREF-1", origin="rejected: references travel by themselves")
class SnapshotSentAhead(Agent):
    """
    The snapshot of another session is written at once, whatever becomes of the prompt that refers to it.

    A blocked prompt leaves behind what it was to be blocked with.
    """

    def reference(self, prompt: Message, snapshot: Message) -> None:
        """Deliver a snapshot, then a prompt."""
        if self.accepts_next_step:
            super().reference(prompt, snapshot)
        else:
            self.inject(snapshot)
            self.followup(prompt)
