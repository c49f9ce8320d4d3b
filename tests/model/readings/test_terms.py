"""Terms: how they fold, that equal ones are one object, and that none is ever silently taken for a truth."""

from __future__ import annotations

from itertools import product

import pytest

from turnproof_model.readings import pieces, queues
from turnproof_model.readings.terms import (
    TermTruthError,
    both,
    choice,
    deciding,
    either,
    implies,
    is_false,
    is_true,
    key_of,
    minus,
    negate,
    number,
    parts,
    plus,
    rebuild,
    show,
    var,
)

N, M = var("n", "int"), var("m", "int")
P, Q = var("p", "bool"), var("q", "bool")


# ------------------------------------------------------------------------------------------------ traps
@pytest.mark.parametrize(
    "ask",
    [
        lambda: bool(P),
        lambda: bool(N),
        lambda: not P,
        lambda: P and Q,
        lambda: P or Q,
        lambda: 1 if N == 0 else 2,
        lambda: 0 < N < 3,
        lambda: N in [1, 2],
    ],
    ids=["bool", "number", "not", "and", "or", "if", "chained", "in"],
)
def test_a_term_is_never_silently_true_or_false(ask):
    """Outside an execution nothing can decide a term, and the error says what to do instead."""
    with pytest.raises(TermTruthError, match="inside an execution"):
        ask()


def test_an_execution_decides_only_while_it_lasts():
    """Every question goes to who decides now; afterwards nobody does."""
    asked = []
    with deciding(lambda term: bool(asked.append(term.key)) or True):
        assert P
        assert N  # a number is true where it isn't 0

    assert asked == [P.key, (N != 0).key]
    with pytest.raises(TermTruthError):
        bool(P)


@pytest.mark.parametrize("use", [hash, lambda term: {term}, lambda term: {term: 1}], ids=["hash", "set", "key"])
def test_a_term_can_be_no_key(use):
    """Equality builds terms, so a term in a set would be found where it isn't."""
    with pytest.raises(TypeError, match="unhashable"):
        use(P)


@pytest.mark.parametrize("use", [len, iter, list, lambda queue: queue[0]], ids=["len", "iter", "list", "index"])
def test_a_queue_of_terms_has_no_length_that_one_run_would_see(use):
    """A rule that asked for the length or went through the items would see one queue only."""
    with pytest.raises(TypeError):
        use(queues.Queue((pieces.Span("q"),)))


def test_truths_are_not_ordered():
    """Comparing truths by size is a mistake of the rule; counting them is said in so many words."""
    with pytest.raises(TypeError, match="use number"):
        P < Q  # noqa: B015  # the comparison itself is what is refused


# ------------------------------------------------------------------------------------------------ identity
def test_equal_terms_are_one_object():
    """A term that is built again is found again, whatever way it was written."""
    assert (N + 1) is (1 + N)
    assert both(P, Q, P) is both(P, Q)
    assert key_of(N > 2) == key_of(negate(N <= 2))


def test_plain_values_of_different_types_have_different_keys():
    """``True`` is no 1, and 0 no ``False``."""
    assert key_of(True) != key_of(1)
    assert key_of(0) != key_of(False)


# ------------------------------------------------------------------------------------------------ folding
FORMULAS = {
    "and": (lambda p, q, _n, _m: both(p, q), lambda p, q, _n, _m: p and q),
    "or": (lambda p, q, _n, _m: either(p, q), lambda p, q, _n, _m: p or q),
    "not": (lambda p, _q, _n, _m: negate(p), lambda p, _q, _n, _m: not p),
    "implies": (lambda p, q, _n, _m: implies(p, q), lambda p, q, _n, _m: not p or q),
    "choice": (lambda p, _q, n, m: choice(p, n, m), lambda p, _q, n, m: n if p else m),
    "choice of truths": (lambda p, q, _n, _m: choice(p, q, negate(q)), lambda p, q, _n, _m: q if p else not q),
    "number": (lambda p, _q, _n, _m: number(p), lambda p, _q, _n, _m: int(p)),
    "plus": (lambda _p, _q, n, m: plus(plus(n, 2), minus(m, 3)), lambda _p, _q, n, m: n + m - 1),
    "minus": (lambda _p, _q, n, m: minus(plus(n, m), m), lambda _p, _q, n, _m: n),
    "less": (lambda _p, _q, n, m: n + 1 < m, lambda _p, _q, n, m: n + 1 < m),
    "less or same": (lambda _p, _q, n, m: n <= m - 2, lambda _p, _q, n, m: n <= m - 2),
    "same": (lambda _p, _q, n, m: n + 1 == m, lambda _p, _q, n, m: n + 1 == m),
    "other": (lambda _p, _q, n, m: negate(n == m), lambda _p, _q, n, m: n != m),
    "same truths": (lambda p, q, _n, _m: p == q, lambda p, q, _n, _m: p == q),
}
"""How a formula is built, and what Python says of plain values."""


def valued(term, values):
    """Say a term with these values in the place of its unknowns."""
    return rebuild(term, lambda part: values.get(part.args[0]) if part.op == "var" else None)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_says_of_values_what_python_says(name):
    """Built from unknowns and then told their values, a formula folds to what the values give."""
    build, plain = FORMULAS[name]
    for p, q, n, m in product((True, False), (True, False), range(-1, 3), range(-1, 3)):
        found = valued(build(P, Q, N, M), {"p": p, "q": q, "n": n, "m": m})

        assert key_of(found) == key_of(plain(p, q, n, m))


def test_constants_are_collected():
    """What is added and taken away again is gone, so equal questions have equal keys."""
    assert (N + 1 - 1) is N
    assert key_of(N + 1 <= 3) == key_of(N < 3)
    assert is_true(N == N)  # noqa: PLR0124  # a term is equal to itself without a question
    assert is_false(N + 1 == N)
    assert is_true(either(P, True))
    assert is_false(both(P, False))


def test_a_double_negation_is_none():
    """Comparisons are turned around, and what was negated is found again."""
    assert negate(negate(P)) is P
    assert negate(negate(N < M)) is (N < M)
    assert "not" not in {part.op for part in parts(negate(N == M))}


def test_a_term_is_written_for_a_reader():
    """The text of a term says what it asks, in the signs of a formula."""
    assert show(both(P, N + 1 < M)) == "(p and ((n + 1) < m))"
    assert str(choice(P, N, 0)) == "(n if p else 0)"
