"""Everything outside the agent that it asks: the model, the tools, and whoever wants a say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from turnproof_reference.claim.checkpoints import Checkpoint, before_decisions, before_requests, before_tools
from turnproof_reference.claim.decisions import Decision, PreStep, enter_what_was_claimed
from turnproof_reference.hooks import Waterfall
from turnproof_reference.model import Model, Recovery, RequestFailure, TurnStopping
from turnproof_reference.tools import Tool


def _decisions() -> Waterfall[PreStep, Decision]:
    return Waterfall(enter_what_was_claimed)


def _recoveries() -> Waterfall[RequestFailure, Recovery]:
    return Waterfall(lambda _failure: Recovery.GIVE_UP)


def _farewells() -> Waterfall[TurnStopping, None]:
    return Waterfall(lambda _stopping: None)


@dataclass(frozen=True, slots=True)
class Extensions:
    """
    Hold what an agent was made with.

    Args:
        model: answers requests.
        tools: by the name under which the model calls them.
        loop: runs the tools of a batch.
        pre_step: decides what enters a step.
        request_error: decides what follows a failed request.
        turn_stopping: hears of a turn that is about to end, and may add input.
    """

    model: Model
    tools: Mapping[str, Tool]
    loop: asyncio.AbstractEventLoop
    pre_step: Waterfall[PreStep, Decision] = field(default_factory=_decisions)
    request_error: Waterfall[RequestFailure, Recovery] = field(default_factory=_recoveries)
    turn_stopping: Waterfall[TurnStopping, None] = field(default_factory=_farewells)


def with_checkpoints(
    model: Model, tools: Mapping[str, Tool], loop: asyncio.AbstractEventLoop, checkpoint: Checkpoint
) -> Extensions:
    """Answer extensions in which the log is made durable before anything relies on it."""
    extensions = Extensions(before_requests(checkpoint, model), before_tools(checkpoint, tools), loop)
    extensions.pre_step.add(before_decisions(checkpoint))
    return extensions
