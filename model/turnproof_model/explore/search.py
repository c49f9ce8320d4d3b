"""
Search breadth-first everything that can happen within bounds: level by level, in sorted arrays of packed states.

One generated function for each position of the loop makes the successors of many states at once (``readings.arrays``).
A search that isn't finished says so: ``complete`` is false and ``ended`` tells why.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import TypeAlias

import numpy as np
from attrs import define, field, frozen

from turnproof_model.contracts import CONTRACTS
from turnproof_model.readings.arrays import Expand, States, apart, load, together, type_of
from turnproof_model.readings.codegen import Told, Transition
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import BUDGETS, Layout, Program
from turnproof_model.readings.reading import Surroundings
from turnproof_model.vocabulary import Contract

DEFAULT_BOUNDS: Mapping[str, int] = {
    **dict.fromkeys(BUDGETS, 0),
    "messages": 2,
    "cancels": 1,
    "tools": 1,
    "reentrant": 1,
}
"""How much there may be of what unless somebody says otherwise; ``tools`` are the calls of one assistant message."""

CHUNK = 1 << 15
"""States whose successors are made between two looks at the memory."""

MEBIBYTE = 1 << 20


@frozen
class Found:
    """Hold what a search found; ``ended`` is empty, ``memory`` or ``interrupted``; ``search`` has the states."""

    contract: Contract
    bounds: Mapping[str, int]
    states: int
    transitions: int
    depth: int
    seconds: float
    bytes_per_state: float
    search: Search = field(eq=False, repr=False)
    ended: str = ""

    @property
    def complete(self) -> bool:
        """Whether everything within the bounds was seen."""
        return not self.ended


@frozen
class Step:
    """Be one step of a trace: the transition that was taken, and the state it led to."""

    transition: Transition
    state: int


Level: TypeAlias = tuple[States, ...]
"""States by the number of their position, sorted."""


@define(eq=False)
class Search:
    """
    Hold one search while it lasts; ``limit`` is in bytes.

    ``seen``: all states. ``levels``: those that were first met at each depth.
    """

    layout: Layout
    limit: int | None = None
    seen: Level = field(init=False)
    levels: list[Level] = field(factory=list)
    transitions: int = 0

    def __attrs_post_init__(self) -> None:
        first, element = apart(self.layout, self.layout.initial())
        self.seen = tuple(
            np.array([element] if number == first else [], type_of(self.layout))
            for number in range(len(self.layout.program.positions))
        )

    @cached_property
    def expand(self) -> Sequence[Expand]:
        """What makes successors, by position."""
        return load(self.layout)

    @cached_property
    def told(self) -> Told:
        """What tells transitions state by state."""
        return Told(self.layout)

    @property
    def states(self) -> int:
        """How many states have been met."""
        return sum(states.size for states in self.seen)

    @property
    def depth(self) -> int:
        """How many levels have been expanded."""
        return len(self.levels)

    def run(self) -> str:
        """Search, and tell what ended it early, if anything did."""
        frontier = self.seen
        try:
            while any(states.size for states in frontier):
                self.levels.append(frontier)
                met = self._successors(frontier)
                if met is None:
                    return "memory"
                frontier = tuple(_unseen(seen, pieces) for seen, pieces in zip(self.seen, met, strict=True))
                self.seen = tuple(_merged(seen, new) for seen, new in zip(self.seen, frontier, strict=True))
        except KeyboardInterrupt:
            return "interrupted"
        return ""

    def _successors(self, level: Level) -> list[list[States]] | None:
        """Make the successors of a level by position, or nothing if they are too many."""
        met: list[list[States]] = [[] for _ in level]
        for number, states in enumerate(level):
            for start in range(0, states.size, CHUNK):
                out: list[list[States]] = [[] for _ in level]
                add = [pieces.append for pieces in out]
                self.transitions += self.expand[number](states[start : start + CHUNK], add)
                for after, pieces in enumerate(out):
                    met[after] += [distinct(np.concatenate(pieces))] if pieces else []
                if self.limit is not None and self.size(sum(s.size for pieces in met for s in pieces)) > self.limit:
                    return None
        return met

    def trace_to(self, state: int) -> tuple[Step, ...]:
        """
        Find a shortest way from the first state to one that has been met.

        Where several are as short, the one through the lowest positions and states is taken, from the end backwards.

        Raises:
            ValueError: the search hasn't met the state.
        """
        number, element = apart(self.layout, state)
        depth = next((d for d, level in enumerate(self.levels) if _holds(level[number], element)), None)
        if depth is None:
            raise ValueError(f"a trace leads to a state that was met (got {self.layout.show(state)})")
        trace: list[Step] = []
        for level in reversed(self.levels[:depth]):
            before = self._before(level, *apart(self.layout, state))
            transition = next(t for t, after in self.told.successors(before) if after == state)
            trace.append(Step(transition, state))
            state = before
        return tuple(reversed(trace))

    def deepest(self) -> int:
        """Tell a state that is as far from the first one as any that was met."""
        number, states = next((n, states) for n, states in enumerate(self.levels[-1]) if states.size)
        return together(self.layout, number, int(states[0]))

    def _before(self, level: Level, number: int, element: int) -> int:
        """Find a state of a level from which a transition leads to an element of a position, halving the level."""

        def lead(position: int, states: States) -> bool:
            out: list[list[States]] = [[] for _ in level]
            self.expand[position](states, [pieces.append for pieces in out])
            return any(bool((piece == element).any()) for piece in out[number])

        position = next(p for p, states in enumerate(level) if states.size and lead(p, states))
        states = level[position]
        while states.size > 1:
            half = states[: states.size // 2]
            states = half if lead(position, half) else states[states.size // 2 :]
        return together(self.layout, position, int(states[0]))

    def size(self, more: int = 0) -> int:
        """Estimate the memory of the states, and of so many more, in bytes; each is kept in its level and in all."""
        kind = type_of(self.layout)
        each = 2 * kind.itemsize + (sys.getsizeof(1 << self.layout.bits) if kind.hasobject else 0)
        return (self.states + more) * each


def _holds(states: States, element: int) -> bool:
    at = int(np.searchsorted(states, element))
    return at < states.size and bool(states[at] == element)


def _unseen(seen: States, pieces: Sequence[States]) -> States:
    """Tell which states haven't been seen."""
    if not pieces:
        return seen[:0]
    states = distinct(np.concatenate(pieces)) if len(pieces) > 1 else pieces[0]
    if not seen.size:
        return states
    at = np.minimum(np.searchsorted(seen, states), seen.size - 1)
    unseen: States = states[seen[at] != states]
    return unseen


def distinct(states: States) -> States:
    """Sort states and drop those that are equal to the one before."""
    states = np.sort(states)
    new = np.ones(states.size, np.bool_)
    new[1:] = states[1:] != states[:-1]
    return states[new]


def _merged(states: States, others: States) -> States:
    """Merge sorted states; a stable sort finds the two runs and takes linear time."""
    if not others.size:
        return states
    return np.sort(np.concatenate((states, others)), kind="stable")


def search(contract: Contract, bounds: Mapping[str, int] | None = None, memory: int | None = None) -> Found:
    """
    Search a contract.

    Args:
        contract: ``window`` or ``claim``.
        bounds: by name, over the defaults.
        memory: the most that states may take, in MiB.

    Raises:
        ValueError: there is no such contract or bound, or a bound is negative.
    """
    if contract not in CONTRACTS:
        raise ValueError(f"a contract is one of {', '.join(CONTRACTS)} (got {contract!r})")
    within = {**DEFAULT_BOUNDS, **(bounds or {})}
    for name, amount in within.items():
        if name not in DEFAULT_BOUNDS or amount < 0:
            raise ValueError(f"a bound is one of {', '.join(DEFAULT_BOUNDS)} and not negative (got {name}={amount})")
    began = perf_counter()
    layout = Layout(Program(forest(contract, within, Surroundings.of(contract, within))))
    running = Search(layout, None if memory is None else memory * MEBIBYTE)
    ended = running.run()
    states = running.states
    seconds = perf_counter() - began
    each = running.size() / states
    return Found(contract, within, states, running.transitions, running.depth, seconds, each, running, ended)
