"""
One agent and everything around it, from one reset to the next.

A world is thrown away as a whole: once dropped, nothing that its agent, its gates, its arms or its deferred
operations still do is seen by anybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

from turnproof_reference.driver.adapter import Adapter
from turnproof_reference.driver.gates import GateBoard
from turnproof_reference.driver.outcomes import Reader
from turnproof_reference.driver.projection import Accepted, shown
from turnproof_reference.driver.record import Operation, Recorder
from turnproof_reference.events import Event
from turnproof_reference.hooks import Next
from turnproof_reference.model import ModelRequest, Recovery, Reply, RequestFailure, TurnStopping
from turnproof_reference.session import Session
from turnproof_reference.tools import Tool, ToolOutcome, ToolRequest

TOOLS: Mapping[str, str] = {"par": "parallel", "exc": "exclusive"}


class World:
    """
    Surround one agent with gates.

    Args:
        attempt: performs one operation of an arm.
        gated: names of the kinds of gates that park.
        on_abort: `settle` or `park` by kind.
        accepted: what was accepted in this session before.
    """

    def __init__(
        self,
        adapter: Adapter,
        loop: asyncio.AbstractEventLoop,
        *,
        attempt: Callable[[Operation], None],
        gated: Collection[str],
        on_abort: Mapping[str, str],
        session: Session,
        accepted: Accepted | None = None,
    ) -> None:
        self.adapter = adapter
        self.loop = loop
        self.gated = gated
        self.on_abort = on_abort
        self.accepted = Accepted() if accepted is None else accepted
        self.recorder = Recorder(attempt, loop)
        self.accept = Reader(self.accepted)
        self.gates = GateBoard(adapter.kinds(self.accept), gated, on_abort, self.recorder, loop)
        self.tools = {name: self._tool(name, parallel=kind == "parallel") for name, kind in TOOLS.items()}
        self.agent = adapter.start(self, session)

    def hear(self, event: Event) -> None:
        """Be the listener of the agent: record the event and fire what waits for it."""
        if self.recorder.alive:
            self.recorder.record(self.adapter.project(event, self.accepted))

    def session(self) -> Session:
        """Answer the session as it is now."""
        return self.agent.log.snapshot()

    def drop(self) -> None:
        """Cut the agent off; nothing of it is seen again."""
        self.recorder.drop()
        self.gates.drop()
        self.agent.abandon()

    async def model(self, request: ModelRequest) -> Reply:
        """Be the model: show the request, then answer what the runner says."""
        messages = [shown(entry, self.accepted) for entry in request.messages]
        self.recorder.record({"kind": "request", "type": "request", "messages": messages})
        streamed = ""
        while True:
            info = {"partial": streamed} if streamed else {}
            outcome = await self.gates.ask("model", info, request.signal)
            if isinstance(outcome, Reply):
                return Reply(streamed + outcome.text, outcome.tool_calls, outcome.finish) if streamed else outcome
            request.stream(outcome.text)
            streamed = request.streamed

    def request_error(self, failure: RequestFailure, _next: Next[Recovery]) -> asyncio.Future[Recovery]:
        """Decide about a failed request as the runner says."""
        return self.gates.ask("request-error", {"turn": failure.turn, "step": failure.step}, failure.signal)

    def turn_stopping(self, stopping: TurnStopping, _next: Next[None]) -> asyncio.Future[None]:
        """Hold the turn before it ends for as long as the runner says."""
        return self.gates.ask("turn-stopping", {"turn": stopping.turn}, stopping.signal)

    def checkpoint(self) -> asyncio.Future[None]:
        """Make the log durable when the runner says so."""
        return self.gates.ask("flush", {})

    def _tool(self, name: str, *, parallel: bool) -> Tool:
        def run(request: ToolRequest) -> asyncio.Future[ToolOutcome]:
            return self.gates.ask("tool", {"callId": request.call.id, "name": name}, request.signal)

        return Tool(run, parallel)
