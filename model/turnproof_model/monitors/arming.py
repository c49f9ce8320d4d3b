"""
Replay arms: find the moment at which an armed operation is performed, from the events alone.
"""

from __future__ import annotations

from typing import Any

import attrs

from turnproof_model import vocabulary as v
from turnproof_model.events import Event, GateOpened
from turnproof_model.monitors.base import Issued, Unsure
from turnproof_model.wire import camel


class Arming:
    """Follow one arm until its nth match."""

    __slots__ = ("arm", "left")

    def __init__(self, arm: v.Arm) -> None:
        self.arm = arm
        self.left = arm.nth

    def matches(self, event: Event) -> bool | None:
        """Tell whether this event is one that the arm waits for; None where the stream doesn't show it."""
        on = self.arm.on
        if on.startswith("gate:"):
            if type(event) is not GateOpened or event.gate_kind != on.removeprefix("gate:"):
                return False
            return None if self.arm.where else True
        return event.type == on and all(_shown(event, name) == value for name, value in self.arm.where.items())

    def fire(self, event: Event, match: bool | None) -> list[Issued[Any] | Unsure[Any]]:
        """List the operations that the arm performs on this match; none while earlier matches are still to come."""
        if match:
            self.left -= 1
            if self.left:
                return []
        sure = match is True and not self.arm.defer
        return [Issued(op, "arm", event) if sure else Unsure(op, "deferred") for op in self.arm.ops]

    def offers(self, message_id: str) -> bool:
        """Tell whether the arm would send this message inside a later event."""
        return any(isinstance(op, v.Send) and op.message.id == message_id for op in self.arm.ops)


def _shown(event: Event, wire_name: str) -> object:
    """Read a field of an event by its wire name."""
    for attribute in attrs.fields(type(event)):
        if camel(attribute.name) == wire_name:
            value = getattr(event, attribute.name)
            return list(value) if isinstance(value, tuple) else value
    return None
