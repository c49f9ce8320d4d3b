"""
Say what is special about a state: few literals that all hold there, and not all in any state that was met.

Such a *cube* is what a clause denies. Which literals are left out first is drawn by lot; of the cubes that are found,
the best are short, miss many states that were met by one literal only, and aren't met at the positions before either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field

from turnproof_model.prove.spacer_steps import AT, Place, Steps
from turnproof_model.prove.spacer_walks import Rows, evaluate, named
from turnproof_model.readings.terms import Term, negate

State: TypeAlias = Mapping[str, "int | bool"]
"""The value of every part."""

TRIES = 6
"""How many cubes are looked for, each by another lot."""

NEAR = 0.5
"""What doubling the states that a cube misses by one literal is worth, in literals."""

WIDE = 2.0
"""What it is worth, in literals, that a cube is met at none of the positions before."""


@define(eq=False)
class Cubes:
    """
    Find cubes.

    ``steps``: the contract. ``met``: states that were met, by position; more are added. ``seed``: of lots.
    """

    steps: Steps
    met: dict[Place, Rows]
    seed: int = 0
    _order: Mapping[str, int] = field(init=False)
    _lots: np.random.Generator = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Begin to draw lots."""
        self._order = {name: i for i, name in enumerate(self.steps.sorts)}
        self._lots = np.random.default_rng(self.seed)

    def add(self, place: Place, row: Sequence[int]) -> None:
        """Know one more state that can be at a position."""
        self.met[place] = np.concatenate([self.met[place], np.array([row])])

    def state(self, row: Sequence[int]) -> State:
        """Name the values of a state that was met."""
        sorts = self.steps.sorts
        return {name: bool(row[i]) if sorts[name] == "bool" else int(row[i]) for name, i in self._order.items()}

    def like(self, place: Place, state: State, names: Sequence[str]) -> list[State]:
        """List states that were met and have all the coarse literals of a state over some parts."""
        fits = self._holds(place, list(self._coarse(state, self._spoken(place, names)))).all(axis=1)
        return [self.state(row) for row in self.met[place][fits].tolist()]

    def special(self, place: Place, state: State, names: Sequence[str], real: Callable[[], bool]) -> list[list[Term]]:
        """
        Find cubes that hold in a state and were never met, the best first.

        Args:
            place: the position.
            state: what the solver shows there.
            names: the parts that matter.
            real: tells whether a state that was met and looks like this one does what it does; asked at most once.

        Returns:
            None at all where it is real, or looks like one that was met in every part.
        """
        names = self._spoken(place, names)
        literals = list(self._coarse(state, names))
        holds = self._holds(place, literals)
        if holds.all(axis=1).any():
            if real():
                return []
            for wider in (names, self._spoken(place, list(self.steps.sorts))):
                literals = [*self._coarse(state, wider), *self._fine(state, wider)]
                holds = self._holds(place, literals)
                if not holds.all(axis=1).any():
                    break
            else:
                return []
        return self._best(place, literals, ~holds)

    # -------------------------------------------------------------------------------------------- literals
    def _spoken(self, place: Place, names: Sequence[str]) -> list[str]:
        used = self.steps.used[place] | frozenset(self.steps.rigid)
        return [name for name in names if name in used and name != AT]

    def _coarse(self, state: State, names: Sequence[str]) -> Iterator[Term]:
        """Say which truths hold, which value a choice has and hasn't, and the signs and the order of numbers."""
        parts: Mapping[str, Any] = self.steps.parts
        numbers = [name for name in names if self.steps.counts(name)]
        for name in names:
            part, value = parts[name], state[name]
            if self.steps.sorts[name] == "bool":
                yield part if value else negate(part)  # type: ignore[misc]  # an unknown's opposite is a term
            elif name in numbers:
                yield from (part >= least if value >= least else part < least for least in (0, 1))
                if value == 0:
                    yield part == 0
            else:
                yield part == value
                others = range(len(self.steps.shape.fields[name].values))
                yield from (part != other for other in others if other != value)
        for one, two in combinations(numbers, 2):
            if state[one] == state[two]:
                yield parts[one] == parts[two]
            else:
                yield parts[one] != parts[two]
                yield parts[one] < parts[two] if state[one] < state[two] else parts[one] > parts[two]

    def _fine(self, state: State, names: Sequence[str]) -> Iterator[Term]:
        """Say what numbers are, and by how much they differ."""
        parts: Mapping[str, Any] = self.steps.parts
        numbers = [name for name in names if self.steps.counts(name)]
        for name in numbers:
            yield parts[name] == state[name]
            yield parts[name] <= state[name]
            yield parts[name] >= state[name]
        for one, two in combinations(numbers, 2):
            gap = state[one] - state[two]
            if abs(gap) == 1:
                yield parts[one] == parts[two] + gap
            elif gap:
                yield parts[one] > parts[two] + 1 if gap > 0 else parts[two] > parts[one] + 1

    def _holds(self, place: Place, literals: Sequence[Term]) -> Any:
        """Tell of each state that was met which literals hold."""
        rows = self.met[place]
        columns = named(rows, self.steps.sorts)
        known: dict[int, Any] = {}
        found = np.ones((len(rows), len(literals)), dtype=bool)
        for i, literal in enumerate(literals):
            found[:, i] = evaluate(literal, columns, known)
        return found

    # -------------------------------------------------------------------------------------------- cubes
    def _best(self, place: Place, literals: Sequence[Term], fails: Any) -> list[list[Term]]:
        """Leave out literals in several orders; each state that was met fails one of those that are left."""
        found: dict[tuple[int, ...], float] = {}
        before = {step.before for step in self.steps.entering.get(place, ())} & self.met.keys() - {place}
        unequal = [one.op == "ne" or (one.op == "not" and one.args[0].op == "eq") for one in literals]
        for _ in range(TRIES):
            order = self._lots.permutation(len(literals)).tolist()
            if self._lots.random() < NEAR:  # what a choice isn't goes first in half of them
                order.sort(key=lambda i: not unequal[i])
            kept = self._fewest(fails, order)
            if kept not in found:
                cube = [literals[i] for i in kept]
                wide = [not self._holds(other, cube).all(axis=1).any() for other in sorted(before)]
                found[kept] = self._worth(fails[:, list(kept)]) + WIDE * sum(wide) / max(1, len(wide))
        return [[literals[i] for i in kept] for kept in sorted(found, key=lambda kept: -found[kept])]

    def _fewest(self, fails: Any, order: Sequence[int]) -> tuple[int, ...]:
        count = fails.sum(axis=1)
        kept = set(order)
        for i in order:
            less = count - fails[:, i]
            if (less > 0).all():
                count = less
                kept.remove(i)
        return tuple(sorted(kept))

    def _worth(self, fails: Any) -> float:
        """Prefer few literals, each of which many states fail that fail no other."""
        alone = fails[fails.sum(axis=1) == 1].sum(axis=0)
        return float(NEAR * np.log2(1 + alone).mean() - fails.shape[1])
