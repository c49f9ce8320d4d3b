"""
Name what a queue of unknown contents is made of: spans of what was there, and single items that were put in.

A *span* is a slice of a queue that was there when the path began, perhaps only its items with some mark, perhaps with a
mark taken from all of them; a *single* is one item that the path itself put in. Identity is abstracted: a message is
its marks. *Tags* are marks that follow single messages, one bearer each. An id is fresh, or names a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from turnproof_model.readings.atoms import length, longer, mark, some
from turnproof_model.readings.terms import Number, Term, Truth, minus, negate
from turnproof_model.vocabulary import Message, Source

MARKS: tuple[str, ...] = ("waking", "steering", "late")
"""What acceptance fixed of an item, and rules ask for."""

ATTACHED = "attached"
"""The mark of an item that a snapshot travels with; only a reference makes one."""

TAGS: tuple[str, ...] = ("A", "B")
"""Marks that follow one message each."""


# ------------------------------------------------------------------------------------------------ messages
@frozen(eq=False)
class Id:
    """Stand for an id: of a message with these tags, at a place in a queue or new (``queue`` empty)."""

    tags: Mapping[str, Truth] = field(factory=dict)
    queue: str = ""
    position: int = 0


def _place(message_id: Id) -> tuple[str, int]:
    return message_id.queue, message_id.position


ANYONE = Source("…")


@frozen(eq=False)
class AnyMessage:
    """Stand for a message: its tags and its id; text and source say nothing."""

    id: Id
    text: str = "…"
    source: Source = ANYONE


def message(*tags: str) -> AnyMessage:
    """Make a new message that bears these tags."""
    return AnyMessage(Id(dict.fromkeys(tags, True)))


@frozen(eq=False)
class Snapshots:
    """Be what is attached to an item that was there: one snapshot, which bears no tag, or nothing."""

    there: Truth

    def __bool__(self) -> bool:
        return bool(self.there)

    def __iter__(self) -> Iterator[AnyMessage]:
        if self.there:
            yield message()


@frozen(eq=False)
class Item:
    """Hold one pending message with its marks, known or not."""

    message: Any
    waking: Truth = False
    steering: Truth = False
    late: Truth = False
    attached: tuple[Message, ...] | Snapshots = ()

    @property
    def id(self) -> Any:
        """The caller's id."""
        return self.message.id

    def renewed(self, message: Any) -> Item:
        """Put another message in its place."""
        return evolve(self, message=message, attached=())

    def marked(self, name: str) -> Truth:
        """Tell whether it has a mark or bears a tag."""
        if name in MARKS:
            truth: Truth = getattr(self, name)
            return truth
        if name == ATTACHED:
            return self.attached.there if isinstance(self.attached, Snapshots) else bool(self.attached)
        tags = getattr(self.id, "tags", None)
        return bool(self.id == name) if tags is None else tags.get(name, False)


# ------------------------------------------------------------------------------------------------ pieces
@frozen(eq=False)
class Span:
    """
    Be a slice of a queue that was there: items from ``start`` up to ``stop`` (``None``: the end), both within it.

    ``only``: of these, the items with that mark. ``changed``: marks that all of them have by now, or have lost.
    """

    queue: str
    start: int = 0
    stop: int | None = None
    only: str | None = None
    changed: tuple[tuple[str, bool], ...] = ()

    def holds(self, name: str, want: bool) -> Truth:
        """Tell whether one of the items has a mark, or lacks it."""
        known = dict(self.changed).get(name)
        if known is not None:
            return self.occupied if known is want else False
        if self.only == name:
            return self.occupied if want else False
        return some(self.queue, self.start, self.stop, name, want, self.only)

    @property
    def occupied(self) -> Truth:
        """Whether there is any."""
        if self.stop is not None and self.stop <= self.start:
            return False
        if self.only is not None:
            return some(self.queue, self.start, self.stop, self.only, want=True)
        return longer(self.queue, self.start)

    @property
    def size(self) -> Number:
        """How many there are."""
        if self.only is not None:
            return Term("count", self.queue, self.start, self.stop, self.only, sort="int")
        if self.stop is not None:
            return self.stop - self.start
        return minus(length(self.queue), self.start)

    def has(self, message_id: Id) -> bool:
        """Tell whether an item of that id is in it."""
        within = self.stop is None or message_id.position < self.stop
        return self.only is None and message_id.queue == self.queue and self.start <= message_id.position and within

    def first(self, tags: Iterable[str]) -> Item:
        """Look at the first item, which must be there."""
        if self.only is not None:
            raise SpanError("take the first of", self)
        known = dict(self.changed)
        at = self.start
        marks: dict[str, Any] = {name: known.get(name, mark(self.queue, at, name)) for name in MARKS}
        borne: dict[str, Truth] = {tag: mark(self.queue, at, tag) for tag in tags}
        attached = Snapshots(known.get(ATTACHED, mark(self.queue, at, ATTACHED)))
        return Item(AnyMessage(Id(borne, self.queue, at)), **marks, attached=attached)


@frozen(eq=False)
class Single:
    """Be one item that the path put in."""

    item: Item

    def holds(self, name: str, want: bool) -> Truth:
        """Tell whether it has a mark, or lacks it."""
        return self.item.marked(name) if want else negate(self.item.marked(name))

    def has(self, message_id: Id) -> bool:
        """Tell whether it has that id."""
        mine = self.item.id
        return mine is message_id or (
            isinstance(mine, Id) and bool(mine.queue) and (mine.queue, mine.position) == _place(message_id)
        )


Piece: TypeAlias = Span | Single


class SpanError(NotImplementedError):
    """Say that a rule asked of a span what its pieces can't tell."""

    def __init__(self, wish: str, piece: object) -> None:
        super().__init__(f"the free queue algebra can't {wish} {piece}; no rule has needed it: extend pieces.py")
