"""
Play what paths show to an observer, each once for what it asks of states and ghosts, and look it up from then on.

The ghosts of an observer, with the counters they are compared with, are numbered: a *memory*. What a script does to
them depends on facts about the state (``packed_sight``); it is played once for each answer to them.
Turns are counted from the current one, and steps no further than anything asks, so that ghosts are finitely many.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from attrs import define, field, frozen

from turnproof_model.readings.layout import Layout
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.packed_sight import Asked, Fact, Facts, PlayedSight, freedoms
from turnproof_model.readings.script import Script, shape

STEPS = 2
"""Steps that ghosts tell apart: none, the first, and later ones."""


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
    """
    Be something that decides how a play goes on: a fact of the state, or the place of a ghost among all.

    ``bits``: those of the state on which the fact depends.
    """

    fact: Fact | None
    ghost: int
    bits: int
    answers: dict[Hashable, Asks | Played] = field(factory=dict)


@define(eq=False)
class Part:
    """
    Be a script that is played, with what is known of it.

    ``keys``: tell scripts apart, and what they show at their end. ``bits``: those of the state that any play of it has
    asked for. ``ends``: how it ends, by the memory and these bits. One found when fewer were known stays right: where
    the others are 0 as well, the same is asked and answered.
    """

    script: Script
    keys: tuple[int, int]
    bits: int = 0
    ends: dict[int, Ended] = field(factory=dict)


@define(eq=False)
class Plays:
    """
    Play scripts to one observer, each once for what it asks of states and ghosts.

    What holds between two moves is looked up apart from what happened before, since it asks for other ghosts.
    ``memories``: by number. ``looked``: the rules of which something was demanded. Any layout that places everything
    alike may play here, whatever its rules: scripts that show the same are one.
    """

    layout: Layout
    observer: Observer
    facts: Facts = field(init=False)
    memories: list[Memory] = field(factory=list)
    looked: set[str] = field(factory=set)
    _numbers: dict[Memory, int] = field(factory=dict)
    _known: dict[Hashable, Asks | Played] = field(factory=dict)
    _parts: dict[int, Part] = field(factory=dict)
    _names: tuple[str, ...] = field(init=False)
    _places: dict[str, int] = field(init=False)
    _freedom: Callable[..., str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.facts = Facts(self.layout)
        self._names = tuple(self.observer.ghosts)
        self._places = {name: place for place, name in enumerate(self._names)}
        self._freedom = freedoms(self.layout.program.forest.around.policies)
        self._number(Memory(tuple(self.observer.ghosts.values()), 0))

    def part(self, script: Script) -> Part:
        """Find what is known of a script."""
        if script.key not in self._parts:
            self._parts[script.key] = Part(script, (script.key, shape(script.shown[-1].s)))
        return self._parts[script.key]

    def ended(self, part: Part, memory: int, state: int) -> Ended:
        """
        Tell how a script ends where an observer remembers this.

        Args:
            part: the script.
            memory: by number.
            state: the packed state where it begins.
        """
        known = part.ends.get(memory << self.layout.bits | state & part.bits)
        if known is None:
            known = self._ended(part, memory, state)
            part.ends[memory << self.layout.bits | state & part.bits] = known
        return known

    def _ended(self, part: Part, memory: int, state: int) -> Ended:
        before = self.memories[memory]
        held = len(part.script.shown) - 1
        whole, end = part.keys
        played = self._find(part, (whole, before.step), slice(held), before.ghosts, state)
        ghosts, after = played.after.get(memory) or self._after(played, memory)
        found = self._find(part, (~end, before.step), slice(held, None), ghosts, state)
        return Ended(after, (*played.broken, *found.broken))

    def _find(
        self, part: Part, root: tuple[int, int], shown: slice, ghosts: tuple[bool | int, ...], state: int
    ) -> Played:
        node = self._known.get(root)
        while isinstance(node, Asks):
            part.bits |= node.bits
            node = node.answers.get(ghosts[node.ghost] if node.fact is None else node.fact(state))
        return node or self._play(part, root, shown, ghosts, state)

    def _number(self, memory: Memory) -> int:
        number = self._numbers.setdefault(memory, len(self.memories))
        if number == len(self.memories):
            self.memories.append(memory)
        return number

    def _play(
        self, part: Part, root: tuple[int, int], shown: slice, ghosts: tuple[bool | int, ...], state: int
    ) -> Played:
        base = {"turn": 0, "step": root[1]}
        sight = PlayedSight(self.observer, freedom=self._freedom, facts=self.facts, state=state, base=base)
        sight.remember(dict(zip(self._names, ghosts, strict=True)))
        sight.play(part.script.shown[shown])
        self.looked |= sight.looked
        written = tuple((self._places[name], value) for name, value in sight.g.written.items())
        turns, step = (sight.end(name, part.script.shown[-1]) for name in ("turn", "step"))
        played = Played(written, tuple(dict.fromkeys(sight.broken)), turns, step)
        part.bits |= self._keep(root, sight.noted, played)
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

    def _keep(self, root: Hashable, noted: Iterable[tuple[Asked, Hashable]], played: Played) -> int:
        """Keep a play under what it asked for; tell on which bits of the state that depends."""
        branches: dict[Any, Asks | Played] = self._known
        branch, bits = root, 0
        for asked, value in noted:
            node = branches.get(branch)
            if node is None:
                node = self._asks(asked)
                branches[branch] = node
            assert isinstance(node, Asks), "a play asks the same facts on the same answers"
            bits |= node.bits
            branches, branch = node.answers, value
        branches[branch] = played
        return bits

    def _asks(self, asked: Asked) -> Asks:
        if isinstance(asked, str):
            return Asks(None, self._places[asked], 0)
        return Asks(asked, -1, self.facts.bits[asked])
