"""
Hold the state of a loop that is looked at lazily: what rule functions get as ``s`` when their data are terms.

Each field is of one sort, told by the state class of the contract:

- *control*: phases, flags, small enumerations. Its value is chosen from a finite list when it is first read, so a path
  fixes only what it looks at.
- *queue*: a term of the queue algebra from the start. *Slot*: one item or none, kept as a queue of at most one.
- *counter*: a number that only rises or is reset, a term.

Three fields move together: the awaited outcome, the tool batch and the open gates. They are one control value,
``Work``, because apart from each other they would range over combinations that no run ever reaches.
Besides the contract's fields there are those of its surroundings: ``work``, ``streamed`` (the open request has streamed
text), ``log_in_turn`` (a turn is open at the end of the log) and ``stack`` (where a run in the caller's stack ends).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import attrs
from attrs import evolve, frozen

from turnproof_model.algebra import NO_BATCH, ToolBatch
from turnproof_model.readings.execute import run
from turnproof_model.rulebook import RuleBook
from turnproof_model.vocabulary import GateKind, Outcome

COUNTERS = ("turn", "step")


@frozen
class Gate:
    """Be an open gate; ``slot`` is the call of the batch that it belongs to, or -1."""

    kind: GateKind
    slot: int = -1
    aborted: bool = False


@frozen
class Work:
    """Hold what the loop waits for: open gates in opening order, the outcome that came, the tool batch."""

    gates: tuple[Gate, ...] = ()
    outcome: Outcome | None = None
    batch: ToolBatch = NO_BATCH


WORK = tuple(attribute.name for attribute in attrs.fields(Work))


@frozen
class Shape:
    """Tell the sort of every field of a contract's state, and the initial control."""

    queues: tuple[str, ...]
    slots: tuple[str, ...]
    counters: tuple[str, ...]
    control: dict[str, Hashable]

    @classmethod
    def of(cls, book: RuleBook[Any]) -> Shape:
        """Look at a new state of the contract."""
        initial = book.new_state()
        declared = {a.name: str(a.type) for a in attrs.fields(type(initial))}
        queues = tuple(name for name, kind in declared.items() if kind == "Queue")
        slots = tuple(name for name, kind in declared.items() if kind == "Item | None")
        control = {name: getattr(initial, name) for name in declared if name not in {*queues, *slots, *COUNTERS, *WORK}}
        around = {"work": Work(), "streamed": False, "log_in_turn": False, "stack": ()}
        return cls(queues, slots, COUNTERS, {**control, **around})


class LazyState:
    """
    Be the ``s`` of rule functions; reads and writes are noted.

    Args:
        shape: the sorts of the fields.
        values: the values that a control field may have where the execution begins.
        begin: the term of a queue, a slot (``None`` or an item) or a counter where the execution begins, by name.
    """

    __slots__ = ("_begin", "_now", "_shape", "_values", "written")

    def __init__(
        self, shape: Shape, values: Callable[[str], tuple[Hashable, ...]], begin: Callable[[str], Any]
    ) -> None:
        put = object.__setattr__
        put(self, "_shape", shape)
        put(self, "_values", values)
        put(self, "_begin", begin)
        put(self, "_now", {})
        put(self, "written", {})

    def __getattr__(self, name: str) -> Any:
        if name in WORK:
            return getattr(self.work, name)
        now: dict[str, Any] = self._now
        if name not in now:
            now[name] = self._first(name)
        return now[name]

    def _first(self, name: str) -> Any:
        shape: Shape = self._shape
        if name in shape.control:
            return run().choose(name, self._values(name))
        if name in shape.queues or name in shape.slots or name in shape.counters:
            return self._begin(name)
        raise AttributeError(f"a state of this contract has no field {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in WORK:
            name, value = "work", evolve(self.work, **{name: value})
        self._now[name] = value
        self.written[name] = value
