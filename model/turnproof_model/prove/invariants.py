"""
Say what an invariant is: lines over a state's fields and an observer's ghosts, each with a name.

Properties come from the observer (``holds``) and are what is to be proved; strengthening lines are what induction needs
besides, and each of them is needed (``vacuity``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from attrs import frozen

from turnproof_model.prove.machine import CounterSight
from turnproof_model.prove.shape import Part, Shape
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import Truth

Strengthening: TypeAlias = Callable[["View"], Iterator[tuple[str, Truth]]]
"""Lists the lines that induction needs, each under a name."""


@frozen(eq=False)
class Line:
    """Be one line of an invariant: what it says, and the rule whose property it is, if it is one."""

    name: str
    says: Truth
    rule: str | None = None


class View:
    """Look at the parts of a state as fields: ``s`` those of the machine, ``g`` the ghosts."""

    __slots__ = ("g", "s")

    def __init__(self, shape: Shape, parts: Mapping[str, Part]) -> None:
        self.s: Any = _Fields({name: field.of(parts) for name, field in shape.fields.items()})
        self.g: Any = _Fields({name: parts[f"g.{name}"] for name in shape.ghosts})


class _Fields:
    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        return self._values[name]


def lines(shape: Shape, observer: Observer, strengthening: Strengthening, parts: Mapping[str, Part]) -> list[Line]:
    """List the whole invariant of a state with these parts."""
    view = View(shape, parts)
    sight = CounterSight(view.s, view.g)
    observer.holds(sight)
    properties = [Line(f"property {i} of {c.rule}", c.condition, c.rule) for i, c in enumerate(sight.checks)]
    return [*properties, *(Line(name, says) for name, says in strengthening(view))]
