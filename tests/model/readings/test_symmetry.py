"""The explorer tells what it saves by not naming messages: both counts, and at which bounds they were made."""

from __future__ import annotations

import pytest

from turnproof_model.explore.search import DEFAULT_BOUNDS, search
from turnproof_model.explore.symmetry import FEASIBLE, symmetry

NONE = dict.fromkeys(DEFAULT_BOUNDS, 0)


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_one_message_needs_no_name(contract):
    """Where there is one message, naming it tells nothing apart."""
    counted = symmetry(contract, {**NONE, "messages": 1, "cancels": 1})

    assert counted.states_without_symmetry == counted.states == search(contract, counted.bounds).states


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_names_tell_more_states_apart(contract):
    """The last pending message of two may be either, so names make more states of one."""
    counted = symmetry(contract, {**NONE, "messages": 2})

    assert counted.states < counted.states_without_symmetry < 2 * counted.states


def test_bounds_beyond_what_is_feasible_are_cut_down_and_told():
    """Both counts are of the bounds that are told, which are never above those asked for."""
    asked = {**NONE, "messages": 2, "tools": 2, "reentrant": 1}
    counted = symmetry("window", asked)

    assert counted.bounds == {name: min(amount, FEASIBLE[name]) for name, amount in asked.items()}
    assert counted.states == search("window", counted.bounds).states
