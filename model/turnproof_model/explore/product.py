"""
Search with an observer that reads along: packed states, each with all ghosts that it can have (``plays``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from attrs import define, field, frozen

from turnproof_model.explore.plays import Ended, Memory, Part, Plays
from turnproof_model.readings.codegen import Transition, generate
from turnproof_model.readings.layout import Layout
from turnproof_model.readings.observers import Observer

NOTHING: Mapping[str, int] = MappingProxyType({})


@frozen
class Step:
    """
    Be one step of a trace: the transition taken, the packed state it led to, and the rules it broke.

    ``memory``: what an observer remembers then, if one reads along.
    """

    transition: Transition
    state: int
    memory: Memory | None = None
    broken: tuple[str, ...] = ()


def _unseen(pairs: int) -> None:
    """Look at nothing."""


@define(eq=False)
class Product:
    """
    Search packed states together with what an observer remembers, breadth first, up to the first broken rule.

    A pair is one number: the memory's above the bits of the state. ``came``: from which pair a pair was first met.
    ``limit``: of the memory that pairs may take, in bytes. ``taken``: how many transitions were taken.
    """

    plays: Plays
    layout: Layout
    transitions: tuple[Transition, ...] = field(init=False)
    limit: int | None = None
    came: dict[int, int] = field(factory=dict)
    violation: tuple[int, int, Ended] | None = None
    taken: int = 0
    _successors: list[Callable[[tuple[int], Callable[[tuple[int, int]], None]], None]] = field(init=False)
    _parts: list[Part] = field(init=False)

    @classmethod
    def of(cls, layout: Layout, observer: Observer, limit: int | None = None) -> Product:
        """Search a layout by itself."""
        return cls(Plays(layout, observer), layout, limit)

    def __attrs_post_init__(self) -> None:
        source = generate(self.layout)
        module = source.load()
        self.transitions = source.transitions
        self._successors = [module[f"at_{i}"] for i in range(len(self.layout.program.positions))]
        scripts = [transition.script for transition in source.transitions]
        self._parts = [self.plays.part(one) for one in scripts if one is not None]

    def run(
        self,
        starts: Iterable[Mapping[str, int]] = (NOTHING,),
        *,
        look: Callable[[int], None] = _unseen,
        depth: int | None = None,
    ) -> str:
        """
        Search; tell what ended it before all was seen: ``broken``, ``memory``, ``interrupted``, or nothing.

        Args:
            starts: what of the bounds is spent before anything happens; from several starts side by side.
            look: is told after each level how many pairs there are.
            depth: the most transitions from a start on, if not any number.
        """
        self.came = {self._start(spent): -1 for spent in starts}
        level = list(self.came)
        try:
            while level and depth != 0:
                depth = None if depth is None else depth - 1
                level = self._expand(level)
                look(len(self.came))
                if self.limit is not None and self.size > self.limit:
                    return "memory"
        except KeyboardInterrupt:
            return "interrupted"
        return "" if self.violation is None else "broken"

    def _start(self, spent: Mapping[str, int]) -> int:
        return self.layout.initial() | sum(n << self.layout.budgets[name].offset for name, n in spent.items())

    @property
    def size(self) -> int:
        """Estimate the memory of the pairs, in bytes."""
        return sys.getsizeof(self.came) + len(self.came) * 2 * sys.getsizeof(1 << self.layout.bits)

    def _expand(self, level: list[int]) -> list[int]:
        bits, came = self.layout.bits, self.came
        here = (1 << bits) - 1
        states: dict[int, list[int]] = {}
        for pair in level:
            states.setdefault(pair & here, []).append(pair >> bits)
        new: list[int] = []
        for state, memories in states.items():
            for number, after in self.successors(state):
                part = self._parts[number]
                for memory in memories:
                    self.taken += 1
                    ended = self.plays.ended(part, memory, state)
                    if ended.broken:
                        self.violation = (memory << bits | state, number, ended)
                        return []
                    pair = ended.memory << bits | after
                    if pair not in came:
                        came[pair] = memory << bits | state
                        new.append(pair)
        return new

    def successors(self, state: int) -> list[tuple[int, int]]:
        """List the transitions of a state, each by its number and with the state it leads to."""
        out: list[tuple[int, int]] = []
        self._successors[self.layout.position.read(state)]((state,), out.append)
        return out

    # -------------------------------------------------------------------------------------------- traces
    def counterexample(self) -> tuple[Step, ...]:
        """
        Tell a shortest way to the broken rule.

        Raises:
            LookupError: no rule is broken.
        """
        if self.violation is None:
            raise LookupError("a counterexample needs a broken rule; everything that was seen holds")
        pair, number, ended = self.violation
        bits = self.layout.bits
        state = pair & (1 << bits) - 1
        last = next(after for found, after in self.successors(state) if found == number)
        step = Step(self.transitions[number], last, self.plays.memories[ended.memory], ended.broken)
        return (*self.way(pair), step)

    def began(self) -> dict[str, int]:
        """
        Tell what was spent of the bounds at the start of a shortest way to the broken rule.

        Raises:
            LookupError: no rule is broken.
        """
        if self.violation is None:
            raise LookupError("a way leads to a broken rule; everything that was seen holds")
        pair = self.violation[0]
        while self.came[pair] >= 0:
            pair = self.came[pair]
        return {name: cell.read(pair) for name, cell in self.layout.budgets.items()}

    def way(self, pair: int) -> tuple[Step, ...]:
        """Tell a shortest way to a pair that was met."""
        steps: list[Step] = []
        while self.came[pair] >= 0:
            before = self.came[pair]
            steps.append(self._between(before, pair))
            pair = before
        return tuple(reversed(steps))

    def _between(self, before: int, pair: int) -> Step:
        bits = self.layout.bits
        here = (1 << bits) - 1
        state, memory = before & here, before >> bits
        for number, after in self.successors(state):
            if after == pair & here and self.plays.ended(self._parts[number], memory, state).memory == pair >> bits:
                return Step(self.transitions[number], after, self.plays.memories[pair >> bits])
        raise LookupError("a pair is met by one of the transitions of the pair it came from")


def tagged(bounds: Mapping[str, int], tags: Iterable[str]) -> dict[str, int]:
    """Let one message bear each of these tags."""
    return {**bounds, **dict.fromkeys(tags, 1)}
