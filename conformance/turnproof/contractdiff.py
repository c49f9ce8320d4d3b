"""
Find the shortest scenarios on which two contracts behave differently, one rule family after another.

Both machines are led side by side through the same moves, breadth first and within small bounds. At each scenario both
are let run to their rest, and each family compares its view of the two whole stories. Where a family sees a difference,
it is kept, and longer scenarios aren't asked for that family: the cause would be the same.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from itertools import chain

from attrs import define, evolve, field

from turnproof.contractdiff_families import FAMILIES, Family
from turnproof.contractdiff_moves import Bounds, Node, moves, parts
from turnproof.contractdiff_play import (
    Move,
    ScenarioError,
    by_machine,
    copied,
    finish,
    make_move,
    move_text,
    new_machine,
    perform,
)
from turnproof.contractdiff_sides import Difference, apart, side
from turnproof.contractdiff_views import Fact, Story
from turnproof.play_freedoms import Lives, freedoms
from turnproof_model import vocabulary as v

USUAL = Bounds()


def differences(one: v.Contract, other: v.Contract, bounds: Bounds = USUAL) -> tuple[Difference, ...]:
    """
    Find where two contracts differ.

    Returns:
        The shortest scenario of each distinct difference, by family.
    """
    search = Search((one, other), bounds)
    search.run()
    order = {family.title: number for number, family in enumerate(FAMILIES)}
    told: dict[tuple[object, ...], Difference] = {}
    for found in search.found.values():
        told.setdefault(_cause(found), found)
    return tuple(sorted(told.values(), key=lambda found: order[found.family.title]))


def _cause(found: Difference) -> tuple[object, ...]:
    """Tell causes apart: what a freedom explains is told once in a family, however it shows."""
    return (found.family.title, *found.freedoms) if found.freedoms else found.signature


@define
class Search:
    """
    Lead two machines through scenarios in order of length.

    ``found``: by signature; ``seen``: the keys of the nodes that were gone on from.
    """

    contracts: tuple[v.Contract, v.Contract]
    bounds: Bounds
    found: dict[tuple[object, ...], Difference] = field(factory=dict)
    seen: set[str] = field(factory=set)
    _plays: dict[tuple[str, ...], tuple[Story, Story] | None] = field(factory=dict, init=False)

    def run(self) -> None:
        """Search all scenarios within the bounds."""
        todo = deque([self._root()])
        while todo:
            node = todo.popleft()
            if len(node.moves) == self.bounds.moves:
                continue
            for move in moves(node, self.bounds):
                after = self._after(node, move)
                if after is not None and after.live and after.key not in self.seen:
                    self.seen.add(after.key)
                    todo.append(after)

    def _root(self) -> Node:
        one, other = (new_machine(contract) for contract in self.contracts)
        stories = ((by_machine(one)(v.Reset()),), (by_machine(other)(v.Reset()),))
        return Node((one, other), stories, stories)

    def _after(self, node: Node, move: Move) -> Node | None:
        """Make a move on both sides and compare; ``None`` where it means nothing on one of them."""
        one, other = map(copied, node.machines)
        machines, stories = (one, other), []
        for contract, machine, story in zip(self.contracts, machines, node.stories, strict=True):
            made = make_move(by_machine(machine), contract, move, story[-1].observation)
            if made is None:
                return None
            stories.append((*story, *made))
        mine, theirs = (
            (*story, *finish(by_machine(copied(machine)), story[-1].observation))
            for machine, story in zip(machines, stories, strict=True)
        )
        after = Node(machines, (stories[0], stories[1]), (mine, theirs), (*node.moves, move), node.live)
        return evolve(after, live=self._compared(after))

    def _compared(self, node: Node) -> tuple[Family, ...]:
        """Keep what the families see here; give those that may go on: none where the stories have parted."""
        differing = [family for family in node.live if apart(*self._facts(node.wholes, family))]
        concerned = [family for family in differing if family.about is None or any(map(family.about, node.moves))]
        told = [family for family in concerned if not self._shown_by_a_part(node.moves, family)]
        if told:
            difference = self._difference(node, told)
            if difference.signature not in self.found:
                self.found[difference.signature] = evolve(difference, freedoms=self._freedoms(difference))
        if node.out_of_step or any(family.parting for family in differing):
            return ()
        return tuple(family for family in node.live if family not in differing)

    def _difference(self, node: Node, told: list[Family]) -> Difference:
        """Let the family tell the difference that is most about the last move; the others are named beside it."""
        family = min(told, key=lambda family: _generality(family, node.moves[-1]))
        mine, theirs = self._facts(node.wholes, family)
        (one, other), (first, second) = self.contracts, node.wholes
        sides = (side(one, first, mine, theirs, family), side(other, second, theirs, mine, family))
        also = tuple(other.title for other in told if other is not family)
        return Difference(family, node.moves, *sides, also)

    def _freedoms(self, difference: Difference) -> tuple[str, ...]:
        """Name the freedoms by which an agent of one contract may do as the other contract does."""
        named: dict[str, None] = {}
        for mine, theirs in ((difference.one, difference.other), (difference.other, difference.one)):
            others = [(policy.name, value) for policy in freedoms(mine.contract) for value in policy.values[1:]]
            for name, value in others:
                with suppress(ScenarioError):  # a move may mean nothing to an agent that lives otherwise
                    machine = new_machine(mine.contract, Lives({name: value}))
                    story = perform(by_machine(machine), mine.contract, difference.moves)
                    if not apart(difference.family.view(mine.contract, story), theirs.facts):
                        named[name] = None
        return tuple(named)

    def _facts(self, wholes: tuple[Story, Story], family: Family) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        one, other = (family.view(contract, whole) for contract, whole in zip(self.contracts, wholes, strict=True))
        return one, other

    def _shown_by_a_part(self, scenario: tuple[Move, ...], family: Family) -> bool:
        """Tell whether less of the scenario shows a difference already: then the rest of it isn't the cause."""
        ends = (scenario[number:] for number in range(1, len(scenario)))
        others = (end for end in ends if family.about is None or not any(map(family.about, end)))
        stories = (self._played(part) for part in chain(others, parts(scenario)))
        return any(apart(*self._facts(wholes, family)) for wholes in stories if wholes is not None)

    def _played(self, scenario: tuple[Move, ...]) -> tuple[Story, Story] | None:
        """Play a scenario on both sides; the parts of many scenarios are the same."""
        score = tuple(map(move_text, scenario))
        if score not in self._plays:
            try:
                one, other = (perform(by_machine(new_machine(c)), c, scenario) for c in self.contracts)
                self._plays[score] = (one, other)
            except ScenarioError:
                self._plays[score] = None
        return self._plays[score]


def _generality(family: Family, last: Move) -> int:
    """Rank families that see the same difference: those that are about the last move first, those about any last."""
    if family.about is None:
        return 2
    return 0 if family.about(last) else 1
