"""
Say sizes, counts and places in queue terms as formulas over cells: what observers ask of queues, beside their truths.

A mark is a plane of bits, so that a count is the ones of a plane, and the place of its one bearer the top bit.
"""

from __future__ import annotations

from typing import Any

from turnproof_model.readings.packed import PackedQueue, common, full, in_cells
from turnproof_model.readings.pieces import Piece, Single, Span
from turnproof_model.readings.queues import Queue
from turnproof_model.readings.terms import Number, Term, choice, minus, number, plus


def _ones(plane: Number) -> Number:
    return Term("ones", plane, sort="int") if isinstance(plane, Term) else plane.bit_count()


def _top(plane: Number) -> Number:
    return Term("top", plane, sort="int") if isinstance(plane, Term) else plane.bit_length()


def _plane(span: Span, mark: str) -> Number:
    """Tell which items of a slice have a mark, one bit each; items that it leaves out have none."""
    marks = (mark,) if span.only is None else (mark, span.only)
    part = PackedQueue.at(span.queue, marks).slice(span.start, span.stop)
    known = dict(span.changed).get(mark)
    plane = part.planes[mark] if known is None else full(part.n) if known else 0
    return plane if span.only is None else common(plane, part.planes[span.only])


def size_of(queue: Queue) -> Number:
    """Count the items of a queue, over cells."""
    total: Number = 0
    for piece in queue.pieces:
        total = plus(total, _size_of(piece))
    return total


def _size_of(piece: Piece) -> Number:
    if isinstance(piece, Single):
        return 1
    if piece.only is not None:
        return _ones(_plane(piece, piece.only))
    return PackedQueue.at(piece.queue, ()).slice(piece.start, piece.stop).n


def how_many(queue: Queue, mark: str) -> Number:
    """Count the items with a mark, over cells."""
    total: Number = 0
    for piece in queue.pieces:
        if isinstance(piece, Single):
            total = plus(total, number(in_cells(piece.item.marked(mark))))
        else:
            total = plus(total, _ones(_plane(piece, mark)))
    return total


def _place_in(piece: Piece, tag: str) -> Number:
    if isinstance(piece, Single):
        return minus(number(in_cells(piece.item.marked(tag))), 1)
    plane = _plane(piece, tag)
    if piece.only is None:
        return minus(_top(plane), 1)
    before = _ones(common(_plane(piece, piece.only), minus(plane, 1)))
    found: Number = choice(plane == 0, -1, before)  # type: ignore[assignment]  # a number either way
    return found


def place_of(queue: Queue, tag: str) -> Number:
    """Tell where in a queue the bearer of a tag is, or -1, over cells."""
    found: Any = -1
    base: Number = 0
    for piece in queue.pieces:
        here: Any = _place_in(piece, tag)
        found = choice(here >= 0, plus(base, here), found)
        base = plus(base, _size_of(piece))
    return found  # type: ignore[no-any-return]
