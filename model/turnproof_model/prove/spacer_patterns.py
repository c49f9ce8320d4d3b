"""
Find patterns in columns of numbers and truths: what implies what, what is equal, and what differs by a constant.

A row is a state. A column is known by its *mark*, the sum of its values weighed by lot, as far as that fits a word.
Columns that differ somewhere have the same mark as good as never, and marks add up as columns do. So whatever is asked
of the states where some truth holds is asked for all truths at once. Nothing here needs to be trusted: what is found is
guessed, and somebody else shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import define, field

FEW = 8
"""Fewer states than this say nothing about what holds where a truth does."""


def implications(holds: Any) -> Iterator[tuple[int, int]]:
    """
    List which columns imply which, without what follows from others.

    Args:
        holds: truths, the second half of the columns the opposite of the first.
    """
    count = holds.shape[1]
    packed = np.ascontiguousarray(np.packbits(holds, axis=0).T)
    opposite = np.roll(packed, count // 2, axis=0)
    implied = np.array([~(column & opposite).any(axis=1) for column in packed])
    np.fill_diagonal(implied, val=False)
    direct = implied & ~np.array([implied[row].any(axis=0) for row in implied])
    for i, j in _places(direct):
        turned = ((j + count // 2) % count, (i + count // 2) % count)
        if j != (i + count // 2) % count and turned >= (i, j):
            yield i, j


def _places(found: Any) -> Iterator[tuple[int, ...]]:
    return zip(*(places.tolist() for places in np.nonzero(found)), strict=True)


@define(eq=False)
class Patterns:
    """
    Find what stays the same where a truth holds, of what differs there.

    ``values``: numbers, a column for each. ``flags``: truths, likewise. ``truths``: where to look: where one of these
    holds, then where it doesn't, and in the last place everywhere.
    """

    values: Any
    flags: Any
    truths: Any
    _first: Any = field(init=False)
    _numbers: Any = field(init=False)
    _flags: Any = field(init=False)
    _all: Any = field(init=False)
    _enough: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Mark all columns, wherever a truth holds."""
        count = len(self.values)
        weights = np.random.default_rng(0).integers(1, 2**62, (count, 1), dtype=np.int64)
        weighed = np.concatenate([self.values, self.flags, np.ones((count, 1), dtype=bool)], axis=1, dtype=np.int64)
        weighed *= weights
        whole = weighed.sum(axis=0, keepdims=True)
        some = [weighed.take(np.flatnonzero(truth), axis=0).sum(axis=0) for truth in self.truths.T]
        half = np.array(some, dtype=np.int64).reshape(-1, weighed.shape[1])
        marks = np.concatenate([half, whole - half, whole])
        self._all = marks[:, -1:]
        self._flags = marks[:, self.values.shape[1] : -1]
        first = [*self.truths.argmax(axis=0), *self.truths.argmin(axis=0), 0]
        self._first = self.values[first].astype(np.int64)
        self._numbers = marks[:, : self.values.shape[1]] - self._first * self._all
        size = self.truths.sum(axis=0)
        self._enough = np.concatenate([size, count - size, [FEW]])[:, None] >= FEW

    def gaps(self) -> Iterator[tuple[int, int, int, int]]:
        """List where which two numbers differ by a constant, and by which."""
        one, two = np.tril_indices(self._numbers.shape[1], -1)
        marks = self._numbers
        for i, pair in _places((marks[:, one] == marks[:, two]) & (marks[:, one] != 0) & self._enough):
            j, k = int(one[pair]), int(two[pair])
            yield i, j, k, int(self._first[i, j] - self._first[i, k])

    def sums(self) -> Iterator[tuple[int, int, int, int, int]]:
        """List where which number is the sum of which two others and one of -1, 0 and 1, and of which."""
        one, two = np.tril_indices(self._numbers.shape[1], -1)
        marks, first = self._numbers, self._first
        able = (marks[:, one] != 0) & (marks[:, two] != 0) & self._enough
        for j in range(marks.shape[1]):
            gap = first[:, [j]] - first[:, one] - first[:, two]
            found = (marks[:, [j]] == marks[:, one] + marks[:, two]) & (marks[:, [j]] != 0) & (abs(gap) <= 1) & able
            for i, pair in _places(found & (one != j) & (two != j)):
                yield i, j, int(one[pair]), int(two[pair]), int(gap[i, pair])

    def alike(self) -> Iterator[tuple[int, int, int, bool]]:
        """List where which two flags are equal, or opposite, and whether they are equal."""
        one, two = np.tril_indices(self._flags.shape[1], -1)
        marks = self._flags
        vary = (marks != 0) & (marks != self._all)
        same = marks[:, one] == marks[:, two]
        found = (same | (marks[:, one] + marks[:, two] == self._all)) & vary[:, one] & vary[:, two] & self._enough
        for i, pair in _places(found):
            yield i, int(one[pair]), int(two[pair]), bool(same[i, pair])
