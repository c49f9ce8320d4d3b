"""
Hold what a driver answers after each request: events in order, and the state that can be seen from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from attrs import field, frozen

from turnproof_model.events import Event
from turnproof_model.vocabulary import ALWAYS, Contract, GateKind, Status

WhenIdle: TypeAlias = bool | Literal["would-spin"] | None
"""Whether a waiter registered by the request resolved; ``None`` when not probed."""


Kinds: TypeAlias = tuple[Literal["steering", "context"], ...] | None
"""What each entry of the next-step list is; ``None`` where the list is empty or of one kind only."""


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


def _nothing_to_tell_apart(kinds: Kinds) -> Kinds:
    """Read an empty list as an absent one: both are on the wire."""
    return kinds or None


@frozen
class InboxView:
    """Show the pending ids of both lists; ``next_step_kinds`` where the contract stages steering and context."""

    next_turn: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    next_step: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    next_step_kinds: Kinds = field(default=None, converter=_nothing_to_tell_apart)


@frozen
class Observation:
    """Answer one request."""

    events: tuple[Event, ...] = field(default=(), metadata=ALWAYS)
    gates: tuple[GateView, ...] = field(default=(), metadata=ALWAYS)
    status: Status = field(default="idle", metadata=ALWAYS)
    accepts_next_step: bool | None = field(default=None, metadata=ALWAYS)
    inbox: InboxView | None = field(default=None, metadata=ALWAYS)
    when_idle: WhenIdle = field(default=None, metadata=ALWAYS)
    refused: str | None = None
    answer: bool | None = None
    goal: Mapping[str, object] | None = field(default=None, hash=False)


@frozen
class Implementation:
    """Name the candidate behind a driver."""

    name: str
    version: str
    language: str = field(default="", metadata=ALWAYS)
    runtime: str = field(default="", metadata=ALWAYS)


@frozen
class Profile:
    """Answer ``initialize``: who the candidate is, its contract, and what it documents to do."""

    implementation: Implementation
    contract: Contract
    protocol: int = field(default=1, metadata=ALWAYS)
    capabilities: Mapping[str, bool] = field(factory=dict, hash=False, metadata=ALWAYS)
    gates: tuple[GateKind, ...] = field(default=(), metadata=ALWAYS)
    tools: Mapping[str, Literal["exclusive", "parallel"]] = field(factory=dict, hash=False, metadata=ALWAYS)

    def has(self, capability: str) -> bool:
        """Tell whether the capability is declared."""
        return self.capabilities.get(capability, False)
