"""
The steps of one turn, each a request to the model and its consequences.

    [before step → drain → step/start → request → reply → tools → drain → step/end]* → turn stopping

Input is drained at the two safe boundaries only, before a step opens and before it closes, so nothing ever comes
between the calls of an answer and their results.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import AssistantMessage, StepEnd, StepStart, ToolCalled, ToolResult
from turnproof_reference.messages import ToolCall
from turnproof_reference.model import BeforeStep, Finish, ModelRequest, Recovery, Reply, RequestFailure, TurnStopping
from turnproof_reference.tools import ToolBatch, ToolOutcome, ToolRequest
from turnproof_reference.window.core import Core


class After(Enum):
    """Say what follows a step."""

    STEP = auto()
    STOPPING = auto()
    END = auto()


@dataclass(slots=True)
class Turn:
    """
    Follow one turn.

    Args:
        number: in the session.
        signal: its abort slot.
        step: number of the latest step, 0 before the first.
        ceiling: whether the model hit its limit in any step.
        failure: what made the turn fail.
        retry: whether the failed request is to be asked again.
    """

    number: int
    signal: AbortSignal
    step: int = 0
    ceiling: bool = False
    failure: Exception | None = None
    retry: bool = False

    def cut(self) -> bool:
        """Tell whether the turn was aborted."""
        return self.signal.aborted


class Steps(Core):
    """Run the steps of a turn; nothing here opens or closes one."""

    async def _run_steps(self, turn: Turn) -> None:
        """
        Run steps until nothing asks for another one.

        A turn that was aborted in its opening has no step; later an abort is looked for behind the hooks, which are
        asked all the same (*observed*) and may have something to clean up.

        Rules: W-STEP-1, W-STEP-5, W-STEP-8
        """
        if turn.cut():
            return
        self._drain(turn)
        while True:
            turn.step += 1
            await self.before_step.ask(BeforeStep(turn.number, turn.step, turn.signal))
            self._drain(turn)
            if turn.cut():
                return
            after = await self._run_step(turn)
            if after is After.END or (after is After.STOPPING and not await self._steered_at_stopping(turn)):
                return

    async def _run_step(self, turn: Turn) -> After:
        """Make one request and bring its consequences into the log."""
        self.log.append(StepStart(turn.number, turn.step))
        reply = await self._request(turn)
        if reply is None:
            self.log.append(StepEnd(turn.number, turn.step))
            await self._recover(turn)
            return After.END
        concluded = await self._run_tools(turn, reply.tool_calls) if reply.tool_calls else False
        steered = self._drain_after(turn, reply)
        self.log.append(StepEnd(turn.number, turn.step))
        if concluded:
            return After.END
        return After.STEP if reply.tool_calls or steered or self._inbox.steered else After.STOPPING

    async def _request(self, turn: Turn) -> Reply | None:
        """
        Ask the model and commit its answer.

        Returns:
            what was committed; None if the turn was aborted first or the request failed.

        Rules: W-REQ-1, W-CAN-1
        """
        if turn.cut():
            return None
        request = ModelRequest(turn.number, turn.step, self.log.history(), turn.signal)
        try:
            reply = await self.model(request)
        except Exception as error:  # noqa: BLE001 - whatever a model raises is a failed request
            turn.failure = error
            reply = None
        if turn.cut():
            self._keep_streamed(turn, request.streamed)
            return None
        return None if reply is None else self._commit_reply(turn, reply)

    def _keep_streamed(self, turn: Turn, text: str) -> None:
        """Commit what the model had said before it was interrupted, if anything."""
        if text:
            self.log.append(AssistantMessage(turn.number, turn.step, text, interrupted=True))

    def _commit_reply(self, turn: Turn, reply: Reply) -> Reply:
        """
        Write the answer; one that hit the ceiling loses its calls, because they may be cut off.

        Rules: W-TURN-5
        """
        if reply.finish is Finish.MAX_TOKENS:
            turn.ceiling = True
            reply = Reply(reply.text, (), reply.finish)
        self.log.append(AssistantMessage(turn.number, turn.step, reply.text, reply.tool_calls))
        return reply

    async def _recover(self, turn: Turn) -> None:
        """
        Ask what to do about a failed request; an aborted one is nobody's business.

        Rules: W-TURN-6
        """
        if turn.failure is None or turn.cut():
            return
        question = RequestFailure(turn.number, turn.step, turn.failure, turn.signal)
        try:
            turn.retry = await self.request_error.ask(question) is Recovery.RETRY
        except Exception as error:  # noqa: BLE001 - a broken recovery leaves the failure as it is
            self._warn("request recovery failed", error)

    async def _run_tools(self, turn: Turn, calls: tuple[ToolCall, ...]) -> bool:
        """
        Run the calls of one answer.

        Returns:
            whether a result concluded the turn.

        Rules: W-STEP-3, W-STEP-6
        """
        batch = ToolBatch(
            calls,
            self.tools,
            request=lambda call: ToolRequest(call, turn.number, turn.step, turn.signal),
            signal=turn.signal,
            journal=_Journal(self, turn),
            loop=self._loop,
        )
        return await batch.run()

    def _commit_result(self, turn: Turn, call: ToolCall, outcome: ToolOutcome) -> None:
        """
        Write a result, then stage the contexts that came with it.

        Rules: W-STEP-4
        """
        result = ToolResult(turn.number, turn.step, call.id, outcome.is_error, outcome.code, outcome.text)
        self.log.append(result)
        for context in outcome.contexts:
            self._stage(context, steering=False)

    def _drain_after(self, turn: Turn, reply: Reply) -> bool:
        """
        Commit what is staged at the end of a step.

        Returns:
            whether steering was among it.

        Rules: W-STEP-2, W-CAN-6
        """
        if turn.cut() and reply.tool_calls:
            self._drain_context(turn)
            return False
        return self._drain(turn)

    def _drain(self, turn: Turn) -> bool:
        """
        Commit what is staged now, in order; an abort stops it after the item at hand.

        What listeners stage meanwhile waits for the next boundary.

        Returns:
            whether steering was among it.

        Rules: W-STEP-2, W-WIN-4, W-CAN-6
        """
        steered = False
        for _ in range(len(self._inbox.outbox)):
            if turn.cut() or not self._inbox.outbox:
                break
            steered = self._commit_next(turn.number) or steered
        return steered

    def _drain_context(self, turn: Turn) -> None:
        """
        Commit the context that an aborted batch left, if no steering is staged by its end.

        Rules: W-CAN-6
        """
        for item in () if self._inbox.steered else tuple(self._inbox.outbox):
            if not self._inbox.outbox or self._inbox.outbox[0] is not item:  # a cancel of a listener has dropped it
                break
            self._commit_next(turn.number)

    async def _steered_at_stopping(self, turn: Turn) -> bool:
        """
        Announce the end of the turn and answer whether steering keeps it going.

        Rules: W-STEP-8, W-STEP-5
        """
        await self.turn_stopping.ask(TurnStopping(turn.number, turn.signal))
        steered = self._drain(turn)
        return (steered or self._inbox.steered) and not turn.cut()


class _Journal:
    """Write the story of a batch into the log of its turn."""

    __slots__ = ("_steps", "_turn")

    def __init__(self, steps: Steps, turn: Turn) -> None:
        self._steps = steps
        self._turn = turn

    def called(self, call: ToolCall) -> None:
        """Write that a call was started, or is closed without a start."""
        self._steps.log.append(ToolCalled(self._turn.number, self._turn.step, call.id, call.name))

    def answered(self, call: ToolCall, outcome: ToolOutcome) -> None:
        """Write the result of a call."""
        self._steps._commit_result(self._turn, call, outcome)
