"""
Note what an observer could see on a path: hooks in order, each with the part of the state that observers ask for.

A *script* is made once for a path over terms, and played later to an observer at any state where the path begins
(``packed_sight``). It is compared by structure, so that paths which show the same have one script.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import attrs
from attrs import define, field, frozen

from turnproof_model.readings.lazy import COUNTERS
from turnproof_model.readings.packed import length_cell, plane_cell
from turnproof_model.readings.pieces import ATTACHED, MARKS, TAGS, Snapshots, Span
from turnproof_model.readings.terms import Term, parts
from turnproof_model.vocabulary import Contract

Hook: TypeAlias = Literal[
    "see",
    "unasked",
    "repair",
    "issued",
    "done",
    "takes",
    "moves",
    "returns",
    "returned",
    "replied",
    "resumed",
    "holds",
    "loop",
    "command",
]
"""
What an observer is told. ``repair``: an event that nobody but the log gets. ``unasked``: a gate opens that is nobody's,
and settles at once. ``loop``: the loop runs in the stack of a
command from here on; ``command``: the command goes on.
"""

ASKED: Mapping[Contract, tuple[str, ...]] = {
    "window": ("at", "status", "turn", "step", "window", "life", "claimed", "queued", "due", "outbox"),
    "claim": ("at", "status", "turn", "step", "next_turn", "next_step"),
}
"""The fields of the state that observers of a contract look at."""


@frozen(eq=False)
class Shown:
    """Be one hook: what it tells, and the fields that have been written until then."""

    hook: Hook
    told: tuple[Any, ...]
    s: Mapping[str, Any]


@frozen(eq=False)
class Script:
    """Hold what a path shows; ``key`` is the same number for scripts that show the same."""

    shown: tuple[Shown, ...]
    key: int


@define(eq=False)
class Recorder:
    """
    Take notes along one path.

    ``asked``: the fields worth noting; ``leaves``: the positions whose leaving is. ``closed``: the scripts of other
    paths by their keys; those that show the same are one.
    """

    asked: tuple[str, ...]
    leaves: frozenset[str]
    closed: dict[int, Script]
    shown: list[Shown] = field(factory=list)

    def note(self, s: Any, hook: Hook, *told: Any) -> None:
        """Note one hook with the state as it is now."""
        written = s.written
        self.shown.append(Shown(hook, told, {name: written[name] for name in self.asked if name in written}))

    def script(self) -> Script:
        """Close the notes."""
        known: dict[int, int] = {}  # what is written stays so for many hooks

        def shape_of(value: Any) -> int:
            if id(value) not in known:
                known[id(value)] = shape(value)
            return known[id(value)]

        hooks = [
            (one.hook, shape(one.told), tuple([(name, shape_of(value)) for name, value in one.s.items()]))
            for one in self.shown
        ]
        key = _NUMBERS.setdefault(tuple(hooks), len(_NUMBERS))
        if key not in self.closed:
            self.closed[key] = Script(tuple(self.shown), key)
        return self.closed[key]


_PLAIN = frozenset({bool, int, str, type(None)})
"""Types of values that are made of nothing else; most values are of one of these."""

_FIELDS: dict[type[Any], tuple[str, ...] | None] = {}
"""The names of fields of values by their type, as far as they have been asked for."""


def _fields(kind: type[Any]) -> tuple[str, ...] | None:
    """Name the fields of values of a type, if it has any."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(a.name for a in attrs.fields(kind)) if attrs.has(kind) else None
    return _FIELDS[kind]


def shape(value: Any) -> int:
    """Number what a value is made of: two values of one number can't be told apart by anybody who reads them."""
    kind = type(value)
    structure: tuple[Any, ...]
    if kind in _PLAIN:
        structure = (kind, value)
    elif kind is Term:
        structure = (kind, value.key)
    elif kind is tuple or kind is list:
        structure = (tuple, *[shape(one) for one in value])
    elif (fields := _fields(kind)) is not None:
        structure = (kind, *[shape(getattr(value, name)) for name in fields])
    elif isinstance(value, Mapping):
        structure = (dict, *[(name, shape(value[name])) for name in sorted(value)])
    else:
        structure = (kind, value)
    return _NUMBERS.setdefault(structure, len(_NUMBERS))


_NUMBERS: dict[Hashable, int] = {}
"""The numbers of structures: small ones, of numbers of their parts, as a script's whole key would be large."""


# ------------------------------------------------------------------------------------------------ what it looks at
def looked_at(
    script: Script, asked: Iterable[str], control: Container[str], marks: tuple[str, ...] = (*MARKS, *TAGS)
) -> Iterator[str]:
    """
    Name the cells that somebody needs who plays the script.

    Args:
        script: what is played.
        asked: the fields that observers look at; each hook shows all of them.
        control: the names of control fields.
        marks: the marks and tags that items can have.
    """
    values = {id(value): value for one in script.shown for value in one.s.values()}
    for value in values.values():
        yield from _cells(value, marks)
    for one in script.shown:
        yield from _cells(one.told, TAGS)
        for name in asked:
            if name in control:
                yield name
            elif name not in one.s and name not in COUNTERS:
                yield from _of_queue(name, marks)


def _cells(value: Any, marks: tuple[str, ...]) -> Iterator[str]:
    """Name the cells that a value made of terms and pieces of queues depends on."""
    kind = type(value)
    if kind is Term:
        for part in parts(value):
            yield from _cells_of_atom(part)
    elif kind is Snapshots:
        if ATTACHED in marks:
            yield from _cells(value.there, marks)
    elif kind is Span:
        yield from _of_queue(value.queue, marks if value.only is None else (*marks, value.only))
    elif kind is tuple or kind is list:
        for one in value:
            yield from _cells(one, marks)
    elif (fields := _fields(kind)) is not None:
        for name in fields:
            yield from _cells(getattr(value, name), marks)
    elif isinstance(value, Mapping):
        yield from _cells(tuple(value.values()), marks)


def _cells_of_atom(atom: Term) -> Iterator[str]:
    if atom.op == "length":
        yield length_cell(atom.args[0])
    elif atom.op == "mark":
        yield from _of_queue(atom.args[0], (atom.args[2],))
    elif atom.op in {"some", "count"}:
        yield from _of_queue(atom.args[0], tuple(str(mark) for mark in atom.args[3:] if mark in {*MARKS, *TAGS}))


def _of_queue(name: str, marks: tuple[str, ...]) -> Iterator[str]:
    yield length_cell(name)
    yield from (plane_cell(name, mark) for mark in marks)
