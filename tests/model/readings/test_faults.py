"""Break the rules on purpose, see that the proof notices, and find schedules that show it."""

import pytest

from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS, rule_book
from turnproof_model.machine import Machine
from turnproof_model.prove.faults import faults, kill, show
from turnproof_model.prove.traces import shortest
from turnproof_model.readings.loading import Change, ChangeError, load_rules, source_of
from turnproof_model.surroundings import Setting

MOST = 10
"""Commands that a schedule may take."""

SEARCHED = 3
"""Every so many faults are looked for in the explorer here; ``prove --faults`` and ``make bench`` try all of them."""


def replayed(book, trace):
    """Run a schedule on a fresh machine and tell its last observation."""
    machine = Machine(book, Setting(capabilities={"sessionReentry": False}))
    machine.ask(trace.begins)
    return [machine.ask(command) for command in trace.commands][-1]


ALL = [(contract, fault) for contract in CONTRACTS for fault in faults(contract)]


def named(cases):
    """Run a test for each of these faults under its name."""
    ids = [f"{contract}-{fault.name}" for contract, fault in cases]
    return pytest.mark.parametrize(("contract", "fault"), cases, ids=ids)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_there_are_thirty_faults_of_each_contract_with_names_of_their_own(contract):
    """
    Each fault has a name that no other fault of its contract has.
    """
    names = [fault.name for fault in faults(contract)]

    assert len(set(names)) == len(names) >= 30


@named(ALL)
def test_a_fault_applies_to_the_rules_as_they_are(contract, fault):
    """
    The text of a fault occurs once, what it makes of the rules loads, and its rule is one of the contract.
    """
    assert source_of(fault.change.module, (fault.change,)) != source_of(fault.change.module)
    assert load_rules(contract, changes=(fault.change,)).contract == contract
    assert catalogue.rule(fault.rule).family == contract


@pytest.mark.slow
@named(ALL)
def test_a_fault_fails_the_proof(contract, fault):
    """
    With the fault in the rules some goal can't be shown any more, and a state tells why.
    """
    found = kill(contract, fault)

    assert found.killed
    assert found.failure.known


@pytest.mark.slow
@named(ALL[::SEARCHED])
def test_a_short_schedule_shows_a_fault(contract, fault):
    """
    At most ten commands show it; they have been replayed on real messages.
    """
    shown = show(contract, fault)

    assert shown.commands <= MOST


@pytest.mark.slow
def test_a_fault_that_breaks_no_rule_behaves_differently_and_replays_so():
    """
    Where the explorer finds no broken rule, what tells the changed rules from the rules replays on fresh machines.
    """
    contract, fault = "window", faults("window")[0]
    trace = shortest(contract, fault.change)

    assert len(trace.commands) <= MOST
    assert replayed(rule_book(contract), trace) == trace.expected
    assert trace.expected != trace.found


def test_a_change_that_is_out_of_date_is_refused():
    """
    A change whose text isn't there says so, and nothing is loaded.
    """
    with pytest.raises(ChangeError, match="exactly once in 'window' \\(found 0 times\\)"):
        load_rules("window", changes=(Change("window", "no such text", ""),))
