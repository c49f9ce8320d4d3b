"""
Walk through a contract at random, many states at once: what holds in every state that was met may be an invariant.

States are rows of numbers, a column for each part. Each round takes every step from some rows of its position, with the
unknowns of its path drawn by lot; where its guard holds, the state behind it is met. Of states that differ in nothing
but large numbers, few are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from turnproof_model.prove.spacer_steps import Place, Step, Steps, unknowns_of
from turnproof_model.readings.terms import Sort, Term, var

Rows: TypeAlias = NDArray[np.int64]
"""States: one a row, a part a column (truths as 0 and 1)."""

Columns: TypeAlias = Mapping[str, Any]
"""Values of unknowns, one for each state."""

LOTS = np.array([-1, -1, -1, 0, 0, 0, 1, 1, 2, 3])
"""What a number of a path is drawn from: few things happen many at once, and most lists hold no tagged message."""

_MEANS: Mapping[str, Callable[..., Any]] = {
    "not": np.logical_not,
    "choice": np.where,
    "add": np.add,
    "sub": np.subtract,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
}


def evaluate(value: object, columns: Columns, known: dict[int, Any]) -> Any:
    """
    Compute a term for many states.

    Args:
        value: a term or a plain value.
        columns: the values of its unknowns.
        known: what has been computed with these columns, by the keys of terms; more is added.
    """
    if not isinstance(value, Term):
        return value
    if value.key not in known:
        if value.op == "var":
            known[value.key] = columns[value.args[0]]
        else:
            args = [evaluate(arg, columns, known) for arg in value.args]
            known[value.key] = _apply(value.op, args)
    return known[value.key]


def named(rows: Rows, sorts: Mapping[str, Sort]) -> dict[str, Any]:
    """Name the columns of states; truths become truths."""
    return {
        name: rows[:, i].astype(bool) if sort == "bool" else rows[:, i] for i, (name, sort) in enumerate(sorts.items())
    }


def _apply(op: str, args: Sequence[Any]) -> Any:
    if op in {"and", "or"}:
        join = np.logical_and if op == "and" else np.logical_or
        found = args[0]
        for arg in args[1:]:
            found = join(found, arg)
        return found
    return _MEANS[op](*args)


@define(eq=False)
class Walks:
    """
    Meet states.

    ``steps``: the contract. ``seed``: of all lots. ``batch``: states of a position from which all of its steps are
    tried in a round, ``taken``: from how many of these each may be taken. ``most``: states kept for a position;
    ``alike``: of those that look the same. ``limit``: no number beyond it is followed. ``met``: the states, by
    position.
    """

    steps: Steps
    seed: int = 0
    batch: int = 256
    taken: int = 64
    most: int = 2500
    alike: int = 2
    limit: int = 7
    met: dict[Place, Rows] = field(factory=dict)
    _seen: dict[Place, dict[int, int]] = field(factory=dict)
    _lots: np.random.Generator = field(init=False)
    _order: Mapping[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Begin to draw lots."""
        self._lots = np.random.default_rng(self.seed)
        self._order = {name: i for i, name in enumerate(self.steps.sorts)}

    def run(self, rounds: int, limit: Callable[[], None] = lambda: None) -> Mapping[Place, Rows]:
        """
        Walk for some rounds.

        Args:
            rounds: how many.
            limit: is called before each; raises where there is no time left.
        """
        weights = self._lots.integers(1, 2**62, len(self.steps.sorts), dtype=np.int64) | 1
        unknown = [[(var(*one), one[1]) for one in unknowns_of(path).items()] for path in self.steps.paths]
        out: dict[Place, list[Step]] = {}
        for step in self.steps.steps:
            out.setdefault(step.before, []).append(step)
        self._keep(self.steps.first, self._first(), weights)
        for _ in range(rounds):
            limit()
            found: dict[Place, list[Rows]] = {}
            for place in tuple(self.met):
                for after, rows in self._leave(place, out[place], unknown):
                    found.setdefault(after, []).append(rows)
            for place, several in found.items():
                self._keep(place, np.concatenate(several), weights)
        return self.met

    def _first(self) -> Rows:
        """Make the first states: one for each way that what never changes may be."""
        names, rigid = list(self.steps.sorts), list(self.steps.rigid)
        rows = np.zeros((2 ** len(rigid), len(names)), dtype=np.int64)
        for i, name in enumerate(names):
            if name in self.steps.rigid:
                rows[:, i] = np.arange(len(rows)) >> rigid.index(name) & 1
            else:
                rows[:, i] = int(self.steps.start[name])  # type: ignore[arg-type]  # plain at the beginning
        return rows

    def _leave(
        self, place: Place, out: Sequence[Step], unknown: Sequence[Sequence[tuple[Term, Sort]]]
    ) -> Iterator[tuple[Place, Rows]]:
        """Take all steps that leave a position, from the same states: what they have in common is computed once."""
        rows = self._some(place)
        columns = named(rows, self.steps.sorts)
        known = {part.key: columns[name] for name, part in self.steps.parts.items()}
        for step in out:
            for one, sort in unknown[step.path]:
                if one.key not in known:
                    known[one.key] = self._draw(sort)
            taken = np.flatnonzero(np.broadcast_to(evaluate(step.guard, columns, known), (self.batch,)))[: self.taken]
            if len(taken):
                after = rows[taken]
                for name, value in self.steps.paths[step.path].after.items():
                    then = evaluate(value, columns, known)
                    after[:, self._order[name]] = then[taken] if isinstance(then, np.ndarray) else then
                yield step.after, after

    def _some(self, place: Place) -> Rows:
        """Choose states of a position, half of them among the newest."""
        here = self.met[place]
        newest = max(0, len(here) - self.batch)
        old = self._lots.integers(0, len(here), self.batch)
        rows: Rows = here[np.where(self._lots.random(self.batch) < 0.5, newest + old % (len(here) - newest), old)]
        return rows

    def _draw(self, sort: Sort) -> Any:
        if sort == "bool":
            return self._lots.integers(0, 2, self.batch).astype(bool)
        return LOTS[self._lots.integers(0, len(LOTS), self.batch)]

    def _keep(self, place: Place, rows: Rows, weights: Rows) -> None:
        """Keep states that look new; of those that came together and look the same, the first."""
        numbers = [i for i, name in enumerate(self.steps.sorts) if self.steps.counts(name)]
        rows = rows[rows[:, numbers].max(axis=1) <= self.limit]
        looks = rows.copy()
        looks[:, numbers] = np.clip(looks[:, numbers], -1, 1)
        seen = self._seen.setdefault(place, {})
        new: list[int] = []
        several = np.unique((looks * weights).sum(axis=1), return_index=True)
        for look, i in zip(*(column.tolist() for column in several), strict=True):
            times = seen.get(look, 0)
            if times < self.alike:
                seen[look] = times + 1
                new.append(i)
        kept = np.concatenate([self.met.get(place, rows[:0]), rows[new]])
        if len(kept) > self.most:
            kept = kept[np.sort(self._lots.choice(len(kept), self.most, replace=False, p=self._chances(kept)))]
        if len(kept):
            self.met[place] = kept

    def _chances(self, rows: Rows) -> Any:  # noqa: ARG002  # other walks look at the states
        """Say how likely each state is to be kept; nothing where all are alike."""
        return None
