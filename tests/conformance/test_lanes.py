"""Several drivers of one candidate are searched side by side, and what comes out depends on the seed alone."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from attrs import define, field

from turnproof.candidate import REFERENCE_DRIVER, ChildCandidate, InProcessCandidate
from turnproof.engine import Engine, search
from turnproof.faults import DriverFault, UsageError
from turnproof.hypotheses import Hypothesis
from turnproof.lanes import APART, SHARED, side_by_side
from turnproof.limits import Limits
from turnproof.oracle import Oracle
from turnproof.runner import MOST_FAULTS, run
from turnproof.trial import Trial
from turnproof_model.observation import Implementation, Profile
from turnproof_model.vocabulary import Inspect, Message, Reset, followup
from turnproof_reference.driver import Driver

TESTS = Path(__file__).parents[1]
IN_PROCESS = InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim"})


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


PROMPT = followup(Message("p", "p"))


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


def breaking_down(*arguments):
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    command = [sys.executable, "-m", "miniature_drivers.breakdowns", *arguments]
    return ChildCandidate(command, env={"PYTHONPATH": path})


@pytest.mark.parametrize(
    ("candidate", "lanes", "clients"),
    [(child(), SHARED, 1), (breaking_down("dies", "9", "apart"), APART, APART), (IN_PROCESS, 1, 1)],
    ids=["lanes of one driver", "one driver each", "in process"],
)
def test_a_search_holds_as_many_agents_as_pay(candidate, lanes, clients):
    """In one process nothing can be done while an agent works; a driver that has lanes holds all of them."""
    opened = []

    def another():
        opened.append(candidate.connect())
        return Trial.open(opened[-1])

    trials = side_by_side(another)
    for client in opened:
        client.close()

    assert (len(trials), len(opened)) == (lanes, clients)


def test_lanes_of_one_driver_are_judged_like_drivers_of_their_own():
    """What is found depends on the number of lanes, not on the processes behind them."""

    def found(candidate):
        failures = []
        with ExitStack() as clients:
            first, *beside = side_by_side(lambda: Trial.open(clients.enter_context(candidate.connect())), 3)
            engine = Engine(first, lambda failure: not failures.append(failure), 400, beside)
            search(engine, seed=2)
            return failures, [trial.exercised for trial in engine.trials]

    fault = "duplicate-accepted"
    in_one_driver = found(child("--fault", fault))

    assert in_one_driver == found(InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim", "fault": fault}))
    assert {"C-SEND-3"} <= {rule for failure in in_one_driver[0] for rule in failure.rules}


@pytest.mark.parametrize("apart", [(), ("apart",)], ids=["one driver", "a driver each"])
def test_a_breakdown_on_one_lane_ends_all_of_them_and_all_begin_anew(apart):
    """A driver that dies is told with its own requests; where there are others, they are ended too."""
    result = run(breaking_down("dies", "12", *apart), commands=5_000)

    assert [fault.kind for fault in result.driver_faults] == ["exited"] * MOST_FAULTS
    assert {fault.answered for fault in result.driver_faults} == {11}


def test_a_breakdown_tells_the_story_of_the_lane_that_was_asked():
    """Of requests that are under way, the oldest is the one that wasn't answered; others have no part in it."""
    client = breaking_down("dies", "6").connect()
    client.initialize()
    client.post(Reset(), 0)
    client.ask(Reset(), 1)
    client.ask(PROMPT, 1)
    client.post(Reset(), 2)
    client.post(Inspect(), 1)
    with pytest.raises(DriverFault) as caught:
        client.fetch(1)
    story = [exchange.to_json() for exchange in caught.value.fault.exchanges]

    assert caught.value.fault.answered == 5
    assert [(each["request"]["method"], each["request"]["lane"]) for each in story] == [
        *(("reset", 1), ("followup", 1), ("inspect", 1)),
    ]
    assert story[-1]["result"] is None
    assert [exchange.lane for exchange in client.exchanges] == [0, 0, 1, 1, 2, 1]


def test_the_time_of_a_request_runs_when_the_driver_has_answered_the_one_before():
    """A driver that hangs is found out by the oldest request, and nothing is expected of the other lanes then."""
    limits = Limits(request_seconds=0.2, grace_seconds=0.2)
    client = breaking_down("hangs", "3").connect(limits)
    client.initialize()
    client.post(Reset(), 0)
    client.post(Reset(), 1)

    assert client.fetch(0).status == "idle"
    with pytest.raises(DriverFault, match="deadline"):
        client.fetch(1)
    with pytest.raises(UsageError, match="none was"):
        client.fetch(1)


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


def test_answers_of_several_lanes_may_be_fetched_in_any_order():
    """They come in the order of the requests; what isn't fetched yet is kept, or dropped by closing."""
    with child().connect() as client:
        client.initialize()
        for lane, kinds in enumerate((("model",), ("pre-step",), ())):
            client.post(Reset(kinds), lane)
        for lane in (2, 0, 1):
            client.fetch(lane)
            client.post(PROMPT, lane)
        gates = {lane: [gate.kind for gate in client.fetch(lane).gates] for lane in (1, 0)}
        client.post(Inspect(), 0)

    assert gates == {0: ["model"], 1: ["pre-step"]}
    assert client.exchanges[-1].method == "shutdown"


@pytest.mark.parametrize("candidate", [breaking_down("dies", "9", "apart"), IN_PROCESS], ids=["child", "in process"])
def test_a_lane_that_a_driver_does_not_have_is_refused(candidate):
    """It would be asked on another's agent, unnoticed."""
    with candidate.connect() as client:
        client.initialize()
        with pytest.raises(UsageError, match="lane 1 needs a driver that declares 'lanes'"):
            client.post(Reset(), 1)


def test_a_candidate_in_this_process_must_not_declare_lanes():
    """Its driver is never told of a lane."""

    class Boastful(Driver):
        def perform(self, method, params):
            answer = super().perform(method, params)
            return answer and {**answer, "capabilities": {**answer.get("capabilities", {}), "lanes": True}}

    with pytest.raises(DriverFault, match="must not declare 'lanes'"):
        InProcessCandidate(Boastful, {"contract": "claim"}).connect().initialize()
