"""
One batch of tool calls: started as early as their kinds allow, answered in the order of the calls.

A batch is a row of slots and two moves, tried in this order until every slot is committed:

    start the next call, if nothing forbids it  →  commit the first uncommitted call, if it settled  →  wait

Parallel calls that stand side by side run together; an exclusive call runs alone. Once the turn is aborted nothing is
started any more, and everything that is committed is an error. That is all it takes to close a batch properly,
because the moves don't depend on when or in which order the tools answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import ABORTED, ABORTED_BEFORE_DISPATCH, UNKNOWN_TOOL
from turnproof_reference.messages import Message, ToolCall


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """
    Answer one call.

    Args:
        text: shown to the model.
        is_error: whether the tool failed.
        code: names an error of the agent's own making.
        contexts: supplementary input that follows the result, each with its own source.
        concludes: whether the turn may end without another request.
    """

    text: str = ""
    is_error: bool = False
    code: str | None = None
    contexts: tuple[Message, ...] = ()
    concludes: bool = False


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """Show a call to its tool, with the signal that tells when the answer is no longer wanted."""

    call: ToolCall
    turn: int
    step: int
    signal: AbortSignal


ToolBody: TypeAlias = Callable[[ToolRequest], Awaitable[ToolOutcome]]
"""Called at once; what it returns is awaited beside the other calls of the batch. Whatever it raises is its error."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Offer a tool: its body, and whether it may run beside its neighbours."""

    run: ToolBody
    parallel: bool = False


class BatchJournal(Protocol):
    """Write down what happens to the calls of a batch."""

    def called(self, call: ToolCall) -> None:
        """Take note that a call was started, or is closed without a start."""

    def answered(self, call: ToolCall, outcome: ToolOutcome) -> None:
        """Take note of the result of a call; come in call order."""


class Slot:
    """Follow one call from waiting to committed."""

    __slots__ = ("call", "parallel", "settled", "tool")

    def __init__(self, call: ToolCall, tool: Tool | None) -> None:
        self.call = call
        self.tool = tool
        self.parallel = tool is not None and tool.parallel
        self.settled: asyncio.Future[ToolOutcome] | None = None


class ToolBatch:
    """
    Run the calls of one assistant message.

    Args:
        calls: in the order of the message, at least one.
        tools: by name.
        request: makes what a tool is shown.
        signal: tells when the answers are no longer wanted.
        journal: told of starts and results.
        loop: on which the tools run.

    Rules: W-STEP-3, C-STEP-2
    """

    def __init__(
        self,
        calls: Sequence[ToolCall],
        tools: Mapping[str, Tool],
        *,
        request: Callable[[ToolCall], ToolRequest],
        signal: AbortSignal,
        journal: BatchJournal,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._slots = [Slot(call, tools.get(call.name)) for call in calls]
        self._request = request
        self._signal = signal
        self._journal = journal
        self._loop = loop
        self._started = 0
        self._committed = 0
        self._concluded = False
        self._halted = False
        self._bell: asyncio.Future[None] | None = None

    def halt(self) -> None:
        """Start nothing more, because the turn has failed; what runs already settles in its own time."""
        self._halted = True

    async def run(self) -> bool:
        """
        Bring every call to its one result.

        Returns:
            whether a successful result concluded the turn.
        """
        try:
            while self._committed < len(self._slots):
                if self._may_start():
                    self._start(self._slots[self._started])
                elif self._may_commit():
                    self._commit(self._slots[self._committed])
                else:
                    await self._wait()
        except asyncio.CancelledError:  # the agent is cut off; its tools must not outlive it
            self._cut_off()
            raise
        return self._concluded

    def _cut_off(self) -> None:
        for slot in self._slots:
            if slot.settled is not None:
                slot.settled.cancel()

    def _may_start(self) -> bool:
        """Forbid starts after an abort, beside an exclusive call, and of an exclusive call beside any other."""
        if self._stopped() or self._started == len(self._slots):
            return False
        under_way = self._slots[self._committed : self._started]
        return not under_way or (self._slots[self._started].parallel and all(slot.parallel for slot in under_way))

    def _stopped(self) -> bool:
        return self._halted or self._signal.aborted

    def _may_commit(self) -> bool:
        first = self._slots[self._committed]
        if self._committed == self._started:
            return self._stopped()
        return first.settled is not None and first.settled.done()

    def _start(self, slot: Slot) -> None:
        self._started += 1
        self._journal.called(slot.call)
        slot.settled = self._outcome_of(slot)
        slot.settled.add_done_callback(self._ring)

    def _outcome_of(self, slot: Slot) -> asyncio.Future[ToolOutcome]:
        if self._stopped():  # a listener of the start has stopped it
            return self._settled(not_started())
        if slot.tool is None:
            return self._settled(unknown_tool(slot.call))
        try:
            return asyncio.ensure_future(slot.tool.run(self._request(slot.call)), loop=self._loop)
        except Exception as error:  # noqa: BLE001 - a tool's failure of any kind is an answer to the model
            return self._settled(failed_tool(error))

    def _settled(self, outcome: ToolOutcome) -> asyncio.Future[ToolOutcome]:
        future: asyncio.Future[ToolOutcome] = self._loop.create_future()
        future.set_result(outcome)
        return future

    def _commit(self, slot: Slot) -> None:
        self._committed += 1
        if slot.settled is None:
            self._started += 1
            self._journal.called(slot.call)
            outcome = not_started()
        else:
            outcome = self._verdict(_read(slot.settled))
        self._concluded = self._concluded or (outcome.concludes and not outcome.is_error)
        self._journal.answered(slot.call, outcome)

    def _verdict(self, outcome: ToolOutcome) -> ToolOutcome:
        """
        Turn a success that comes too late into an error; a failure stays what it is.

        Rules: W-STEP-3
        """
        if not self._signal.aborted or outcome.is_error:
            return outcome
        return replace(outcome, is_error=True, code=ABORTED, concludes=False)

    async def _wait(self) -> None:
        self._bell = self._loop.create_future()
        await self._bell

    def _ring(self, _settled: asyncio.Future[ToolOutcome]) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)


def not_started() -> ToolOutcome:
    """Answer a call that the turn had no time for."""
    return ToolOutcome("not started: the turn is over", is_error=True, code=ABORTED_BEFORE_DISPATCH)


def unknown_tool(call: ToolCall) -> ToolOutcome:
    """Answer a call of a tool that nobody offers."""
    return ToolOutcome(f"there is no tool named {call.name!r}", is_error=True, code=UNKNOWN_TOOL)


def failed_tool(error: BaseException) -> ToolOutcome:
    """Answer a call whose tool raised."""
    return ToolOutcome(str(error) or type(error).__name__, is_error=True)


def _read(settled: asyncio.Future[ToolOutcome]) -> ToolOutcome:
    """Take whatever a tool ended with, its own cancellation included, as the answer to the model."""
    try:
        return settled.result()
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - as above
        return failed_tool(error)
