"""
Count what a search would go through if messages had names: the same states, and which message lies where.

A packed state tells of a pending message only its marks; all states that differ in names alone are one. How much that
saves is counted here and not estimated: rules run on real messages, named in the order in which they are sent, and
states are told apart by the names in every queue that is live. That is slow, so large bounds are cut down first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs
from attrs import frozen

from turnproof_model.contracts import rule_book
from turnproof_model.explore.encoding import encode
from turnproof_model.explore.search import Search
from turnproof_model.explore.walker import Walker, successors
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.readings.packed import length_cell
from turnproof_model.vocabulary import Contract

FEASIBLE: Mapping[str, int] = {
    "messages": 3,
    "cancels": 1,
    "tools": 0,
    "reentrant": 0,
    "disposals": 0,
    "edits": 1,
    "references": 0,
    "resumes": 0,
}
"""Bounds at which real messages are through in about a second."""


@frozen
class Symmetry:
    """Hold both counts at some bounds: of states in which messages have no names, and of those in which they have."""

    bounds: Mapping[str, int]
    states: int
    states_without_symmetry: int


def symmetry(contract: Contract, bounds: Mapping[str, int]) -> Symmetry:
    """
    Count states with and without names of messages, at the given bounds or as much of them as is feasible.

    Args:
        contract: ``window`` or ``claim``.
        bounds: all of them by name.
    """
    within = {name: min(amount, FEASIBLE[name]) for name, amount in bounds.items()}
    layout = Layout(Program(forest(contract, within)))
    search = Search(layout)
    search.run()
    return Symmetry(within, search.states, named(layout))


def named(layout: Layout) -> int:
    """Count the states in which messages are told apart by when they were sent."""
    grown = layout.program.forest
    first = Walker.fresh(rule_book(grown.contract), grown.bounds, grown.around)
    seen = {_named(first, layout)}
    todo = [first]
    while todo:
        for after in successors(todo.pop()):
            state = _named(after, layout)
            if state not in seen:
                seen.add(state)
                todo.append(after)
    return len(seen)


def _named(walker: Walker, layout: Layout) -> tuple[int, tuple[tuple[str, ...], ...]]:
    state = encode(walker, layout)
    live = layout.program.live[layout.program.positions[layout.position.read(state)]]
    return state, tuple(ids for queue, ids in _ids(walker) if length_cell(queue) in live)


def _ids(walker: Walker) -> Iterator[tuple[str, tuple[str, ...]]]:
    """List what is pending by queue, head first."""
    for attribute in attrs.fields(type(walker.s)):
        value = getattr(walker.s, attribute.name)
        if str(attribute.type) == "Queue":
            yield attribute.name, tuple(str(item.id) for item in value.items)
        elif str(attribute.type) == "Item | None":
            yield attribute.name, () if value is None else (str(value.id),)
