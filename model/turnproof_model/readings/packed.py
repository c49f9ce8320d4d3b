"""
Keep queues as packed integers: a length, and for each mark a plane with one bit for each item, head first.

The same operations work on plain integers and on terms over *cells*, the named parts of a packed state; on terms they
make the formulas from which source is generated. A plane has no bits beyond the length, so a mark is there if the plane
isn't 0, and is lacking if the plane isn't full. Positions and slices are plain numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from turnproof_model.readings.pieces import Single, Span
from turnproof_model.readings.queues import Queue
from turnproof_model.readings.terms import Number, Term, Truth, minus, number, plus, rebuild, var


# ------------------------------------------------------------------------------------------------ bits
def shifted_up(x: object, by: object) -> Number:
    """Move bits up."""
    if not isinstance(x, Term) and not isinstance(by, Term):
        return int(x) << int(by)  # type: ignore[call-overload, no-any-return]  # plain numbers
    if x == 0 if not isinstance(x, Term) else False:
        return 0
    if not isinstance(by, Term) and by == 0:
        return x  # type: ignore[return-value]  # a number
    return Term("shl", x, by, sort="int")


def shifted_down(x: object, by: int) -> Number:
    """Move bits down by a plain number."""
    if not isinstance(x, Term):
        return int(x) >> by  # type: ignore[call-overload, no-any-return]
    return x if by == 0 else Term("shr", x, by, sort="int")


def united(x: object, y: object) -> Number:
    """Put bits together."""
    if not isinstance(x, Term) and not isinstance(y, Term):
        return int(x) | int(y)  # type: ignore[call-overload, no-any-return]
    if not isinstance(x, Term) and x == 0:
        return y  # type: ignore[return-value]
    if not isinstance(y, Term) and y == 0:
        return x  # type: ignore[return-value]
    return Term("bor", x, y, sort="int")


def common(x: object, y: object) -> Number:
    """Keep the bits that both have."""
    if not isinstance(x, Term) and not isinstance(y, Term):
        return int(x) & int(y)  # type: ignore[call-overload, no-any-return]
    if (not isinstance(x, Term) and x == 0) or (not isinstance(y, Term) and y == 0):
        return 0
    return Term("band", x, y, sort="int")


def full(n: object) -> Number:
    """Make a plane of so many items that all have the mark."""
    return minus(shifted_up(1, n), 1)


# ------------------------------------------------------------------------------------------------ cells
def length_cell(queue: str) -> str:
    """Name the cell that holds the length of a queue."""
    return f"{queue}#n"


def plane_cell(queue: str, mark: str) -> str:
    """Name the cell that holds a plane of a queue."""
    return f"{queue}#{mark}"


def cell(name: str) -> Term:
    """Stand for the contents of a cell."""
    return var(name, "int")


@frozen(eq=False)
class PackedQueue:
    """Hold a queue as its length and the planes of its marks."""

    n: Number
    planes: Mapping[str, Number]

    @classmethod
    def at(cls, queue: str, marks: Sequence[str]) -> PackedQueue:
        """Stand for a queue that cells hold."""
        return cls(cell(length_cell(queue)), {name: cell(plane_cell(queue, name)) for name in marks})

    def push(self, marks: Mapping[str, Truth]) -> PackedQueue:
        """Append an item with these marks."""
        planes = {name: united(plane, shifted_up(_bit(marks[name]), self.n)) for name, plane in self.planes.items()}
        return PackedQueue(plus(self.n, 1), planes)

    def join(self, other: PackedQueue) -> PackedQueue:
        """Append another queue."""
        planes = {name: united(plane, shifted_up(other.planes[name], self.n)) for name, plane in self.planes.items()}
        return PackedQueue(plus(self.n, other.n), planes)

    def slice(self, start: int, stop: int | None) -> PackedQueue:
        """Keep the items from ``start`` up to ``stop`` (``None``: the end); both lie within the queue."""
        planes = {name: shifted_down(plane, start) for name, plane in self.planes.items()}
        if stop is None:
            return PackedQueue(minus(self.n, start), planes)
        most = stop - start
        return PackedQueue(most, {name: common(plane, (1 << most) - 1) for name, plane in planes.items()})

    def with_mark(self, mark: str, *, to: bool) -> PackedQueue:
        """Give a mark to every item, or take it from every item."""
        if mark not in self.planes:
            return self
        return PackedQueue(self.n, {**self.planes, mark: full(self.n) if to else 0})

    def some(self, start: int, stop: int | None, mark: str, *, want: bool, only: str | None = None) -> Truth:
        """Tell whether an item from ``start`` up to ``stop`` has a mark, or lacks it; of those with mark ``only``."""
        plane = self.planes[mark] if want else minus(full(self.n), self.planes[mark])
        if only is not None:
            plane = common(plane, self.planes[only])
        if stop is not None:
            plane = common(plane, (1 << stop) - 1)
        truth: Truth = shifted_down(plane, start) != 0
        return truth

    def has(self, position: int, mark: str) -> Truth:
        """Tell whether the item at a position has a mark."""
        truth: Truth = common(shifted_down(self.planes[mark], position), 1) != 0
        return truth


def _bit(truth: Truth) -> Number:
    return number(truth)


# ------------------------------------------------------------------------------------------------ translation
def in_cells(term: object) -> Any:
    """Say a formula over atoms of queues as one over cells."""

    def replace(part: Term) -> object | None:
        if part.op == "length":
            return cell(length_cell(part.args[0]))
        if part.op == "mark":
            queue, position, mark = part.args
            return PackedQueue.at(queue, (mark,)).has(position, mark)
        if part.op == "some":
            queue, start, stop, mark, want, only = part.args
            marks = (mark,) if only is None else (mark, only)
            return PackedQueue.at(queue, marks).some(start, stop, mark, want=want, only=only)
        return None

    return rebuild(term, replace)


def pack(queue: Queue, marks: Sequence[str]) -> PackedQueue:
    """Say a queue term, made of pieces of queues that cells hold, as a packed queue over cells."""
    packed = PackedQueue(0, dict.fromkeys(marks, 0))
    for piece in queue.pieces:
        if isinstance(piece, Single):
            packed = packed.push({name: in_cells(piece.item.marked(name)) for name in marks})
        else:
            packed = packed.join(_span(piece, marks))
    return packed


def _span(span: Span, marks: Sequence[str]) -> PackedQueue:
    if span.only is not None:
        raise ValueError(f"a filtered span can't be kept in a queue (got {span}); only its ids can be published")
    part = PackedQueue.at(span.queue, marks).slice(span.start, span.stop)
    for name, to in span.changed:
        part = part.with_mark(name, to=to)
    return part
