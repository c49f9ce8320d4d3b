"""
Hold what parts two candidates: a schedule, what each showed at its end, and which rules decide between them.

A difference is one that the contract's judge would see: judged events, gates, status, window, inbox, answers. The
rules that one of the two breaks decide; where none is broken the contract is silent, and its freedoms are named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from attrs import frozen

from turnproof.score import schedule_text
from turnproof_model import vocabulary as v
from turnproof_model.events import PluginEvent, Unhandled, Warned
from turnproof_model.observation import Implementation, Observation
from turnproof_model.wire import to_wire

Keeper: TypeAlias = Literal["one", "other", "both", "neither"]
"""Who keeps the contract where two candidates part; ``both``: it is silent."""


@frozen
class Side:
    """
    Hold what one candidate did where the two part, and what a judge says of it.

    ``rules`` are those that it broke on this schedule; empty where it conforms.
    """

    agent: Implementation
    shown: str
    value: Any
    rules: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Write the side as a JSON value."""
        return {
            "name": self.agent.name,
            "version": self.agent.version,
            "observed": self.value,
            "broke": list(self.rules),
        }


@frozen
class Parting:
    """
    Hold a schedule on which two candidates differ at its last command.

    ``where`` is ``events`` or a field of the observation; ``shortest`` says that all shorter schedules of plain
    commands were tried; ``freedoms`` are latitudes that the two took differently.
    """

    contract: v.Contract
    schedule: tuple[v.Command, ...]
    where: str
    one: Side
    other: Side
    shortest: bool
    freedoms: tuple[str, ...] = ()

    @property
    def decides(self) -> tuple[str, ...]:
        """The rules that decide between the two; none where the contract is silent, or both break rules."""
        if bool(self.one.rules) == bool(self.other.rules):
            return ()
        return self.one.rules or self.other.rules

    @property
    def keeps(self) -> Keeper:
        """Who keeps the contract here."""
        if self.one.rules:
            return "neither" if self.other.rules else "other"
        return "one" if self.other.rules else "both"

    def to_json(self) -> dict[str, Any]:
        """Write the parting as a JSON value."""
        return {
            "contract": self.contract,
            "score": schedule_text(self.schedule),
            "commands": [to_wire(command) for command in self.schedule],
            "shortest": self.shortest,
            "where": self.where,
            "one": self.one.to_json(),
            "other": self.other.to_json(),
            "keeps": self.keeps,
            "decides": list(self.decides),
            "freedoms": list(self.freedoms),
        }


def apart(one: Observation, other: Observation) -> tuple[str, object, object] | None:
    """Name the first difference between two observations, as far as a judge would see it."""
    mine, theirs = ([event for event in o.events if not isinstance(event, _UNJUDGED)] for o in (one, other))
    for at in range(max(len(mine), len(theirs))):
        left = mine[at] if at < len(mine) else None
        right = theirs[at] if at < len(theirs) else None
        if left is None or right is None or not (left.admits(right) or right.admits(left)):
            return "events", left, right
    for where, first, second, known in _fields(one, other):
        if known and first != second:
            return where, first, second
    return None


_UNJUDGED = (PluginEvent, Warned, Unhandled)


def _fields(one: Observation, other: Observation) -> Iterator[tuple[str, object, object, bool]]:
    """Pair the fields, with whether both show them."""
    yield "refused", one.refused is not None, other.refused is not None, True
    yield "status", one.status, other.status, True
    yield "inbox", one.inbox, other.inbox, one.inbox is not None and other.inbox is not None
    yield "gates", _gates(one), _gates(other), True
    windows = (one.accepts_next_step, other.accepts_next_step)
    yield "accepts_next_step", *windows, None not in windows
    yield "when_idle", one.when_idle, other.when_idle, None not in (one.when_idle, other.when_idle)
    yield "answer", one.answer, other.answer, None not in (one.answer, other.answer)
    yield "goal", one.goal, other.goal, True


def _gates(observation: Observation) -> tuple[object, ...]:
    return tuple((gate.id, gate.kind, gate.aborted, gate.message, gate.call_id) for gate in observation.gates)
