"""
The driver: operations in, observations out.

`perform` starts an operation in the caller's stack, `observe` lets the agent run until nothing is runnable and tells
what happened. A runner in the same process calls the two directly; `stdio` puts them behind a pipe.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Collection, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from turnproof_reference.driver.adapter import Candidate, Operator, Params
from turnproof_reference.driver.contracts import adapter_of
from turnproof_reference.driver.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    ProtocolError,
    bad_params,
)
from turnproof_reference.driver.gates import PARK, SETTLE
from turnproof_reference.driver.loop import quiet_loop
from turnproof_reference.driver.outcomes import Reader
from turnproof_reference.driver.projection import Accepted
from turnproof_reference.driver.record import Operation, operations
from turnproof_reference.driver.world import TOOLS, World
from turnproof_reference.errors import Refused
from turnproof_reference.goals import fold_goal
from turnproof_reference.session import Session

PROTOCOL: Final = 1
DISTRIBUTION: Final = "turnproof"
RESUME_MODES: Final = {"crash": "resume", "clean": "resume", "fork": "fork", "compact": "compact"}  # capability by mode
DELIVERIES: Final = frozenset({"send", "followup", "steer", "inject", "reference"})
EDITS: Final = frozenset({"remove", "replace", "prepend"})
STACKABLE: Final = DELIVERIES | EDITS | {"cancel", "release", "dispose", "arm"}  # legal inside batch and arm


class Driver:
    """
    Drive one reference agent after another.

    Args:
        contract: `window` or `claim`.
        loop: an `asyncio.AbstractEventLoop` that also has `run_until_quiescent()`; a `QuietLoop` if none is given.
        fault: name of a deliberate defect to run with.

    Raises:
        ValueError: when there is no such contract or fault.
    """

    def __init__(self, contract: str, *, loop: Any = None, fault: str | None = None) -> None:
        self._adapter = adapter_of(contract, fault)
        self._loop = quiet_loop() if loop is None else loop
        self._loop.set_exception_handler(self._unhandled)
        self._world: World | None = None
        self._worlds = 0
        self._results: dict[str, Any] = {}
        self._idle: asyncio.Future[None] | None = None
        self._methods: dict[str, Callable[[Params], Any]] = {
            "send": self._send,
            "followup": lambda params: self._agent.followup(self._message(params)),
            "steer": lambda params: self._agent.steer(self._message(params)),
            "inject": lambda params: self._agent.inject(self._message(params)),
            "cancel": self._cancel,
            "release": self._release,
            "dispose": self._dispose,
            "arm": self._arm,
            "batch": self._batch,
            "reset": self._reset,
            "resume": self._resume,
            "inspect": _nothing,
        }
        for method, operation in self._adapter.operations().items():
            self._methods[method] = partial(self._in_world, operation)
        if self._adapter.capabilities.get("goal", False):
            self._methods["goal"] = self._goal

    def perform(self, method: str, params: Params) -> dict[str, Any] | None:
        """
        Start one operation in the caller's stack.

        Returns:
            the answer of `initialize` and of `shutdown`, None for every other method.

        Raises:
            ProtocolError: when the method or its parameters are not of the protocol; nothing was changed.
        """
        if method == "initialize":
            return self._initialize(params)
        if method == "shutdown":
            self.close()
            return {}
        operation = self._methods.get(method)
        if operation is None:
            raise ProtocolError(METHOD_NOT_FOUND, f"method must be one that {self._offer()} offers (got {method!r})")
        if self._world is None and method != "reset":
            raise ProtocolError(INVALID_REQUEST, f"{method} needs an agent (there is none yet); send reset first")
        self._results = {}
        try:
            answer = operation(params)
        except Refused as refusal:
            self._results["refused"] = str(refusal)
        else:
            if answer is not None:
                self._results.update(answer)
        self._idle = self._agent.when_idle()
        return None

    def observe(self) -> dict[str, Any]:
        """
        Let the agent run until nothing is runnable and tell what happened.

        Raises:
            ProtocolError: before the first reset.
        """
        if self._world is None or self._idle is None:
            raise ProtocolError(INVALID_REQUEST, "an observation needs an agent (there is none yet); send reset first")
        world = self._world
        self._loop.run_until_quiescent()
        return {
            "events": world.recorder.take(),
            "gates": world.gates.observe(),
            "status": world.agent.status,
            **self._adapter.position(world.agent),
            "whenIdle": self._idle.done(),
            **self._results,
        }

    def close(self) -> None:
        """Drop the agent; nothing of it is seen again."""
        if self._world is not None:
            self._world.drop()
            self._world = None
        self._loop.run_until_quiescent()

    @property
    def _here(self) -> World:
        assert self._world is not None
        return self._world

    @property
    def _agent(self) -> Candidate:
        return self._here.agent

    def _offer(self) -> str:
        return f"contract {self._adapter.contract}"

    def _message(self, params: Params) -> Any:
        return self._here.accept(params.get("message"))

    def _initialize(self, params: Params) -> dict[str, Any]:
        if params.get("protocol") != PROTOCOL:
            raise bad_params("protocol", str(PROTOCOL), params.get("protocol"))
        return {
            "protocol": PROTOCOL,
            "implementation": {
                "name": "turnproof-reference",
                "version": _version(),
                "language": "python",
                "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            },
            "contract": self._adapter.contract,
            "capabilities": dict(self._adapter.capabilities),
            "gates": list(self._adapter.kinds(Reader(Accepted()))),
            "tools": dict(TOOLS),
        }

    def _send(self, params: Params) -> None:
        target, wakeup = params.get("target"), params.get("wakeup")
        if target not in {"next-turn", "next-step"}:
            raise bad_params("target", "'next-turn' or 'next-step'", target)
        if not isinstance(wakeup, bool):
            raise bad_params("wakeup", "true or false", wakeup)
        self._agent.send(self._message(params), target=target, wakeup=wakeup)

    def _cancel(self, params: Params) -> None:
        cause, keep = params.get("cause"), params.get("keepInbox", False)
        if cause not in self._adapter.causes:
            raise bad_params("cause", f"one of {', '.join(self._adapter.causes)}", cause)
        if not isinstance(keep, bool):
            raise bad_params("keepInbox", "true or false", keep)
        self._agent.cancel(cause, keep_inbox=keep)

    def _dispose(self, _params: Params) -> None:
        recorder = self._here.recorder
        self._agent.dispose().add_done_callback(
            lambda _done: recorder.record({"kind": "driver", "type": "dispose/resolved"})
        )

    def _release(self, params: Params) -> None:
        self._here.gates.release(params)

    def _arm(self, params: Params) -> None:
        self._here.recorder.arm(params)

    def _batch(self, params: Params) -> None:
        for op in operations(params.get("ops")):
            self._attempt(op)

    def _attempt(self, op: Operation) -> None:
        """Perform one operation of a batch or an arm; whatever goes wrong is an event and stops nothing."""
        method = op["method"]
        try:
            if method not in STACKABLE or method not in self._methods:
                raise ProtocolError(METHOD_NOT_FOUND, f"{method!r} can't be performed inside batch or arm")
            self._methods[method](op.get("params") or {})
        except Exception as error:  # noqa: BLE001 - the runner is to see it, whatever it is
            text = str(error) or type(error).__name__
            self._here.recorder.record({"kind": "driver", "type": "op-threw", "method": method, "error": text})

    def _reset(self, params: Params) -> None:
        known = self._adapter.kinds(Reader(Accepted()))
        gated = params.get("gates", self._adapter.default_gates)
        on_abort = params.get("onAbort", {})
        if not isinstance(gated, list | tuple) or not all(kind in known for kind in gated):
            raise bad_params("gates", f"a list of {', '.join(known)}", gated)
        if not isinstance(on_abort, Mapping) or not all(
            kind in known and choice in {SETTLE, PARK} for kind, choice in on_abort.items()
        ):
            raise bad_params("onAbort", f"an object from {', '.join(known)} to 'settle' or 'park'", on_abort)
        self._drop()
        self._enter(frozenset(gated), dict(on_abort), Session(self._next_id()))

    def _resume(self, params: Params) -> None:
        mode = params.get("mode")
        if mode not in RESUME_MODES or not self._adapter.capabilities.get(RESUME_MODES[mode], False):
            offered = [each for each, name in RESUME_MODES.items() if self._adapter.capabilities.get(name, False)]
            raise ProtocolError(INVALID_PARAMS, f"mode must be one of {', '.join(offered)} (got {mode!r})")
        old = self._here
        old.recorder.disarm()
        if mode in {"clean", "compact"}:
            old.agent.dispose()
            self._loop.run_until_quiescent()
        seen = old.recorder.take()
        session = self._adapter.resumed(old.session(), mode, self._next_id())
        self._drop()
        self._enter(old.gated, old.on_abort, session, old)
        self._here.recorder.prepend(seen)

    def _drop(self) -> None:
        if self._world is not None:
            self._world.drop()

    def _enter(
        self, gated: Collection[str], on_abort: Mapping[str, str], session: Session, old: World | None = None
    ) -> None:
        self._world = World(
            self._adapter,
            self._loop,
            attempt=self._attempt,
            gated=gated,
            on_abort=on_abort,
            session=session,
            accepted=None if old is None else old.accepted,
        )

    def _in_world(self, operation: Operator, params: Params) -> dict[str, Any] | None:
        return operation(self._here, params)

    def _goal(self, _params: Params) -> dict[str, Any]:
        return {"goal": fold_goal(self._here.session().events).observed()}

    def _next_id(self) -> str:
        self._worlds += 1
        return f"s{self._worlds}"

    def _unhandled(self, _loop: object, context: Mapping[str, Any]) -> None:
        if self._world is not None:
            text = repr(context.get("exception") or context.get("message"))
            self._world.recorder.record({"kind": "driver", "type": "unhandled-rejection", "error": text})


def _nothing(_params: Params) -> None:
    """Only let the runner observe."""


def _version() -> str:
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # run from a bare checkout
        return "0+unknown"
