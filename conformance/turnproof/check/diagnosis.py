"""
Find the smallest sets of edits that make something legal, as smallest hitting sets.

z3 proposes a set that hits every mark seen so far; whoever asks judges it; where a rule still breaks, its mark is one
more to be hit: some edit of the set must go, or one that may help against the mark must come. (Reiter's diagnosis from
first principles. The judge stays the only one who says what is legal; a mark that lists too few suspects loses sets,
one that lists too many only costs time.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from attrs import define, field


class Weighed(Hashable, Protocol):
    """Be an edit: ``weight`` says how far-fetched it is."""

    @property
    def weight(self) -> int:
        """How far-fetched it is, from 0."""


E = TypeVar("E", bound=Weighed)
M = TypeVar("M")


class Clause(NamedTuple):
    """Say what a set that holds ``edits`` lacks: one of these must go, or one of ``helping`` must come."""

    edits: tuple[int, ...]
    helping: tuple[tuple[int, int], ...]


@define(eq=False)
class Diagnosis(Generic[E, M]):
    """
    Search the smallest sets; of one size those of likely edits first, and the others only where there is none.

    A set of ``n`` edits is ``n`` rising numbers, each naming an edit in the order in which they came up; so that the
    edits of one mark, which mostly come up together, are a few ranges, and a proposal is ``n`` values to read.

    A set that makes a rule break earlier than without it is not built upon, and a larger set holds an edit that alone
    moves the first mark.

    Attributes:
        mark: judges with a set of edits; None says that all is legal.
        suspects: lists the edits that may help against a mark.
        key: tells marks apart: those with one key have the same suspects.
        reached: how far the mark is from the beginning.
        most_edits: size of a set at most; most_trials: sets of one size that are judged at most.
        likely: the weight up to which an edit is likely.
    """

    mark: Callable[[frozenset[E]], M | None]
    suspects: Callable[[M], Iterable[E]]
    key: Callable[[M], Hashable]
    reached: Callable[[M], int]
    most_edits: int
    most_trials: int
    likely: int
    _numbers: dict[E, int] = field(factory=dict)
    _edits: dict[int, E] = field(factory=dict)
    _counts: list[int] = field(factory=lambda: [0, 0])
    _clauses: list[Clause] = field(factory=list)
    _known: dict[Hashable, tuple[tuple[int, int], ...]] = field(factory=dict)
    _trials: int = 0
    _first: M | None = None
    _effective: set[int] = field(factory=set)

    def smallest(self) -> list[frozenset[E]]:
        """List the smallest sets, the likeliest first; none where all is legal, or no set is small enough."""
        begun = self.mark(frozenset())
        if begun is None:
            return []
        self._first = begun
        self._learn(frozenset(), begun)
        for size in range(1, self.most_edits + 1):
            self._trials = 0
            if size == 2:
                self._clauses.append(Clause((), tuple(_ranges(sorted(self._effective)))))
            solver = _Solver(size)
            for clause in self._clauses:
                solver.learn(clause)
            for unlikely in (False, True):
                found = list(self._sets(solver, unlikely=unlikely))
                if found:
                    return sorted(found, key=self._far_fetched)
        return []

    def _far_fetched(self, edits: frozenset[E]) -> tuple[int, list[int]]:
        return sum(edit.weight for edit in edits), sorted(self._numbers[edit] for edit in edits)

    def _sets(self, solver: _Solver, *, unlikely: bool) -> Iterator[frozenset[E]]:
        """Try sets of one size until none is left that hits all marks, or too many were tried."""
        assert self._first is not None
        first, key = self.reached(self._first), self.key(self._first)
        while self._trials < self.most_trials:
            numbers = solver.propose(self._counts[0], self._counts[1] if unlikely else 0)
            if not numbers:
                return
            self._trials += 1
            proposed = frozenset(self._edits[number] for number in numbers)
            mark = self.mark(proposed)
            if mark is None:
                yield proposed
                solver.learn(self._closed(numbers))
                continue
            moved = self.reached(mark) - first
            if len(numbers) == 1 and moved >= 0 and self.key(mark) != key:
                self._effective.add(numbers[0])
            solver.learn(self._learn(proposed, mark) if moved >= 0 else self._closed(numbers))

    def _closed(self, numbers: tuple[int, ...]) -> Clause:
        """Let no larger set be built upon this one."""
        clause = Clause(numbers, ())
        self._clauses.append(clause)
        return clause

    def _learn(self, edits: frozenset[E], mark: M) -> Clause:
        """Note that a set isn't enough."""
        key = self.key(mark)
        helping = self._known.get(key)
        if helping is None:
            found = {self._number(edit) for edit in self.suspects(mark)}
            helping = self._known[key] = tuple(_ranges(sorted(found)))
        clause = Clause(tuple(sorted(self._numbers[edit] for edit in edits)), helping)
        self._clauses.append(clause)
        return clause

    def _number(self, edit: E) -> int:
        """Number an edit, likely ones and others each in their own range."""
        if edit not in self._numbers:
            other = edit.weight > self.likely
            number = self._counts[other] + (OTHERS if other else 0)
            self._counts[other] += 1
            self._numbers[edit] = number
            self._edits[number] = edit
        return self._numbers[edit]


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Give rising numbers as ranges, both ends included."""
    for _, run in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        found = [number for _, number in run]
        yield found[0], found[-1]


BITS = 16
"""Width of an edit's number: no search has as many suspects as fit."""

OTHERS = 1 << (BITS - 1)
"""The number of the first edit that is not likely."""


class _Solver:
    """
    Propose sets of one size that hit all marks.

    The numbers are bit vectors, and clauses go to z3 as text: both make this a matter of microseconds.
    """

    def __init__(self, size: int) -> None:
        import z3  # noqa: PLC0415  # large, and what is legal doesn't need it

        names = [f"pick{place}" for place in range(size)]
        self._sat, self._below, self._least, self._or = z3.sat, z3.ULT, z3.UGE, z3.Or
        self._picks = [z3.BitVec(name, BITS) for name in names]
        self._names = names
        self._solver = z3.SimpleSolver()
        self._solver.from_string("".join(f"(declare-const {name} (_ BitVec {BITS}))" for name in names))
        for low, high in itertools.pairwise(names):
            self._assert(f"(bvult {low} {high})")

    def _assert(self, formula: str) -> None:
        self._solver.from_string(f"(assert {formula})")

    def learn(self, clause: Clause) -> None:
        """Take a clause in; an edit counts as coming only where it isn't in the set already."""
        gone = [_and(f"(distinct {name} {_bits(number)})" for name in self._names) for number in clause.edits]
        come = [
            _and(
                (
                    f"(bvuge {name} {_bits(low)})",
                    f"(bvule {name} {_bits(high)})",
                    *(f"(distinct {name} {_bits(number)})" for number in clause.edits if low <= number <= high),
                )
            )
            for low, high in clause.helping
            for name in self._names
        ]
        self._assert(f"(or false {' '.join(gone + come)})")

    def propose(self, likely: int, others: int) -> tuple[int, ...]:
        """Name the numbers of a set, taken from so many likely and other edits; empty where no set is left."""
        below, least = self._below, self._least
        known = [below(self._picks[-1], OTHERS + others if others else likely)]
        if others:
            known += [self._or(below(pick, likely), least(pick, OTHERS)) for pick in self._picks]
        if self._solver.check(*known) != self._sat:
            return ()
        model = self._solver.model()
        return tuple(model.eval(pick, model_completion=True).as_long() for pick in self._picks)


def _bits(number: int) -> str:
    return f"(_ bv{number} {BITS})"


def _and(formulas: Iterable[str]) -> str:
    return f"(and true {' '.join(formulas)})"
