"""What the search gives next: it carries an agent on, cuts rows of events, and does what was never done."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import Phase, settings
from hypothesis import seed as with_seed
from hypothesis.stateful import run_state_machine_as_test

from turnproof.agent_machine import AgentMachine
from turnproof.candidate import InProcessCandidate
from turnproof.coverage.steering import Steering
from turnproof.coverage.tracker import Tracker
from turnproof.engine import Engine, search
from turnproof.generator import Generator
from turnproof.habits import CARRYING, Lessons, drawn, tables
from turnproof.trial import Trial
from turnproof_model import vocabulary as v


def opened(contract):
    client = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": contract}).connect()
    return Trial.open(client, contract)


@pytest.fixture
def trial():
    opening = opened("window")
    yield opening
    opening.client.close()


def message(name):
    return v.Message(name, name)


def test_no_schedule_shuns_what_carries_the_agent_on(trial):
    """Whatever level is drawn for the other options, that one keeps its weight."""
    known = tables(trial.profile)
    shunning = drawn(known, lambda options: options[-1], Lessons())

    assert shunning.tables["act"].count(CARRYING) == known["act"][CARRYING]


def test_a_schedule_may_leave_some_kinds_ungated(trial):
    """One command then carries the agent through what it would have waited for."""
    dice = random.Random(1)
    resets = [Generator(trial.profile, lambda: trial.machine, dice.choice).reset() for _ in range(60)]
    gated = {reset.gates for reset in resets}

    assert None in gated
    assert any(gates is not None and "model" not in gates and "prompt-submit" in gates for gates in gated)
    assert all(set(gates or ()) <= {*v.TURN_GATES["window"], *v.OPTIONAL_GATES["window"]} for gates in gated)


def test_an_ambush_lies_more_often_amid_a_row_of_events(trial):
    """Three steering messages are drained by one release: what comes between them is asked for most."""
    begun = [v.Reset(), v.followup(message("a")), v.Release(v.Allow(), gate="g1")]
    for command in (*begun, *(v.steer(message(name)) for name in "bde")):
        assert trial.begin(command) is None if isinstance(command, v.Reset) else trial.do(command) is None
    dice, heard = random.Random(1), Counter()

    for _ in range(400):
        make = Generator(trial.profile, lambda: trial.machine, dice.choice)
        arm = make.ambush()
        if isinstance(arm, v.Arm) and isinstance(make.ready, v.Release) and isinstance(make.ready.outcome, v.Text):
            heard[arm.on] += 1

    assert heard["steering/message"] > 2 * heard["step/end"] > 0


def test_an_ambush_is_followed_by_what_it_waits_for(trial):
    """The command that causes the event comes next, and only once."""
    trial.begin(v.Reset())
    make = Generator(trial.profile, lambda: trial.machine, random.Random(3).choice)
    arm = make.ambush()
    cause = make.ready

    assert isinstance(arm, v.Arm)
    assert cause is not None
    assert make.command() is cause
    assert make.awaited() is None


def test_reaching_does_what_was_never_done_and_goes_on_where_nothing_is_left(trial):
    """Steering makes the command; without anything new, the agent is carried on."""
    trial.begin(v.Reset())
    new = v.Inspect()
    steered = Generator(trial.profile, lambda: trial.machine, random.Random(1).choice, steer=lambda _: new)
    unsteered = Generator(trial.profile, lambda: trial.machine, random.Random(1).choice)

    assert steered.reach() is new
    assert isinstance(unsteered.reach(), v.Send)


def test_the_engine_steers_by_what_its_trials_have_reached(trial):
    """What is wanted in a situation becomes less as it is done."""
    engine = Engine(trial, lambda failure: False, 400)
    fresh = Steering(Tracker.of(trial.profile))
    search(engine, seed=1)
    trial.begin(v.Reset())

    assert trial.tracker is engine.steering.tracker
    assert engine.steering.wanted(trial.machine) < fresh.wanted(trial.machine)


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_a_state_machine_gives_nothing_that_may_not_be_given(contract):
    """An ambush's cause isn't overtaken by another rule, after which it might not be allowed any more."""
    trial = opened(contract)
    known = {"trial": trial, "collector": staticmethod(lambda failure: False)}
    face = with_seed(1)(type("Face", (AgentMachine,), known))

    run_state_machine_as_test(
        face, settings=settings(max_examples=15, phases=[Phase.generate], database=None, deadline=None)
    )

    assert trial.commands > 500
