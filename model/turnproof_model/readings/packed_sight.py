"""
Play scripts to an observer at packed states: what a path shows, with the values that its terms have at a state.

An observer asks for values one by one. Each is a *fact*: a formula over cells, compiled once. What a play has asked, in
order, and what it was answered, decides how it ended; ``explore.product`` keeps that and seldom plays twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any

import attrs
from attrs import define, evolve, field, frozen

from turnproof_model.policies import Policy
from turnproof_model.readings.layout import Layout, used
from turnproof_model.readings.notation import PYTHON
from turnproof_model.readings.observers import Frame
from turnproof_model.readings.packed import in_cells
from turnproof_model.readings.pieces import ATTACHED, AnyMessage, Id, Item, Span, message
from turnproof_model.readings.places import how_many, place_of, size_of
from turnproof_model.readings.queues import Queue
from turnproof_model.readings.reading import place_of_call
from turnproof_model.readings.script import Shown
from turnproof_model.readings.sight import ConcreteSight, Word
from turnproof_model.readings.terms import Number, Term, Truth, rebuild

Fact = Callable[[int], Any]

Asked = Fact | str
"""What a play asks for: a fact about the state, or a ghost by its name."""


# ------------------------------------------------------------------------------------------------ facts
@define(eq=False)
class Facts:
    """
    Compile formulas into functions of a packed state, each once; a formula without cells is its plain value.

    Formulas are found again by the terms and queues that they are about, which are kept.
    ``bits``: by fact, those of the state on which it depends.
    """

    layout: Layout
    bits: dict[Fact, int] = field(factory=dict)
    _known: dict[Hashable, Fact | int] = field(factory=dict)
    _kept: list[object] = field(factory=list)
    _queues: dict[Hashable, Queue] = field(factory=dict)

    def over_cells(self, term: Number | Truth) -> Fact | int:
        """Compile a formula over cells."""
        return self._find(term.key, lambda: term) if isinstance(term, Term) else int(term)

    def over_atoms(self, term: Term, base: Mapping[str, int]) -> Fact | int:
        """Compile a formula over atoms of queues and counters; ``base`` tells what counters are."""

        def counter(part: Term) -> int | None:
            return base.get(part.args[0]) if part.op == "var" else None

        return self._find((term.key, base["step"]), lambda: in_cells(rebuild(term, counter)))

    def of_queue(self, queue: Queue, what: str, formula: Callable[[Queue], Number | Truth]) -> Fact | int:
        """Compile a question about a queue; ``what`` tells it from others."""
        key = (id(queue), what)
        if key not in self._known:
            self._kept.append(queue)
        return self._find(key, lambda: formula(queue))

    def control(self, name: str) -> Fact:
        """Find the function that tells the value of a control field."""
        if name not in self._known:
            self._known[name] = self._control(name)
        return self._known[name]  # type: ignore[return-value]  # control is never plain

    def whole(self, name: str) -> Queue:
        """Find the term of a queue as it was at the beginning."""
        return self._queue(name, lambda: Queue((Span(name),)))

    def joined(self, queue: Queue, other: Queue) -> Queue:
        """Find the term of two queues in a row."""
        key = (id(queue), id(other))
        if key not in self._queues:
            self._kept += (queue, other)
        return self._queue(key, lambda: queue.join(other))

    def _queue(self, key: Hashable, make: Callable[[], Queue]) -> Queue:
        if key not in self._queues:
            self._queues[key] = make()
        return self._queues[key]

    def _find(self, key: Hashable, make: Callable[[], Number | Truth]) -> Fact | int:
        found = self._known.get(key)
        if found is None:
            term = make()
            if isinstance(term, Term) and key != term.key:
                found = self.over_cells(term)
            elif isinstance(term, Term):
                found = self._compiled(term)
            else:
                found = int(term)
            self._known[key] = found
        return found

    def _compiled(self, term: Term) -> Fact:
        fact: Fact = eval(f"lambda S: {PYTHON.write(term, self._load)}")  # noqa: S307  # text made here
        cells = self.layout.cells
        self.bits[fact] = reduce(or_, (cells[name].mask for name in used(term)), 0)
        return fact

    def _control(self, name: str) -> Fact:
        program, position = self.layout.program, self.layout.position
        if name in program.forest.place:
            cell = position
            values = tuple(at[program.forest.place.index(name)] for at in program.positions)
        else:
            cell = self.layout.cells[name]
            values = cell.values
        fact: Fact = lambda state: values[cell.read(state)]  # noqa: E731
        self.bits[fact] = cell.mask
        return fact

    def _load(self, name: str) -> str:
        cell = self.layout.cells[name]
        return f"(S >> {cell.offset} & {(1 << cell.width) - 1})"


# ------------------------------------------------------------------------------------------------ what is looked at
@frozen(eq=False)
class _Pending:
    """Be a queue of terms as observers look at it."""

    sight: PlayedSight
    queue: Queue

    @property
    def has_waking(self) -> bool:
        return bool(self.sight.of_queue(self.queue, "waking", lambda queue: in_cells(queue.has_waking)))

    @property
    def has_steering(self) -> bool:
        return bool(self.sight.of_queue(self.queue, "steering", lambda queue: in_cells(queue.has_steering)))

    @property
    def size(self) -> int:
        return self.sight.size(self.queue)

    @property
    def ids(self) -> Queue:
        return self.queue

    @property
    def counts(self) -> Mapping[str, int]:
        return {"late": self.sight.of_queue(self.queue, "late", lambda queue: how_many(queue, "late"))}

    def join(self, other: _Pending) -> _Pending:
        return _Pending(self.sight, self.sight.facts.joined(self.queue, other.queue))


@frozen
class _Held:
    """Be a claimed item as observers look at it, with the snapshot that travels with it."""

    waking: bool
    attached: tuple[AnyMessage, ...] = ()


class _Shown:
    """Be the state at one hook of a script."""

    def __init__(self, sight: PlayedSight, written: Mapping[str, Any]) -> None:
        self._sight, self._written = sight, written

    def __getattr__(self, name: str) -> Any:
        sight, shape = self._sight, self._sight.facts.layout.program.forest.shape
        if name in shape.counters:
            return sight.value(self._written[name]) if name in self._written else sight.base[name]
        if name in shape.control:
            value = self._written[name] if name in self._written else sight.ask(sight.facts.control(name))
            return Word(value) if isinstance(value, str) else value
        if name in shape.slots:
            return self._slot(name)
        return _Pending(sight, self._written[name] if name in self._written else sight.facts.whole(name))

    def _slot(self, name: str) -> _Held | None:
        sight = self._sight
        item: Item | None = self._written.get(name)
        if name not in self._written:
            span = Span(name)
            item = span.first(()) if sight.value(span.occupied) else None
        if item is None:
            return None
        refers = ATTACHED in sight.facts.layout.program.forest.marks and bool(
            sight.value(in_cells(item.marked(ATTACHED)))
        )
        return _Held(bool(sight.value(item.waking)), (message(),) if refers else ())


class Remembered:
    """Be the ghosts of one play; the first reading of each that hasn't been written is noted."""

    _first: Mapping[str, bool | int]
    _note: Callable[[str, bool | int], None]
    written: dict[str, bool | int]

    def __init__(self, first: Mapping[str, bool | int], note: Callable[[str, bool | int], None]) -> None:
        vars(self).update(_first=first, _note=note, written={})

    def __getattr__(self, name: str) -> bool | int:
        value = vars(self)["_first"][name]
        vars(self)["_note"](name, value)
        vars(self)[name] = value
        return value  # type: ignore[no-any-return]  # a ghost

    def __setattr__(self, name: str, value: bool | int) -> None:
        vars(self)[name] = self.written[name] = value


# ------------------------------------------------------------------------------------------------ plays
@define(eq=False)
class PlayedSight(ConcreteSight):
    """
    Answer what observers ask, at a packed state, and note which facts that took.

    ``base``: what the counters were at the beginning. ``noted``: the facts and ghosts asked for, and what they were.
    ``hidden``: commands in whose stack the loop runs.
    """

    facts: Facts = field(kw_only=True)
    state: int = field(kw_only=True)
    base: Mapping[str, int] = field(kw_only=True)
    noted: list[tuple[Asked, Hashable]] = field(factory=list)
    hidden: list[list[Frame]] = field(factory=list)

    def remember(self, ghosts: Mapping[str, bool | int]) -> None:
        """Begin with these ghosts; those that are read are noted."""
        self.g = Remembered(ghosts, lambda name, value: self.noted.append((name, value)))

    def play(self, shown: Iterable[Shown]) -> None:
        """Show the observer some of a script, in order."""
        for one in shown:
            self.s = _Shown(self, one.s)
            match one.hook:
                case "see" | "unasked":
                    self.see(self._spelled_out(one.told[0]))
                case "repair":
                    self.repair(self._spelled_out(one.told[0]))
                case "done":
                    self.observer.done(self, one.told[0], refused=False)
                case "loop":
                    self.hidden.append(self.frames)
                    self.frames = []
                case "command":
                    self.frames = self.hidden.pop()
                case hook:
                    getattr(self.observer, hook)(self, *one.told)

    def end(self, name: str, last: Shown) -> int:
        """Tell what a counter is where a script ends."""
        written = last.s
        return int(self.value(written[name])) if name in written else self.base[name]

    def _spelled_out(self, event: Any) -> Any:
        """Put values in the place of the terms in an event."""
        terms = ((a.name, getattr(event, a.name)) for a in attrs.fields(type(event)))
        return evolve(event, **{name: self.value(value) for name, value in terms if isinstance(value, Term)})

    # -------------------------------------------------------------------------------------------- facts
    def ask(self, fact: Fact) -> Any:
        """Look a fact up at the state."""
        value = fact(self.state)
        self.noted.append((fact, value))
        return value

    def _known(self, fact: Fact | int) -> int:
        return fact if isinstance(fact, int) else int(self.ask(fact))

    def of_queue(self, queue: Queue, what: str, formula: Callable[[Queue], Number | Truth]) -> int:
        """Tell the answer to a question about a queue."""
        return self._known(self.facts.of_queue(queue, what, formula))

    def value(self, term: Any) -> int:
        """Tell the value of a formula over atoms of queues and counters."""
        return self._known(self.facts.over_atoms(term, self.base)) if isinstance(term, Term) else int(term)

    # -------------------------------------------------------------------------------------------- asked
    def bears(self, name: Any, tag: str) -> bool:
        """Tell whether an id is that of a tagged message, or one of several ids is."""
        if isinstance(name, Id):
            return bool(self.value(name.tags.get(tag, False)))
        return self.place(name, tag) >= 0 if isinstance(name, Queue) else bool(name == tag)

    def many(self, ids: Any) -> bool:
        """Tell whether these are several ids at once."""
        return isinstance(ids, Queue)

    def size(self, ids: Queue) -> int:
        """Tell how many ids these are."""
        return self.of_queue(ids, "size", size_of)

    def place(self, ids: Any, tag: str) -> int:
        """Tell where among ids that of a tagged message is, or -1."""
        if isinstance(ids, Queue):
            return self.of_queue(ids, tag, lambda queue: place_of(queue, tag))
        return next((i for i, one in enumerate(ids) if self.bears(one, tag)), -1)

    def decided(self, s: Any, outcome: Any) -> tuple[bool, tuple[int, int, int]]:  # noqa: ARG002  # the outcome says it
        """Tell whether a pre-step lets the claimed batch in, and what besides."""
        if outcome.messages is None:
            return True, (0, -1, -1)
        brought = tuple(one for one in outcome.messages if not isinstance(one, str))
        return len(brought) < len(outcome.messages), self.laid(brought)

    def call_number(self, call_id: str) -> int:
        """Tell the place of a call in its batch."""
        return place_of_call(call_id)


def freedoms(policies: Mapping[str, str]) -> Callable[[Policy], str]:
    """Make what tells which way freedoms go, by their names."""
    return lambda policy: policies.get(policy.name, policy.default)
