"""
Compute with queues whose contents aren't known: the free queue algebra.

A queue is a list of pieces. Every operation of ``algebra.Queue`` is a rearrangement of them, every question a formula
over ``atoms``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve, frozen

from turnproof_model.readings.pieces import (
    ATTACHED,
    TAGS,
    Id,
    Item,
    Piece,
    Single,
    Span,
)
from turnproof_model.readings.terms import Number, Truth, both, either, negate, plus
from turnproof_model.vocabulary import Enter


@frozen(eq=False)
class Queue:
    """Hold the pieces of a queue, head first; the interface is that of ``algebra.Queue``."""

    pieces: tuple[Piece, ...] = ()

    @classmethod
    def of(cls, messages: Iterable[Any]) -> Queue:
        """Lay out supplementary input in order."""
        return cls(tuple(Single(Item(message)) for message in messages))

    @property
    def empty(self) -> Truth:
        """Whether nothing is pending."""
        return negate(self.occupied)

    @property
    def occupied(self) -> Truth:
        """Whether something is pending."""
        return either(*(True if isinstance(piece, Single) else piece.occupied for piece in self.pieces))

    @property
    def size(self) -> Number:
        """How many items are pending."""
        total: Number = 0
        for piece in self.pieces:
            total = plus(total, 1 if isinstance(piece, Single) else piece.size)
        return total

    def _some(self, name: str, *, want: bool = True) -> Truth:
        return either(*(piece.holds(name, want) for piece in self.pieces))

    @property
    def has_waking(self) -> Truth:
        """Whether a waking item is pending."""
        return self._some("waking")

    @property
    def has_steering(self) -> Truth:
        """Whether steering is pending."""
        return self._some("steering")

    @property
    def has_context(self) -> Truth:
        """Whether something is pending that is no steering."""
        return self._some("steering", want=False)

    @property
    def has_late(self) -> Truth:
        """Whether a late waking item is pending."""
        return self._some("late")

    @property
    def only_context(self) -> Truth:
        """Whether something is pending, and none of it is steering."""
        return both(self.occupied, negate(self.has_steering))

    @property
    def ids(self) -> Queue:
        """The pending ids: the queue itself stands for them."""
        return self

    def push(self, item: Item) -> Queue:
        """Append at the tail."""
        return Queue((*self.pieces, Single(item)))

    def unshift(self, item: Item) -> Queue:
        """Put in front of the head."""
        return Queue((Single(item), *self.pieces))

    def join(self, other: Queue) -> Queue:
        """Append all of another queue."""
        return Queue((*self.pieces, *other.pieces))

    def pop(self) -> tuple[Item, Queue]:
        """Take the head; the queue must not be empty, so its last piece is asked nothing."""
        for i, piece in enumerate(self.pieces):
            rest = self.pieces[i + 1 :]
            if isinstance(piece, Single):
                return piece.item, Queue(rest)
            if not rest or piece.occupied:
                return piece.first(TAGS), Queue((evolve(piece, start=piece.start + 1), *rest))
        raise IndexError("the head of an empty queue was taken")

    def head(self) -> Queue:
        """Keep the first item only, if there is one."""
        if self.pieces and self.occupied:
            return Queue((Single(self.pop()[0]),))
        return EMPTY

    def tail(self) -> Queue:
        """Drop the first item, if there is one."""
        if self.pieces and self.occupied:
            return self.pop()[1]
        return EMPTY

    def steering(self) -> Queue:
        """Keep the steering items only, in order."""
        kept: list[Piece] = []
        for piece in self.pieces:
            if isinstance(piece, Span):
                kept.append(evolve(piece, only="steering"))
            elif piece.item.steering:
                kept.append(piece)
        return Queue(tuple(kept))

    def punctual(self) -> Queue:
        """Take lateness from every item."""
        return self._change("late", False, to=False)

    def restored(self) -> Queue:
        """Keep what a log tells of the items: neither lateness nor snapshots."""
        return self.punctual()._change(ATTACHED, (), to=False)

    def _change(self, name: str, value: Any, *, to: bool) -> Queue:
        """Give every item a mark or take it; ``value`` is what says so in an item."""
        changed: list[Piece] = []
        now: dict[str, Any] = {name: value}
        for piece in self.pieces:
            if isinstance(piece, Single):
                changed.append(Single(evolve(piece.item, **now)))
            else:
                changed.append(evolve(piece, changed=(*(c for c in piece.changed if c[0] != name), (name, to))))
        return Queue(tuple(changed))

    # -------------------------------------------------------------------------------------------- by id
    def id_at(self, position: int) -> Any:
        """Find the id of the item at a position, or ``None`` if there are fewer items."""
        left = position
        for piece in self.pieces:
            if isinstance(piece, Single):
                if left == 0:
                    return piece.item.id
                left -= 1
                continue
            for i in range(left + 1):
                if not evolve(piece, start=piece.start + i).occupied:
                    left -= i
                    break
            else:
                return evolve(piece, start=piece.start + left).first(TAGS).id
        return None

    def has(self, message_id: Id) -> bool:
        """Whether an item of that id is pending; a new id never is."""
        return self._piece_of(message_id) is not None

    def index(self, message_id: Id) -> Number:
        """Find the position of the item of that id, or -1."""
        found = self._piece_of(message_id)
        if found is None:
            return -1
        piece = self.pieces[found]
        within = message_id.position - piece.start if isinstance(piece, Span) else 0
        return plus(Queue(self.pieces[:found]).size, within)

    def get(self, message_id: Id) -> Item | None:
        """Find the item of that id."""
        found = self._piece_of(message_id)
        if found is None:
            return None
        piece = self.pieces[found]
        if isinstance(piece, Single):
            return piece.item
        return evolve(piece, start=message_id.position).first(TAGS)

    def without(self, message_id: Id) -> Queue:
        """Drop the item of that id."""
        return self._splice(message_id, ())

    def swap(self, message_id: Id, item: Item) -> Queue:
        """Put another item in the place of the one of that id."""
        return self._splice(message_id, (Single(item),))

    def _splice(self, message_id: Id, put: tuple[Piece, ...]) -> Queue:
        found = self._piece_of(message_id)
        if found is None:
            return self
        piece = self.pieces[found]
        around = put
        if isinstance(piece, Span):
            at = message_id.position
            before = (evolve(piece, stop=at),) if at > piece.start else ()
            around = (*before, *put, evolve(piece, start=at + 1))
        return Queue((*self.pieces[:found], *around, *self.pieces[found + 1 :]))

    def _piece_of(self, message_id: Id) -> int | None:
        return next((i for i, piece in enumerate(self.pieces) if piece.has(message_id)), None)


EMPTY = Queue()

CLAIMED = "the claimed batch"
"""Stands for the claimed messages in what a pre-step lets in."""


def entered(outcome: Enter, claimed: Queue, known: object) -> Queue:  # noqa: ARG001  # ids are never looked up here
    """Lay out what a pre-step lets in; ``CLAIMED`` in the outcome stands for the claimed batch."""
    if outcome.messages is None:
        return claimed
    batch = EMPTY
    for entry in outcome.messages:
        batch = batch.join(claimed if entry == CLAIMED else Queue.of([entry]))
    return batch
