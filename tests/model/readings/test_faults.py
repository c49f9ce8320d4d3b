"""Break the rules on purpose, and see that the proof notices."""

import pytest

from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS
from turnproof_model.prove.faults import faults, kill
from turnproof_model.readings.loading import Change, ChangeError, load_rules, source_of

ALL = [(contract, fault) for contract in CONTRACTS for fault in faults(contract)]
NAMED = pytest.mark.parametrize(("contract", "fault"), ALL, ids=[f"{contract}-{fault.name}" for contract, fault in ALL])


@pytest.mark.parametrize("contract", CONTRACTS)
def test_there_are_thirty_faults_of_each_contract_with_names_of_their_own(contract):
    """
    Each fault has a name that no other fault of its contract has.
    """
    names = [fault.name for fault in faults(contract)]

    assert len(set(names)) == len(names) >= 30


@NAMED
def test_a_fault_applies_to_the_rules_as_they_are(contract, fault):
    """
    The text of a fault occurs once, what it makes of the rules loads, and its rule is one of the contract.
    """
    assert source_of(fault.change.module, (fault.change,)) != source_of(fault.change.module)
    assert load_rules(contract, changes=(fault.change,)).contract == contract
    assert catalogue.rule(fault.rule).family == contract


@pytest.mark.slow
@NAMED
def test_a_fault_fails_the_proof(contract, fault):
    """
    With the fault in the rules some goal can't be shown any more, and a state tells why.
    """
    found = kill(contract, fault)

    assert found.killed
    assert found.failure.known


def test_a_change_that_is_out_of_date_is_refused():
    """
    A change whose text isn't there says so, and nothing is loaded.
    """
    with pytest.raises(ChangeError, match="exactly once in 'window' \\(found 0 times\\)"):
        load_rules("window", changes=(Change("window", "no such text", ""),))
