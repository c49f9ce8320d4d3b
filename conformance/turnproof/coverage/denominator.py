"""
Name what there is to reach: the transitions of a candidate, as its capabilities and freedoms make them.

Five denominators, each a set of *transitions* that a person can read. ``moves``: a plain move with the situations
before and after it. ``variants``: a variant in a place. ``stacks``: two operations in one stack, in a place.
``inside``: an operation inside an event that a sort of move publishes, at a position. ``soon``: an operation so
many scheduler breaks after an event, at a position. What a run reached is credited only where the candidate's
observation confirmed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import product
from typing import Any, Literal, TypeAlias

from turnproof.coverage.graph import Edge, Graph, Part
from turnproof.coverage.labels import RELEASE, sort_of
from turnproof.coverage.moves import DEFAULTS, OPERATIONS, SENDS, allowed
from turnproof.coverage.situations import Situation, place, words
from turnproof_model.observation import Profile
from turnproof_model.policies import POLICIES

Sort: TypeAlias = Literal["moves", "variants", "stacks", "inside", "soon"]
"""The denominators."""

SORTS: tuple[Sort, ...] = ("moves", "variants", "stacks", "inside", "soon")

Transition: TypeAlias = tuple[Any, ...]
"""Its sort, then its parts: see ``move``, ``variant``, ``stack``, ``inside`` and ``soon``."""

LATE = ("followup", "cancel")
"""Operations that are tried behind an event: one that the loop must not miss, and one that it must heed."""

BREAKS = (1, 2)
"""Scheduler breaks behind an event after which they land."""

Node: TypeAlias = tuple[int, int]
"""A situation in one setting: the number of the part, and of the situation within."""


def move(before: Situation, label: str, after: Situation) -> Transition:
    """Name a plain move."""
    return ("moves", before, label, after)


def variant(at: Situation, label: str) -> Transition:
    """Name a variant."""
    return ("variants", place(at), label)


def stack(at: Situation, label: str) -> Transition:
    """Name two operations in one stack."""
    return ("stacks", place(at), label)


def inside(at: Situation, label: str, event: str, operations: str) -> Transition:
    """Name an operation inside an event of a move."""
    return ("inside", _position(at), sort_of(label), event, operations)


def soon(at: Situation, event: str, operations: str, breaks: int) -> Transition:
    """Name an operation some scheduler breaks after an event."""
    return ("soon", _position(at), event, operations, breaks)


def _position(at: Situation) -> str:
    return f"{at[0]} aborted" if at[1] else str(at[0])


def text(contract: str, transition: Transition) -> str:
    """Write a transition for a person."""
    sort, at, label, *rest = transition
    if sort == "moves":
        return f"{words(contract, at)} · {label} → {words(contract, rest[0])}"
    if sort == "inside":
        return f"{at} · {label} · inside {rest[0]}: {rest[1]}"
    if sort == "soon":
        return f"{at} · {rest[1]} after {label}: {rest[0]}"
    return f"{at} · {{ {label} }}" if sort == "stacks" else f"{at} · {label}"


# ------------------------------------------------------------------------------------------------ where they begin
Policies: TypeAlias = Mapping[str, str]
"""Freedoms by name, with the values that a candidate lives by."""


def transitions(graph: Graph, profile: Profile, policies: Policies | None = None) -> frozenset[Transition]:
    """
    Name what a candidate can reach.

    Args:
        graph: of its contract.
        profile: what it declares.
        policies: what it has shown; what isn't named is taken as usual. ``None`` takes every value of every freedom.
    """
    found: set[Transition] = set()
    for part in graph.parts:
        if _offers(profile, part):
            seen: set[tuple[object, ...]] = set()
            for _, at, edges in _reached(part, profile, policies):
                found.update(_transitions(graph, part, at, edges, profile, seen))
    return frozenset(found)


def sources(graph: Graph, profile: Profile, policies: Policies) -> dict[Transition, tuple[Node, ...]]:
    """Name what a candidate can reach, each with the nodes where it can be tried; arguments as ``transitions``."""
    found: dict[Transition, list[Node]] = {}
    for number, part in enumerate(graph.parts):
        if _offers(profile, part):
            for node, at, edges in _reached(part, profile, policies):
                for transition in dict.fromkeys(_transitions(graph, part, at, edges, profile, set())):
                    found.setdefault(transition, []).append((number, node))
    return {transition: tuple(nodes) for transition, nodes in found.items()}


def lives_by(edge: Edge, policies: Policies | None) -> bool:
    """Tell whether a move is one of a candidate that lives by these values."""
    if policies is None:
        return True
    return all(policies.get(name, POLICIES[name].default) == value for name, value in edge.assumed)


_SETTING_NEEDS = {"heeding": (), "parking": ("onAbort.select",), "all gates": ("gates.select", "step-gate", "flush")}


def _offers(profile: Profile, part: Part) -> bool:
    return all(map(profile.has, _SETTING_NEEDS[part.ground]))


def _reached(
    part: Part, profile: Profile, policies: Policies | None
) -> Iterator[tuple[int, Situation, tuple[Edge, ...]]]:
    """Go through the situations that a candidate's moves lead to, with these moves."""
    todo, seen = [0], {0}
    for node in todo:
        edges = tuple(edge for edge in part.edges[node] if allowed(edge.label, profile) and lives_by(edge, policies))
        yield node, part.situations[node], edges
        for edge in edges:
            if edge.after not in seen:
                seen.add(edge.after)
                todo.append(edge.after)


def _transitions(
    graph: Graph, part: Part, at: Situation, edges: tuple[Edge, ...], profile: Profile, seen: set[tuple[object, ...]]
) -> Iterator[Transition]:
    """Name what begins at a situation; what is told apart by its place alone only once for ``seen``."""
    for edge in edges:
        yield move(at, edge.label, part.situations[edge.after])
    labels = {edge.label for edge in edges}
    gated = any(label.split(" ", 1)[0] in DEFAULTS for label in labels)
    operations = _operations(labels, gated=gated)
    if (here := (place(at), operations)) not in seen:
        seen.add(here)
        yield from _of_place(graph, at, operations, profile)
    if not profile.has("arm"):
        return
    for edge in edges:
        if (there := (at[:2], edge.label, edge.heard, operations)) not in seen:
            seen.add(there)
            for event in edge.heard:
                for name in _operations(labels, gated=event.startswith("gate:")):
                    yield inside(at, edge.label, event, name)
                if profile.has("arm.defer"):
                    yield from _late(at, event, operations)


def _late(at: Situation, event: str, operations: tuple[str, ...]) -> Iterator[Transition]:
    """Name what lands while the loop goes on behind an event; behind an opening gate it mostly waits."""
    if not event.startswith("gate:"):
        for name, breaks in product(LATE, BREAKS):
            if name in operations:
                yield soon(at, event, name, breaks)


def _of_place(graph: Graph, at: Situation, operations: tuple[str, ...], profile: Profile) -> Iterator[Transition]:
    for label in graph.variants.get(place(at), ()):
        if allowed(label, profile):
            yield variant(at, label)
    if profile.has("batch"):
        for first, second in product(operations, repeat=2):
            if first != second or first not in (RELEASE, "dispose"):
                yield stack(at, f"{first}; {second}")


def _operations(labels: AbstractSet[str], *, gated: bool) -> tuple[str, ...]:
    """List the operations that are among the moves here, and a release where there is a gate to release."""
    there = labels | (set() if labels.isdisjoint(OPERATIONS) else SENDS.keys()) | ({RELEASE} if gated else set())
    return tuple(name for name in (*OPERATIONS, RELEASE) if name in there)
