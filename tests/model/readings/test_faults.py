"""Break the rules on purpose, and see that the proof notices."""

import pytest

from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS, rule_book
from turnproof_model.machine import Machine
from turnproof_model.prove.faults import faults, kill
from turnproof_model.prove.traces import shortest
from turnproof_model.readings.loading import Change, ChangeError, load_rules, source_of
from turnproof_model.surroundings import Setting


def replayed(book, trace):
    """Run a schedule on a fresh machine and tell its last observation."""
    machine = Machine(book, Setting(capabilities={"sessionReentry": False}))
    machine.ask(trace.begins)
    return [machine.ask(command) for command in trace.commands][-1]


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "fault"),
    [(contract, fault) for contract, fault in ALL if fault.traced],
    ids=[f"{contract}-{fault.name}" for contract, fault in ALL if fault.traced],
)
def test_a_short_schedule_shows_a_fault(contract, fault):
    """
    At most ten commands tell the changed rules from the rules; they replay on fresh machines with the same answers.
    """
    trace = shortest(contract, fault.change)

    assert len(trace.commands) <= 10
    assert replayed(rule_book(contract), trace) == trace.expected
    assert trace.expected != trace.found


@pytest.mark.parametrize("contract", CONTRACTS)
def test_thirty_faults_of_each_contract_have_a_short_schedule(contract):
    """
    The faults that no short schedule shows are marked, and few.
    """
    assert sum(fault.traced for fault in faults(contract)) >= 30


def test_a_change_that_is_out_of_date_is_refused():
    """
    A change whose text isn't there says so, and nothing is loaded.
    """
    with pytest.raises(ChangeError, match="exactly once in 'window' \\(found 0 times\\)"):
        load_rules("window", changes=(Change("window", "no such text", ""),))
