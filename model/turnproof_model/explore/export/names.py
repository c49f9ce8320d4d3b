"""Say positions, cells and transitions in words that people and other tools can read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from attrs import define, field

from turnproof_model.readings.actions import SENDS, outcomes, templates
from turnproof_model.readings.codegen import Transition
from turnproof_model.readings.forest import RELEASE, Forest, Position
from turnproof_model.readings.layout import Cell
from turnproof_model.vocabulary import Contract


def plain(name: str) -> str:
    """Turn a name into an identifier; different names of one layout stay different."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)


def phase_of(position: Position) -> str:
    """Name a position: its phase, where a drain goes on, and where a run in the caller's stack ends."""
    phase, *more = position
    words = [str(phase)]
    for value in more:
        if isinstance(value, tuple):
            words += [f"in stack up to {' or '.join(map(str, value))}"] if value else []
        elif value != "":
            words.append(f"then {value}")
    return ", ".join(words)


def numeric(cell: Cell) -> bool:
    """Tell whether a cell holds a number, and no truth or name."""
    return all(isinstance(value, int) and not isinstance(value, bool) for value in cell.values)


def sort_of(action: str) -> str:
    """Sort actions: all ways to send are one sort, as are both cancels and all edits of the inbox."""
    first = action.partition(" ")[0].partition("-")[0]
    if any(action == template.label for template in SENDS):
        return "send"
    return "edit" if first in {"prepend", "remove", "replace"} else first


@define(eq=False)
class Namer:
    """Name transitions of one contract at some bounds; ``labels``: of gates' outcomes by kind."""

    contract: Contract
    bounds: Mapping[str, int]
    commands: tuple[str, ...] = field(init=False)
    labels: dict[str, tuple[str, ...]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.commands = (*(t.label for t in templates(self.contract, self.bounds)), RELEASE)

    @classmethod
    def of(cls, forest: Forest) -> Namer:
        """Name the transitions of a forest."""
        return cls(forest.contract, forest.bounds)

    def say(self, transition: Transition) -> str:
        """Name a transition: its action, then what was picked on the way."""
        words = (self._picked(name, value) for name, value in transition.picks)
        return " · ".join([transition.action, *(word for word in words if word)])

    def _picked(self, name: str, value: Hashable) -> str:
        if name.startswith("landing "):
            return f"then inside {self.commands[self._number(value) - 1]}" if value != 0 else ""
        if name.startswith("outcome of "):
            kind: Any = name.removeprefix("outcome of ")
            if kind not in self.labels:
                self.labels[kind] = tuple(choice.label for choice in outcomes(kind, self.bounds))
            return f"{kind} {self.labels[kind][self._number(value)]}"
        return f"{name} {value}"

    def sort(self, transition: Transition) -> str:
        """Say what sort of action a transition is: ``move``, a kind of gate, or a sort of command; and what inside."""
        asked = (name.removeprefix("outcome of ") for name, _ in transition.picks if name.startswith("outcome of "))
        sort = next(asked, RELEASE) if transition.action == RELEASE else sort_of(transition.action)
        landed = (
            sort_of(self.commands[self._number(value) - 1])
            for name, value in transition.picks
            if name.startswith("landing ") and value != 0
        )
        inside = " and ".join(dict.fromkeys(landed))
        return f"{sort} with {inside} inside" if inside else sort

    @staticmethod
    def _number(value: Hashable) -> int:
        assert isinstance(value, int)
        return value
