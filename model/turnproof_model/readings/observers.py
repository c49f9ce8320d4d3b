"""
Watch a machine's event stream and say what must hold: rules as ghosts and checks, for tagged messages A and B.

An *observer* keeps ghosts (truths and numbers) beside a machine's state, changes them by what it sees, and demands
something of each event. It never decides anything: no branch on a ghost, only terms, so that the same observer reads
along concretely, in the explorer, and in the proof. A and B are arbitrary, hence what is checked for them holds for
every message and every pair of messages.

What it sees: events as they are published, commands as they begin and return, outcomes as the loop takes them, and
what a tool's result brings along. What it may ask of the reading is ``Sight``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeAlias

from attrs import define, field

from turnproof_model.events import Event
from turnproof_model.policies import Policy
from turnproof_model.readings.terms import Number, Truth, both, choice, either, is_false, is_true, negate, number
from turnproof_model.vocabulary import Contract, GateKind

Ghosts: TypeAlias = Mapping[str, bool | int]
"""Initial values of ghosts by name."""


class Sight(Protocol):
    """Offer an observer what it may ask, and take its demands."""

    s: Any
    """The state of the machine."""

    g: Any
    """The ghosts."""

    frames: list[Frame]
    """The commands under way, the innermost last."""

    brought: tuple[tuple[Number, Number, Number], Truth]
    """What the result brings along that is published next, as ``laid``, and whether it concludes; kept by observers."""

    repairing: bool
    """Whether the log is being repaired."""

    def check(self, rule: str, condition: Truth) -> None:
        """Demand something here."""

    def bears(self, name: Any, tag: str) -> Truth:
        """Tell whether an id is that of a tagged message."""

    def many(self, ids: Any) -> bool:
        """Tell whether these are several ids at once."""

    def decided(self, s: Any, outcome: Any) -> tuple[bool, tuple[Number, Number, Number]]:
        """Tell whether a pre-step lets the claimed batch in, and what besides (as ``laid``)."""

    def size(self, ids: Any) -> Number:
        """Tell how many ids these are."""

    def place(self, ids: Any, tag: str) -> Number:
        """Tell where among ids that of a tagged message is, or -1."""

    def call_number(self, call_id: Any) -> Number:
        """Tell the place of a call in its batch."""

    def call_count(self, call_id: Any) -> Number:
        """Tell how many calls an event speaks of at once, from that place on."""

    def calls(self, named: Any) -> Number:
        """Tell how many calls an assistant message makes."""

    def laid(self, contexts: Any) -> tuple[Number, Number, Number]:
        """Tell how many contexts an outcome brings along, and where A and B are among them, or -1."""

    def cause(self, op: Any) -> str | None:
        """Tell who cancels; None where no rule has asked."""

    def choose(self, policy: Policy) -> str:
        """Tell which way a freedom goes."""


@define(eq=False)
class Frame:
    """
    Keep what an observer notes of one command while it is under way.

    ``a``, ``b``: whether its message is a tagged one. ``enters``, ``steers``, ``writes``: it still has to publish an
    enqueue, an enqueue of steering, or its message. ``drops``: it may discard. ``effect``: it has something to do.
    ``asked``: it was announced. ``dropped``: it has discarded. ``stages``: its message joins the outbox unseen.
    ``injects``: its message goes straight into the log. ``disturbed``: a listener has issued another one inside it.
    ``kept``: ghosts that speak of what is around it alone.
    """

    op: Any
    a: Truth = False
    b: Truth = False
    enters: Truth = False
    steers: Truth = False
    writes: Truth = False
    drops: Truth = False
    effect: Truth = False
    asked: Truth = False
    dropped: Truth = False
    stages: Truth = False
    injects: Truth = False
    pending: Truth = False
    was_running: Truth = False
    late: Number = 0
    disturbed: bool = False
    kept: Ghosts = field(factory=dict)


class Line:
    """Follow an ordered list by its length and the places of A and B, kept in three ghosts."""

    def __init__(self, g: Any, name: str) -> None:
        self.g = g
        self.name = name

    @staticmethod
    def ghosts(name: str) -> Ghosts:
        """Declare the ghosts of a list that is empty at first."""
        return {f"{name}_n": 0, f"{name}_a": -1, f"{name}_b": -1}

    @property
    def n(self) -> Any:
        """How long it is."""
        return getattr(self.g, f"{self.name}_n")

    @property
    def a(self) -> Any:
        """Where A is in it, or -1."""
        return getattr(self.g, f"{self.name}_a")

    @property
    def b(self) -> Any:
        """Where B is in it, or -1."""
        return getattr(self.g, f"{self.name}_b")

    @property
    def has_a(self) -> Truth:
        """Whether A is in it."""
        return self.a >= 0  # type: ignore[no-any-return]  # a comparison

    @property
    def has_b(self) -> Truth:
        """Whether B is in it."""
        return self.b >= 0  # type: ignore[no-any-return]

    def _put(self, when: Truth, n: Any, a: Any, b: Any) -> None:
        for part, value in (("n", n), ("a", a), ("b", b)):
            name = f"{self.name}_{part}"
            if is_true(when):
                setattr(self.g, name, value)
            elif not is_false(when):
                setattr(self.g, name, choice(when, value, getattr(self.g, name)))

    def append(self, a: Truth, b: Truth, when: Truth = True) -> None:
        """Put one message at the end."""
        self._put(when, self.n + 1, choice(a, self.n, self.a), choice(b, self.n, self.b))

    def extend(self, other: tuple[Any, Any, Any], when: Truth = True) -> None:
        """Put a list at the end: its length, and the places of A and B in it."""
        n, a, b = other
        there_a, there_b = choice(a >= 0, self.n + a, self.a), choice(b >= 0, self.n + b, self.b)
        self._put(when, self.n + n, there_a, there_b)

    @property
    def laid(self) -> tuple[Any, Any, Any]:
        """Its length, and the places of A and B in it."""
        return self.n, self.a, self.b

    def put_first(self, a: Truth, b: Truth) -> None:
        """Put one message at the front."""
        behind_a, behind_b = choice(self.has_a, self.a + 1, -1), choice(self.has_b, self.b + 1, -1)
        self._put(True, self.n + 1, choice(a, 0, behind_a), choice(b, 0, behind_b))

    def begins_with(self, a: Truth, b: Truth) -> Truth:
        """Tell whether its first message is the one that bears these tags."""
        return both(self.n > 0, (self.a == 0) == a, (self.b == 0) == b)

    def pop(self, when: Truth = True) -> None:
        """Take the first message out."""
        self._put(when, self.n - 1, choice(self.has_a, self.a - 1, -1), choice(self.has_b, self.b - 1, -1))

    def clear(self, when: Truth = True) -> None:
        """Take everything out."""
        self._put(when, 0, -1, -1)

    def cut(self, start: Any, count: Any) -> None:
        """Take a stretch out, which lies within."""
        end = start + count
        places = (choice(p < start, p, choice(p < end, -1, p - count)) for p in (self.a, self.b))
        self._put(True, self.n - count, *places)

    def insert(self, start: Any, a: Truth, b: Truth) -> None:
        """Put one message in."""
        moved = [choice(p < start, p, p + 1) for p in (self.a, self.b)]
        self._put(True, self.n + 1, choice(a, start, moved[0]), choice(b, start, moved[1]))


class Observer:
    """
    Watch one contract.

    ``once``: whether a tag follows one message from its making on (its id is never made again), or an id.
    ``ghosts``: their initial values. ``leaves``: the positions whose leaving is looked at, though nobody is asked.
    Subclasses name their methods for events in ``handlers``.
    """

    once: ClassVar[bool]
    ghosts: ClassVar[Ghosts]
    handlers: ClassVar[Mapping[type[Event], str]]
    leaves: ClassVar[frozenset[str]] = frozenset()

    def see(self, m: Sight, event: Event) -> None:
        """Look at a publication."""
        self.before(m, event)
        name = self.handlers.get(type(event))
        if name is not None:
            getattr(self, name)(m, event)

    def before(self, m: Sight, event: Event) -> None:
        """Check what holds of every event."""

    def issued(self, m: Sight, op: Any) -> None:
        """Look at a command that begins."""
        for outer in m.frames:
            outer.disturbed = True
        m.frames.append(Frame(op))
        self.begins(m, m.frames[-1])

    def begins(self, m: Sight, frame: Frame) -> None:
        """Note what a command has to do."""

    def done(self, m: Sight, op: Any, refused: bool) -> None:  # noqa: ARG002  # the frame has it
        """Look at a command that has returned."""
        frame = m.frames.pop()
        if not refused:
            self.ends(m, frame)

    def ends(self, m: Sight, frame: Frame) -> None:
        """Check what a command has done."""

    def takes(self, m: Sight, kind: GateKind, outcome: Any) -> None:
        """Look at an outcome that the loop takes."""

    def moves(self, m: Sight, at: str) -> None:
        """Look at a move of the loop from one of the positions in ``leaves``."""

    def returns(self, m: Sight, contexts: Any, concludes: Truth) -> None:
        """Look at what the result brings along that is published next."""

    def returned(self, m: Sight) -> None:
        """Look at what a result has brought along, once its publication is over."""

    def replied(self, m: Sight, answer: bool) -> None:
        """Look at the answer of a command."""

    def holds(self, m: Sight) -> None:
        """Demand what holds between two moves; the fields of ``m.s`` are looked at as terms."""

    def resumed(self, m: Sight) -> None:
        """Look at a new agent over the old log."""


def observer_of(contract: Contract) -> Observer:
    """Make the observer of a contract."""
    module = importlib.import_module(f"turnproof_model.readings.observers_{contract}")
    made: Observer = getattr(module, f"{contract.capitalize()}Observer")()
    return made


def counted(*truths: Truth) -> Number:
    """Count how many of these hold."""
    total: Any = 0
    for truth in truths:
        total = total + number(truth)
    return total  # type: ignore[no-any-return]  # a number


def neither(*truths: Truth) -> Truth:
    """Say that none of these holds."""
    return negate(either(*truths))


def is_cancel(op: Any) -> bool:
    """Tell a cancel from other commands, whoever cancels."""
    return getattr(op, "method", "") == "cancel"
