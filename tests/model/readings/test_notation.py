"""Formulas mean the same in every language that they are written in."""

import itertools

import numpy as np
import pytest

from turnproof_model.readings.notation import ARRAYS, INFIX, PROMELA, PYTHON
from turnproof_model.readings.terms import Term, both, choice, either, minus, negate, plus, var

X, Y, P = var("x", "int"), var("y", "int"), var("p", "bool")

FORMULAS = (
    plus(X, minus(Y, 3)),
    both(X < Y, negate(P)),
    either(P, both(X <= 2, Y != X), X == Y),
    choice(P, X, choice(X < Y, Y, 7)),
    Term("bor", Term("shl", X, Y, sort="int"), Term("band", Y, 1, sort="int"), sort="int"),
)

STATES = tuple(itertools.product((0, 1, 3), (0, 2, 5), (False, True)))


def same_name(cell):
    """Call a cell what it is called."""
    return cell


@pytest.mark.parametrize("formula", FORMULAS)
def test_arrays_say_of_every_state_what_single_states_say(formula):
    """One formula, computed state by state and for all states at once."""
    single = [
        eval(PYTHON.write(formula, same_name), {}, {"x": x, "y": y, "p": p})  # noqa: S307  # text made of a formula
        for x, y, p in STATES
    ]
    x, y, p = (np.array(cells) for cells in zip(*STATES, strict=True))
    together = eval(ARRAYS.write(formula, same_name), {"choose": np.where}, {"x": x, "y": y, "p": p})  # noqa: S307

    assert [int(value) for value in together] == [int(value) for value in single]


def test_each_language_has_its_own_words():
    """The same choice under the same condition, in the three of them."""
    formula = choice(both(P, negate(var("q", "bool"))), X, 0)

    assert PYTHON.write(formula, same_name) == "(x if (p and (not q)) else 0)"
    assert ARRAYS.write(formula, same_name) == "choose((p & ~q), x, 0)"
    assert PROMELA.write(formula, same_name) == "((p && (!q)) -> x : 0)"


def test_plain_values_are_written_as_numbers_and_cells_by_their_names():
    """A truth is 1 or 0 everywhere; how a cell is named is up to who writes."""
    assert [PROMELA.write(value, same_name) for value in (True, False, 12)] == ["1", "0", "12"]
    assert PROMELA.write(X, lambda cell: f"c_{cell}") == "c_x"


def test_what_a_language_has_no_words_for_is_refused():
    """Counting bits is Python's alone."""
    ones = Term("ones", X, sort="int")

    assert PYTHON.write(ones, same_name) == "x.bit_count()"
    for notation in (ARRAYS, PROMELA):
        with pytest.raises(KeyError, match="ones"):
            notation.write(ones, same_name)
    assert "ones" not in INFIX
