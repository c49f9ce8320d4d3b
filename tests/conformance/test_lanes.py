"""Several drivers of one candidate are searched side by side, and what comes out depends on the seed alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from attrs import define, field

from turnproof.candidate import ChildCandidate, InProcessCandidate
from turnproof.engine import Engine, search
from turnproof.faults import UsageError
from turnproof.hypotheses import Hypothesis
from turnproof.oracle import Oracle
from turnproof.runner import CHILD_LANES, MOST_FAULTS, lanes_of, run
from turnproof.trial import Trial
from turnproof_model.observation import Implementation, Profile
from turnproof_model.vocabulary import Inspect, Reset

TESTS = Path(__file__).parents[1]
IN_PROCESS = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": "claim"})


def child(*options):
    return ChildCandidate([sys.executable, "-m", "turnproof_reference", "--contract", "claim", *options])


@define
class Overheard:
    """Write down when a client is asked and listened to."""

    name: str
    log: list[str]
    client: object = field(factory=IN_PROCESS.connect)

    def initialize(self):
        return self.client.initialize()

    def post(self, request):
        self.log.append(f"post {self.name}")
        self.client.post(request)

    def fetch(self):
        self.log.append(f"fetch {self.name}")
        return self.client.fetch()


def searched(lanes, commands):
    """Search the reference agent on some lanes; give the trials and what was overheard."""
    log = []
    trials = [Trial.open(Overheard(str(number), log)) for number in range(lanes)]
    search(Engine(trials[0], lambda failure: False, commands, trials[1:]), seed=3)
    return trials, log


def test_while_one_driver_works_the_answer_of_another_is_judged():
    """Both lanes have a request under way before either is listened to, and so it goes on."""
    _, log = searched(2, 80)

    assert log[:8] == ["post 0", "post 1", "fetch 0", "post 0", "fetch 1", "post 1", "fetch 0", "post 0"]


def test_lanes_share_one_budget_and_leave_no_answer_unheard():
    """What was asked when the budget is spent is still judged."""
    trials, log = searched(3, 100)

    assert sum(trial.commands for trial in trials) == 100
    assert all(trial.commands > 20 for trial in trials)
    assert [log.count(f"post {n}") for n in range(3)] == [log.count(f"fetch {n}") for n in range(3)]


def test_two_searches_on_two_drivers_tell_the_same():
    """Which driver answers sooner changes nothing."""
    candidate = child("--fault", "duplicate-accepted")
    first, second = (run(candidate, commands=300, seed=5).to_json() for _ in range(2))

    assert first | {"seconds": 0} == second | {"seconds": 0}
    assert first["commands"] == 300
    assert "C-SEND-3" in {rule["id"] for rule in first["rules"] if rule["verdict"] == "failed"}


def test_only_candidates_in_child_processes_are_held_twice():
    """In one process nothing can be done while an agent works."""
    assert (lanes_of(child()), lanes_of(IN_PROCESS)) == (CHILD_LANES, 1)


def test_a_breakdown_on_one_lane_ends_all_of_them_and_all_begin_anew():
    """A driver that dies is told with its own requests; the other is ended too."""
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    command = [sys.executable, "-m", "miniature_drivers.breakdowns", "dies", "12"]

    result = run(ChildCandidate(command, env={"PYTHONPATH": path}), commands=5_000)

    assert [fault.kind for fault in result.driver_faults] == ["exited"] * MOST_FAULTS
    assert {fault.answered for fault in result.driver_faults} == {11}


# ---------------------------------------------------------------------------------------------------- what lanes learn
def oracle(*policies):
    made = Oracle(Profile(Implementation("a", "1"), "claim"), "claim")
    made.hypotheses = [Hypothesis(made.machine, kept) for kept in policies]
    return made


def learned(mine, theirs):
    mine.learn(theirs)
    return [hypothesis.policies for hypothesis in mine.hypotheses]


def test_a_lane_takes_over_what_another_has_shown():
    """What both have shown is kept together; what they contradict each other in falls away."""
    mine = oracle((("a", "1"),), (("a", "2"), ("b", "1")))
    theirs = oracle(
        (("a", "2"), ("c", "1")),
    )

    assert learned(mine, theirs) == [(("a", "2"), ("b", "1"), ("c", "1"))]


def test_a_candidate_that_contradicts_itself_is_held_to_what_it_shows_elsewhere():
    """Where nothing explains both lanes, the next schedule must not pass as freedom."""
    assert learned(oracle((("a", "1"),)), oracle((("a", "2"),))) == [(("a", "2"),)]


# ---------------------------------------------------------------------------------------------------- post and fetch
@pytest.mark.parametrize("candidate", [child(), IN_PROCESS], ids=["child", "in process"])
def test_a_request_is_sent_and_its_answer_fetched_as_two_motions(candidate):
    """One request is under way at a time; closing waits for its answer."""
    with candidate.connect() as client:
        client.initialize()
        with pytest.raises(UsageError, match="none was"):
            client.fetch()
        client.post(Reset())
        with pytest.raises(UsageError, match="'reset' to be fetched first"):
            client.post(Inspect())
        assert client.fetch().status == "idle"
        client.post(Inspect())

    assert [exchange.method for exchange in client.exchanges] == ["initialize", "reset", "inspect", "shutdown"]
