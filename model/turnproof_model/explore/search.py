"""
Search breadth-first everything that can happen within bounds: level by level, in sorted arrays of packed states.

One generated function for each position of the loop makes the successors of many states at once (``readings.arrays``).
A search that isn't finished says so: ``complete`` is false and ``ended`` tells why.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from time import perf_counter

import numpy as np
from attrs import define, field, frozen

from turnproof_model.contracts import CONTRACTS
from turnproof_model.readings.arrays import States, load, type_of
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
    """Hold what a search found; ``ended`` is empty, ``memory`` or ``interrupted``."""

    contract: Contract
    bounds: Mapping[str, int]
    states: int
    transitions: int
    depth: int
    seconds: float
    bytes_per_state: float
    ended: str = ""

    @property
    def complete(self) -> bool:
        """Whether everything within the bounds was seen."""
        return not self.ended


@define(eq=False)
class Search:
    """
    Hold one search while it lasts; ``limit`` is in bytes.

    ``seen``: all states, sorted. ``levels``: those that were first met at each depth, sorted.
    """

    layout: Layout
    limit: int | None = None
    seen: States = field(init=False)
    levels: list[States] = field(factory=list)
    transitions: int = 0

    def __attrs_post_init__(self) -> None:
        self.seen = np.array([self.layout.initial()], type_of(self.layout))

    @property
    def depth(self) -> int:
        """How many levels have been expanded."""
        return len(self.levels)

    def run(self) -> str:
        """Search, and tell what ended it early, if anything did."""
        expand = load(self.layout)
        frontier = self.seen
        try:
            while frontier.size:
                self.levels.append(frontier)
                met: list[States] = []
                for number, states in self._by_position(frontier):
                    for start in range(0, states.size, CHUNK):
                        out: list[States] = []
                        self.transitions += expand[number](states[start : start + CHUNK], out.append)
                        met += [distinct(np.concatenate(out))] if out else []
                        if self.limit is not None and self.size(sum(piece.size for piece in met)) > self.limit:
                            return "memory"
                frontier = self._unseen(met)
                self.seen = _merged(self.seen, frontier)
        except KeyboardInterrupt:
            return "interrupted"
        return ""

    def _by_position(self, states: States) -> Iterator[tuple[int, States]]:
        where = states & self.layout.position.mask
        for number in distinct(where):
            yield int(number), states[where == number]

    def _unseen(self, met: list[States]) -> States:
        if not met:
            return self.seen[:0]
        states = distinct(np.concatenate(met))
        at = np.minimum(np.searchsorted(self.seen, states), self.seen.size - 1)
        unseen: States = states[self.seen[at] != states]
        return unseen

    def size(self, more: int = 0) -> int:
        """Estimate the memory of the states, and of so many more, in bytes; each is kept in its level and in all."""
        each = 2 * self.seen.itemsize
        if self.seen.dtype == object:
            each += sys.getsizeof(1 << self.layout.bits)
        return (self.seen.size + more) * each


def distinct(states: States) -> States:
    """Sort states and drop those that are equal to the one before."""
    states = np.sort(states)
    new = np.ones(states.size, np.bool_)
    new[1:] = states[1:] != states[:-1]
    return states[new]


def _merged(states: States, others: States) -> States:
    """Merge sorted states; a stable sort finds the two runs and takes linear time."""
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
    layout = Layout(Program(forest(contract, within, Surroundings.of(contract))))
    running = Search(layout, None if memory is None else memory * MEBIBYTE)
    ended = running.run()
    states = running.seen.size
    seconds = perf_counter() - began
    return Found(contract, within, states, running.transitions, running.depth, seconds, running.size() / states, ended)
