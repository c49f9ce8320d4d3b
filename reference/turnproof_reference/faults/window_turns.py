"""
Defects of how the `window` agent opens, closes and saves turns.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from turnproof_reference.events import TurnEnd
from turnproof_reference.faults.books import WINDOW
from turnproof_reference.messages import Message
from turnproof_reference.model import Model, Reply
from turnproof_reference.status import IDLE
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.inbox import Queued
from turnproof_reference.window.steps import Turn


@WINDOW.enter("two-prompts-one-turn", "W-TURN-3", origin="case kit-compact-then-batch-flush")
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


@WINDOW.enter(
    "window-past-turn-end",
    "W-WIN-3",
    "W-WIN-1",
    "W-ROUTE-2",
    "W-ROUTE-3",
    origin="case claudette-steer-races-idle-dispatch",
)
class OpenPastTurnEnd(Agent):
    """
    The window is still open while the end of the turn is told.

    Steering sent by whoever hears that is staged for a turn that is over.
    """

    def _tell_end(self, turn: Turn, reason: str) -> None:
        self._window = turn.signal
        super()._tell_end(turn, reason)
        self._close_window()


@WINDOW.enter("idle-before-checkpoint", "W-STAT-1", origin="case dsh-idle-inside-send-and-for-uncommitted-turn")
class IdleBeforeCheckpoint(Agent):
    """
    The agent says idle while the log is still being saved.

    A supervisor that stops the process then loses the end of the conversation.
    """

    async def _make_durable(self, turn: Turn) -> None:
        if not self._retry and not self._inbox.waking:
            self._status.become(IDLE)
        await super()._make_durable(turn)


@WINDOW.enter("checkpoint-not-awaited", "W-TURN-4", origin="case uxnan-second-turn-overwrites-first")
class CheckpointNotAwaited(Agent):
    """
    The next turn starts while the last one is still being saved.

    Its settlement is told before it has happened.
    """

    async def _make_durable(self, turn: Turn) -> None:
        self._beside = self._loop.create_task(super()._make_durable(turn))


@WINDOW.enter("retry-lost", "W-TURN-6", origin="family: a decided retry overtaken by the queue")
class RetryLost(Agent):
    """
    A retry that was decided is forgotten when a prompt was queued meanwhile.

    The failed question is never answered, though its owner was told that it would be asked again.
    """

    async def _make_durable(self, turn: Turn) -> None:
        await super()._make_durable(turn)
        self._retry = self._retry and not self._inbox.waking


@WINDOW.enter("ceiling-forgotten", "W-TURN-5", origin="family: the end of a turn reported by its last step")
class CeilingForgotten(Agent):
    """
    A turn in which an answer was cut off ends as completed because a later step went well.

    Nobody learns that text is missing.
    """

    def _commit_reply(self, turn: Turn, reply: Reply) -> Reply:
        turn.ceiling = False
        return super()._commit_reply(turn, reply)


@WINDOW.enter("failed-turn-closed-twice", "W-TURN-1", origin="case strands-parallel-invocations-corrupt-history")
class FailedTurnClosedTwice(Agent):
    """
    A turn that failed is closed by whoever noticed and once more by the loop.

    Whoever follows the log counts a turn that never was.
    """

    def _tell_end(self, turn: Turn, reason: str) -> None:
        super()._tell_end(turn, reason)
        if reason == "error":
            self.log.append(TurnEnd(turn.number, reason))


@WINDOW.enter("turn-left-open", "W-TURN-1", "W-CAN-1", origin="case dsh-throw-after-turn-start-never-closed")
class TurnLeftOpen(Agent):
    """
    A turn that is aborted before its first step is never closed.

    To every reader of the log it runs for ever, and the next one runs inside it.
    """

    def _tell_end(self, turn: Turn, reason: str) -> None:
        if turn.step:
            super()._tell_end(turn, reason)


@WINDOW.enter("interrupted-text-after-end", "W-TURN-2", "W-CAN-1", origin="case openclaw-result-after-run-cleared")
class InterruptedTextAfterEnd(Agent):
    """
    What the model had said when it was interrupted is written when the turn has ended.

    It belongs to no turn, and the next one begins with words that nobody asked for.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        super().__init__(model, **options)
        self._rest_of_reply = ""

    def _keep_streamed(self, turn: Turn, text: str) -> None:  # noqa: ARG002 - the turn doesn't get it
        self._rest_of_reply = text

    def _tell_end(self, turn: Turn, reason: str) -> None:
        super()._tell_end(turn, reason)
        text, self._rest_of_reply = self._rest_of_reply, ""
        super()._keep_streamed(turn, text)


@WINDOW.enter(
    "redelivered-after-error", "W-FIFO-2", "W-FIFO-6", "W-WAKE-4", origin="case openclaw-shift-after-run-redelivers"
)
class RedeliveredAfterError(Agent):
    """
    A prompt leaves the queue for good only when its turn went well, so a failed one is served again.

    The same failure comes round and round, and tools act twice.
    """

    def _open_turn(self, turn: Turn, prompt: Message | None, contexts: tuple[Message, ...]) -> None:
        super()._open_turn(turn, prompt, contexts)
        self._served = prompt

    def _tell_end(self, turn: Turn, reason: str) -> None:
        super()._tell_end(turn, reason)
        if reason == "error" and self._served is not None:
            self._inbox.queued.appendleft(Queued(self._served, waking=True))


@WINDOW.enter("leftovers-dropped", "W-WIN-5", "W-ADM-3", origin="case dsh-blocked-admission-strands-caller-context")
class LeftoversDropped(Agent):
    """
    Context that is still staged when a turn ends is dropped with it.

    A plugin that reported a moment too late reported to nobody.
    """

    def _tell_end(self, turn: Turn, reason: str) -> None:
        self._inbox.outbox = deque(item for item in self._inbox.outbox if item.steering)
        super()._tell_end(turn, reason)
