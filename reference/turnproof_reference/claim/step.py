"""
One step: a request that may be repeated, the answer, and the tools that the answer calls.

    model → [request-error: retry → model …] → assistant/message → tools*

A cancel never tears any of this down. The model and the tools hear of it through the signal, and the step waits for
whatever they say; what they say then only closes what is open.
"""

from __future__ import annotations

from turnproof_reference.abort import Aborted, AbortSignal
from turnproof_reference.claim.checkpoints import CheckpointFailed
from turnproof_reference.claim.extensions import Extensions
from turnproof_reference.claim.pending import Entry
from turnproof_reference.claim.state import Parts
from turnproof_reference.errors import Refused
from turnproof_reference.events import AssistantMessage, ToolCalled, ToolResult
from turnproof_reference.messages import NEXT_STEP, Message, ToolCall
from turnproof_reference.model import Finish, ModelRequest, Recovery, Reply, RequestFailure
from turnproof_reference.tools import ToolBatch, ToolOutcome, ToolRequest


class Step:
    """
    Run one step that is open already, and keep the journal of its tool batch.

    Args:
        turn: number of the open turn.
        number: of the step in its turn, from 1.
    """

    def __init__(self, turn: int, number: int, parts: Parts, extensions: Extensions, signal: AbortSignal) -> None:
        self.turn = turn
        self.number = number
        self.owes_request = False
        self.hit_ceiling = False
        self._parts = parts
        self._extensions = extensions
        self._signal = signal
        self._batch: ToolBatch | None = None
        self._refusal: Refused | None = None  # the first one of this step's contexts

    async def run(self) -> None:
        """
        Ask the model and run what it calls.

        Raises:
            Aborted: when a cancel came before the answer.
            Exception: when the request failed for good or a tool's context was refused.

        Rules: C-STEP-1, C-STEP-4, C-STEP-5, C-CAN-4
        """
        self._signal.check()
        reply = await self._reply()
        self.hit_ceiling = reply.finish is Finish.MAX_TOKENS
        # Whatever hit the ceiling may have been cut off within a call, so none of its calls is run or recorded.
        calls = () if self.hit_ceiling else reply.tool_calls
        self._parts.log.append(AssistantMessage(self.turn, self.number, reply.text, calls))
        if calls:
            concluded = await self._answer(calls)
            self.owes_request = not concluded

    async def _reply(self) -> Reply:
        """
        Ask until there is an answer, or nobody wants to ask again.

        Rules: C-REQ-1, C-STEP-1
        """
        while True:
            request = ModelRequest(self.turn, self.number, self._parts.log.history(), self._signal)
            try:
                reply = await self._extensions.model(request)
            except CheckpointFailed:
                raise
            except Exception as error:  # noqa: BLE001 - any failure of the model is up for recovery
                if self._signal.aborted:
                    self._interrupt(request)
                await self._recover(error)
            else:
                if self._signal.aborted:
                    self._interrupt(request)
                return reply

    def _interrupt(self, request: ModelRequest) -> None:
        """Keep what was streamed before the cancel, drop the rest of the answer."""
        if request.streamed:
            message = AssistantMessage(self.turn, self.number, request.streamed, interrupted=True)
            self._parts.log.append(message)
        raise Aborted(self._signal.cause)

    async def _recover(self, error: Exception) -> None:
        """Return if the request is to be repeated, else raise what it failed with."""
        failure = RequestFailure(self.turn, self.number, error, self._signal)
        decision = await self._extensions.request_error.ask(failure)
        self._signal.check()
        if decision is not Recovery.RETRY:
            raise error

    async def _answer(self, calls: tuple[ToolCall, ...]) -> bool:
        """
        Bring every call to its result.

        Returns:
            whether a result concluded the turn.

        Raises:
            Refused: when a context of a result was, once all calls have their results.
        """
        self._batch = ToolBatch(
            calls,
            self._extensions.tools,
            request=lambda call: ToolRequest(call, self.turn, self.number, self._signal),
            signal=self._signal,
            journal=self,
            loop=self._extensions.loop,
        )
        concluded = await self._batch.run()
        if self._refusal is not None:
            raise self._refusal
        return concluded

    def called(self, call: ToolCall) -> None:
        """
        Log the start of a call.

        Rules: C-STEP-2
        """
        self._parts.log.append(ToolCalled(self.turn, self.number, call.id, call.name))

    def answered(self, call: ToolCall, outcome: ToolOutcome) -> None:
        """
        Log the result of a call, then let its contexts wait for the next boundary.

        A context that is refused fails the turn, but not before the batch is closed.

        Rules: C-STEP-2, C-STEP-3, C-SEND-3
        """
        result = ToolResult(self.turn, self.number, call.id, outcome.is_error, outcome.code, outcome.text)
        self._parts.log.append(result)
        try:
            for context in outcome.contexts:
                self._stage(context)
        except Refused as refusal:
            self._refusal = self._refusal or refusal
            if self._batch is not None:
                self._batch.halt()

    def _stage(self, context: Message) -> None:
        self._parts.pending.insert("a context of a tool", NEXT_STEP, Entry(context))
