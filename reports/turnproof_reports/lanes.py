"""
Lay a failure out in lanes: who acts in each row, what agrees with the rules, and where the first difference is.

Five lanes: *caller* (who gives commands), *inbox*, *driver* (the loop: admissions, turns, steps, status, the log),
*model*, *tools*. The rows of a move are its command, the events that agree, then at the difference what was expected
beside what was observed, and what came or would have come after it. Evidence is only laid out here, never judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from turnproof.evidence import Evidence, Step
from turnproof.score import command_text, event_text
from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.surroundings import Demand

Lane: TypeAlias = Literal["caller", "inbox", "driver", "model", "tools"]
LANES: tuple[Lane, ...] = ("caller", "inbox", "driver", "model", "tools")

Mark: TypeAlias = Literal["command", "agreed", "aside", "expected", "observed", "never-came", "came-after"]
"""
What a row is: a command; an event as demanded; one that no rule speaks of; the two sides of the first difference; and
behind it what was demanded but never judged, and what came and was never judged.
"""


@frozen
class Row:
    """
    Hold one row: in which lane, what, and by which rules.

    ``move`` counts commands from 1; a command goes from the caller to ``lane``.
    """

    move: int
    mark: Mark
    lane: Lane
    text: str
    rules: tuple[str, ...] = ()


_EVENT_LANES: Mapping[type[e.Event], Lane] = {
    **dict.fromkeys((e.Enqueue, e.Dequeue, e.Discard, e.Spliced, e.Inserted, e.Claimed, e.Discarded), "inbox"),
    **dict.fromkeys((e.RequestMade, e.AssistantMessage), "model"),
    **dict.fromkeys((e.ToolCall, e.ToolResult), "tools"),
    **dict.fromkeys((e.OpThrew, e.DisposeResolved), "caller"),
}
_GATE_LANES: Mapping[str, Lane] = {"model": "model", "tool": "tools"}
_FIELD_LANES: Mapping[str, Lane] = {"inbox": "inbox", "when_idle": "caller", "answer": "caller", "refused": "caller"}
_INBOX_COMMANDS = (v.Send, v.Remove, v.Replace, v.Prepend, v.Reference, v.Batch)
_UNJUDGED = (e.PluginEvent, e.Warned, e.Unhandled)
_REPAIRS = (e.ToolResult, e.StepEnd, e.TurnEnd)


def lane_of(event: e.Event) -> Lane:
    """Tell in which lane an event is shown."""
    if isinstance(event, (e.GateOpened, e.GateAborted)):
        return _GATE_LANES.get(event.gate_kind, "driver")
    return _EVENT_LANES.get(type(event), "driver")


def rows(evidence: Evidence) -> tuple[Row, ...]:
    """Lay out a whole schedule."""
    out: list[Row] = []
    gates: dict[str, str] = {}
    last = len(evidence.steps)
    for number, step in enumerate(evidence.steps, 1):
        out.append(Row(number, "command", _target(step.command, gates), command_text(step.command)))
        out.extend(_answer(number, step, evidence if number == last else None))
        if step.observed is not None:
            gates = {gate.id: gate.kind for gate in step.observed.gates}
    return tuple(out)


def last_move(laid: Sequence[Row]) -> tuple[Row, ...]:
    """Keep the move that differs."""
    return tuple(row for row in laid if row.move == laid[-1].move)


def _target(command: v.Command, gates: Mapping[str, str]) -> Lane:
    """Tell which lane a command goes to; a released gate is looked up among those that were open."""
    if isinstance(command, v.Release):
        return _GATE_LANES.get(command.kind or gates.get(command.gate or "", ""), "driver")
    return "inbox" if isinstance(command, _INBOX_COMMANDS) else "driver"


def _answer(move: int, step: Step, evidence: Evidence | None) -> Iterator[Row]:
    """Lay out what a command was answered; ``evidence`` is there for the move that differs."""
    demanded = list(step.expected)
    came = list(step.observed.events) if step.observed is not None else []
    most = evidence.index if evidence is not None and evidence.where == "events" else len(demanded)
    agreed = 0
    while came:
        if agreed < most and demanded and demanded[0].event.admits(came[0]):
            demand, event = demanded.pop(0), came.pop(0)
            agreed += 1
            yield Row(move, "agreed", lane_of(event), event_text(event), demand.rules)
        elif _aside(step.command, came[0]):
            event = came.pop(0)
            yield Row(move, "aside", lane_of(event), event_text(event))
        else:
            break
    if evidence is not None:
        yield from _difference(move, evidence, demanded, came)


def _aside(command: v.Command, event: e.Event) -> bool:
    """Tell whether no rule speaks of an event: plugins, warnings, and the repairs of a crashed log."""
    repair = isinstance(command, v.Resume) and command.mode in ("crash", "fork") and isinstance(event, _REPAIRS)
    return repair or isinstance(event, _UNJUDGED)


def _difference(move: int, evidence: Evidence, demanded: list[Demand], came: list[e.Event]) -> Iterator[Row]:
    """Lay out the first difference and what lies behind it."""
    if evidence.where == "monitor":
        for rule, message in evidence.objections:
            yield Row(move, "observed", "driver", message, (rule,))
        return
    if evidence.where == "events":
        demand = demanded.pop(0) if demanded else None
        seen = came.pop(0) if came else None
        first = demand.event if demand else seen
        lane = lane_of(first) if first else "driver"
        rules = demand.rules if demand else ()
        yield Row(move, "expected", lane, event_text(demand.event) if demand else "nothing more", rules)
        yield Row(move, "observed", lane_of(seen) if seen else lane, event_text(seen) if seen else "nothing more")
    else:
        lane = _FIELD_LANES.get(evidence.where, "driver")
        name = evidence.where.replace("_", " ")
        yield Row(move, "expected", lane, f"{name}: {evidence.expected}")
        yield Row(move, "observed", lane, f"{name}: {evidence.observed}")
    for demand in demanded:
        yield Row(move, "never-came", lane_of(demand.event), event_text(demand.event), demand.rules)
    for event in came:
        yield Row(move, "came-after", lane_of(event), event_text(event))
