"""
Take the paths of a contract apart by position, for a proof that is given no invariant.

A *step* is a path that leaves one position of the loop. What has to be shown of it are the checks along it and the
properties of the observer where it leads. A part that nothing on the way from a position can read any more is *idle*
there; nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from attrs import define, field, frozen

from turnproof_model.prove.invariants import View
from turnproof_model.prove.machine import Check, CounterSight, Path
from turnproof_model.prove.shape import OUTSIDE, Part, Shape
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import Sort, Term, Truth, both, either, is_false, is_true, key_of, rebuild, var

Place: TypeAlias = int
"""A position of the loop, by its place in the list of phases, or ``OUTSIDE`` of it."""

AT = "at"


def unknowns(*values: object) -> Mapping[str, Sort]:
    """Name the unknowns in terms, with their sorts."""
    found: dict[str, Sort] = {}
    seen: set[int] = set()
    todo = [value for value in values if isinstance(value, Term)]
    while todo:
        term = todo.pop()
        if term.key in seen:
            continue
        seen.add(term.key)
        if term.op == "var":
            found[term.args[0]] = term.sort
        todo.extend(arg for arg in term.args if isinstance(arg, Term))
    return found


def is_fresh(name: str) -> bool:
    """Tell whether an unknown belongs to one path alone."""
    return "~" in name


@frozen(eq=False)
class Step:
    """
    Be a path that leaves one position.

    ``path``: its place among the paths. ``guard``: where it is taken, at this position.
    """

    path: int
    before: Place
    after: Place
    guard: Truth


@define(eq=False)
class Steps:
    """
    Hold a contract position by position.

    ``shape``, ``observer``, ``paths``: as the walk of its rules gave them.
    """

    shape: Shape
    observer: Observer
    paths: Sequence[Path]
    _at: dict[tuple[int, Place], Truth] = field(factory=dict)
    _after: dict[tuple[int, Place, int], Truth] = field(factory=dict)
    _spoken: dict[int, frozenset[str]] = field(factory=dict)

    # -------------------------------------------------------------------------------------------- unknowns
    @cached_property
    def places(self) -> Sequence[str]:
        """The positions by name."""
        return tuple(self.shape.fields[AT].values)

    @cached_property
    def rigid(self) -> Mapping[str, Sort]:
        """The unknowns that never change: what tagged messages are, and what a candidate declares."""
        found = {name: sort for path in self.paths for name, sort in unknowns(*_said(path)).items()}
        return {name: found[name] for name in sorted(found) if name not in self.shape.sorts() and not is_fresh(name)}

    @cached_property
    def sorts(self) -> Mapping[str, Sort]:
        """All parts of a state, with what never changes."""
        return {**self.shape.sorts(), **self.rigid}

    @cached_property
    def parts(self) -> Mapping[str, Term]:
        """An unknown for each part."""
        return {name: var(name, sort) for name, sort in self.sorts.items()}

    @cached_property
    def start(self) -> Mapping[str, Part]:
        """The initial value of every part that isn't rigid, the position as a number."""
        return self.shape.start()

    def counts(self, name: str) -> bool:
        """Tell whether a part is a number that counts, and no choice."""
        field_ = self.shape.fields.get(name)
        return self.sorts[name] == "int" and (field_ is None or field_.kind != "choice")

    @property
    def first(self) -> Place:
        """The position where everything begins."""
        at = self.start[AT]
        assert isinstance(at, int), "a position is never unknown at the beginning"
        return at

    # -------------------------------------------------------------------------------------------- steps
    @cached_property
    def steps(self) -> Sequence[Step]:
        """All steps: of each path, one for each position at which it can be taken."""
        return tuple(step for number in range(len(self.paths)) for step in self._steps(number))

    @cached_property
    def leaving(self) -> Mapping[Place, Sequence[Step]]:
        """The steps from each position."""
        return _grouped((step.before, step) for step in self.steps)

    @cached_property
    def entering(self) -> Mapping[Place, Sequence[Step]]:
        """The steps to each position."""
        return _grouped((step.after, step) for step in self.steps)

    def _steps(self, number: int) -> Iterator[Step]:
        path = self.paths[number]
        split = [
            ([t for t in way if AT in unknowns(t)], [t for t in way if AT not in unknowns(t)]) for way in path.ways
        ]
        for place in range(len(self.places)):
            ways: list[Truth] = []
            for placed, others in split:
                here = [self.at(place, term) for term in placed]
                if not any(is_false(term) for term in here):
                    ways.append(both(*here, *others))
            guard = either(*ways)
            if not is_false(guard):
                after: Any = path.after.get(AT, place)
                yield Step(number, place, after, guard)

    def at(self, place: Place, value: Truth) -> Truth:
        """Say what a truth comes to at a position."""
        if not isinstance(value, Term):
            return value
        key = (value.key, place)
        if key not in self._at:
            found: Any = rebuild(value, lambda term: place if term.op == "var" and term.args[0] == AT else None)
            self._at[key] = found
        return self._at[key]

    def initially(self, value: Truth) -> Truth:
        """Say what a truth comes to at the beginning, whatever the rigid unknowns are."""
        found: Any = rebuild(value, lambda term: self.start.get(term.args[0]) if term.op == "var" else None)
        return found  # type: ignore[no-any-return]  # a truth

    def after(self, step: Step, value: Truth) -> Truth:
        """Say of the state before a step what a truth says of the state after it."""
        if not isinstance(value, Term):
            return value
        key = (step.path, step.after, value.key)
        if key not in self._after:
            here = self.at(step.after, value)
            path = self.paths[step.path]

            def replace(term: Term) -> object | None:
                return path.after.get(term.args[0]) if term.op == "var" else None

            kept = not isinstance(here, Term) or self.keeps(step, self.spoken(here))
            found: Any = here if kept else rebuild(here, replace)
            self._after[key] = found
        return self._after[key]

    def spoken(self, says: Term) -> frozenset[str]:
        """Name the unknowns that something speaks of."""
        if says.key not in self._spoken:
            self._spoken[says.key] = frozenset(unknowns(says))
        return self._spoken[says.key]

    def keeps(self, step: Step, names: Iterable[str]) -> bool:
        """Tell whether a step leaves these parts as they are."""
        return self._changed[step.path].isdisjoint(names)

    @cached_property
    def _changed(self) -> Sequence[frozenset[str]]:
        """The parts that a path changes, path by path."""
        return tuple(
            frozenset(name for name, then in path.after.items() if key_of(then) != key_of(self.parts.get(name)))
            for path in self.paths
        )

    # -------------------------------------------------------------------------------------------- duties
    @cached_property
    def properties(self) -> Sequence[Check]:
        """What the observer says of every state."""
        view = View(self.shape, {name: self.parts[name] for name in self.shape.sorts()})
        sight = CounterSight(view.s, view.g)
        self.observer.holds(sight)
        return tuple(sight.checks)

    def duties(self, step: Step) -> Iterator[Check]:
        """List what a step has to meet, each for this step alone: its checks, and the properties that it may change."""
        for check in self.paths[step.path].checks:
            condition = self.at(step.before, check.condition)
            if not is_true(condition):
                yield Check(check.rule, condition)
        for one in self.properties:
            says = self.after(step, one.condition)
            if not is_true(says) and key_of(says) != key_of(self.at(step.before, one.condition)):
                yield Check(one.rule, says)

    # -------------------------------------------------------------------------------------------- idle parts
    @cached_property
    def used(self) -> Mapping[Place, frozenset[str]]:
        """The parts that may still be read, by position; the position itself is none of them."""
        always = frozenset(unknowns(*(one.condition for one in self.properties))) & frozenset(self.sorts)
        used = dict.fromkeys((*range(len(self.places)), OUTSIDE), always)
        flows = [(step, *self._flow(step)) for step in self.steps]
        changed = True
        while changed:
            changed = False
            for step, read, written in flows:
                into = (written.get(name, frozenset({name})) for name in used[step.after])
                wanted = used[step.before].union(read, *into)
                if wanted != used[step.before]:
                    used[step.before], changed = wanted, True
        return {place: names - {AT} for place, names in used.items()}

    def _flow(self, step: Step) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
        """Tell what a step reads whatever comes, and of what each part is made that it writes."""
        path, known = self.paths[step.path], frozenset(self.sorts)
        read = frozenset(unknowns(step.guard, *(check.condition for check in path.checks))) & known
        return read, {name: frozenset(unknowns(value)) & known for name, value in path.after.items()}


def _grouped(steps: Iterable[tuple[Place, Step]]) -> Mapping[Place, Sequence[Step]]:
    found: dict[Place, list[Step]] = {}
    for place, step in steps:
        found.setdefault(place, []).append(step)
    return found


def _said(path: Path) -> Iterator[object]:
    """List all terms of a path."""
    for way in path.ways:
        yield from way
    yield from path.after.values()
    yield from (check.condition for check in path.checks)


def unknowns_of(path: Path) -> Mapping[str, Sort]:
    """Name the unknowns that belong to a path alone."""
    return {name: sort for name, sort in unknowns(*_said(path)).items() if is_fresh(name)}
