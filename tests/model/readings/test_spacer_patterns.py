"""Find patterns in small tables, and compare with whoever looks at every row."""

from itertools import combinations, permutations

import numpy as np
import pytest

from turnproof_model.prove.spacer_patterns import FEW, Patterns, implications
from turnproof_model.prove.spacer_pruning import Answers

TRUTHS, NUMBERS = 4, 5


def _table(seed):
    """Be a table with patterns in it: one truth under another, numbers and flags that agree where one holds."""
    lots = np.random.default_rng(seed)
    count = int(lots.integers(FEW, 60))
    truths = lots.integers(0, 2, (count, TRUTHS)).astype(bool)
    truths[:, 1] &= truths[:, 0]
    values = lots.integers(-1, 4, (count, NUMBERS))
    values[:, 1] = np.where(truths[:, 2], values[:, 0] + 2, values[:, 1])
    values[:, 4] = np.where(truths[:, 3], values[:, 2] + values[:, 3] - 1, values[:, 4])
    flags = lots.integers(0, 2, (count, 3)).astype(bool)
    flags[:, 1] = np.where(truths[:, 2], ~flags[:, 0], flags[:, 1])
    truths[0], truths[1] = True, False  # none is the same everywhere
    return values, flags, truths


def _wheres(truths):
    """List where to look: where a truth holds, where it doesn't, and everywhere, if that is enough."""
    everywhere = np.ones(len(truths), dtype=bool)
    several = [*truths.T, *~truths.T, everywhere]
    return [(i, where) for i, where in enumerate(several) if where.sum() >= FEW or where is everywhere]


def _varies(column):
    return len(set(column.tolist())) > 1


def _gaps(values, where):
    columns = list(values[where].T)
    for j, k in combinations(range(len(columns)), 2):
        gap = columns[k] - columns[j]
        if _varies(columns[j]) and not _varies(gap):
            yield k, j, int(gap[0])


def _sums(values, where):
    columns = list(values[where].T)
    for i, j, k in permutations(range(len(columns)), 3):
        gap = columns[i] - columns[j] - columns[k]
        if j > k and all(map(_varies, (columns[i], columns[j], columns[k]))) and not _varies(gap) and abs(gap[0]) <= 1:
            yield i, j, k, int(gap[0])


def _alike(flags, where):
    columns = list(flags[where].T)
    for j, k in combinations(range(len(columns)), 2):
        differ = columns[j] ^ columns[k]
        if _varies(columns[j]) and _varies(columns[k]) and not _varies(differ):
            yield k, j, not differ[0]


@pytest.mark.parametrize("seed", range(12))
def test_what_stays_the_same_where_a_truth_holds_is_what_every_row_shows(seed):
    """
    Gaps, sums and flags that agree are found exactly where they are, and nowhere else.
    """
    values, flags, truths = _table(seed)
    found = Patterns(values, flags, truths)
    wheres = _wheres(truths)

    assert set(found.gaps()) == {(i, *gap) for i, where in wheres for gap in _gaps(values, where)}
    assert set(found.sums()) == {(i, *total) for i, where in wheres for total in _sums(values, where)}
    assert set(found.alike()) == {(i, *pair) for i, where in wheres for pair in _alike(flags, where)}


def test_the_tables_hold_patterns_of_each_kind():
    """
    So that the comparison above has something to compare.
    """
    tables = [Patterns(*_table(seed)) for seed in range(12)]

    assert any(list(table.gaps()) for table in tables)
    assert any(list(table.sums()) for table in tables)
    assert any(not same for table in tables for *_, same in table.alike())


@pytest.mark.parametrize("seed", range(12))
def test_implications_that_are_left_out_follow_from_the_others(seed):
    """
    Whatever implies what in all rows follows from those that are listed, and from their opposites.
    """
    _, _, truths = _table(seed)
    holds = np.concatenate([truths, ~truths], axis=1)
    count = holds.shape[1]
    listed = set(implications(holds))
    follows = np.eye(count, dtype=bool)
    for i, j in listed:
        follows[i, j] = follows[(j + TRUTHS) % count, (i + TRUTHS) % count] = True
    for _ in range(count):
        follows = (follows.astype(int) @ follows.astype(int)) > 0

    assert (1, 0) in listed
    assert np.array_equal(follows, np.array([[(~a | b).all() for b in holds.T] for a in holds.T]))


def test_what_was_shown_is_doubted_only_where_a_lemma_it_rested_on_has_fallen():
    """
    Of three answers one rests on the lemma that falls, and one is that lemma carried along.
    """
    answers = Answers()
    answers.add([1, 2], {10, 11})
    answers.add([3], {12})
    answers.carry(4, 11)

    assert (answers.doubt({13}), answers.shown) == (False, {1, 2, 3, 4})
    assert (answers.doubt({11}), answers.shown) == (True, {3})
