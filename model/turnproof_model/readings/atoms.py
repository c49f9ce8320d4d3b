"""
Ask about queues whose contents aren't known: three kinds of atom, and what one says about another.

    length(q)                  how many items queue q held at the beginning
    mark(q, i, m)              whether the item at position i had mark m (waking, steering, …, or a tag)
    some(q, i, j, m, want, o)  whether an item from i up to j (exclusive, None: the end) has mark m, or lacks it;
                               if o is given, only items with mark o count

What they mean is up to who reads the path: bits of an integer, or counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from turnproof_model.readings.execute import Decided
from turnproof_model.readings.terms import Term, Truth


@cache
def length(queue: str) -> Term:
    """Ask how many items a queue held."""
    return Term("length", queue, sort="int")


@cache
def mark(queue: str, position: int, name: str) -> Term:
    """Ask for a mark of one item; it must be there."""
    return Term("mark", queue, position, name, sort="bool")


@cache
def some(queue: str, start: int, stop: int | None, name: str, want: bool, only: str | None = None) -> Term:
    """Ask whether one of these items (of those with the mark ``only``) has a mark, or lacks it."""
    return Term("some", queue, start, stop, name, want, only, sort="bool")


@cache
def longer(queue: str, than: int) -> Truth:
    """Ask whether a queue held more items than that."""
    truth: Truth = length(queue) > than
    return truth


def implied(term: Term, decided: Sequence[Decided]) -> bool | None:
    """Tell what earlier decisions say about an atom: a longer queue is also long enough, and the like."""
    for earlier in decided:
        answer = _implied_by(term, earlier.guard)
        if answer is not None:
            return answer
    return None


def _lengths(known: object) -> tuple[object, int, int | None] | None:
    """Tell which lengths of a queue a truth allows: queue, least, greatest."""
    if not isinstance(known, Term):
        return None
    if known.op in {"some", "mark"}:
        return known.args[0], int(str(known.args[1])) + 1, None
    if known.op == "lt":
        low, high = known.args
        if isinstance(high, Term) and high.op == "length":
            return high.args[0], int(str(low)) + 1, None
        if isinstance(low, Term) and low.op == "length":
            return low.args[0], 0, int(str(high)) - 1
    return None


def _implied_by(term: Term, known: object) -> bool | None:
    allowed = _lengths(known)
    if allowed is None:
        return _implied_by_absence(term, known)
    queue, least, most = allowed
    asked = _lengths(term)
    if asked is None or asked[0] != queue:
        return None
    if term.op == "lt" and least >= asked[1] and (asked[2] is None or (most is not None and most <= asked[2])):
        return True
    beyond = most is not None and most < asked[1]
    return False if beyond or (asked[2] is not None and least > asked[2]) else None


def _implied_by_absence(term: Term, known: object) -> bool | None:
    """Where no item of a span has a mark, no single one has it, and no shorter span."""
    if not (isinstance(known, Term) and known.op == "not" and term.op in {"some", "mark"}):
        return None
    absent: Any = known.args[0]
    if absent.op != "some" or absent.args[2] is not None or absent.args[0] != term.args[0]:
        return None
    wanted = term.args[3:5] if term.op == "some" else (term.args[2], True)
    within = absent.args[5] is None or (term.op == "some" and absent.args[5] == term.args[5])
    return False if within and wanted == absent.args[3:5] and int(str(term.args[1])) >= absent.args[1] else None
