"""
Drive a Python candidate in this process, on a ``ControlledLoop``.

``factory(loop=loop, **kwargs)`` makes the driver object. ``perform(method, params)`` does one operation in the
caller's stack and returns ``None``, or, for ``initialize`` and ``shutdown``, the answer; an exception with a
whole-number ``code`` is an RPC error. Then the loop runs until nothing is runnable, and ``observe()`` returns the
observation, a JSON value that is not changed afterwards. Lanes belong to the wire: here each client has its own driver.

A candidate that computes for ever without coming back to its loop can't be stopped from inside; a child process can.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from turnproof.client import Conversation
from turnproof.faults import Breakdown, RpcError
from turnproof.limits import DEFAULT_LIMITS, Limits
from turnproof.loop import ControlledLoop
from turnproof.sealed import LoopError, NeverQuiescentError, UncontrolledError
from turnproof_model.observation import Profile
from turnproof_model.vocabulary import LANES


class InProcessDriver(Protocol):
    """Be a driver without pipes."""

    def perform(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Do one operation in the caller's stack; return the answer where it is no observation."""

    def observe(self) -> dict[str, Any]:
        """Tell what happened since the last call."""


Factory: TypeAlias = Callable[..., InProcessDriver]

CODE_ERRORS = (Exception, SystemExit, asyncio.CancelledError)
"""What a candidate's code may raise; an interrupt is the caller's."""


class InProcessClient(Conversation):
    """
    Hold a conversation with a driver object.

    Args:
        factory: makes it.
        kwargs: given to the factory besides the loop.
        limits: see ``Limits``; the deadlines don't apply, ``callbacks`` does.
    """

    def __init__(
        self, factory: Factory, kwargs: Mapping[str, Any] | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(limits)
        self._factory = factory
        self._kwargs = dict(kwargs or {})
        self._loop: ControlledLoop | None = None
        self._driver: InProcessDriver | None = None
        self._trace = ""
        self._asked_for: tuple[str, Mapping[str, Any]] = "", {}

    def initialize(self) -> Profile:
        """
        Begin a conversation with a fresh driver, ending the one before.

        Raises:
            DriverFault: it can't be made, breaks down, or answers another form or another version.
        """
        profile = super().initialize()
        if profile.has(LANES):
            message = f"a candidate in this process is asked on no lane, so it must not declare '{LANES}'"
            raise self._fault(Breakdown("bad-form", message), "initialize")
        return profile

    def _begin(self) -> None:
        self._trace = ""
        self._loop = ControlledLoop(callbacks=self._limits.callbacks)
        try:
            with self._loop.entered():
                self._driver = self._factory(loop=self._loop, **self._kwargs)
        except CODE_ERRORS as error:
            raise self._breakdown("spawn-failed", f"the factory raised {error!r}", error) from error

    def _send(self, method: str, params: Mapping[str, Any], lane: int) -> None:  # noqa: ARG002  # there is but one
        self._asked_for = method, params

    def _receive(self) -> Any:
        """Perform the request: a candidate in this process answers when it is listened to."""
        assert self._loop is not None
        assert self._driver is not None
        method, params = self._asked_for
        try:
            with self._loop.entered():
                answer = self._driver.perform(method, params)
                self._loop.run_until_quiescent()
                return self._driver.observe() if answer is None else answer
        except NeverQuiescentError as error:
            raise self._breakdown("spinning", str(error), error) from error
        except UncontrolledError as error:
            raise self._breakdown("uncontrolled", str(error), error) from error
        except CODE_ERRORS as error:
            code = getattr(error, "code", None)
            if type(code) is int and not isinstance(error, SystemExit | LoopError):
                return RpcError(code, str(error))
            raise self._breakdown("raised", f"{method!r} raised {error!r}", error) from error

    def _breakdown(self, kind: Any, message: str, error: BaseException) -> Breakdown:
        limit = self._limits.stderr_tail
        self._trace = "".join(traceback.format_exception(error))[-limit:]
        return Breakdown(kind, message)

    def _finish(self) -> None:
        self._end()

    def _end(self) -> None:
        if self._loop is not None:
            self._loop.close()
        self._loop = self._driver = None

    def _testimony(self) -> str:
        return self._trace
