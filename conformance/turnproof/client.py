"""
Hold a conversation with a driver: requests as values go out, observations as values come back.

``Client`` is what everybody else uses; ``Conversation`` is the part that child processes and candidates in this
process share. It knows the order of things (initialize, requests, shutdown), keeps the last exchanges, and turns
whatever breaks below it into a ``DriverFault`` that tells the whole story. After a fault the driver is gone, and
``initialize`` begins anew: nothing of the old conversation is carried over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from turnproof.exchanges import Exchanges
from turnproof.faults import Breakdown, DriverFault, Exchange, Exit, Fault, RpcError, Stage, UsageError
from turnproof.limits import Limits
from turnproof_model.observation import Observation, Profile
from turnproof_model.vocabulary import LANES, Command, Initialize
from turnproof_model.wire import WireError, observation_from_wire, profile_from_wire, shorten, to_wire

T = TypeVar("T")

PROTOCOL = Initialize().protocol
"""The version of the driver protocol that is spoken."""


class Client(Protocol):
    """
    Be one end of a conversation with a driver.

    Every method that talks raises ``DriverFault`` when the driver breaks down, and ``UsageError`` when the conversation
    isn't open.
    """

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The last requests with what came back, oldest first, of the current conversation or the one just ended."""

    def initialize(self) -> Profile:
        """Begin a conversation with a fresh driver, ending the one before."""

    def ask(self, request: Command, lane: int = 0) -> Observation:
        """Perform one request; an RPC error is a driver fault here."""

    def post(self, request: Command, lane: int = 0) -> None:
        """Send one request without waiting for its answer."""

    def fetch(self, lane: int = 0) -> Observation:
        """Wait for the answer to the request that was posted on a lane."""

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send any method and return its raw result, or the ``RpcError`` that came instead."""

    def shutdown(self) -> Exit | None:
        """End the conversation as the protocol says; ``None`` where there is no process to exit."""

    def close(self) -> None:
        """End the conversation in any case, and without a fault."""


class Conversation(ABC):
    """
    Keep the order and the history of a conversation; what carries it is a subclass's.

    Args:
        limits: see ``Limits``.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._history = Exchanges(limits.exchanges)
        self._answered = 0
        self._open = False
        self._laned = False
        self._asked: dict[int, tuple[str, Mapping[str, Any]]] = {}  # {lane: what is under way}, oldest first
        self._come: dict[int, tuple[str, Any]] = {}  # {lane: method and answer}, until it is fetched

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The last requests with what came back, oldest first, of the current conversation or the one just ended."""
        return self._history.all()

    def initialize(self) -> Profile:
        """
        Begin a conversation with a fresh driver, ending the one before.

        Returns:
            What the driver says of its candidate.

        Raises:
            DriverFault: it can't be started, breaks down, or answers another form or another version.
        """
        self.close()
        self._history.clear()
        self._answered = 0
        try:
            self._begin()
        except Breakdown as breakdown:
            raise self._fault(breakdown, "start") from breakdown
        self._open = True
        profile = self._read("initialize", self.call("initialize", {"protocol": PROTOCOL}), profile_from_wire)
        if profile.protocol != PROTOCOL:
            message = f"the driver must speak protocol {PROTOCOL} (it speaks {profile.protocol})"
            raise self._fault(Breakdown("bad-form", message), "initialize")
        self._laned = profile.has(LANES)
        return profile

    def ask(self, request: Command, lane: int = 0) -> Observation:
        """
        Perform one request.

        Raises:
            DriverFault: the driver breaks down, or answers an error or something that is no observation.
            UsageError: the conversation isn't open.
        """
        self.post(request, lane)
        return self.fetch(lane)

    def post(self, request: Command, lane: int = 0) -> None:
        """
        Send one request without waiting for its answer, which ``fetch`` must read before more is sent on the lane.

        Args:
            request: what is asked.
            lane: which of its agents the driver asks; all but 0 need the capability ``lanes``.

        Raises:
            DriverFault: the driver breaks down.
            UsageError: the conversation isn't open, the driver has no such lane, or an answer is still to be fetched.
        """
        wire = to_wire(request)
        self._depart(wire["method"], wire["params"], lane)

    def fetch(self, lane: int = 0) -> Observation:
        """
        Wait for the answer to the request that was posted on a lane.

        Raises:
            DriverFault: the driver breaks down, or answers an error or something that is no observation.
            UsageError: nothing was posted.
        """
        return self._read(*self._arrive(lane), observation_from_wire, lane)

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """
        Send any method with any parameters.

        Returns:
            The raw result, or the ``RpcError`` that came instead.

        Raises:
            DriverFault: the driver breaks down.
            UsageError: the conversation isn't open, or an answer is still to be fetched.
        """
        self._depart(method, params, 0)
        return self._arrive(0)[1]

    def _depart(self, method: str, params: Mapping[str, Any], lane: int) -> None:
        """Send a request on its way."""
        if not self._open:
            raise UsageError(f"{method!r} needs an open conversation (there is none); call initialize first")
        if lane and not self._laned:
            raise UsageError(
                f"lane {lane} needs a driver that declares '{LANES}' (this one doesn't); start another one"
            )
        before = self._asked.get(lane) or self._come.get(lane)
        if before is not None:
            raise UsageError(f"{method!r} needs the answer to {before[0]!r} to be fetched first")
        try:
            self._send(method, params, lane)
        except BaseException as error:
            self._break_off(error, method, params, lane)
            raise
        self._asked[lane] = method, params

    def _arrive(self, lane: int) -> tuple[str, Any]:
        """Wait for the answer to the request that is on its way on a lane; answers come in the order of requests."""
        if lane not in self._asked and lane not in self._come:
            raise UsageError("an answer can be fetched only for a request that was posted (none was)")
        while lane not in self._come:
            self._hear()
        return self._come.pop(lane)

    def _hear(self) -> None:
        """Wait for the answer to the oldest request that is on its way."""
        lane = next(iter(self._asked))
        method, params = self._asked.pop(lane)
        try:
            answer = self._receive()
        except BaseException as error:
            self._break_off(error, method, params, lane)
            raise
        self._history.add(method, params, answer, lane)
        self._answered += 1
        self._come[lane] = method, answer

    def _break_off(self, error: BaseException, method: str, params: Mapping[str, Any], lane: int) -> None:
        """Tell the story of a breakdown, and leave no driver behind anything else, an interrupt, say."""
        if isinstance(error, Breakdown):
            self._history.add(method, params, None, lane)
            raise self._fault(error, _stage(method), lane) from error
        self._leave()

    def _read(self, method: str, answer: Any, reader: Callable[[Any], T], lane: int = 0) -> T:
        """Read a result that must be there and have a form."""
        if isinstance(answer, RpcError):
            message = f"{method!r} was answered by error {answer.code}: {shorten(answer.message)}"
            raise self._fault(Breakdown("rpc-error", message), _stage(method), lane)
        try:
            return reader(answer)
        except WireError as error:
            message = f"{method!r} was answered by another form: {error}"
            raise self._fault(Breakdown("bad-form", message), _stage(method), lane) from error

    def shutdown(self) -> Exit | None:
        """
        End the conversation as the protocol says.

        Returns:
            How the process ended; ``None`` where there is none.

        Raises:
            DriverFault: it answers anything but ``{}``, writes on, doesn't end, or ends with another status than 0.
            UsageError: the conversation isn't open.
        """
        self._read("shutdown", self.call("shutdown", {}), _nothing)
        try:
            ended = self._finish()
        except Breakdown as breakdown:
            raise self._fault(breakdown, "shutdown") from breakdown
        self._open = False
        if ended is not None and ended.status != 0:
            message = f"the driver must end with status 0 after shutdown (it ended with {ended})"
            raise self._fault(Breakdown("exited", message), "shutdown")
        return ended

    def close(self) -> None:
        """End the conversation in any case: by ``shutdown`` if the driver takes part, by force otherwise."""
        if self._open:
            with suppress(DriverFault):
                while self._asked:
                    self._hear()
                self._come.clear()
                self.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _fault(self, breakdown: Breakdown, stage: Stage, lane: int = 0) -> DriverFault:
        """End the driver and tell the story of the lane that was asked."""
        ended = self._leave()
        return DriverFault(
            Fault(
                kind=breakdown.kind,
                message=breakdown.message,
                stage=stage,
                answered=self._answered,
                exchanges=self._history.of(lane),
                received=breakdown.received,
                stderr=self._testimony(),
                exit=ended,
            )
        )

    def _leave(self) -> Exit | None:
        """End the driver, and expect nothing of it any more."""
        self._open = False
        self._asked.clear()
        self._come.clear()
        return self._end()

    # ---------------------------------------------------------------------------------------- what a carrier does
    @abstractmethod
    def _begin(self) -> None:
        """Start a driver; raise ``Breakdown`` if there is none to start."""

    @abstractmethod
    def _send(self, method: str, params: Mapping[str, Any], lane: int) -> None:
        """Carry one request to the driver, or raise ``Breakdown``."""

    @abstractmethod
    def _receive(self) -> Any:
        """Wait for the answer to the oldest of them; return its result or ``RpcError``, or raise ``Breakdown``."""

    @abstractmethod
    def _finish(self) -> Exit | None:
        """Let a driver end that has answered ``shutdown``; raise ``Breakdown`` if it doesn't."""

    @abstractmethod
    def _end(self) -> Exit | None:
        """End the driver, if one is left; tell how it ended if that was before and by itself."""

    @abstractmethod
    def _testimony(self) -> str:
        """Show the tail of what the driver said besides the protocol."""


def _stage(method: str) -> Stage:
    if method == "initialize":
        return "initialize"
    return "shutdown" if method == "shutdown" else "requests"


def _nothing(answer: Any) -> None:
    if answer != {}:
        raise WireError(f"an empty object expected (got {shorten(answer)})")
