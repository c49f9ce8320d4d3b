"""
Ask what can always go on: no deadlock, no loop that runs for ever by itself, always a way back to rest.

Fairness is what a session owes its agent: every open gate is answered sooner or later, with some outcome, and the loop
is let run. Commands are nobody's duty, so nothing here relies on one. Under that,

- a *deadlock* is a state without a move and without an open gate that isn't rest;
- a *livelock* is a cycle of moves of the loop alone, found as a strongly connected component of them;
- a state is *stranded* if no answers to gates lead from it back to rest.

An agent rests at idle, or is gone, where no move is left. Turns and steps are not counted in states, so that a loop
which opened turn after turn by itself would be a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import networkx as nx
from attrs import define, field, frozen

from turnproof_model.explore.product import Step
from turnproof_model.explore.search import Search
from turnproof_model.readings.arrays import together
from turnproof_model.readings.forest import MOVE, RELEASE
from turnproof_model.readings.packed import plane_cell
from turnproof_model.vocabulary import Contract

IDLE, GONE = "idle", "gone"
"""The phases at which an agent rests, in either contract."""

WAKES: Mapping[Contract, tuple[str, ...]] = {"window": (plane_cell("queued", "waking"),), "claim": ()}
"""
Cells that are empty where an agent rests at idle. In ``claim`` a waking message may stay pending after an abort, a
failure or a rejection; which ones may is a rule of its own (C-STAT-2), and checked with the others.
"""

FAIRNESS = "every open gate is answered with some outcome, and the loop is let run; commands aren't relied on"


@frozen
class Property:
    """
    Be one property: its name, what it says, and the states that violate it.

    ``way``: a shortest way to one of them. ``cycle``: for a livelock, the states of one component.
    """

    name: str
    says: str
    violating: int
    way: tuple[Step, ...] = field(default=(), eq=False, repr=False)
    cycle: tuple[int, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no state violates it."""
        return self.violating == 0


@define(eq=False)
class Graph:
    """Hold what goes on without commands: ``moves`` of the loop, and these together with answers to gates."""

    search: Search
    moves: nx.DiGraph[int] = field(factory=nx.DiGraph)
    goes_on: nx.DiGraph[int] = field(factory=nx.DiGraph)
    rest: set[int] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        layout = self.search.layout
        place = layout.program.forest.place.index("at")
        for state in self._states():
            self.goes_on.add_node(state)
            for transition, after in self.search.told.successors(state):
                if transition.action == MOVE:
                    self.moves.add_edge(state, after)
                if transition.action in {MOVE, RELEASE}:
                    self.goes_on.add_edge(state, after)
            phase = layout.program.positions[layout.position.read(state)][place]
            idles = phase == IDLE and not self._waits(state)
            if state not in self.moves and (idles or phase == GONE):
                self.rest.add(state)

    def _waits(self, state: int) -> bool:
        """Tell whether something is pending that the agent should wake up for, or whether nobody would ever ask."""
        layout = self.search.layout
        live = layout.program.live[layout.program.positions[layout.position.read(state)]]
        names = WAKES[layout.program.forest.contract]
        return any(name not in live or layout.cells[name].read(state) for name in names)

    def _states(self) -> Iterator[int]:
        for number, states in enumerate(self.search.seen):
            for state in states:
                yield together(self.search.layout, number, int(state))

    # -------------------------------------------------------------------------------------------- properties
    def deadlocks(self) -> Property:
        """Find states from which nothing goes on though the agent doesn't rest."""
        stuck = [state for state, degree in self.goes_on.out_degree() if degree == 0 and state not in self.rest]
        return self._property("no deadlock", "where nothing can go on, the agent rests", stuck)

    def livelocks(self) -> Property:
        """Find cycles that the loop runs by itself."""
        cycles = [
            tuple(sorted(component))
            for component in nx.strongly_connected_components(self.moves)
            if len(component) > 1 or self.moves.has_edge(*(next(iter(component)),) * 2)
        ]
        says = "the loop alone comes to a wait or to rest after finitely many moves"
        found = self._property("no livelock", says, [state for cycle in cycles for state in cycle])
        return Property(found.name, says, found.violating, found.way, cycles[0] if cycles else ())

    def stranded(self) -> Property:
        """Find states from which no answers lead back to rest."""
        home = set(self.rest)
        todo = list(self.rest)
        while todo:
            for before in self.goes_on.predecessors(todo.pop()):
                if before not in home:
                    home.add(before)
                    todo.append(before)
        lost = [state for state in self.goes_on if state not in home]
        return self._property("always back to rest", "some answers to gates lead every state back to rest", lost)

    def _property(self, name: str, says: str, violating: Iterable[int]) -> Property:
        found = list(violating)
        way = self.search.trace_to(min(found)) if found else ()
        return Property(name, says, len(found), tuple(Step(one.transition, one.state) for one in way))


def liveness(search: Search) -> tuple[Property, ...]:
    """
    Ask for liveness of a finished search.

    Args:
        search: one that saw everything within its bounds.
    """
    graph = Graph(search)
    return graph.deadlocks(), graph.livelocks(), graph.stranded()
