"""
Find patterns in columns of numbers and truths: what implies what, what is equal, and what differs by a constant.

A row is a state. Whatever is asked of the states where some truth holds is asked for all truths at once, by products of
matrices. Nothing here needs to be trusted: what is found is guessed, and somebody else shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import define, field

FEW = 8
"""Fewer states than this say nothing about what holds where a truth does."""

SAMPLE = 40
"""So many states are looked at before all are."""

NEAR = 0.5
"""Numbers whose squared distances from their mean add up to less are equal: one that differs by 1 makes them more."""

ROUGH = 1e-9
"""What such a sum may be off by, as a share of those that it was made of."""


def implications(holds: Any) -> Iterator[tuple[int, int]]:
    """
    List which columns imply which, without what follows from others.

    Args:
        holds: truths, the second half of the columns the opposite of the first.
    """
    count = holds.shape[1]
    told = holds.astype(np.float32)
    implied = told.T @ (1 - told) == 0
    np.fill_diagonal(implied, val=False)
    chains = implied.astype(np.float32)
    direct = implied & ~((chains @ chains) > 0)
    for i, j in _places(direct):
        turned = ((j + count // 2) % count, (i + count // 2) % count)
        if j != (i + count // 2) % count and turned >= (i, j):
            yield i, j


def alike(holds: Any, flags: Any) -> Iterator[tuple[int, int, int, bool]]:
    """
    List the pairs of flags that are equal where a truth holds, or opposite, and aren't the same everywhere there.

    Args:
        holds: truths, a column for each.
        flags: more of them.

    Returns:
        The truth, both flags, and whether they are equal.
    """
    one, two = np.tril_indices(flags.shape[1], -1)
    where = holds.T.astype(np.float32)
    size = where.sum(axis=1)[:, None]
    true = where @ flags.astype(np.float32)
    vary = (true > 0) & (true < size)
    differ = where @ (flags[:, one] != flags[:, two]).astype(np.float32)
    found = ((differ == 0) | (differ == size)) & (size >= FEW) & vary[:, one] & vary[:, two]
    for i, pair in _places(found):
        yield i, int(one[pair]), int(two[pair]), bool(differ[i, pair] == 0)


def sums(values: Any) -> Iterator[tuple[int, int, int, int]]:
    """List the columns that are the sum of two others and one of -1, 0 and 1."""
    one, two = np.tril_indices(values.shape[1], -1)
    if not len(one):
        return
    both = values[:, one] + values[:, two]
    some = slice(None, None, max(1, len(values) // SAMPLE))
    for i in range(values.shape[1]):
        gaps = values[some, i : i + 1] - both[some]
        likely = (gaps == gaps[:1]).all(axis=0) & (abs(gaps[0]) <= 1) & (one != i) & (two != i)
        for found in np.nonzero(likely)[0].tolist():
            if (values[:, i] - both[:, found] == gaps[0, found]).all():
                yield i, int(one[found]), int(two[found]), int(gaps[0, found])


def _places(found: Any) -> Iterator[tuple[int, ...]]:
    return zip(*(places.tolist() for places in np.nonzero(found)), strict=True)


@define(eq=False)
class Steady:
    """
    Find what stays the same where a truth holds, of numbers that differ there.

    ``values``: numbers, a column for each. ``holds``: truths likewise. What is likely comes from how far the numbers
    spread, and how two of them do so together; it is then tried on the states.
    """

    values: Any
    holds: Any
    _spread: Any = field(init=False)
    _own: Any = field(init=False)
    _near: Any = field(init=False)
    _pairs: Any = field(init=False)
    _vary: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Measure how the numbers spread: the sums of squares and products of their distances from their means."""
        count = self.values.shape[1]
        where = self.holds.T.astype(np.float64)
        size = where.sum(axis=1)
        centred = self.values - np.rint(self.values.mean(axis=0))  # large numbers would cost precision
        one, two = np.tril_indices(count)
        products = np.zeros((len(where), count, count))
        products[:, one, two] = products[:, two, one] = where @ (centred[:, one] * centred[:, two])
        mean = where @ centred / np.maximum(1, np.sqrt(size))[:, None]
        self._spread = products - mean[:, :, None] * mean[:, None, :]
        self._own = np.diagonal(self._spread, axis1=1, axis2=2)
        self._near = (NEAR + ROUGH * products.max(axis=(1, 2), initial=0))[:, None]
        self._vary = (self._own > NEAR) & (size >= FEW)[:, None]
        self._pairs = np.tril_indices(count, -1)

    def gaps(self) -> Iterator[tuple[int, int, int, int]]:
        """List where which two numbers differ by a constant, and by which."""
        one, two = self._pairs
        apart = self._own[:, one] + self._own[:, two] - 2 * self._spread[:, one, two]
        for i, pair in _places((apart < self._near) & self._vary[:, one] & self._vary[:, two]):
            j, k = int(one[pair]), int(two[pair])
            gap = (self.values[:, j] - self.values[:, k])[self.holds[:, i]]
            if (gap == gap[0]).all():
                yield i, j, k, int(gap[0])

    def sums(self) -> Iterator[tuple[int, int, int, int, int]]:
        """List where which number is the sum of which two others and one of -1, 0 and 1, and of which."""
        one, two = self._pairs
        spread, vary = self._spread, self._vary
        both = self._own[:, one] + self._own[:, two] + 2 * spread[:, one, two]
        able = vary[:, one] & vary[:, two]
        for j in range(self.values.shape[1]):
            apart = self._own[:, j, None] + both - 2 * spread[:, j, one] - 2 * spread[:, j, two]
            for i, pair in _places((apart < self._near) & able & vary[:, j, None] & (one != j) & (two != j)):
                k, other = int(one[pair]), int(two[pair])
                gap = (self.values[:, j] - self.values[:, k] - self.values[:, other])[self.holds[:, i]]
                if (gap == gap[0]).all() and abs(gap[0]) <= 1:
                    yield i, j, k, other, int(gap[0])
