"""Prove both contracts, and look at what such a proof rests on."""

import json

import pytest
from attrs import evolve
from click.testing import CliRunner

from turnproof.cli import prove as command
from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS
from turnproof_model.explore.checks import covers
from turnproof_model.prove.actions import ALGEBRA, Walk
from turnproof_model.prove.machine import UNCARRIED
from turnproof_model.prove.places import Places
from turnproof_model.prove.proof import Proof, induction, prove
from turnproof_model.prove.vacuity import unneeded
from turnproof_model.readings.loading import Change, load_rules
from turnproof_model.readings.terms import key_of
from turnproof_reports.proofs import print_proof

SEEDS = (0, 1, 2, 3, 4)


@pytest.fixture(scope="module", params=CONTRACTS)
def proof(request: pytest.FixtureRequest) -> Proof:
    return prove(request.param)


@pytest.mark.slow
def test_every_rule_that_observers_state_is_proved(proof):
    """
    Each property is proved for any number of messages, and so is every strengthening line.
    """
    assert (proof.verdict, proof.failures) == ("proved", ())


@pytest.mark.slow
def test_conservation_and_enclosure_are_listed_by_name(proof):
    """
    FIFO conservation and turn enclosure are properties of both contracts.
    """
    names = {one.name.partition(":")[0] for one in proof.properties if one.verdict == "proved"}

    assert {"FIFO conservation", "turn enclosure"} <= names


@pytest.mark.slow
def test_properties_are_rules_of_the_contract(proof):
    """
    Each property bears the id of a rule; what no property speaks about is listed, too.
    """
    rules = {rule.id for rule in catalogue.rules(proof.contract)}

    assert {one.rule for one in proof.properties} | set(proof.unspoken) == rules


@pytest.mark.slow
def test_most_paths_can_be_taken_and_the_others_are_named(proof):
    """
    A path that no allowed state takes is listed as dead.
    """
    vacuity = proof.vacuity

    assert vacuity.satisfiable + len(vacuity.dead) == vacuity.paths
    assert vacuity.satisfiable > vacuity.paths / 2


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_verdict_is_the_same_for_five_seeds(contract):
    """
    The proof doesn't hang on the luck of the solver.
    """
    attempt = induction(contract)
    failed = {seed: sum(len(one.failures) for one in evolve(attempt, seed=seed).run()) for seed in SEEDS}

    assert failed == dict.fromkeys(SEEDS, 0)


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_strengthening_line_is_needed(contract):
    """
    Without any one of the lines something can't be shown any more.
    """
    assert unneeded(induction(contract)) == ()


@pytest.mark.slow
def test_a_failed_proof_shows_a_state_from_which_its_goal_fails():
    """
    W-TURN-1: with a number used twice the proof fails, and says from where.
    """
    reused = Change("window", "s.turn + 1, 0, trigger", "s.turn, 0, trigger")
    failed = [failure for failure in prove("window", changes=(reused,)).failures if failure.goal.rule == "W-TURN-1"]

    assert {failure.state["at"] for failure in failed} <= {"admission", "settlement"}
    assert all("turn/start" in failure.events for failure in failed)


@pytest.mark.slow
def test_the_command_writes_the_proof_as_json():
    """
    The JSON has one property a rule with its verdict, and the paths; status 0 says that all is proved.
    """
    result = CliRunner().invoke(command, ["claim", "--json", "-"])
    value = json.loads(result.output)

    assert (result.exit_code, value["schema"], value["verdict"]) == (0, "turnproof/prove/1", "proved")
    assert {one["verdict"] for one in value["properties"]} == {"proved"}


def test_an_unknown_contract_is_a_usage_error():
    """
    Status 2 says that the command line is wrong.
    """
    assert CliRunner().invoke(command, ["core"]).exit_code == 2


@pytest.mark.slow
def test_a_failed_proof_says_whether_a_schedule_leads_to_a_broken_rule(capsys):
    """
    W-TURN-1: the explorer reaches what the proof fears, and the words show it: a state, and a schedule that replays.
    """
    reused = Change("window", "s.turn + 1, 0, trigger", "s.turn, 0, trigger")
    failed = prove("window", changes=(reused,), reach=True)
    print_proof(failed)
    words = capsys.readouterr().out

    assert "W-TURN-1" in failed.reached.rules
    assert "an agent with: at = " in words
    assert "the explorer reaches a broken rule: W-TURN-1" in words


def test_a_proof_names_what_it_does_not_carry_and_what_checks_that_instead():
    """
    No silent gap: each is checked by a search within bounds, or judged on real messages.
    """
    left = {name: covers("window", name) for name in UNCARRIED}

    assert left.pop("re-entrant commands")[1].startswith("turnproof explore window --bound")
    assert set(left.values()) == {None}


@pytest.mark.parametrize("contract", CONTRACTS)
def test_positions_that_a_command_does_not_tell_apart_take_the_same_way(contract):
    """
    A command run on the last position of each group does what it does on the first.
    """
    forwards, backwards = (
        {(path.action, *done(path)) for path in commands_of(contract, backwards=backwards)}
        for backwards in (False, True)
    )

    assert forwards == backwards


def commands_of(contract, *, backwards):
    """Run the commands of a contract on the first position of each group, or on the last."""
    book = load_rules(contract, algebra=ALGEBRA)
    prepared = induction(contract)
    phases = tuple(reversed(book.phases)) if backwards else tuple(book.phases)
    walk = Walk(book, prepared.shape, prepared.observer, Places.of(contract, phases, ()))
    return [path for path in walk.paths() if not path.action.endswith(" moves")]


def done(path):
    """Tell what a path checks and changes; where it is taken is written in another order."""
    return tuple((c.rule, key_of(c.condition)) for c in path.checks), tuple(map(key_of, path.after.values()))
