"""
Guess lemmas from states that were met: simple sentences about the parts of a state, true in each of these states.

The sentences are of a few kinds, the same for every contract and every part: a part has one value, a choice has these
values, two numbers differ by a constant, a number is the sum of two, a number isn't below a bound, two truths are
equal, one truth implies another, and some of these where a truth holds. None speaks of what a part means. Parts that
were settled by an earlier kind are left out of the later ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import define, frozen

from turnproof_model.prove.invariants import View
from turnproof_model.prove.spacer_steps import AT, Place, Steps, unknowns
from turnproof_model.prove.spacer_walks import Rows
from turnproof_model.readings import counter_batch, counters
from turnproof_model.readings.terms import Term, Truth, either, implies, negate, plus

Kind: TypeAlias = Literal["value", "choice", "equal", "sum", "bound", "truth", "implied", "where", "type"]

HIDING: frozenset[Kind] = frozenset({"value", "choice", "equal", "bound", "truth"})
"""Kinds that leave parts out of later kinds: where such a lemma falls, others may stand in its place."""

FEW = 8
"""Fewer states than this say nothing about what holds where a truth does."""


@frozen(eq=False)
class Lemma:
    """Be a sentence about the states at one position."""

    kind: Kind
    says: Term


@define(eq=False)
class _Seen:
    """Hold what one position shows: the states, the numbers that differ from each other, the truths, and so on."""

    rows: Rows
    numbers: list[str]
    values: Any
    truths: list[Term]
    told: Any


@define(eq=False)
class Guesses:
    """Guess lemmas about a contract's parts."""

    steps: Steps

    def at(self, place: Place, rows: Rows) -> Iterator[Lemma]:
        """
        Guess what holds at a position.

        Args:
            place: the position.
            rows: states that were met there, at least one.
        """
        used = [name for name in self.steps.sorts if name in self.steps.used[place] or name in self.steps.rigid]
        order = {name: i for i, name in enumerate(self.steps.sorts)}
        vary: list[str] = []
        for name in used:
            column = rows[:, order[name]]
            if (column == column[0]).all():
                yield Lemma("value", self._is(name, int(column[0])))
            else:
                vary.append(name)
        numbers = [name for name in vary if self._counts(name)]
        apart = yield from self._equal(rows, numbers, order)
        truths, told = self._truths(rows, vary, apart, order)
        seen = _Seen(rows, apart, rows[:, [order[name] for name in apart]].astype(np.int32), truths, told)
        yield from self._choices(rows, vary, order)
        yield from self._numbers(seen)
        yield from self._sums(seen)
        yield from self._implied(seen)

    def types(self, place: Place) -> Iterator[Lemma]:
        """Say what the types of parts say: that queues are queues, and that a batch is a batch."""
        view = View(self.steps.shape, {name: self.steps.parts[name] for name in self.steps.shape.sorts()})
        spoken = self.steps.used[place] | frozenset(self.steps.rigid)
        for name, field in self.steps.shape.fields.items():
            if field.kind not in {"queue", "batch"}:
                continue
            value = getattr(view.s, name)
            whole = counters.well_formed(value) if field.kind == "queue" else counter_batch.well_formed(value)
            assert isinstance(whole, Term), "nothing of a state is known"
            for says in whole.args if whole.op == "and" else (whole,):
                if spoken.issuperset(unknowns(says)):
                    yield Lemma("type", says)

    def _counts(self, name: str) -> bool:
        field = self.steps.shape.fields.get(name)
        return self.steps.sorts[name] == "int" and (field is None or field.kind != "choice")

    def _is(self, name: str, value: int) -> Term:
        part = self.steps.parts[name]
        if self.steps.sorts[name] == "bool":
            return part if value else _term(negate(part))
        return _term(part == value)

    # -------------------------------------------------------------------------------------------- numbers
    def _equal(self, rows: Rows, numbers: Sequence[str], order: dict[str, int]) -> Any:
        """Say which numbers differ by a constant; return one of each group."""
        apart: list[str] = []
        for name in numbers:
            for other in apart:
                gap = rows[:, order[name]] - rows[:, order[other]]
                if (gap == gap[0]).all():
                    yield Lemma("equal", _term(self._part(name) == self._part(other) + int(gap[0])))
                    break
            else:
                apart.append(name)
        return apart

    def _part(self, name: str) -> Any:
        return self.steps.parts[name]

    def _choices(self, rows: Rows, vary: Sequence[str], order: dict[str, int]) -> Iterator[Lemma]:
        for name in vary:
            if self.steps.sorts[name] == "int" and not self._counts(name):
                met = np.unique(rows[:, order[name]]).tolist()
                yield Lemma("choice", _term(either(*(self._part(name) == value for value in met))))

    def _numbers(self, seen: _Seen) -> Iterator[Lemma]:
        """Bound numbers from below by -1 or more."""
        for i, name in enumerate(seen.numbers):
            lowest = int(seen.values[:, i].min())
            if lowest >= -1:
                yield Lemma("bound", _term(self._part(name) >= lowest))

    def _sums(self, seen: _Seen) -> Iterator[Lemma]:
        """Say which numbers are sums of two others."""
        for i, j, k, gap in _sums(seen.values):
            yield Lemma("sum", self._sum(seen, i, j, k, gap))

    def _sum(self, seen: _Seen, i: int, j: int, k: int, gap: int) -> Term:
        one, two, three = (self._part(seen.numbers[place]) for place in (i, j, k))
        return _term(one == plus(plus(two, three), gap))

    # -------------------------------------------------------------------------------------------- truths
    def _truths(self, rows: Rows, vary: Sequence[str], apart: Sequence[str], order: dict[str, int]) -> tuple[Any, Any]:
        """List what is true in some states and false in others: truths, values of choices, signs of numbers."""
        terms: list[Term] = []
        told: list[Any] = []
        for name in vary:
            column = rows[:, order[name]]
            if self.steps.sorts[name] == "bool":
                terms.append(self._part(name))
                told.append(column != 0)
            elif name in apart:
                for least in (0, 1):
                    terms.append(_term(self._part(name) >= least))
                    told.append(column >= least)
            elif name != AT and not self._counts(name):
                for value in np.unique(column).tolist():
                    terms.append(_term(self._part(name) == value))
                    told.append(column == value)
        kept = [i for i, column in enumerate(told) if column.any() and not column.all()]
        empty = np.zeros((len(rows), 0), dtype=bool)
        return [terms[i] for i in kept], np.array([told[i] for i in kept]).T if kept else empty

    def _implied(self, seen: _Seen) -> Iterator[Lemma]:
        """Say which truths are equal, and which implies which; then what holds of numbers where a truth holds."""
        alike: dict[bytes, int] = {}
        for i in range(len(seen.truths)):
            column = seen.told[:, i] ^ seen.told[0, i]
            first = alike.setdefault(column.tobytes(), i)
            if first != i:
                same = seen.told[0, i] == seen.told[0, first]
                one: Any = seen.truths[i]
                yield Lemma("truth", _term(one == seen.truths[first] if same else one != seen.truths[first]))
        kept = list(alike.values())
        half = seen.told[:, kept]
        literals = [*(seen.truths[i] for i in kept), *(_term(negate(seen.truths[i])) for i in kept)]
        holds = np.concatenate([half, ~half], axis=1)
        for i, j in _implications(holds):
            yield Lemma("implied", _term(implies(literals[i], literals[j])))
        flags = [i for i in range(len(kept)) if literals[i].op == "var"]
        for i, literal in enumerate(literals):
            yield from self._where(seen, literal, holds[:, i])
            others = [flag for flag in flags if flag != i % len(kept)]
            for j, k, same in _alike(holds[holds[:, i]][:, others]):
                one, two = literals[others[j]], literals[others[k] if same else others[k] + len(kept)]
                yield Lemma("where", _term(implies(literal, _same(one, two))))

    def _where(self, seen: _Seen, literal: Term, holds: Any) -> Iterator[Lemma]:
        """Say what holds of numbers where a truth holds."""
        values = seen.values[holds]
        if len(values) < FEW:
            return
        vary = [i for i in range(len(seen.numbers)) if values[:, i].min() != values[:, i].max()]
        for i, j, gap in _gaps(values[:, vary]):
            says = self._part(seen.numbers[vary[i]]) == self._part(seen.numbers[vary[j]]) + gap
            yield Lemma("where", _term(implies(literal, says)))
        for i, j, k, gap in _sums(values[:, vary]):
            yield Lemma("where", _term(implies(literal, self._sum(seen, vary[i], vary[j], vary[k], gap))))


def _term(says: Truth | Any) -> Term:
    assert isinstance(says, Term), "a sentence about unknowns isn't known"
    return says


def _same(one: Any, two: Any) -> Any:
    return one == two


def _alike(truths: Any) -> Iterator[tuple[int, int, bool]]:
    """List the pairs of columns that are equal, or opposite, and aren't the same everywhere."""
    if len(truths) < FEW:
        return
    vary = truths.any(axis=0) & ~truths.all(axis=0)
    told = np.unique(truths, axis=0).astype(np.float32)
    both_ = told.T @ told + (1 - told).T @ (1 - told)
    found = ((both_ == len(told)) | (both_ == 0)) & vary[:, None] & vary[None, :]
    for j, k in zip(*(places.tolist() for places in np.nonzero(np.tril(found, -1))), strict=True):
        yield j, k, bool(both_[j, k])


def _gaps(values: Any) -> Iterator[tuple[int, int, int]]:
    """List the pairs of columns that differ by a constant, with it."""
    one, two = np.tril_indices(values.shape[1], -1)
    gaps = values[:, one] - values[:, two]
    for found in np.nonzero((gaps == gaps[:1]).all(axis=0))[0].tolist():
        yield int(one[found]), int(two[found]), int(gaps[0, found])


SAMPLE = 40
"""So many states are looked at before all are."""


def _sums(values: Any) -> Iterator[tuple[int, int, int, int]]:
    """List the columns that are the sum of two others and one of -1, 0 and 1."""
    one, two = np.tril_indices(values.shape[1], -1)
    if not len(one):
        return
    sums = values[:, one] + values[:, two]
    some = slice(None, None, max(1, len(values) // SAMPLE))
    for i in range(values.shape[1]):
        gaps = values[some, i : i + 1] - sums[some]
        likely = (gaps == gaps[:1]).all(axis=0) & (abs(gaps[0]) <= 1) & (one != i) & (two != i)
        for found in np.nonzero(likely)[0].tolist():
            if (values[:, i] - sums[:, found] == gaps[0, found]).all():
                yield i, int(one[found]), int(two[found]), int(gaps[0, found])


def _implications(holds: Any) -> Iterator[tuple[int, int]]:
    """
    List which columns imply which, without what follows from others.

    Args:
        holds: truths, the second half of the columns the opposite of the first.
    """
    count = holds.shape[1]
    if not count:
        return
    _, rows = np.unique(np.packbits(holds, axis=1), axis=0, return_index=True)
    told = holds[rows].astype(np.float32)
    implied = told.T @ (1 - told) == 0
    np.fill_diagonal(implied, val=False)
    chains = implied.astype(np.float32)
    direct = implied & ~((chains @ chains) > 0)
    for i, j in zip(*(found.tolist() for found in np.nonzero(direct)), strict=True):
        turned = ((j + count // 2) % count, (i + count // 2) % count)
        if j != (i + count // 2) % count and turned >= (i, j):
            yield i, j
