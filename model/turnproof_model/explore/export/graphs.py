"""
Make graphs of a finished search: of all its states, or of the phases of the loop.

The graph of phases is what pictures are drawn of. A command that leaves the phase as it is isn't in it: nearly every
phase has such a loop for each sort of command, and they would hide the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias

from attrs import field, frozen

from turnproof_model.explore.export.names import Namer, numeric, phase_of
from turnproof_model.explore.search import Search
from turnproof_model.readings.arrays import together
from turnproof_model.readings.forest import MOVE, RELEASE
from turnproof_model.readings.layout import Layout

Of: TypeAlias = Literal["phases", "states"]

Facts: TypeAlias = Mapping[str, int | str]
"""What is told of a node or an edge, by name."""


@frozen
class Node:
    """Be one node; ``id`` is an identifier in every format."""

    id: str
    label: str
    facts: Facts = field(factory=dict, hash=False)


@frozen
class Edge:
    """Be one edge, from node to node."""

    source: str
    target: str
    label: str
    facts: Facts = field(factory=dict, hash=False)


@frozen(eq=False)
class Graph:
    """
    Be a graph that is written as it is gone through; ``nodes`` and ``edges`` begin anew at every call.

    ``start``: the node of a new agent. ``size``: how many edges there are at most. ``node_facts``, ``edge_facts``: what
    may be told of them, and whether that is a number (``int``) or text (``string``).
    """

    name: str
    start: str
    nodes: Callable[[], Iterator[Node]]
    edges: Callable[[], Iterator[Edge]]
    size: int
    node_facts: Mapping[str, str]
    edge_facts: Mapping[str, str] = field(factory=dict)


def graph(search: Search, of: Of) -> Graph:
    """Make the graph of a search; of one that ended early, of what it met."""
    return of_phases(search) if of == "phases" else of_states(search)


def _name(search: Search, of: Of) -> str:
    forest = search.layout.program.forest
    return f"{of} of {forest.contract}: {', '.join(f'{name} {amount}' for name, amount in forest.bounds.items())}"


def states(search: Search) -> Iterator[tuple[int, int]]:
    """Go through all states that were met, nearest first, each with its depth."""
    for depth, level in enumerate(search.levels):
        for position, here in enumerate(level):
            for element in here.tolist():
                yield together(search.layout, position, element), depth


# ------------------------------------------------------------------------------------------------ states
def of_states(search: Search) -> Graph:
    """Make the graph of all states and transitions; states are numbered in the order in which they were met."""
    numbers = {state: f"n{number}" for number, (state, _) in enumerate(states(search))}
    layout = search.layout
    namer = Namer.of(layout.program.forest)
    kinds = _kinds(layout)

    def nodes() -> Iterator[Node]:
        for state, depth in states(search):
            shown = layout.show(state).items()
            facts = {name: value if kinds[name] == "int" else str(value) for name, value in shown}
            phase = phase_of(layout.program.positions[layout.position.read(state)])
            yield Node(numbers[state], phase, {"depth": depth, **facts})

    def edges() -> Iterator[Edge]:
        for state, _ in states(search):
            for transition, after in search.told.successors(state):
                if after in numbers:
                    yield Edge(numbers[state], numbers[after], namer.say(transition))

    return Graph(_name(search, "states"), numbers[layout.initial()], nodes, edges, search.transitions, kinds)


def _kinds(layout: Layout) -> dict[str, str]:
    """List what is told of a state, numbers and texts."""
    place = dict.fromkeys(layout.program.forest.place, "string")
    spent = {cell.name: "int" for cell in layout.budgets.values()}
    cells = {name: "int" if numeric(cell) else "string" for name, cell in layout.cells.items()}
    return {"depth": "int", **place, **spent, **cells}


# ------------------------------------------------------------------------------------------------ phases
def of_phases(search: Search) -> Graph:
    """
    Make the graph of phases; an edge is there if some transition goes that way, labelled with the sorts of them.

    Where the loop moves by itself and nothing else leads that way, the label is empty.
    """
    layout = search.layout
    namer = Namer.of(layout.program.forest)
    phases = [str(position[0]) for position in layout.program.positions]
    order = list(dict.fromkeys(phases))
    numbers = {phase: f"n{number}" for number, phase in enumerate(order)}
    met: Counter[str] = Counter()
    ways: dict[tuple[str, str], Counter[str]] = {}
    for state, _ in states(search):
        phase = phases[layout.position.read(state)]
        met[phase] += 1
        for transition, after in search.told.successors(state):
            there = phases[layout.position.read(after)]
            if phase != there or transition.action in {MOVE, RELEASE}:
                ways.setdefault((phase, there), Counter())[namer.sort(transition)] += 1

    def nodes() -> Iterator[Node]:
        return (Node(numbers[phase], phase, {"states": met[phase]}) for phase in numbers if met[phase])

    def edges() -> Iterator[Edge]:
        for (phase, there), sorts in sorted(ways.items(), key=lambda way: [order.index(end) for end in way[0]]):
            label = "" if set(sorts) == {MOVE} else ", ".join(sorted(sorts))
            yield Edge(numbers[phase], numbers[there], label, {"transitions": sorts.total()})

    first = phases[layout.position.read(layout.initial())]
    return Graph(
        _name(search, "phases"), numbers[first], nodes, edges, len(ways), {"states": "int"}, {"transitions": "int"}
    )
