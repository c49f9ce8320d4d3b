"""
Keep track of what is left of a tour: which transitions, where each can be tried, and the way to the nearest.
"""

from __future__ import annotations

from collections import Counter, deque

from attrs import define, field

from turnproof.coverage.denominator import Node, Policies, Transition, lives_by, sources
from turnproof.coverage.graph import Edge, Graph
from turnproof.coverage.moves import allowed
from turnproof_model.observation import Profile

MOST_TRIES = 3
"""Times that a transition is tried from one node where it isn't credited: what came before may have left a doubt."""


@define
class Chart:
    """
    Hold the transitions that are left, by where they begin.

    ``closed``: moves that a candidate doesn't make as the rules say, by node and label: no way leads through them.
    """

    graph: Graph
    profile: Profile
    policies: Policies
    at: dict[Node, dict[Transition, None]] = field(factory=dict, init=False)
    sources: dict[Transition, set[Node]] = field(factory=dict, init=False)
    closed: set[tuple[Node, str]] = field(factory=set)
    tries: Counter[tuple[Node, Transition]] = field(factory=Counter, init=False)
    _edges: dict[Node, tuple[Edge, ...]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        for transition, nodes in sources(self.graph, self.profile, self.policies).items():
            self.sources[transition] = set(nodes)
            for node in nodes:
                self.at.setdefault(node, {})[transition] = None

    def cross_off(self, transition: Transition) -> None:
        """Leave a transition behind: it was reached, or there is nothing more to try."""
        for node in self.sources.pop(transition, ()):
            self._remove(node, transition)

    def give_up(self, node: Node, transition: Transition) -> None:
        """Try a transition no more from a node."""
        nodes = self.sources.get(transition, set())
        if node in nodes:
            nodes.remove(node)
            self._remove(node, transition)

    def doubt(self, node: Node, transition: Transition) -> None:
        """Note that a transition was tried and not credited, and give it up from a node after some times."""
        self.tries[node, transition] += 1
        if self.tries[node, transition] >= MOST_TRIES:
            self.give_up(node, transition)

    def _remove(self, node: Node, transition: Transition) -> None:
        left = self.at[node]
        del left[transition]
        if not left:
            del self.at[node]

    def next_at(self, node: Node) -> Transition | None:
        """Find the first transition that is left at a node."""
        return next(iter(self.at.get(node, ())), None)

    def edges(self, node: Node) -> tuple[Edge, ...]:
        """List the moves of a node that the candidate can make."""
        if node not in self._edges:
            edges = self.graph.parts[node[0]].edges[node[1]]
            self._edges[node] = tuple(
                edge for edge in edges if lives_by(edge, self.policies) and allowed(edge.label, self.profile)
            )
        return self._edges[node]

    def way(self, start: Node) -> tuple[tuple[str, int], ...] | None:
        """
        Find a shortest way to a node where something is left: moves by label, each with the situation it leads to.

        Returns:
            ``None`` where no way leads to any.
        """
        part = start[0]
        came: dict[int, tuple[int, str]] = {start[1]: (-1, "")}
        todo = deque([start[1]])
        while todo:
            number = todo.popleft()
            if (part, number) in self.at:
                return _back(came, number)
            for edge in self.edges((part, number)):
                if edge.after not in came and ((part, number), edge.label) not in self.closed:
                    came[edge.after] = (number, edge.label)
                    todo.append(edge.after)
        return None


def _back(came: dict[int, tuple[int, str]], number: int) -> tuple[tuple[str, int], ...]:
    way: list[tuple[str, int]] = []
    while came[number][0] >= 0:
        before, label = came[number]
        way.append((label, number))
        number = before
    return tuple(reversed(way))
