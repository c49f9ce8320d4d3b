"""
Hold what stands around an agent and is no rule of a contract: open gates, arms, deferred operations, free choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import field, fields, frozen, has

from turnproof_model.events import Event, GateOpened
from turnproof_model.observation import GateView
from turnproof_model.policies import Policy
from turnproof_model.vocabulary import Arm, GateKind, GiveUp, Message, Outcome, Result, Throw
from turnproof_model.wire import to_wire

ABORT_OUTCOME: Mapping[GateKind, Outcome] = {
    "prompt-submit": Throw(),
    "pre-step": Throw(),
    "step": Throw(),
    "model": Throw(),
    "tool": Result(),
    "request-error": GiveUp(),
    "turn-stopping": Throw(),
}
"""How a cooperative gate of each kind settles on an abort; ``flush`` never hears of one."""


class MisuseError(Exception):
    """Say that a command can't be given to any driver in this state (no such gate, say); nothing has changed."""


@frozen
class Demand:
    """Hold an expected event with the rules that demand it."""

    event: Event
    rules: tuple[str, ...]


@frozen
class OpenGate:
    """Hold one open gate; ``slot`` is the call of the batch that a tool gate belongs to."""

    view: GateView
    slot: int = -1


@frozen
class Armed:
    """Hold an arm with the number of matches it still needs."""

    arm: Arm
    left: int


@frozen
class Setting:
    """Hold what doesn't change within one schedule: capabilities and tools of the candidate."""

    capabilities: Mapping[str, bool] = field(factory=dict)
    tools: Mapping[str, str] = field(factory=lambda: {"par": "parallel", "exc": "exclusive"})


class Chooser:
    """Decide what the contract leaves open; this one takes the observed behaviour everywhere."""

    def policy(self, policy: Policy) -> str:
        """Pick the value of a named freedom."""
        return policy.default

    def once(self, what: str, options: int) -> int:  # noqa: ARG002  # the default chooser doesn't look
        """Pick one of ``options`` ways (≥ 2) for this occurrence alone; ``what`` names it."""
        return 0


def meets(event: Event, arm: Arm) -> bool:
    """Tell whether an event is one that an arm waits for."""
    named = event.type == arm.on or (isinstance(event, GateOpened) and arm.on == f"gate:{event.gate_kind}")
    if not named or not arm.where:
        return named
    wire = to_wire(event)
    return all(wire.get(name) == value for name, value in arm.where.items())


def messages_in(value: Any) -> tuple[Message, ...]:
    """List the message values that a command or an outcome brings along."""
    cls: type = type(value)
    one, many = _bearers(cls)
    if not (one or many):
        return ()
    found = [message for name in one if isinstance(message := getattr(value, name), Message)]
    for name in many:
        found.extend(item for item in getattr(value, name) or () if isinstance(item, Message))
    return tuple(found)


@cache
def _bearers(cls: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the fields of a class that may hold a message, and those that may hold several."""
    names = {attribute.name for attribute in fields(cls)} if has(cls) else set()
    one, many = ("message", "snapshot"), ("additional_contexts", "messages")
    return tuple(name for name in one if name in names), tuple(name for name in many if name in names)
