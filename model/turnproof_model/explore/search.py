"""
Search breadth-first everything that can happen within bounds: one generated function for each position of the loop.

A search that isn't finished says so: ``complete`` is false and ``ended`` tells why. Only the order of levels is fixed;
within a level states have no order, and none of the counts depends on one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from time import perf_counter

from attrs import define, field, frozen

from turnproof_model.contracts import CONTRACTS
from turnproof_model.readings.codegen import generate
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

CHUNK = 20_000
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
    """Hold one search while it lasts; ``limit`` is in bytes."""

    layout: Layout
    limit: int | None = None
    seen: set[int] = field(factory=set)
    transitions: int = 0
    depth: int = 0

    def run(self) -> str:
        """Search, and tell what ended it early, if anything did."""
        module = generate(self.layout).load()
        made = [module[f"at_{i}"] for i in range(len(self.layout.program.positions))]
        frontier = {self.layout.initial()}
        self.seen |= frontier
        try:
            while frontier:
                new: set[int] = set()
                for number, states in self._by_position(frontier).items():
                    for start in range(0, len(states), CHUNK):
                        out: list[int] = []
                        self.transitions += made[number](states[start : start + CHUNK], out.append)
                        new.update(out)
                        if self.limit is not None and self.size(len(new)) > self.limit:
                            return "memory"
                new -= self.seen
                self.seen |= new
                frontier = new
                self.depth += 1
        except KeyboardInterrupt:
            return "interrupted"
        return ""

    def _by_position(self, states: set[int]) -> dict[int, list[int]]:
        mask = self.layout.position.mask
        parted: dict[int, list[int]] = {}
        for state in states:
            parted.setdefault(state & mask, []).append(state)
        return parted

    def size(self, more: int = 0) -> int:
        """Estimate the memory of the states, and of so many more, in bytes."""
        each = sys.getsizeof(1 << self.layout.bits)
        return sys.getsizeof(self.seen) + (len(self.seen) + more) * each


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
    states = len(running.seen)
    seconds = perf_counter() - began
    return Found(contract, within, states, running.transitions, running.depth, seconds, running.size() / states, ended)
