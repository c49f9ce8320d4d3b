"""
Say what a monitor is: a rule read over the observed stream alone, never over a machine's state.

A monitor is told, in order of occurrence, every operation (``Issued``), every event, the observation that ends a
request, and the end of the schedule. Methods marked ``before`` see an item while the view still shows what was true
before it; methods marked ``after`` see it once the view has folded it in. A monitor reports two things: that the
premise of its rule occurred, and that the rule was broken, in one sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from attrs import frozen

from turnproof_model import catalogue
from turnproof_model.events import Event
from turnproof_model.observation import Observation, Profile
from turnproof_model.vocabulary import Batch, Operation, Request, Resume

Sight: TypeAlias = Literal[
    "log", "inbox", "live", "status", "request", "gates", "command", "cancel", "lists", "window", "idle"
]
"""
A part of the stream that may be recorded or not: durable events; entries into and exits from the lists; the other live
events; status events; what the model was shown; gates; operations and outcomes; cancels; and the three probes of an
observation (pending lists, ``acceptsNextStep``, ``whenIdle``).
"""

PROBES: Mapping[str, Sight] = {"inbox": "lists", "acceptsNextStep": "window", "whenIdle": "idle"}
"""The capability that each probe of an observation depends on."""

DRIVEN: frozenset[Sight] = frozenset({"log", "inbox", "live", "status", "request", "gates", "command", "cancel"})
"""What every driver shows."""


def sight(profile: Profile) -> frozenset[Sight]:
    """Tell what the stream of a driver with this profile shows."""
    return DRIVEN | {probe for capability, probe in PROBES.items() if profile.has(capability)}


# ------------------------------------------------------------------------------------------------ what is told
Origin: TypeAlias = Literal["request", "batch", "arm", "deferred", "latent"]
"""
Where an operation came from: a request of its own, one stack, inside an event, or some breaks after one; ``latent``
ones wait for an event that the stream doesn't show.
"""

Op = TypeVar("Op")


@frozen
class Issued(Generic[Op]):
    """
    Tell that an operation is performed now.

    The operations of a batch are told at the start of the request, those of an arm right after the event they are
    performed inside of (``inside``); each after what the one before it published, where the view can tell.
    """

    op: Op
    origin: Origin = "request"
    inside: Event | None = None


@frozen
class Refused:
    """Tell that the agent refused the operation of this request; nothing changed."""

    op: Request
    reason: str


@frozen
class Unsure(Generic[Op]):
    """Tell of an operation whose moment or fate the stream doesn't show: deferred, or perhaps refused."""

    op: Op
    origin: Origin


@frozen
class Resumed:
    """Tell that the new agent has taken the old one's place; the observation that follows is its own."""

    op: Resume


@frozen
class Finish:
    """Tell that the schedule is over."""


Item: TypeAlias = Event | Issued[Any] | Unsure[Any] | Refused | Resumed | Observation | Finish


Mark: TypeAlias = Callable[[Event], bool]
"""Recognises the event that an operation publishes before it returns."""


# ------------------------------------------------------------------------------------------------ what is reported
@frozen
class Violation:
    """
    Say which rule was broken, in one sentence, and where.

    ``request`` counts requests from 0; ``events`` are positions of events in the whole stream, from 0.
    """

    rule: str
    message: str
    request: int
    events: tuple[int, ...] = ()


class Report:
    """Collect what the monitors say; a broken rule counts as exercised."""

    def __init__(self) -> None:
        self.exercised: Counter[str] = Counter()
        """How often the premise of each rule occurred."""
        self.violations: list[Violation] = []
        self.not_applicable: dict[str, str] = {}
        """Rule ids that can't be judged here, each with what is missing."""

    def violate(self, violation: Violation) -> None:
        """Record a broken rule, its premise counted with it."""
        self.exercised[violation.rule] += 1
        self.violations.append(violation)

    def broken(self) -> tuple[str, ...]:
        """Name the broken rules, each once, in the order of their first violation."""
        return tuple(dict.fromkeys(violation.rule for violation in self.violations))


# ------------------------------------------------------------------------------------------------ a monitor
Phase: TypeAlias = Literal["before", "after"]
Method = TypeVar("Method", bound=Callable[..., None])

_MARKS: dict[Callable[..., None], tuple[tuple[Phase, tuple[type, ...]], ...]] = {}


def before(*kinds: type) -> Callable[[Method], Method]:
    """Call the method with each item of these kinds, the view not yet changed by it; an operation goes by its class."""
    return _mark("before", kinds)


def after(*kinds: type) -> Callable[[Method], Method]:
    """Call the method with each item of these kinds, the view changed by it; an operation goes by its class."""
    return _mark("after", kinds)


def _mark(phase: Phase, kinds: tuple[type, ...]) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        _MARKS[method] = (*_MARKS.get(method, ()), (phase, kinds))
        return method

    return mark


class Sighted(Protocol):
    """Be a view as far as a monitor's reports need one: where the stream stands."""

    @property
    def index(self) -> int:
        """The number of the current request, from 0."""

    @property
    def place(self) -> int:
        """The position of the event being told, or of the latest one, from 0."""


V = TypeVar("V", bound=Sighted)


class Monitor(Generic[V]):
    """
    Judge one rule over the stream.

    Subclasses name their ``rule`` and what they must be able to see (``needs``), and mark their methods. They keep
    only facts of their own; what several rules ask about belongs into the view.
    """

    rule: ClassVar[str]
    needs: ClassVar[frozenset[Sight]] = frozenset({"log"})
    marks: ClassVar[tuple[tuple[Phase, tuple[type, ...], str], ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        methods = {name: item for base in reversed(cls.__mro__) for name, item in vars(base).items() if callable(item)}
        cls.marks = tuple(
            (phase, kinds, name) for name, method in methods.items() for phase, kinds in _MARKS.get(method, ())
        )

    def __init__(self, view: V, report: Report) -> None:
        self.view = view
        self.report = report
        self.start()

    def start(self) -> None:
        """Forget everything: a new agent on a new log begins."""
        self._start()

    def renew(self, report: Report) -> None:
        """Forget everything, and go on with another report."""
        self.report = report
        self._start()

    def renewed(self) -> None:
        """Forget what dies with an agent: a new one goes on over the same log."""
        self._renewed()

    def _start(self) -> None:
        """Set the facts that a subclass keeps to their beginnings."""

    def _renewed(self) -> None:
        """Set the facts that don't outlive an agent to their beginnings; all of them, where nothing else is said."""
        self._start()

    @classmethod
    def lacking(cls, declared: frozenset[str]) -> str:
        """Name the capabilities that the rule needs beyond those ``declared``; empty if none."""
        return ", ".join(catalogue.rule(cls.rule).missing(declared))

    def exercised(self) -> None:
        """Report that the premise of the rule occurred."""
        self.report.exercised[self.rule] += 1

    def violated(self, message: str, *events: int) -> None:
        """
        Report that the rule was broken.

        Args:
            message: one sentence: who did what, and what was expected instead.
            events: positions of the events involved; the one being told if none is given.
        """
        places = events or (self.view.place,)
        self.report.violate(Violation(self.rule, message, self.view.index, places))

    def expect(self, holds: bool, message: str, *events: int) -> None:
        """Report one occurrence of the premise, and a violation unless the consequence holds."""
        if holds:
            self.report.exercised[self.rule] += 1
        else:
            self.violated(message, *events)


def key_of(item: Item) -> type:
    """Name the class an item is told by: an operation's own class, else the item's."""
    return type(item.op) if type(item) is Issued else type(item)


class Judge(Protocol):
    """Follow a stream and report about it; ``Watch`` runs several side by side."""

    def begin(self, request: Request, observation: Observation | None) -> None:
        """Take note of a request before its events; the observation tells only whether it was refused."""

    def event(self, event: Event) -> None:
        """Take one event."""

    def observe(self, observation: Observation) -> None:
        """Take the state that ends a request."""

    def finish(self) -> None:
        """Take note of the end of the schedule."""

    def renew(self, report: Report) -> None:
        """Get ready for another stream, reporting to another report; nothing is remembered."""


Operations: TypeAlias = tuple[Operation, ...]


def operations(request: Request) -> Operations:
    """List the operations that a request performs in one stack."""
    return request.ops if isinstance(request, Batch) else (request,)  # type: ignore[return-value]
