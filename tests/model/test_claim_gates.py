"""The gates of a contract are those that its rules speak of."""

from __future__ import annotations

import pytest

from turnproof_model import vocabulary as v
from turnproof_model.contracts import rule_book
from turnproof_model.machine import Machine
from turnproof_model.surroundings import MisuseError


def test_a_gate_that_no_rule_of_the_contract_speaks_of_is_refused() -> None:
    """Checkpoints are no part of claim, so nothing could be said about a schedule that holds one open."""
    with pytest.raises(MisuseError, match="claim has no rule about flush: leave it out of the gates"):
        Machine(rule_book("claim")).ask(v.Reset(("pre-step", "model", "flush")))


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_the_gates_of_a_turn_are_all_spoken_of(contract: v.Contract) -> None:
    assert set(v.TURN_GATES[contract]) <= rule_book(contract).gate_kinds
