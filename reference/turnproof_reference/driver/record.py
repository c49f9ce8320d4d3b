"""
What happened since the last answer, and what the runner wants done while it happens.

The recorder is the one listener through which the runner sees an agent. An *arm* is a small script that the runner
left behind: its operations are performed inside the event that it waits for, in the stack that published the event,
which is how a re-entrant caller is played.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from turnproof_reference.driver.errors import bad_params

WireEvent: TypeAlias = dict[str, Any]
Operation: TypeAlias = Mapping[str, Any]


class _Arm:
    """Wait for the nth event that matches."""

    __slots__ = ("defer", "left", "on", "ops", "where")

    def __init__(self, on: str, where: Mapping[str, Any], nth: int, defer: int, ops: Sequence[Operation]) -> None:
        self.on = on
        self.where = where
        self.left = nth
        self.defer = defer
        self.ops = ops

    def fires(self, event: WireEvent) -> bool:
        """Count the event if it matches; answer whether the time has come."""
        if self.on != event["type"] and (event["type"] != "gate/open" or self.on != f"gate:{event['gateKind']}"):
            return False
        for key, wanted in self.where.items():
            if event.get(key) != wanted:
                return False
        self.left -= 1
        return self.left == 0


class Recorder:
    """
    Collect wire events and fire arms.

    Args:
        attempt: performs one operation; a failure of it becomes an event.
    """

    def __init__(self, attempt: Callable[[Operation], None], loop: asyncio.AbstractEventLoop) -> None:
        self._attempt = attempt
        self._loop = loop
        self._events: list[WireEvent] = []
        self._arms: list[_Arm] = []  # in the order in which they were left behind
        self._generation = 0  # of arms; deferred operations of an earlier one are dead
        self.alive = True

    def record(self, event: WireEvent) -> None:
        """Add the event, then fire what waits for it; a dropped recorder ignores everything."""
        if not self.alive:
            return
        self._events.append(event)
        for arm in tuple(self._arms):
            # An operation of an earlier arm may have dropped all arms, or published an event that fired this one.
            if arm in self._arms and arm.fires(event):
                self._arms.remove(arm)
                self._perform(arm.ops, arm.defer, self._generation)

    def take(self) -> list[WireEvent]:
        """Answer everything since the last call."""
        events, self._events = self._events, []
        return events

    def prepend(self, events: list[WireEvent]) -> None:
        """Put events of an earlier recorder in front."""
        self._events[:0] = events

    def disarm(self) -> None:
        """Forget all arms and deferred operations."""
        self._arms.clear()
        self._generation += 1

    def drop(self) -> None:
        """Record nothing and fire nothing any more."""
        self.alive = False
        self.disarm()
        self._events = []

    def arm(self, params: Mapping[str, Any]) -> None:
        """
        Leave a script behind; see `arm` in the driver protocol.

        Raises:
            ProtocolError: when a parameter has another shape.
        """
        on, where, ops = params.get("on"), params.get("where", {}), params.get("ops")
        nth, defer = params.get("nth", 1), params.get("defer", 0)
        if not isinstance(on, str):
            raise bad_params("on", "an event type, 'request' or 'gate:KIND'", on)
        if not isinstance(where, Mapping):
            raise bad_params("where", "an object of fields that must be equal", where)
        if not isinstance(nth, int) or nth < 1:
            raise bad_params("nth", "a whole number of at least 1", nth)
        if not isinstance(defer, int) or defer < 0:
            raise bad_params("defer", "a whole number of at least 0", defer)
        self._arms.append(_Arm(on, where, nth, defer, operations(ops)))

    def _perform(self, ops: Sequence[Operation], breaks: int, generation: int) -> None:
        """Perform operations now or after a number of scheduler breaks, unless they died meanwhile."""
        if generation != self._generation:
            return
        if breaks:
            self._loop.call_soon(self._perform, ops, breaks - 1, generation)
            return
        for op in ops:
            self._attempt(op)


def operations(ops: Any) -> Sequence[Operation]:
    """
    Check the operations of a batch or an arm.

    Raises:
        ProtocolError: when they have another shape.
    """
    if not isinstance(ops, Sequence) or isinstance(ops, str):
        raise bad_params("ops", "a list of operations", ops)
    for op in ops:
        if not isinstance(op, Mapping) or not isinstance(op.get("method"), str):
            raise bad_params("operation", "an object with a 'method'", op)
    return ops
