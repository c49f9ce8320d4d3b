"""
Hold what a driver answers after each request: events in order, and the state that can be seen from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from attrs import field, frozen

from turnproof_model.events import Event
from turnproof_model.vocabulary import Contract, GateKind, Status

WhenIdle: TypeAlias = bool | Literal["would-spin"] | None
"""Whether a waiter registered by the request resolved; ``None`` when not probed."""


@frozen
class GateView:
    """Show one open gate: what it is for, and whether an abort has reached it."""

    id: str
    kind: GateKind
    aborted: bool = False
    message: str | None = None
    claimed: tuple[str, ...] | None = None
    turn: int | None = None
    step: int | None = None
    call_id: str | None = None
    name: str | None = None
    partial: str | None = None


@frozen
class InboxView:
    """Show the pending ids of both lists; ``next_step_kinds`` where the contract stages steering and context."""

    next_turn: tuple[str, ...] = ()
    next_step: tuple[str, ...] = ()
    next_step_kinds: tuple[Literal["steering", "context"], ...] | None = None


@frozen
class Observation:
    """Answer one request."""

    events: tuple[Event, ...] = ()
    gates: tuple[GateView, ...] = ()
    status: Status = "idle"
    accepts_next_step: bool | None = None
    inbox: InboxView | None = None
    when_idle: WhenIdle = None
    refused: str | None = None
    answer: bool | None = None
    goal: Mapping[str, object] | None = field(default=None, hash=False)


@frozen
class Implementation:
    """Name the candidate behind a driver."""

    name: str
    version: str
    language: str = ""
    runtime: str = ""


@frozen
class Profile:
    """Answer ``initialize``: who the candidate is, its contract, and what it documents to do."""

    implementation: Implementation
    contract: Contract
    protocol: int = 1
    capabilities: Mapping[str, bool] = field(factory=dict, hash=False)
    gates: tuple[GateKind, ...] = ()
    tools: Mapping[str, Literal["exclusive", "parallel"]] = field(factory=dict, hash=False)

    def has(self, capability: str) -> bool:
        """Tell whether the capability is declared."""
        return self.capabilities.get(capability, False)
