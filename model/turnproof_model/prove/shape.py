"""
Lay the state of a contract out as named unknowns, and read and write it the way rule functions do.

A field is of one kind, told by its annotation in the state class: a truth, a choice from a finite list, a number, a
queue, one item or none, a text or none, the tool batch. Each kind has *parts*, and each part is one unknown of a
solver: ``queued.n``, ``claimed.there``. Truths and choices are looked up when a rule first reads them, by a fork over
their values, so a path fixes only what it reads and rules always meet plain Python values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

import attrs
from attrs import evolve, field, frozen

from turnproof_model import algebra as concrete
from turnproof_model.readings.counter_batch import NO_BATCH, ToolBatch
from turnproof_model.readings.counters import Bunch, Item, Queue
from turnproof_model.readings.execute import Chosen, choose, fresh, require
from turnproof_model.readings.letters import Letter, Name, Text
from turnproof_model.readings.terms import Number, Sort, Term, Truth, either, negate, var
from turnproof_model.rulebook import RuleBook
from turnproof_model.vocabulary import Contract

Kind: TypeAlias = Literal["truth", "choice", "number", "queue", "item", "text", "batch"]
Part: TypeAlias = "Term | bool | int"

BATCH_PARTS: Mapping[str, Sort] = {
    **dict.fromkeys(("size", "logged", "asked", "committed", "out"), "int"),
    **dict.fromkeys(("head", "cut", "ends"), "bool"),
}

COUNTED: Mapping[Contract, Mapping[str, tuple[str, ...]]] = {
    "window": {"queued": ("waking",), "outbox": ("steering",), "due": ("steering",)},
    "claim": {"next_turn": ("waking", "late"), "next_step": ("waking", "late")},
}
"""The flags that rules ask for, by the queue they ask it of; nobody asks the queues that aren't named."""

LISTED: Mapping[Contract, Mapping[str, tuple[str, ...]]] = {
    "window": {"then": ("", "hook", "step", "step-end", "stopped")},
    "claim": {},
}
"""The values of choices whose annotation doesn't list them: where a drain may go on."""

UNSEEN = frozenset({"outcome"})
"""
Fields that are nothing between two moves: what a gate settled with is chosen when the loop takes it, so that a gate may
settle at any time and with anything.
"""


OUTSIDE = -1
"""Stands for a value that a choice doesn't list; an invariant says that none has it."""


@frozen
class Field:
    """Be one field of a state: its kind, and the values of a choice or the counted flags of a queue."""

    name: str
    kind: Kind
    values: tuple[Any, ...] = ()

    def parts(self) -> Mapping[str, Sort]:
        """Name the unknowns that it is made of."""
        match self.kind:
            case "truth":
                return {self.name: "bool"}
            case "choice" | "number":
                return {self.name: "int"}
            case "text":
                return {f"{self.name}.there": "bool"}
            case "queue":
                return {f"{self.name}.{part}": "int" for part in ("n", *self.values, "a", "b")}
            case "item":
                return {f"{self.name}.{part}": "bool" for part in ("there", "waking", "a", "b")}
            case "batch":
                return {f"{self.name}.{part}": sort for part, sort in BATCH_PARTS.items()}

    def split(self, value: Any) -> Mapping[str, Part]:
        """Take a value of this field apart."""
        match self.kind:
            case "truth" | "number":
                return {self.name: value}
            case "choice":
                return {self.name: self.values.index(value) if value in self.values else OUTSIDE}
            case "text":
                return {f"{self.name}.there": value is not None}
            case "queue":
                found = {"n": value.n, "a": value.a, "b": value.b, **{flag: value.counts[flag] for flag in self.values}}
            case "item":
                there = value is not None
                tags = (value.waking, value.message.id.a, value.message.id.b) if there else (False, False, False)
                found = {"there": there, **dict(zip(("waking", "a", "b"), tags, strict=True))}
            case "batch":
                counted = (
                    NO_BATCH if value == concrete.NO_BATCH else value
                )  # the base class of states knows one algebra
                found = {part: getattr(counted, part) for part in BATCH_PARTS}
        return {f"{self.name}.{part}": found[part] for part in found}

    def of(self, part: Mapping[str, Part]) -> Any:
        """Put a value together from its parts, as invariants look at it."""
        get: Any = {name.rpartition(".")[2]: part[name] for name in self.parts()}
        match self.kind:
            case "truth" | "number":
                return part[self.name]
            case "choice":
                return Pick(self, part[self.name])
            case "text":
                return get["there"]
            case "queue":
                return Queue(get["n"], {flag: get[flag] for flag in self.values}, get["a"], get["b"], (self.name,))
            case "item":
                return Held(**get)
            case "batch":
                return ToolBatch(**get)


@frozen(eq=False)
class Pick:
    """Be the value of a choice, known or not, that invariants compare."""

    field: Field
    code: Part

    def among(self, *values: Any) -> Truth:
        """Tell whether it is one of these."""
        return either(*(self.code == self.field.values.index(value) for value in values))


@frozen(eq=False)
class Held:
    """Be an item or none, as invariants look at it; where there is none, nothing is tagged."""

    there: Truth
    waking: Truth
    a: Truth
    b: Truth


@frozen
class Shape:
    """Name the fields of a contract's state and of an observer's ghosts."""

    fields: Mapping[str, Field] = field(hash=False)
    initial: Mapping[str, Any] = field(hash=False)
    ghosts: Mapping[str, bool | int] = field(hash=False)

    @classmethod
    def of(cls, book: RuleBook[Any], ghosts: Mapping[str, bool | int]) -> Shape:
        """
        Look at the state class of a rule book over counters.

        Args:
            book: the rules.
            ghosts: the initial values of the ghosts.
        """
        fresh_state = book.new_state()
        hints = get_type_hints(type(fresh_state))
        given = {"at": tuple(book.phases), **LISTED[book.contract]}
        fields = {
            a.name: _field(a.name, hints[a.name], given.get(a.name), COUNTED[book.contract].get(a.name, ()))
            for a in attrs.fields(type(fresh_state))
            if a.name not in UNSEEN
        }
        return cls(fields, {name: getattr(fresh_state, name) for name in fields}, ghosts)

    def sorts(self) -> Mapping[str, Sort]:
        """Name all unknowns, ghosts included."""
        state = {name: sort for field_ in self.fields.values() for name, sort in field_.parts().items()}
        ghosts: dict[str, Sort] = {f"g.{name}": _sort(value) for name, value in self.ghosts.items()}
        return {**state, **ghosts}

    def start(self) -> Mapping[str, Part]:
        """Tell the initial value of every part."""
        state = {name: part for f in self.fields.values() for name, part in f.split(self.initial[f.name]).items()}
        return {**state, **{f"g.{name}": value for name, value in self.ghosts.items()}}

    def unknown(self) -> Mapping[str, Part]:
        """Make an unknown of every part."""
        return {name: var(name, sort) for name, sort in self.sorts().items()}

    def read(self, model: Any) -> Mapping[str, object]:
        """Read a state from a solver's model: the parts that it speaks of, choices by their values."""
        found: dict[str, object] = {}
        for declared in model.decls():
            name, value = declared.name(), model[declared]
            field_ = self.fields.get(name)
            if name not in self.sorts():
                continue
            known: Any = bool(value) if str(value) in {"True", "False"} else value.as_long()
            if field_ is not None and field_.kind == "choice" and 0 <= known < len(field_.values):
                known = field_.values[known]
            found[name] = known
        return dict(sorted(found.items()))

    def guard(self, step: Chosen) -> Truth:
        """Say as a formula what a look at a field or a capability found; a choice of another kind says nothing."""
        if step.name.startswith("can."):
            declared = var(step.name, "bool")
            return declared if step.value is True else negate(declared)
        name, dot, rest = step.name.partition("s.")
        if name or not dot:
            return True
        found = self.fields[rest]
        if found.kind == "choice":
            return var(rest, "int") == found.values.index(step.value)  # type: ignore[no-any-return]
        part = var(next(iter(found.parts())), "bool")
        return part if step.value is True else negate(part)


def _sort(value: bool | int) -> Sort:
    return "bool" if isinstance(value, bool) else "int"


def _field(name: str, hint: Any, given: Sequence[Any] | None, counted: tuple[str, ...]) -> Field:
    """Tell the kind of a field by its annotation."""
    if given is not None:
        return Field(name, "choice", tuple(given))
    if hint is bool:
        return Field(name, "truth")
    if hint is int:
        return Field(name, "number")
    text = str(hint)
    if "Queue" in text:
        return Field(name, "queue", counted)
    if "ToolBatch" in text:
        return Field(name, "batch")
    if "Item" in text:
        return Field(name, "item")
    values = tuple(_values(hint))
    return Field(name, "text") if values == (str, None) else Field(name, "choice", values)


def _values(hint: Any) -> Iterator[Any]:
    """List the values that a choice may have: those of its literals, and None."""
    if hint is type(None) or hint is str:
        yield None if hint is not str else str
        return
    for arg in get_args(hint):
        if isinstance(arg, str):
            yield arg
        else:
            yield from _values(arg)


class LazyState:
    """
    Be the ``s`` of rule functions over counters.

    ``now``: the fields that were read or written, as rules see them; ``written``: the names of the latter. ``places``:
    one of each group of positions that the rules at hand don't tell apart. ``_make``: makes the contexts of a result.
    """

    __slots__ = ("_make", "now", "places", "shape", "written")

    def __init__(self, shape: Shape, places: tuple[str, ...]) -> None:
        put = object.__setattr__
        put(self, "shape", shape)
        put(self, "places", places)
        put(self, "_make", Bunch)
        put(self, "now", {})
        put(self, "written", set())

    def __getattr__(self, name: str) -> Any:
        if name not in self.now:
            one_of = self.places if name == "at" else None
            found = choose("s.at", one_of) if one_of else _look(self.shape.fields[name])
            self.now[name] = evolve(found, make=self._make) if name == "batch" else found
        return self.now[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in UNSEEN:
            self.written.add(name)
        self.now[name] = value

    def after(self) -> Mapping[str, Part]:
        """Tell the parts that were written."""
        fields = (self.shape.fields[name] for name in sorted(self.written))
        return {name: part for f in fields for name, part in f.split(self.now[f.name]).items()}

    def become(self, state: Any) -> None:
        """Take every field from another state."""
        for name in self.shape.fields:
            setattr(self, name, getattr(state, name))


def _look(found: Field) -> Any:
    """Find what is in a field where the execution begins."""
    unknown: Any = {name.rpartition(".")[2]: var(name, sort) for name, sort in found.parts().items()}
    match found.kind:
        case "truth":
            return choose(f"s.{found.name}", (False, True))
        case "choice":
            return choose(f"s.{found.name}", found.values)
        case "text":
            return Text() if choose(f"s.{found.name}", (False, True)) else None
        case "item":
            if not choose(f"s.{found.name}", (False, True)):
                return None
            return Item(Letter(Name(unknown["a"], unknown["b"])), waking=unknown["waking"], attached=snapshots())
        case _:
            return found.of({name: var(name, sort) for name, sort in found.parts().items()})


def snapshots() -> Bunch:
    """Make some number of untagged messages."""
    count: Number = fresh("attached", "int")
    require(count >= 0)
    return Bunch(count)


class Ghosts:
    """Be the ``g`` of observers: the ghosts as terms."""

    __slots__ = ("now", "shape")

    def __init__(self, shape: Shape) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "now", {})

    def __getattr__(self, name: str) -> Any:
        if name not in self.now:
            self.now[name] = var(f"g.{name}", _sort(self.shape.ghosts[name]))
        return self.now[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.shape.ghosts:
            raise AttributeError(f"a ghost must be declared with its initial value (got {name!r})")
        self.now[name] = value

    def after(self) -> Mapping[str, Part]:
        """Tell the ghosts that were looked at or changed."""
        return {f"g.{name}": value for name, value in self.now.items()}
