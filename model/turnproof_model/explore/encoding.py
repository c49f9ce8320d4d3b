"""
Say the state of a walker as a packed one, and count what walks meet.

The plain reading knows of packed states this much and no more: which cells there are, and what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs
from attrs import evolve

from turnproof_model.algebra import Item, Slot, ToolBatch
from turnproof_model.contracts import rule_book
from turnproof_model.explore.walker import Walker, successors
from turnproof_model.readings.actions import CONTEXT
from turnproof_model.readings.layout import Layout
from turnproof_model.readings.packed import length_cell, plane_cell
from turnproof_model.readings.pieces import ATTACHED, MARKS, TAGS
from turnproof_model.readings.reading import Surroundings
from turnproof_model.readings.slots import CALLS, CONCLUDING, FRESH, WHERE_CALLS_RUN, field_of
from turnproof_model.surroundings import OpenGate
from turnproof_model.vocabulary import (
    Enter,
    Error,
    Outcome,
    Result,
)

NO_TAGS: Mapping[str, str] = MappingProxyType({})


def encode(walker: Walker, layout: Layout, tags: Mapping[str, str] = NO_TAGS) -> int:
    """
    Say the state of an agent as a packed one.

    Args:
        walker: the agent.
        layout: how states are packed.
        tags: the ids of messages that bear one.
    """
    forest = layout.program.forest
    fields = dict(_fields(walker, forest.bounds.get("tools", 0), tags))
    position = tuple(fields[name] for name in forest.place)
    state = layout.program.positions.index(position)
    for name, budget in layout.budgets.items():
        borne = int(name in tags)
        state |= max(walker.spent.get(name, 0), borne) << budget.offset
    for name in layout.program.live[position]:
        cell = layout.cells[name]
        state |= cell.code(fields[name]) << cell.offset
    return state


def _fields(walker: Walker, calls: int, tags: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    s = walker.s
    for attribute in attrs.fields(type(s)):
        value = getattr(s, attribute.name)
        kind = str(attribute.type)
        if kind == "Queue":
            yield from _queue(attribute.name, value.items, tags)
        elif kind == "Item | None":
            yield from _queue(attribute.name, () if value is None else (value,), tags)
        else:
            yield attribute.name, value
    yield "settled", s.outcome is not None
    yield "came", _came(walker, tags)
    yield "told", any(gate.slot < 0 and gate.view.aborted for gate in walker.gates)
    yield "streamed", bool(walker.streamed)
    yield "log_in_turn", walker.history.in_turn
    yield "stack", walker.stack
    remembers = walker.book.contract == "claim"
    for name, value in _batch(s.batch, walker.gates, calls, s.at, remembers=remembers):
        yield name, _written(value, tags) if isinstance(value, (Result, Error)) else value


def _queue(name: str, items: Sequence[Item], tags: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    yield length_cell(name), len(items)
    for tag in TAGS:
        yield plane_cell(name, tag), sum(int(item.id == tags.get(tag)) << i for i, item in enumerate(items))
    yield plane_cell(name, ATTACHED), sum(int(bool(item.attached)) << i for i, item in enumerate(items))
    for mark in MARKS:
        yield plane_cell(name, mark), sum(int(getattr(item, mark)) << i for i, item in enumerate(items))


def _came(walker: Walker, tags: Mapping[str, str]) -> Outcome | None:
    outcome: Outcome | None = walker.s.outcome
    if outcome is not None and walker.came is not None and walker.came[1] is outcome:
        outcome = _borne(walker.came[0], outcome, tags)
    return outcome


def _written(outcome: Result | Error, tags: Mapping[str, str]) -> Result | Error:
    """Say what a tool returned as the packed reading writes it."""
    plain = evolve(outcome, additional_contexts=(CONTEXT,) if outcome.additional_contexts else ())
    written: Result | Error = _borne(plain, outcome, tags)
    return written


def _borne(written: Any, real: Any, tags: Mapping[str, str]) -> Any:
    """Say an outcome as the packed reading writes it, with the tag that its context bears; a context is its last."""
    name = "messages" if isinstance(written, Enter) else "additional_contexts"
    brought = getattr(written, name, None) or ()
    if CONTEXT not in brought:
        return written
    tag = next((tag for tag, bearer in tags.items() if bearer == getattr(real, name)[-1].id), None)
    return written if tag is None else evolve(written, **{name: (*brought[:-1], evolve(CONTEXT, id=tag))})


def _batch(
    batch: ToolBatch, gates: Sequence[OpenGate], calls: int, at: str, *, remembers: bool
) -> Iterator[tuple[str, Any]]:
    """Say what the packed reading remembers of a batch; the rest of its fields are as if there were no call."""
    told = {gate.slot for gate in gates if gate.view.aborted}
    slots = batch.slots
    if at not in WHERE_CALLS_RUN:
        yield CALLS, min(len(slots), 1)
        slots = tuple(evolve(slot, state="committed", outcome=None) for slot in slots[:1])
    else:
        yield CALLS, len(slots)
    for i in range(calls):
        facts = dict(FRESH)
        if i < len(slots):
            joined = i > 0 and slots[i].group == slots[i - 1].group and slots[i - 1].state != "committed"
            facts = _facts(slots[i], joined=joined, told=i in told, remembers=remembers)
        for name, value in facts.items():
            yield field_of(i, name), value


def _facts(slot: Slot, *, joined: bool, told: bool, remembers: bool) -> dict[str, Any]:
    if slot.state == "committed":
        outcome = slot.outcome
        concludes = remembers and isinstance(outcome, Result) and outcome.concludes and not slot.settled_by_abort
        return {**FRESH, "state": "committed", "outcome": CONCLUDING if concludes else None}
    unasked = slot.state in {"waiting", "called"} or slot.mode == "unknown"
    mode = slot.mode if unasked and not (slot.state == "finished" and slot.outcome is None) else "exclusive"
    outcome = slot.outcome
    return {
        "state": slot.state,
        "mode": mode,
        "joined": joined,
        "outcome": outcome,
        "early": slot.early,
        "told": told,
    }


def count(layout: Layout, around: Surroundings) -> tuple[int, int]:
    """
    Search plainly, and count states and transitions.

    Args:
        layout: how states are told apart.
        around: what the forest of the layout was grown for.
    """
    forest = layout.program.forest
    first = Walker.fresh(rule_book(forest.contract), forest.bounds, around)
    seen = {encode(first, layout)}
    todo = [first]
    transitions = 0
    while todo:
        walker = todo.pop()
        for after in successors(walker):
            transitions += 1
            code = encode(after, layout)
            if code not in seen:
                seen.add(code)
                todo.append(after)
    return len(seen), transitions
