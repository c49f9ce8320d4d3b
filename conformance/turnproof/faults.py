"""
Name what can break in a conversation with a driver, along its timeline.

::

    start       spawn-failed                     there is no process, or no driver behind a dotted name
      |
    request     exited  hung  flooded            it died, fell silent, or wrote without end
      |         raised  spinning  uncontrolled   the same in one process: threw, never came to rest, left its loop
    line        malformed-line  not-json-rpc  wrong-id
      |
    answer      rpc-error  bad-form              an error where none may be; a result that is no observation
      |
    shutdown    exited  hung  malformed-line     a status other than 0, no end at all, output behind the last answer

Three kinds of wrong are never merged. A *driver fault* is the candidate's surroundings breaking down: a verdict of its
own, neither a failed rule nor a pass. A *rule failure* is what the judges find in well-formed observations. A
``UsageError`` is the caller's mistake.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attrs import asdict, frozen

FaultKind: TypeAlias = Literal[
    "spawn-failed",
    "exited",
    "hung",
    "flooded",
    "raised",
    "spinning",
    "uncontrolled",
    "malformed-line",
    "not-json-rpc",
    "wrong-id",
    "rpc-error",
    "bad-form",
]

Stage: TypeAlias = Literal["start", "initialize", "requests", "shutdown"]
"""How far a conversation got: the part that was under way."""


class UsageError(Exception):
    """Say that turnproof was called wrongly; nothing was started or sent."""


class Breakdown(Exception):  # noqa: N818 - half a fault: the transport's part, before the conversation adds its own
    """
    Say what broke, as the transport sees it.

    Args:
        kind: of the fault.
        message: one sentence.
        received: what came instead of an answer, if anything came.
    """

    def __init__(self, kind: FaultKind, message: str, received: str = "") -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.message = message
        self.received = received


@frozen
class RpcError:
    """Hold the error that a driver answered instead of a result; ``code`` is JSON-RPC's."""

    code: int
    message: str


@frozen
class Exchange:
    """Hold one request and what came back, as raw JSON values; ``answer`` is ``None`` where nothing came."""

    method: str
    params: Mapping[str, Any]
    answer: Any
    lane: int = 0

    def to_json(self) -> dict[str, Any]:
        """Write the exchange as a JSON value."""
        request: dict[str, Any] = {"method": self.method, "params": self.params}
        if self.lane:
            request["lane"] = self.lane
        if isinstance(self.answer, RpcError):
            return {"request": request, "error": asdict(self.answer)}
        return {"request": request, "result": self.answer}


@frozen
class Exit:
    """Tell how a process ended: with a status, or by a signal."""

    status: int | None = None
    signal: str | None = None

    @classmethod
    def from_returncode(cls, returncode: int) -> Exit:
        """Read the return code of ``subprocess``: negative is a signal."""
        if returncode >= 0:
            return cls(status=returncode)
        known = {member.value: member.name for member in signal.Signals}
        return cls(signal=known.get(-returncode, f"signal {-returncode}"))

    def __str__(self) -> str:
        return f"status {self.status}" if self.signal is None else self.signal


@frozen
class Fault:
    """
    Hold one driver fault with all that is needed to understand it.

    ``answered`` counts the requests of this driver process answered before; ``exchanges`` are the last of them, oldest
    first, the one that broke at the end; ``received`` is the beginning of what came instead of an answer; ``stderr``
    is the tail of the free text; ``exit`` is there when the process ended by itself.
    """

    kind: FaultKind
    message: str
    stage: Stage
    answered: int
    exchanges: tuple[Exchange, ...] = ()
    received: str = ""
    stderr: str = ""
    exit: Exit | None = None

    def to_json(self) -> dict[str, Any]:
        """Write the fault as a JSON value; absent parts are left out."""
        out: dict[str, Any] = {
            "kind": self.kind,
            "message": self.message,
            "stage": self.stage,
            "answered": self.answered,
            "exchanges": [exchange.to_json() for exchange in self.exchanges],
        }
        if self.exit is not None:
            out["exit"] = {"status": self.exit.status, "signal": self.exit.signal}
        return out | {name: getattr(self, name) for name in ("received", "stderr") if getattr(self, name)}

    def __str__(self) -> str:
        where = f"{self.message} [{self.kind} at {self.stage}, after {self.answered} answers]"
        return f"{where}\n{self.stderr}" if self.stderr else where


class DriverFault(Exception):  # noqa: N818 - the protocol's word; a fault is a verdict about a driver
    """
    Carry a driver fault out of a conversation; its driver has been ended.

    Args:
        fault: what broke.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault
