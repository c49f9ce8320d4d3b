"""
Write a trace in the Informal Trace Format (ITF) that Apalache, Quint and their viewers read.

The variables are the cells of the layout, the phase, and ``action``, which tells what led to each state. What nothing
will ask for any more has no contents: it shows as 0, ``false`` or the first of its values, as in a new agent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from turnproof_model.explore.export.names import Namer, numeric, phase_of
from turnproof_model.readings.codegen import Transition
from turnproof_model.readings.layout import Cell, Layout


class Taken(Protocol):
    """Be one step of a trace."""

    @property
    def transition(self) -> Transition:
        """What was done."""

    @property
    def state(self) -> int:
        """Where it led, packed."""


def itf(layout: Layout, trace: Sequence[Taken]) -> Iterator[str]:
    """
    Write a trace, state by state.

    Args:
        layout: how its states are packed.
        trace: from a new agent on; may be empty.
    """
    forest = layout.program.forest
    namer = Namer.of(forest)
    names = ["action", "phase", *(cell.name for cell in layout.budgets.values()), *layout.cells]
    meta = {"format": "ITF", "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html"}
    described = {**meta, "description": f"{forest.contract}, {dict(forest.bounds)}"}
    yield f'{{"#meta": {json.dumps(described)},\n "vars": {json.dumps(names)},\n "states": [\n'
    yield f"  {_state(layout, layout.initial(), 0, 'reset')}"
    for index, step in enumerate(trace, 1):
        yield f",\n  {_state(layout, step.state, index, namer.say(step.transition))}"
    yield "\n ]}\n"


def _state(layout: Layout, state: int, index: int, action: str) -> str:
    position = layout.program.positions[layout.position.read(state)]
    live = layout.program.live[position]
    values: dict[str, Any] = {"#meta": {"index": index}, "action": action, "phase": phase_of(position)}
    values.update({cell.name: cell.read(state) for cell in layout.budgets.values()})
    values.update({name: _value(cell, cell.read(state) if name in live else 0) for name, cell in layout.cells.items()})
    return json.dumps(values, ensure_ascii=False)


def _value(cell: Cell, code: int) -> Any:
    """Say contents so that a variable has one type throughout."""
    if not cell.values:
        return code
    value = cell.values[code]
    same = all(isinstance(known, bool) for known in cell.values) or numeric(cell)
    return value if same else str(value)
