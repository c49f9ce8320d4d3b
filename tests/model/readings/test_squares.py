"""
Commuting squares of the queue algebras: first computing, then abstracting, is first abstracting, then computing.

All queues of up to five items are gone through, with every kind of item at every place, and with A, B, both or neither
of the tagged messages anywhere. *Packed*: what the formulas of the free algebra say about packed cells is exactly what
real queues show. *Counted*: what real queues show is among what the counters allow, for some value of each unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from turnproof_model import algebra
from turnproof_model.readings import atoms, counters, letters, pieces, queues
from turnproof_model.readings.arrays import variable, vectorised
from turnproof_model.readings.execute import require
from turnproof_model.readings.packed import in_cells, length_cell, pack, plane_cell
from turnproof_model.readings.pieces import MARKS, TAGS
from turnproof_model.readings.terms import Term, parts, var
from turnproof_model.readings.trees import Tree
from turnproof_model.vocabulary import Message

LONGEST = 5

KINDS: Mapping[str, Mapping[str, bool]] = {
    "quiet": {"waking": False, "steering": False, "late": False},
    "waking": {"waking": True, "steering": False, "late": False},
    "late": {"waking": True, "steering": False, "late": True},
    "steering": {"waking": True, "steering": True, "late": False},
}
"""What items there can be: steering wakes, and only what wakes is late."""


class AbsentError(Exception):
    """Say that an operation isn't defined on a queue."""


# ------------------------------------------------------------------------------------------------ all queues
ALL_KINDS = tuple(kinds for n in range(LONGEST + 1) for kinds in product(KINDS, repeat=n))


@frozen
class Cases:
    """Hold all queues as arrays: which kinds their items have, by number, and where A and B are (-1: nowhere)."""

    kinds: Any
    a: Any
    b: Any


@cache
def cases() -> Cases:
    rows = [
        (number, a, b)
        for number, kinds in enumerate(ALL_KINDS)
        for a, b in product(range(-1, len(kinds)), repeat=2)
        if a != b or a < 0
    ]
    return Cases(*columns(rows))


def columns(rows):
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]


def real(kinds):
    return algebra.Queue(tuple(algebra.Item(Message(f"m{i}", ""), **KINDS[kind]) for i, kind in enumerate(kinds)))


# ------------------------------------------------------------------------------------------------ what is tried
@frozen
class Algebra:
    """Be one of the algebras: how an item is made that nobody has sent, and the id at a position."""

    new: Callable[[str], Any]
    at: Callable[[Any, int], Any]


def real_id(queue, position):
    if position >= len(queue.items):
        raise AbsentError
    return queue.items[position].id


def free_id(queue, position):
    found = queue.id_at(position)
    if found is None:
        raise AbsentError
    return found


REAL = Algebra(lambda kind: algebra.Item(Message("new", ""), **KINDS[kind]), real_id)
FREE = Algebra(lambda kind: pieces.Item(pieces.message(), **KINDS[kind]), free_id)


def popped(queue, which):
    if queue.empty:
        raise AbsentError
    return queue.pop()[which]


def marks(item):
    if item is None:
        raise AbsentError
    return tuple(getattr(item, mark) for mark in MARKS)


Operation = Callable[[Algebra, Any, int], Any]

CHANGES: Mapping[str, Operation] = {
    **{f"push {kind}": (lambda w, q, _, kind=kind: q.push(w.new(kind))) for kind in KINDS},
    **{f"unshift {kind}": (lambda w, q, _, kind=kind: q.unshift(w.new(kind))) for kind in KINDS},
    "pop, the rest": lambda _w, q, _: popped(q, 1),
    "head": lambda _w, q, _: q.head(),
    "tail": lambda _w, q, _: q.tail(),
    "punctual": lambda _w, q, _: q.punctual(),
    "restored": lambda _w, q, _: q.restored(),
    "push, pop": lambda w, q, _: q.push(w.new("late")).pop()[1],
    "pop, unshift it": lambda _w, q, _: popped(q, 1).unshift(popped(q, 0)),
}
"""What makes another queue."""

STEERING: Mapping[str, Operation] = {
    "steering": lambda _w, q, _: q.steering(),
}

BY_ID: Mapping[str, Operation] = {
    "without": lambda w, q, i: q.without(w.at(q, i)),
    "swap": lambda w, q, i: q.swap(w.at(q, i), w.new("waking")),
}

QUESTIONS: Mapping[str, Operation] = {
    "empty": lambda _w, q, _: q.empty,
    "occupied": lambda _w, q, _: q.occupied,
    "only_context": lambda _w, q, _: q.only_context,
    "size": lambda _w, q, _: q.size,
    "has_waking": lambda _w, q, _: q.has_waking,
    "has_steering": lambda _w, q, _: q.has_steering,
    "has_context": lambda _w, q, _: q.has_context,
    "has_late": lambda _w, q, _: q.has_late,
    "has_late, made punctual": lambda _w, q, _: q.punctual().has_late,
    "steering there": lambda _w, q, _: q.steering().occupied,
    "has_late of tail": lambda _w, q, _: q.tail().has_late,
}

ABOUT_IDS: Mapping[str, Operation] = {
    "has": lambda w, q, i: q.has(w.at(q, i)),
    "index": lambda w, q, i: q.index(w.at(q, i)),
    "get": lambda w, q, i: marks(q.get(w.at(q, i))),
    "without has": lambda w, q, i: q.without(w.at(q, i)).has(w.at(q, i)),
}

ITEMS: Mapping[str, Operation] = {"pop, the item": lambda _w, q, _: marks(popped(q, 0))}

PLACED = [(name, i) for name in {**BY_ID, **ABOUT_IDS} for i in range(LONGEST)]

ALL: Mapping[str, Operation] = {**CHANGES, **STEERING, **BY_ID, **QUESTIONS, **ABOUT_IDS, **ITEMS}

TRIED = [(name, 0) for name in {**CHANGES, **QUESTIONS, **ITEMS}] + PLACED


# ------------------------------------------------------------------------------------------------ what is so
def planes(queue, marks_=MARKS):
    """Say a real queue as its length, and a plane of bits for each mark."""
    return (
        len(queue.items),
        *(sum(int(getattr(item, mark)) << i for i, item in enumerate(queue.items)) for mark in marks_),
    )


def counts(queue):
    return (len(queue.items), *(sum(getattr(item, flag) for item in queue.items) for flag in counters.FLAGS))


def expected(name, position, summary, place):
    """
    Compute with real queues: for which cases an operation is defined, and what it makes of them, in columns.

    Of a queue that is its summary and where A and B are, of an answer its numbers.
    """
    rows, moved = [], []
    defined = np.zeros(len(ALL_KINDS), np.bool_)
    for number, kinds in enumerate(ALL_KINDS):
        try:
            result = ALL[name](REAL, real(kinds), position)
        except AbsentError:
            rows.append(None)
            moved.append((-1,) * (LONGEST + 1))
            continue
        defined[number] = True
        if isinstance(result, algebra.Queue):
            at = {item.id: i for i, item in enumerate(result.items)}
            rows.append(summary(result))
            moved.append((-1, *(at.get(f"m{i}", -1) for i in range(LONGEST))))
        else:
            rows.append(tuple(int(part) for part in (result if isinstance(result, tuple) else (result,))))
    width = max(len(row) for row in rows if row is not None)
    facts = columns([(0,) * width if row is None else row for row in rows])
    known = cases()
    chosen = np.flatnonzero(defined[known.kinds])
    kinds = known.kinds[chosen]
    tags = (
        [place(np.array(moved)[kinds, at[chosen] + 1]) for at in (known.a, known.b)] if len(moved) == len(rows) else []
    )
    return chosen, [*(fact[kinds] for fact in facts), *tags]


# ------------------------------------------------------------------------------------------------ packed
def bit(position):
    return np.where(position >= 0, 1 << np.maximum(position, 0), 0)


@cache
def cells(queue="q"):
    """Hold all cases as arrays of cells."""
    known = cases()
    by_kinds = columns([planes(real(kinds)) for kinds in ALL_KINDS])
    arrays = [*(column[known.kinds] for column in by_kinds), bit(known.a), bit(known.b)]
    names = [length_cell(queue), *(plane_cell(queue, mark) for mark in (*MARKS, *TAGS))]
    return dict(zip(map(variable, names), arrays, strict=True))


def evaluate(value, environment, size):
    if not isinstance(value, Term):
        return np.full(size, int(value), np.int64)
    found = eval(vectorised(value), {"choose": np.where}, dict(environment))  # noqa: S307  # text made from a formula
    return np.broadcast_to(found, (size,))


def packed_columns(result):
    if isinstance(result, queues.Queue):
        packed = pack(result, (*MARKS, *TAGS))
        return [packed.n, *(packed.planes[mark] for mark in (*MARKS, *TAGS))]
    return [in_cells(part) for part in (result if isinstance(result, tuple) else (result,))]


def squares_commute(body, wanted, chosen, environment):
    """Demand that exactly one path is open to each case, and that it shows what is wanted."""
    environment = {name: array[chosen] for name, array in environment.items()}
    taken = np.zeros(chosen.size, np.int64)
    for leaf in Tree(body, atoms.implied).leaves():
        if isinstance(leaf.raised, AbsentError):
            continue
        assert leaf.raised is None
        here = np.ones(chosen.size, np.bool_)
        for guard in leaf.guards:
            here &= evaluate(in_cells(guard), environment, chosen.size).astype(np.bool_)
        taken += here
        for found, right in zip(packed_columns(leaf.result), wanted, strict=True):
            assert (evaluate(found, environment, chosen.size)[here] == right[here]).all()
    assert (taken == 1).all()


@pytest.mark.parametrize(("name", "position"), TRIED)
def test_packed_queues_do_what_real_ones_do(name, position):
    """An operation on cells, along the path that the cells decide, shows the cells of the real result."""
    chosen, wanted = expected(name, position, planes, bit)

    def body():
        return ALL[name](FREE, queues.Queue((pieces.Span("q"),)), position)

    squares_commute(body, wanted, chosen, cells())


@pytest.mark.parametrize("first", range(LONGEST + 1))
def test_packed_queues_join_as_real_ones_do(first):
    """A queue cut in two and joined is the queue."""
    chosen = np.flatnonzero(cells()[variable(length_cell("q"))] >= first)
    whole = [array[chosen] for array in cells().values()]
    below = (1 << first) - 1
    cut = {
        **dict(zip(cells("q"), [np.full(chosen.size, first), *(plane & below for plane in whole[1:])], strict=True)),
        **dict(zip(cells("r"), [whole[0] - first, *(plane >> first for plane in whole[1:])], strict=True)),
    }

    def body():
        return queues.Queue((pieces.Span("q"),)).join(queues.Queue((pieces.Span("r"),)))

    squares_commute(body, whole, np.arange(chosen.size), cut)


# ------------------------------------------------------------------------------------------------ counted
COUNTED = ("n", *counters.FLAGS, "a", "b")


@frozen
class Pairs:
    """Hold what counters see before and after, each pair once; ``before`` by the name of the variable."""

    before: Mapping[str, Any]
    after: list[Any]
    size: int


@cache
def counted():
    """Hold all cases as arrays of counters, with what is fixed about A and B."""
    known = cases()
    steering = np.array([[0, *(k == "steering" for k in kinds), *[0] * (LONGEST - len(kinds))] for kinds in ALL_KINDS])
    by_kinds = columns([counts(real(kinds)) for kinds in ALL_KINDS])
    fixed = [steering[known.kinds, at + 1] for at in (known.a, known.b)]
    arrays = [*(column[known.kinds] for column in by_kinds), known.a, known.b, *fixed]
    return dict(zip((*COUNTED, "A.steering", "B.steering"), arrays, strict=True))


def pairs(name, position, bearer=None):
    """Pair what counters see before and after; ``bearer``: of the tag that the item at the position has."""
    chosen, wanted = expected(name, position, counts, lambda at: at)
    a, b = (at[chosen] == position for at in (cases().a, cases().b))
    among = {None: a | ~a, "A": a, "B": b, "nobody": ~(a | b)}[bearer]
    rows = np.stack([*(array[chosen] for array in counted().values()), *wanted], 1)[among]
    distinct = np.unique(rows, axis=0).T
    known = {
        variable(each): column.astype(np.bool_) if "." in each else column
        for each, column in zip(counted(), distinct, strict=False)
    }
    return Pairs(known, list(distinct[len(known) :]), distinct.shape[1])


def unknowns(leaf, found):
    """List the unknowns of a path, each with the values that it may have."""
    named = {part.args[0]: part.sort for value in (*leaf.guards, *found) for part in parts(value) if part.op == "var"}
    domains = {"bool": (np.False_, np.True_), "int": tuple(range(-1, LONGEST + 1))}
    return {name: (0,) if name.startswith("attached") else domains[sort] for name, sort in named.items() if "~" in name}


def counted_columns(result):
    if isinstance(result, counters.Queue):
        return [result.n, *(result.counts.get(flag) for flag in counters.FLAGS), result.a, result.b]
    return list(result) if isinstance(result, tuple) else [result]


def some_value_fits(body, known):
    """Demand that each pair is allowed on some path, for some value of its unknowns."""
    fits = np.zeros(known.size, np.bool_)
    for leaf in Tree(body).leaves():
        if leaf.raised is not None:
            assert isinstance(leaf.raised, AbsentError)
            continue
        found = counted_columns(leaf.result)
        names = unknowns(leaf, found)
        for values in product(*names.values()):
            environment = {**known.before, **dict(zip(map(variable, names), values, strict=True))}
            here = np.ones(known.size, np.bool_)
            for guard in leaf.guards:
                here &= evaluate(guard, environment, known.size).astype(np.bool_)
            for value, right in zip(found, known.after, strict=True):
                if value is not None:  # counters may leave out a flag that nobody asks about
                    here &= evaluate(value, environment, known.size) == right
            fits |= here
    assert fits.all()


def counted_queue():
    flags = {flag: var(flag, "int") for flag in counters.FLAGS}
    queue = counters.Queue(var("n", "int"), flags, var("a", "int"), var("b", "int"), (object(),))
    require(counters.well_formed(queue))
    return queue


def counting(name_of):
    return Algebra(lambda kind: counters.Item(letters.Letter(), **KINDS[kind]), lambda _q, _i: name_of())


@pytest.mark.parametrize("name", [*CHANGES, *STEERING, *QUESTIONS, *ITEMS])
def test_counters_allow_what_real_queues_do(name):
    """Whatever an operation makes of a real queue, the counters allow it for some value of what they don't know."""

    def body():
        return ALL[name](counting(letters.Name), counted_queue(), 0)

    some_value_fits(body, pairs(name, 0))


@pytest.mark.parametrize("bearer", ["A", "B", "nobody"])
@pytest.mark.parametrize(("name", "position"), PLACED)
def test_counters_allow_what_real_queues_do_by_id(name, position, bearer):
    """An id is that of A, that of B, or another one: each time the counters allow what is so."""

    def body():
        one = letters.Name(a=bearer == "A", b=bearer == "B")
        return ALL[name](counting(lambda: one), counted_queue(), position)

    some_value_fits(body, pairs(name, position, bearer))


# ------------------------------------------------------------------------------------------------ foils
def test_a_packed_operation_that_does_something_else_is_noticed():
    """An item put at the wrong end shows in the planes."""
    chosen, wanted = expected("push late", 0, planes, bit)

    def body():
        return CHANGES["unshift late"](FREE, queues.Queue((pieces.Span("q"),)), 0)

    with pytest.raises(AssertionError):
        squares_commute(body, wanted, chosen, cells())


def test_counters_that_allow_too_little_are_noticed():
    """A head that is said never to be late doesn't allow all that real queues do."""

    def body():
        queue = counted_queue()
        item, rest = queue.pop()
        require(~item.late)
        return rest

    with pytest.raises(AssertionError):
        some_value_fits(body, pairs("pop, the rest", 0))
