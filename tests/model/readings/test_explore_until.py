"""Every named predicate has a witness, and every witness replays on real messages."""

from __future__ import annotations

import pytest

from turnproof_model.explore.until import NAMED
from turnproof_model.explore.witness import witness

BOUNDS = {"messages": 3, "cancels": 1, "tools": 1}


@pytest.mark.parametrize(("contract", "name"), [(contract, name) for contract in NAMED for name in NAMED[contract]])
def test_every_named_predicate_is_met_by_a_schedule_of_real_messages(contract, name):
    """The search comes upon such a state, and the concrete reading follows the whole way."""
    found = witness(contract, BOUNDS, name)

    assert found.reached
    assert len(found.steps) == len(found.traced)


def test_a_witness_is_a_shortest_one():
    """A prompt waits behind a running turn after one prompt, a move of the loop, and another prompt."""
    found = witness("window", BOUNDS, "a prompt waits behind a running turn")

    assert [step.op is None for step in found.steps] == [False, True, False]


def test_a_predicate_of_everything_stops_at_the_first_transition():
    """What holds of any state is met at once."""
    assert len(witness("claim", BOUNDS, "action in ('followup', 'queue') or not True").steps) == 1
