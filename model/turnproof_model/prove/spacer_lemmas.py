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
from turnproof_model.prove.spacer_patterns import Patterns, implications
from turnproof_model.prove.spacer_steps import AT, Place, Steps, unknowns
from turnproof_model.prove.spacer_walks import Rows
from turnproof_model.readings import counter_batch, counters
from turnproof_model.readings.terms import Term, Truth, either, implies, negate, plus

Kind: TypeAlias = Literal["value", "choice", "equal", "sum", "bound", "truth", "implied", "where", "type"]

HIDING: frozenset[Kind] = frozenset({"value", "choice", "equal", "bound", "truth"})
"""Kinds that leave parts out of later kinds: where such a lemma falls, others may stand in its place."""


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
        numbers = [name for name in vary if self.steps.counts(name)]
        apart = yield from self._equal(rows, numbers, order)
        truths, told = self._truths(rows, vary, apart, order)
        seen = _Seen(rows, apart, rows[:, [order[name] for name in apart]].astype(np.int32), truths, told)
        yield from self._choices(rows, vary, order)
        yield from self._numbers(seen)
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
            if self.steps.sorts[name] == "int" and not self.steps.counts(name):
                met = np.unique(rows[:, order[name]]).tolist()
                yield Lemma("choice", _term(either(*(self._part(name) == value for value in met))))

    def _numbers(self, seen: _Seen) -> Iterator[Lemma]:
        """Bound numbers from below by -1 or more."""
        for i, name in enumerate(seen.numbers):
            lowest = int(seen.values[:, i].min())
            if lowest >= -1:
                yield Lemma("bound", _term(self._part(name) >= lowest))

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
            elif name != AT and not self.steps.counts(name):
                for value in np.unique(column).tolist():
                    terms.append(_term(self._part(name) == value))
                    told.append(column == value)
        kept = [i for i, column in enumerate(told) if column.any() and not column.all()]
        empty = np.zeros((len(rows), 0), dtype=bool)
        return [terms[i] for i in kept], np.array([told[i] for i in kept]).T if kept else empty

    def _implied(self, seen: _Seen) -> Iterator[Lemma]:
        """Say which truths are equal, and which implies which; then what holds of others where a truth holds."""
        first: dict[bytes, int] = {}
        for i, column in enumerate((seen.told ^ seen.told[:1]).T):
            other = first.setdefault(column.tobytes(), i)
            if other != i:
                same = seen.told[0, i] == seen.told[0, other]
                one: Any = seen.truths[i]
                yield Lemma("truth", _term(one == seen.truths[other] if same else one != seen.truths[other]))
        kept = list(first.values())
        half = seen.told[:, kept]
        literals = [*(seen.truths[i] for i in kept), *(_term(negate(seen.truths[i])) for i in kept)]
        for i, j in implications(np.concatenate([half, ~half], axis=1)):
            yield Lemma("implied", _term(implies(literals[i], literals[j])))
        yield from self._where(seen, literals, half)

    def _where(self, seen: _Seen, literals: Sequence[Term], half: Any) -> Iterator[Lemma]:
        """Say what holds of numbers and of flags where a truth holds; of sums, what always does."""
        count = half.shape[1]
        flags = [i for i in range(count) if literals[i].op == "var"]
        patterns = Patterns(seen.values, half[:, flags], half)
        for i, j, k, gap in patterns.gaps():
            if i < 2 * count:
                says = self._part(seen.numbers[j]) == self._part(seen.numbers[k]) + gap
                yield Lemma("where", _term(implies(literals[i], says)))
        for i, j, k, other, gap in patterns.sums():
            total = self._sum(seen, j, k, other, gap)
            yield Lemma("where", _term(implies(literals[i], total))) if i < 2 * count else Lemma("sum", total)
        for i, j, k, same in patterns.alike():
            if i < 2 * count and i % count not in {flags[j], flags[k]}:
                one: Any = literals[flags[j]]
                two = literals[flags[k] if same else flags[k] + count]
                yield Lemma("where", _term(implies(literals[i], one == two)))


def _term(says: Truth | Any) -> Term:
    assert isinstance(says, Term), "a sentence about unknowns isn't known"
    return says
