"""
One turn: opened with its prompt, run step by step, closed with one reason.

    turn/start → what was left behind → prompt → contexts → steps → turn/end → checkpoint → settled
"""

from __future__ import annotations

from typing import Final

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import AgentError, TurnEnd, TurnStart, UserMessage
from turnproof_reference.messages import Message
from turnproof_reference.window.core import DISPOSED
from turnproof_reference.window.events import Settled
from turnproof_reference.window.steps import Steps, Turn

COMPLETED: Final = "completed"
MAX_TOKENS: Final = "max-tokens"
ABORTED: Final = "aborted"
ERROR: Final = "error"
SETTLED: Final = {COMPLETED: COMPLETED, MAX_TOKENS: COMPLETED, ABORTED: ABORTED, DISPOSED: ABORTED, ERROR: ERROR}


class Turns(Steps):
    """Run turns; nothing here knows where prompts come from."""

    async def _run_turn(self, signal: AbortSignal, prompt: Message | None, contexts: tuple[Message, ...] = ()) -> None:
        """
        Run one turn from its start until its checkpoint is over.

        Args:
            signal: of the open window.
            prompt: None repeats a failed request.
            contexts: follow the prompt.

        Rules: W-TURN-1, W-TURN-2, W-TURN-6
        """
        turn = Turn(self._next_turn(), signal)
        self._open_turn(turn, prompt, contexts)
        try:
            await self._run_steps(turn)
        except Exception as error:  # noqa: BLE001 - whatever a hook raises fails the turn, never the agent
            turn.failure = error
        await self._close_turn(turn)

    def _next_turn(self) -> int:
        """
        Answer the number of the turn to open.

        Rules: W-TURN-1, W-LOG-4
        """
        return self.log.last_turn + 1

    def _open_turn(self, turn: Turn, prompt: Message | None, contexts: tuple[Message, ...]) -> None:
        """
        Write the opening as one unit: what was left behind, then the prompt and its contexts.

        Rules: W-ADM-3, W-CAN-6
        """
        self.log.append(TurnStart(turn.number, "retry" if prompt is None else "message"))
        if prompt is None:
            return
        while self._inbox.outbox and self._inbox.outbox[0].retained:
            self._commit_next(turn.number)
        for message in (prompt, *contexts):
            self.log.append(UserMessage(message))

    async def _close_turn(self, turn: Turn) -> None:
        """
        Fix the reason, close the window and the turn, and make it durable.

        Rules: W-WIN-1, W-TURN-4, W-TURN-6, W-CAN-7
        """
        reason = self._reason(turn)
        self._close_window()
        self._retry = turn.retry and reason == ERROR
        self._tell_end(turn, reason)
        await self._make_durable(turn)
        if not self._retry:
            self.publisher.publish(Settled(turn.number, SETTLED[reason]))

    def _tell_end(self, turn: Turn, reason: str) -> None:
        """Tell what failed, if anything did, and close the turn in the log."""
        if reason == ERROR:
            self.publisher.publish(AgentError(turn.number, turn.step, str(turn.failure)))
        self.log.append(TurnEnd(turn.number, reason))

    def _reason(self, turn: Turn) -> str:
        """
        Answer why the turn ends, the first that applies.

        Rules: W-TURN-5, W-CAN-5
        """
        if turn.signal.cause is not None:
            return DISPOSED if turn.signal.cause == DISPOSED else ABORTED
        if turn.failure is not None:
            return ERROR
        return MAX_TOKENS if turn.ceiling else COMPLETED

    async def _make_durable(self, turn: Turn) -> None:
        """
        Wait for the checkpoint; its failure is told and changes nothing.

        Rules: W-TURN-4
        """
        if self.checkpoint is None:
            return
        try:
            await self.checkpoint()
        except Exception as error:  # noqa: BLE001 - the turn is over whether or not it could be saved
            self.publisher.publish(AgentError(turn.number, turn.step, str(error)))
