"""Everything outside the agent that it asks: the model, the tools, and whoever wants a say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from turnproof_reference.claim.decisions import Decision, PreStep, enter_what_was_claimed
from turnproof_reference.hooks import Waterfall
from turnproof_reference.model import Model, Recovery, RequestFailure, TurnStopping
from turnproof_reference.tools import Tool

Checkpoint: TypeAlias = Callable[[], Awaitable[None]]
"""Makes the log durable; what it raises is reported and ends nothing."""


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
        checkpoint: awaited after each turn where a policy for it is installed.
        loop: runs the tools of a batch.
        pre_step: decides what enters a step.
        request_error: decides what follows a failed request.
        turn_stopping: hears of a turn that is about to end, and may add input.
    """

    model: Model
    tools: Mapping[str, Tool]
    checkpoint: Checkpoint | None
    loop: asyncio.AbstractEventLoop
    pre_step: Waterfall[PreStep, Decision] = field(default_factory=_decisions)
    request_error: Waterfall[RequestFailure, Recovery] = field(default_factory=_recoveries)
    turn_stopping: Waterfall[TurnStopping, None] = field(default_factory=_farewells)
