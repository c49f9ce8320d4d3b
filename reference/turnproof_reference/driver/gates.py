"""
Gates: everything outside the agent that it waits for, parked until the runner releases it.

A gate is a future with an identity. Releasing it only stores the outcome; the agent goes on when the loop is run
again, never in the stack of whoever released the gate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from turnproof_reference.abort import Aborted, AbortSignal
from turnproof_reference.driver.errors import bad_params
from turnproof_reference.driver.record import Recorder

Outcome: TypeAlias = Mapping[str, Any]

SETTLE: Final = "settle"
PARK: Final = "park"


@dataclass(frozen=True, slots=True)
class GateKind:
    """
    Describe one kind of gate.

    Args:
        default: the outcome when nobody gates this kind.
        read: turns an outcome from the wire into what the agent awaits; an exception it returns is raised there.
        aborted: what a cooperative gate settles with on an abort.
        on_abort: `settle` or `park`, unless the runner chooses.
    """

    default: Outcome
    read: Callable[[Outcome], Any]
    aborted: Callable[[], Any] = Aborted
    on_abort: str = SETTLE


class Gate:
    """Wait for one release."""

    __slots__ = ("aborted", "forget", "future", "info", "name", "rule")

    def __init__(self, name: str, rule: GateKind, info: Mapping[str, Any], future: asyncio.Future[Any]) -> None:
        self.name = name
        self.rule = rule
        self.info = info
        self.future = future
        self.aborted = False
        self.forget: Callable[[], None] | None = None

    def settle(self, value: Any) -> None:
        """Let the agent have the value; an exception is raised where it waits."""
        if self.forget is not None:
            self.forget()
        if self.future.done():  # its agent was cut off
            return
        if isinstance(value, Exception):
            self.future.set_exception(value)
            self.future.exception()  # counts as read: the agent may have been cut off before it looks
        else:
            self.future.set_result(value)


class GateBoard:
    """
    Hold the open gates of one agent.

    Args:
        kinds: by name, all that the contract knows.
        gated: names of the kinds that park; the others take their default after a scheduler break.
        on_abort: `settle` or `park` by name, where it differs from the kind's own.
    """

    def __init__(
        self,
        kinds: Mapping[str, GateKind],
        gated: Collection[str],
        on_abort: Mapping[str, str],
        recorder: Recorder,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._kinds = kinds
        self._gated = gated
        self._on_abort = on_abort
        self._recorder = recorder
        self._loop = loop
        self._count = 0
        self._open: dict[str, Gate] = {}  # by gate id, in opening order

    def ask(self, kind: str, info: Mapping[str, Any], signal: AbortSignal | None = None) -> asyncio.Future[Any]:
        """
        Open a gate and answer what to await for its outcome.

        Args:
            kind: name of a kind of this contract.
            info: what the observation shows beside id and kind.
            signal: of the work that waits; its abort reaches the gate after `gate/open` was published.
        """
        rule = self._kinds[kind]
        future = self._loop.create_future()
        if kind not in self._gated:
            self._loop.call_soon(Gate(kind, rule, info, future).settle, rule.read(rule.default))
            return future
        self._count += 1
        gate_id = f"g{self._count}"
        gate = self._open[gate_id] = Gate(kind, rule, info, future)
        self._recorder.record({"kind": "driver", "type": "gate/open", "gate": gate_id, "gateKind": kind})
        if signal is not None and gate_id in self._open:
            forget = signal.listen(lambda: self._abort(gate_id))
            if gate_id in self._open:
                gate.forget = forget
        return future

    def release(self, params: Mapping[str, Any]) -> None:
        """
        Settle one gate with the outcome that the runner chose.

        Args:
            params: `outcome`, and `gate` (an id) or `kind` (the oldest open gate of it).

        Raises:
            ProtocolError: when no such gate is open, or the outcome is none of its kind.
        """
        gate_id = self._find(params)
        gate = self._open[gate_id]
        outcome = params.get("outcome", gate.rule.default)
        if not isinstance(outcome, Mapping):
            raise bad_params(f"outcome of {gate.name} gate {gate_id}", "an object", outcome)
        value = gate.rule.read(outcome)
        del self._open[gate_id]
        gate.settle(value)

    def observe(self) -> list[dict[str, Any]]:
        """Answer the open gates in opening order."""
        return [
            {"id": gate_id, "kind": gate.name, **gate.info, **({"aborted": True} if gate.aborted else {})}
            for gate_id, gate in self._open.items()
        ]

    def drop(self) -> None:
        """Forget all gates; what still waits for them never goes on."""
        self._open.clear()

    def _find(self, params: Mapping[str, Any]) -> str:
        if "gate" in params:
            if params["gate"] in self._open:
                return str(params["gate"])
            raise bad_params(
                "gate", f"the id of an open gate ({', '.join(self._open) or 'none is open'})", params["gate"]
            )
        wanted = params.get("kind")
        for gate_id, gate in self._open.items():
            if gate.name == wanted:
                return gate_id
        raise bad_params("kind", "the kind of an open gate, or 'gate' its id", wanted)

    def _abort(self, gate_id: str) -> None:
        """Settle a cooperative gate, mark an uncooperative one."""
        gate = self._open[gate_id]
        gate.forget = None
        if self._on_abort.get(gate.name, gate.rule.on_abort) == PARK:
            gate.aborted = True
            return
        del self._open[gate_id]
        gate.settle(gate.rule.aborted())
        self._recorder.record({"kind": "driver", "type": "gate/aborted", "gate": gate_id, "gateKind": gate.name})
