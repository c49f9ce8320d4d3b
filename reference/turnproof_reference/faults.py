"""
Deliberate defects of the `window` agent: each breaks one rule, in a way that real agents have broken it.

A suite that doesn't catch one of these has a hole where that rule ought to be.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import UserMessage
from turnproof_reference.fault import FaultBook
from turnproof_reference.messages import Message, ToolCall
from turnproof_reference.model import Reply
from turnproof_reference.status import IDLE, RUNNING
from turnproof_reference.tools import ToolOutcome
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.decision import PromptDecision
from turnproof_reference.window.events import STEERING, Dequeued
from turnproof_reference.window.steps import Turn

FAULTS: Final = FaultBook("window")


@FAULTS.enter("lost-wakeup", "W-WAKE-4")
class LostWakeup(Agent):
    """
    A prompt that is sent while the last turn is being saved wakes nobody.

    Its sender waits until somebody else sends something.
    """

    def _enqueue(self, message: Message, *, waking: bool) -> None:
        settling = self.status == RUNNING and not self.accepts_next_step
        super()._enqueue(message, waking=waking and not settling)


@FAULTS.enter("quiet-wakes", "W-WAKE-2")
class QuietWakes(Agent):
    """
    A prompt that was queued without waking the agent starts a turn anyway.

    Whoever wanted to add it to the next occasion pays for a turn of its own.
    """

    def _enqueue(self, message: Message, *, waking: bool) -> None:  # noqa: ARG002 - the defect is not to look at it
        super()._enqueue(message, waking=True)


@FAULTS.enter("steering-before-prompt", "W-ADM-3")
class SteeringFirst(Agent):
    """
    Steering that arrives while a prompt is being admitted is written before that prompt.

    The model reads the correction before it reads what is corrected.
    """

    def _open_turn(self, turn: Turn, prompt: Message | None, contexts: tuple[Message, ...]) -> None:
        self._inbox.retain()
        super()._open_turn(turn, prompt, contexts)


@FAULTS.enter("context-inside-batch", "W-STEP-3")
class ContextInBatch(Agent):
    """
    The context of a tool is written right behind its result, whatever results are still to come.

    Providers refuse such a conversation, and the session can't be continued.
    """

    def _commit_result(self, turn: Turn, call: ToolCall, outcome: ToolOutcome) -> None:
        super()._commit_result(turn, call, outcome)
        while self._inbox.outbox and not self._inbox.steered:
            self.log.append(UserMessage(self._inbox.outbox.popleft().message))


@FAULTS.enter("silent-drop", "W-FIFO-2")
class SilentDrop(Agent):
    """
    A cancel empties the inbox without a discard event.

    Every mirror of the inbox shows prompts that will never run.
    """

    def _drop(self) -> None:
        self._inbox.clear()


@FAULTS.enter("window-past-turn-end", "W-WIN-3")
class OpenPastTurnEnd(Agent):
    """
    The window is still open while the end of the turn is told.

    Steering sent by whoever hears that is staged for a turn that is over.
    """

    def _tell_end(self, turn: Turn, reason: str) -> None:
        self._window = turn.signal
        super()._tell_end(turn, reason)
        self._close_window()


@FAULTS.enter("keep-inbox-ignored", "W-CAN-3")
class KeepInboxIgnored(Agent):
    """
    A cancel that is to keep the inbox drops it.

    The user stops one answer and loses all further questions.
    """

    def _drop_unless(self, *, keep_inbox: bool) -> None:  # noqa: ARG002 - the defect is not to look at it
        self._drop()


@FAULTS.enter("blocked-context-leaks", "W-ADM-5")
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


@FAULTS.enter("turn-number-reused", "W-LOG-4")
class TurnNumberReused(Agent):
    """
    A resumed agent counts its turns from one again.

    Two turns of one session have the same number, and whoever looks one up gets the other.
    """

    _count = 0

    def _next_turn(self) -> int:
        self._count += 1
        return self._count


@FAULTS.enter("idle-before-checkpoint", "W-STAT-1")
class IdleBeforeCheckpoint(Agent):
    """
    The agent says idle while the log is still being saved.

    A supervisor that stops the process then loses the end of the conversation.
    """

    async def _make_durable(self, turn: Turn) -> None:
        if not self._retry and not self._inbox.waking:
            self._status.become(IDLE)
        await super()._make_durable(turn)


@FAULTS.enter("checkpoint-not-awaited", "W-TURN-4")
class CheckpointNotAwaited(Agent):
    """
    The next turn starts while the last one is still being saved.

    Its settlement is told before it has happened.
    """

    async def _make_durable(self, turn: Turn) -> None:
        self._beside = self._loop.create_task(super()._make_durable(turn))


@FAULTS.enter("retry-lost", "W-TURN-6")
class RetryLost(Agent):
    """
    A retry that was decided is forgotten when a prompt was queued meanwhile.

    The failed question is never answered, though its owner was told that it would be asked again.
    """

    async def _make_durable(self, turn: Turn) -> None:
        await super()._make_durable(turn)
        self._retry = self._retry and not self._inbox.waking


@FAULTS.enter("drain-ignores-abort", "W-CAN-6")
class DrainIgnoresAbort(Agent):
    """
    An abort in the middle of a drain doesn't stop it.

    Input that the user wanted to keep for later is consumed by a turn that never answers it.
    """

    def _drain(self, turn: Turn) -> bool:
        steered = False
        for _ in range(0 if turn.cut() else len(self._inbox.outbox)):
            steered = bool(self._inbox.outbox) and (self._commit_next(turn.number) or steered)
        return steered


@FAULTS.enter("context-forces-step", "W-STEP-5")
class ContextForcesStep(Agent):
    """
    Supplementary input makes the model run again.

    A plugin that reports after each answer keeps the turn going for ever.
    """

    def _drain(self, turn: Turn) -> bool:
        waiting = len(self._inbox.outbox)
        return super()._drain(turn) or len(self._inbox.outbox) < waiting


@FAULTS.enter("two-prompts-one-turn", "W-TURN-3")
class TwoPromptsOneTurn(Agent):
    """
    A turn takes a second queued prompt along.

    The two questions get one answer, and nobody asked whether the second one was allowed.
    """

    def _open_turn(self, turn: Turn, prompt: Message | None, contexts: tuple[Message, ...]) -> None:
        if prompt is not None and self._inbox.waking:
            second = self._inbox.queued.popleft().message
            self._tell_claim(second)
            contexts = (*contexts, second)
        super()._open_turn(turn, prompt, contexts)


@FAULTS.enter("placement-guessed", "W-FIFO-4")
class PlacementGuessed(Agent):
    """
    The dequeue of a prompt names the list that the window suggests now, not the one it had entered.

    A mirror takes it out of the wrong list and shows it as waiting for ever.
    """

    def _tell_claim(self, prompt: Message) -> None:
        if self.accepts_next_step:
            self.publisher.publish(Dequeued(prompt, STEERING))
        else:
            super()._tell_claim(prompt)


@FAULTS.enter("idle-by-status", "W-WAKE-1")
class IdleByStatus(Agent):
    """
    A waiter for idle is released although a prompt has been accepted and not yet begun.

    A script that sends and waits reads the answer before there is one.
    """

    def _resting(self) -> bool:
        return self.status == IDLE


@FAULTS.enter("context-stranded", "W-ADM-6")
class ContextStranded(Agent):
    """
    Context that arrived with a blocked prompt stays staged instead of going to the log.

    A later turn sees it in the wrong place, or never.
    """

    def _reject(self) -> None:
        self._close_window()


@FAULTS.enter("ceiling-forgotten", "W-TURN-5")
class CeilingForgotten(Agent):
    """
    A turn in which an answer was cut off ends as completed because a later step went well.

    Nobody learns that text is missing.
    """

    def _commit_reply(self, turn: Turn, reply: Reply) -> Reply:
        turn.ceiling = False
        return super()._commit_reply(turn, reply)


@FAULTS.enter("stale-cancel", "W-CAN-4")
class StaleCancel(Agent):
    """
    A cancel that came too late for one turn aborts the next one.

    The user presses stop once and loses the following question too.
    """

    _stale = False

    def _open_turn(self, turn: Turn, prompt: Message | None, contexts: tuple[Message, ...]) -> None:
        super()._open_turn(turn, prompt, contexts)
        if self._stale:
            self._stale = False
            turn.signal.abort("user")

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """Cancel, and remember it if no turn is there to hear it."""
        self._stale = not self.accepts_next_step
        super().cancel(cause, keep_inbox=keep_inbox)
