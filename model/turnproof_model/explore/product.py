"""
Search with an observer that reads along: packed states, each with all ghosts that it can have.

The ghosts of an observer, with the counters they are compared with, are numbered. What a script does to ghosts depends
on facts about the state (``packed_sight``); it is played once for each answer to them, and looked up from then on.
Turns are counted from the current one, and steps no further than anything asks, so that ghosts are finitely many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import define, field, frozen

from turnproof_model.readings.codegen import Transition, generate
from turnproof_model.readings.layout import Layout
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.packed_sight import Asked, Fact, Facts, PlayedSight, freedoms
from turnproof_model.readings.script import Script, shape

STEPS = 2
"""Steps that ghosts tell apart: none, the first, and later ones."""

NOTHING: Mapping[str, int] = MappingProxyType({})


@frozen
class Memory:
    """Be what an observer remembers between two moves: its ghosts, and how far the machine's steps are counted."""

    ghosts: tuple[bool | int, ...]
    step: int


@frozen(eq=False)
class Ended:
    """Be the end of a play: the number of the memory after it, and what it broke."""

    memory: int
    broken: tuple[str, ...]


@frozen(eq=False)
class Played:
    """
    Be what a play came to, wherever its facts and ghosts are these: the ghosts that it wrote, and what it broke.

    ``turns``, ``step``: the counters at its end, turns from the current one on. ``after``: by the memory before, its
    ghosts at the end and the number of the memory after.
    """

    written: tuple[tuple[int, bool | int], ...]
    broken: tuple[str, ...]
    turns: int
    step: int
    after: dict[int, tuple[tuple[bool | int, ...], int]] = field(factory=dict)


@define(eq=False)
class Asks:
    """Be something that decides how a play goes on: a fact of the state, or the place of a ghost among all."""

    fact: Fact | None
    ghost: int
    answers: dict[Hashable, Asks | Played] = field(factory=dict)


@define(eq=False)
class Plays:
    """
    Play scripts to one observer, each once for what it asks of states and ghosts.

    What holds between two moves is looked up apart from what happened before, since it asks for other ghosts.
    ``memories``: by number. ``looked``: the rules of which something was demanded.
    """

    layout: Layout
    observer: Observer
    facts: Facts = field(init=False)
    memories: list[Memory] = field(factory=list)
    looked: set[str] = field(factory=set)
    _numbers: dict[Memory, int] = field(factory=dict)
    _known: dict[Hashable, Asks | Played] = field(factory=dict)
    _names: tuple[str, ...] = field(init=False)
    _places: dict[str, int] = field(init=False)
    _freedom: Callable[..., str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.facts = Facts(self.layout)
        self._names = tuple(self.observer.ghosts)
        self._places = {name: place for place, name in enumerate(self._names)}
        self._freedom = freedoms(self.layout.program.forest.around.policies)
        self._number(Memory(tuple(self.observer.ghosts.values()), 0))

    def ended(self, keys: tuple[int, int], script: Script, memory: int, state: int) -> Ended:
        """
        Tell how a script ends where an observer remembers this.

        Args:
            keys: tell scripts apart, and what they show at their end.
            script: what is played.
            memory: by number.
            state: the packed state where it begins.
        """
        before = self.memories[memory]
        held = len(script.shown) - 1
        played = self._find((keys[0], before.step), script, slice(held), before.ghosts, state)
        ghosts, after = played.after.get(memory) or self._after(played, memory)
        found = self._find((~keys[1], before.step), script, slice(held, None), ghosts, state)
        return Ended(after, (*played.broken, *found.broken))

    def _find(
        self, root: tuple[int, int], script: Script, part: slice, ghosts: tuple[bool | int, ...], state: int
    ) -> Played:
        node = self._known.get(root)
        while isinstance(node, Asks):
            node = node.answers.get(ghosts[node.ghost] if node.fact is None else node.fact(state))
        return node or self._play(root, script, part, ghosts, state)

    def _number(self, memory: Memory) -> int:
        number = self._numbers.setdefault(memory, len(self.memories))
        if number == len(self.memories):
            self.memories.append(memory)
        return number

    def _play(
        self, root: tuple[int, int], script: Script, part: slice, ghosts: tuple[bool | int, ...], state: int
    ) -> Played:
        base = {"turn": 0, "step": root[1]}
        sight = PlayedSight(self.observer, freedom=self._freedom, facts=self.facts, state=state, base=base)
        sight.remember(dict(zip(self._names, ghosts, strict=True)))
        sight.play(script.shown[part])
        self.looked |= sight.looked
        written = tuple((self._places[name], value) for name, value in sight.g.written.items())
        turns, step = (sight.end(name, script.shown[-1]) for name in ("turn", "step"))
        played = Played(written, tuple(dict.fromkeys(sight.broken)), turns, step)
        self._keep(root, sight.noted, played)
        return played

    def _after(self, played: Played, memory: int) -> tuple[tuple[bool | int, ...], int]:
        """Find the ghosts at the end of a play, and number what is remembered of them."""
        ghosts = list(self.memories[memory].ghosts)
        for place, value in played.written:
            ghosts[place] = value
        at_end = tuple(ghosts)
        beyond = max(0, played.step - STEPS)
        ghosts[self._places["last"]] -= played.turns
        ghosts[self._places["step"]] -= beyond
        played.after[memory] = at_end, self._number(Memory(tuple(ghosts), played.step - beyond))
        return played.after[memory]

    def _keep(self, root: Hashable, noted: Iterable[tuple[Asked, Hashable]], played: Played) -> None:
        branches: dict[Any, Asks | Played] = self._known
        branch = root
        for asked, value in noted:
            node = branches.get(branch)
            if node is None:
                node = Asks(None, self._places[asked]) if isinstance(asked, str) else Asks(asked, -1)
                branches[branch] = node
            assert isinstance(node, Asks), "a play asks the same facts on the same answers"
            branches, branch = node.answers, value
        branches[branch] = played


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

    layout: Layout
    observer: Observer
    plays: Plays = field(init=False)
    transitions: tuple[Transition, ...] = field(init=False)
    limit: int | None = None
    came: dict[int, int] = field(factory=dict)
    violation: tuple[int, int, Ended] | None = None
    taken: int = 0
    _successors: list[Callable[[tuple[int], Callable[[tuple[int, int]], None]], None]] = field(init=False)
    _scripts: list[tuple[tuple[int, int], Script]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        source = generate(self.layout)
        module = source.load()
        self.plays = Plays(self.layout, self.observer)
        self.transitions = source.transitions
        self._successors = [module[f"at_{i}"] for i in range(len(self.layout.program.positions))]
        numbers: dict[Hashable, int] = {}
        scripts = [transition.script for transition in source.transitions]
        self._scripts = [(self._keys(one, numbers), one) for one in scripts if one is not None]

    @staticmethod
    def _keys(script: Script, numbers: dict[Hashable, int]) -> tuple[int, int]:
        """Number what a script shows, and what it shows at its end."""
        all_of_it, end = (numbers.setdefault(key, len(numbers)) for key in (script.key, shape(script.shown[-1].s)))
        return all_of_it, end

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
                keys, script = self._scripts[number]
                for memory in memories:
                    self.taken += 1
                    ended = self.plays.ended(keys, script, memory, state)
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
            keys, script = self._scripts[number]
            if after == pair & here and self.plays.ended(keys, script, memory, state).memory == pair >> bits:
                return Step(self.transitions[number], after, self.plays.memories[pair >> bits])
        raise LookupError("a pair is met by one of the transitions of the pair it came from")


def tagged(bounds: Mapping[str, int], tags: Iterable[str]) -> dict[str, int]:
    """Let one message bear each of these tags."""
    return {**bounds, **dict.fromkeys(tags, 1)}
