"""What a run has reached is counted against what can be reached, and nothing is credited that wasn't seen."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from modest import modest

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.coverage.denominator import SORTS, move, transitions
from turnproof.coverage.graph import explore, whole
from turnproof.coverage.labels import label
from turnproof.coverage.moves import plain, variants
from turnproof.coverage.shipped import file_of, shipped, text_of
from turnproof.coverage.situations import place, situation, words
from turnproof.coverage.steering import Steering
from turnproof.coverage.tracker import Tracker
from turnproof.making import Maker
from turnproof.runner import run
from turnproof.trial import Trial
from turnproof_model import vocabulary as v
from turnproof_model.contracts import rule_book
from turnproof_model.machine import Machine
from turnproof_model.surroundings import Chooser, Setting

CONTRACTS = ("window", "claim")


def machine(contract: Any, *commands: v.Command) -> Machine[Any]:
    """Bring an agent of the rules into a situation."""
    made: Machine[Any] = Machine(rule_book(contract), Setting(whole(contract).capabilities))
    for command in (v.Reset(), *commands):
        made.ask(command)
    return made


def message(name: str) -> v.Message:
    return v.Message(name, name)


@pytest.fixture
def trial() -> Trial:
    client = InProcessCandidate(REFERENCE_DRIVER, {"contract": "window"}).connect()
    yield Trial.open(client)
    client.close()


# ------------------------------------------------------------------------------------------------ the graph
@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_file_of_a_contract_holds_what_its_rules_make_of_it(contract: Any) -> None:
    found = text_of(explore(contract))

    assert file_of(contract).read_text(encoding="utf-8") == found, "write it anew: python -m turnproof.coverage"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_move_leads_to_one_situation_for_each_value_of_its_freedoms(contract: Any) -> None:
    for part in shipped(contract).parts:
        for edges in part.edges:
            ways = [(edge.label, edge.assumed) for edge in edges]
            assert len(ways) == len(set(ways))


@pytest.mark.parametrize("contract", CONTRACTS)
def test_different_situations_read_differently(contract: Any) -> None:
    known = {at for part in shipped(contract).parts for at in part.situations}

    assert len({words(contract, at) for at in known}) == len(known)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_command_bears_the_label_that_it_was_made_for(contract: Any) -> None:
    gate = "prompt-submit" if contract == "window" else "pre-step"
    first = v.DEFAULT_OUTCOME[gate]
    call = v.Tools((v.Call("c1", "par"), v.Call("c2", "par")))
    begun = (v.followup(message("a")), v.followup(message("b")), v.Release(first, kind=gate))
    situations = [
        (),
        begun[:1],
        begun,
        (*begun, v.steer(message("d"))),
        (*begun, v.Release(call, kind="model")),
        (*begun, v.Release(v.Error(), kind="model")),
        (*begun, v.Cancel(keep_inbox=True)),
        (v.Dispose(),),
    ]
    for commands in situations:
        there = machine(contract, *commands)
        for name, make in (*plain(there), *variants(there)):
            maker = Maker(whole(contract), lambda m=there: m, lambda options: options[0])
            maker.made.extend(there.history.known.values())
            assert label(make(maker), there) == name


def test_numbers_texts_and_names_make_no_situation() -> None:
    one = machine("window", v.followup(message("a")))
    other = machine("window", v.followup(message("b")), v.Release(v.Throw(), kind="prompt-submit"))
    other.ask(v.followup(v.Message("z", "another text")))

    assert situation(one) == situation(other)
    assert place(situation(one)) == "admission"


# ------------------------------------------------------------------------------------------------ the denominator
def test_a_capability_that_is_not_declared_takes_its_moves_out() -> None:
    full, less = whole("claim"), modest("claim", declared=("inbox",)).connect().initialize()

    lost = transitions(shipped("claim"), full) - transitions(shipped("claim"), less)
    left = transitions(shipped("claim"), less)
    assert {"cancel keep", "remove next-turn 1", "prepend next-step"} <= {one[2] for one in lost}
    assert not {one[2] for one in left} & {"cancel keep", "dispose", "reference", "resume crash"}
    assert {one[0] for one in left} == {"moves", "variants"}


def test_the_freedoms_that_a_candidate_shows_decide_what_it_can_reach() -> None:
    graph, profile = shipped("claim"), whole("claim")

    refusing = transitions(graph, profile, {"disposed-send": "refused"})
    taking = transitions(graph, profile, {"disposed-send": "pending"})
    assert taking - refusing
    assert refusing - taking
    assert refusing | taking <= transitions(graph, profile)


# ------------------------------------------------------------------------------------------------ credit
def test_a_move_is_credited_when_its_observation_conforms(trial: Trial) -> None:
    trial.tracker = Tracker.of(trial.profile)
    trial.begin(v.Reset())
    before = situation(trial.machine)
    trial.do(v.followup(message("a")))

    assert trial.tracker.latest == (move(before, "followup", situation(trial.machine)),)
    assert trial.tracker.reached == {*trial.tracker.latest}


def test_a_move_that_fails_is_not_credited() -> None:
    client = InProcessCandidate(REFERENCE_DRIVER, {"contract": "window", "fault": "idle-during-admission"}).connect()
    trial = Trial.open(client)
    trial.tracker = Tracker.of(trial.profile)
    trial.begin(v.Reset())

    assert trial.do(v.followup(message("a"))) is not None
    assert trial.tracker.reached == set()
    client.close()


def test_a_move_is_not_credited_while_readings_disagree_about_where_it_led() -> None:
    tracker = Tracker.of(whole("window"))
    before, after = machine("window"), machine("window", v.followup(message("a")))
    elsewhere = machine("window")
    certain = SimpleNamespace(hypotheses=[SimpleNamespace(machine=after)], machine=after)
    torn = SimpleNamespace(hypotheses=[*certain.hypotheses, SimpleNamespace(machine=elsewhere)], machine=after)

    tracker.note(v.followup(message("a")), before, torn)
    assert tracker.latest == ()

    tracker.note(v.followup(message("a")), before, certain)
    assert [one[0] for one in tracker.latest] == ["moves"]


def test_an_operation_inside_an_event_is_credited_once_it_was_given(trial: Trial) -> None:
    trial.tracker = Tracker.of(trial.profile)
    trial.begin(v.Reset())
    trial.do(v.Arm("agent/status", (v.steer(message("s")),)))
    assert trial.tracker.latest == ()

    trial.do(v.followup(message("a")))
    assert trial.tracker.latest == (("inside", "idle", "followup", "agent/status", "steer"),)


# ------------------------------------------------------------------------------------------------ runs
def test_a_run_says_what_it_reached_and_says_the_same_again() -> None:
    one, other = (run(modest(), commands=150, seed=3) for _ in range(2))

    assert one.coverage == other.coverage
    assert set(one.coverage) == {"transitions", *SORTS}
    whole_of_it = one.coverage["transitions"]
    assert 0 < (whole_of_it.covered or 0) < (whole_of_it.total or 0)
    assert (whole_of_it.covered or 0) == sum(one.coverage[sort].covered or 0 for sort in SORTS)
    assert len(whole_of_it.missing) == 20


def test_steering_makes_what_was_never_seen_in_this_situation(trial: Trial) -> None:
    trial.tracker = Tracker.of(trial.profile)
    steering = Steering(trial.tracker)
    trial.begin(v.Reset())
    make = Maker(trial.profile, lambda: trial.machine, lambda options: options[0])
    for _ in range(20):
        wanted, reached = steering.wanted(trial.machine), len(trial.tracker.reached)
        command = steering.command(make)
        assert command is not None
        assert label(command, trial.machine) in wanted
        trial.do(command)
        assert len(trial.tracker.reached) > reached


def test_steering_says_nothing_where_nothing_is_new() -> None:
    tracker = Tracker.of(whole("window"))
    tracker.credit(tracker.known)
    there = machine("window").copy(Chooser())

    assert Steering(tracker).command(Maker(whole("window"), lambda: there, lambda options: options[0])) is None
