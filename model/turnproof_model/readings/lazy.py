"""
Hold the state of a loop that is looked at lazily: what rule functions get as ``s`` when their data are terms.

Each field is of one sort, told by the state class of the contract:

- *control*: phases, flags, small enumerations. Its value is chosen from a finite list when it is first read, so a path
  fixes only what it looks at.
- *queue*: a term of the queue algebra from the start. *Slot*: one item or none, kept as a queue of at most one.
- *counter*: a number that only rises or is reset, a term.

``outcome`` and ``batch`` aren't fields here but made of finer ones, so that a path which asks only whether an outcome
has come doesn't fix which: ``settled`` and ``came``, ``calls`` and the fields of each call (``slots.py``).
Others belong to the surroundings: ``told`` (the open gate has heard an abort), ``streamed`` (the open request has
streamed text), ``log_in_turn`` (a turn is open at the end of the log) and
``stack`` (where a run in the caller's stack ends).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import attrs
from attrs import frozen

from turnproof_model.readings.execute import run
from turnproof_model.readings.slots import CALLS, Batch, answers, call_fields, field_asked, fields_of
from turnproof_model.rulebook import RuleBook

COUNTERS = ("turn", "step")

AROUND: Mapping[str, Hashable] = {
    "settled": False,
    "came": None,
    "told": False,
    "streamed": False,
    "log_in_turn": False,
    "stack": (),
}
"""Control fields that no contract declares, with their initial values."""


@frozen
class Shape:
    """Tell the sort of every field of a contract's state, and the initial control."""

    queues: tuple[str, ...]
    slots: tuple[str, ...]
    counters: tuple[str, ...]
    control: Mapping[str, Hashable]

    @classmethod
    def of(cls, book: RuleBook[Any], calls: int) -> Shape:
        """
        Look at a new state of the contract.

        Args:
            book: the rules.
            calls: the most calls of one tool batch.
        """
        initial = book.new_state()
        declared = {a.name: str(a.type) for a in attrs.fields(type(initial))}
        queues = tuple(name for name, kind in declared.items() if kind == "Queue")
        slots = tuple(name for name, kind in declared.items() if kind == "Item | None")
        others = {*queues, *slots, *COUNTERS, "outcome", "batch"}
        control = {name: getattr(initial, name) for name in declared if name not in others}
        return cls(queues, slots, COUNTERS, {**control, **AROUND, **call_fields(calls)})


class LazyState:
    """
    Be the ``s`` of rule functions; reads and writes are noted.

    Args:
        shape: the sorts of the fields.
        values: the values that a control field may have where the execution begins.
        begin: the term of a queue, a slot (``None`` or an item) or a counter where the execution begins, by name.
    """

    __slots__ = ("_begin", "_first", "_shape", "_values", "written")

    written: dict[str, Any]

    def __init__(self, shape: Shape, values: Callable[[str], Iterable[Hashable]], begin: Callable[[str], Any]) -> None:
        put = object.__setattr__
        put(self, "_shape", shape)
        put(self, "_values", values)
        put(self, "_begin", begin)
        put(self, "_first", {})
        put(self, "written", {})

    def __getattr__(self, name: str) -> Any:
        if name == "outcome":
            return self.came if self.settled else None
        if name == "batch":
            return self._batch()
        return self.written[name] if name in self.written else self.first(name)

    def first(self, name: str) -> Any:
        """Look at a field as it was when the execution began."""
        known: dict[str, Any] = self._first
        if name not in known:
            known[name] = self._look(name)
        return known[name]

    def _look(self, name: str) -> Any:
        shape: Shape = self._shape
        if field_asked(name) in shape.control:
            return run().choose(name, answers(name, self._values(field_asked(name))))
        if name in shape.queues or name in shape.slots or name in shape.counters:
            return self._begin(name)
        raise AttributeError(f"a state of this contract has no field {name!r}")

    def _batch(self) -> Batch:
        return Batch.at_first(self.first, self.written, self.written.get(CALLS, None))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "outcome":
            self.written.update(settled=value is not None, came=value)
        elif name == "batch":
            self.written.update(fields_of(value))
        else:
            self.written[name] = value
