"""
When the log is made durable, for an agent that has somewhere to keep it.

Three moments need it: before a boundary decides about the next step, so that what the last one brought is safe; before
a model is shown a request; and before a tool may act on the world. A checkpoint that fails keeps from happening what
it was to protect. The turn fails with it, except before a tool, where the call does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from turnproof_reference.claim.decisions import Decision, PreStep
from turnproof_reference.hooks import Hook, Next
from turnproof_reference.model import Model, ModelRequest, Reply
from turnproof_reference.tools import Tool, ToolOutcome, ToolRequest, not_started

Checkpoint: TypeAlias = Callable[[], Awaitable[None]]
"""Makes the log durable, or raises."""


class CheckpointFailed(Exception):  # noqa: N818 - said of the past: it did fail
    """Say that a request wasn't made because the log isn't safe; asking again wouldn't help."""


def before_decisions(checkpoint: Checkpoint) -> Hook[PreStep, Decision]:
    """Answer a pre-step hook that lets the others decide once the log is safe."""

    async def decide(_question: PreStep, inner: Next[Decision]) -> Decision:
        await checkpoint()
        return await inner()

    return decide


def before_requests(checkpoint: Checkpoint, model: Model) -> Model:
    """Answer a model that is asked once the log is safe; a cancel in between reaches it through its signal."""

    async def ask(request: ModelRequest) -> Reply:
        try:
            await checkpoint()
        except Exception as error:
            raise CheckpointFailed(str(error)) from error
        return await model(request)

    return ask


def before_tools(checkpoint: Checkpoint, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    """Answer tools that run once the log is safe, and not at all after a cancel."""
    return {name: Tool(_guarded(checkpoint, tool), tool.parallel) for name, tool in tools.items()}


def _guarded(checkpoint: Checkpoint, tool: Tool) -> Callable[[ToolRequest], Awaitable[ToolOutcome]]:
    async def run(safe: Awaitable[None], request: ToolRequest) -> ToolOutcome:
        await safe
        if request.signal.aborted:
            return not_started()
        return await tool.run(request)

    # The checkpoint begins when the call starts, not when the batch first waits for it.
    return lambda request: run(checkpoint(), request)
