"""What holds after any schedule whatever."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnproof_reference.claim import Agent
from turnproof_reference.claim.pending import replay
from turnproof_reference.driver import Driver, ProtocolError, quiet_loop
from turnproof_reference.log_format import CLAIM
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message
from turnproof_reference.model import Reply
from turnproof_reference.repair import repair
from turnproof_reference.session import Session

ALL = ("pre-step", "model", "tool", "turn-stopping", "request-error")
OUTCOMES = {
    "pre-step": ["enter", "enter", "enter", "nothing", "turned", "reject", "throw"],
    "model": ["text", "par", "mixed", "max-tokens", "error", "partial"],
    "tool": ["result", "error", "context", "concludes"],
    "turn-stopping": ["continue", "throw"],
    "request-error": ["retry", "give-up", "throw"],
}
EVENTS = (
    *("turn/start", "turn/end", "step/start", "step/end", "user/message", "assistant/message", "tool/call"),
    *("tool/result", "agent/inbox/spliced", "agent/inbox/inserted", "agent/inbox/claimed", "agent/inbox/discarded"),
    *("agent/status", "agent/error", "request", "gate:model", "gate:tool", "gate:pre-step"),
)
DELIVERIES = ("followup", "steer", "inject", "park", "cancel", "keep", "remove", "replace", "prepend", "dispose")
CALLER = st.tuples(st.sampled_from(DELIVERIES), st.integers(0, 5))
RELEASE = st.tuples(st.just("release"), st.integers(0, 20))
MOVE = st.one_of(
    CALLER,
    RELEASE,
    RELEASE,
    st.tuples(st.just("batch"), st.lists(CALLER, min_size=2, max_size=3)),
    st.tuples(st.just("arm"), st.tuples(st.sampled_from(EVENTS), st.lists(CALLER, min_size=1, max_size=2))),
    st.just(("resume", 0)),
)
ABORTS = st.dictionaries(st.sampled_from(ALL), st.sampled_from(["settle", "park"]))
SCHEDULE = st.tuples(ABORTS, st.lists(MOVE, min_size=1, max_size=40))


class Run:
    """Play a schedule; `observations` has one entry an operation."""

    def __init__(self, schedule) -> None:
        aborts, moves = schedule
        self.driver = Driver("claim")
        self.calls = 0
        self.observations: list[dict[str, Any]] = []
        self.operations: list[tuple[str, dict[str, Any]]] = []
        self.perform("reset", {"gates": list(ALL), "onAbort": aborts})
        for move in moves:
            self.perform(*self.operation(*move))
        self.events = [event for observation in self.observations for event in observation["events"]]
        self.log = list(self.driver._agent.log.events)
        self.driver.close()

    def perform(self, method, params) -> None:
        self.operations.append((method, params))
        self.driver.perform(method, params)
        self.observations.append(self.driver.observe())

    def operation(self, name, argument):
        if name == "batch":
            return "batch", {"ops": self.stack(argument)}
        if name == "arm":
            return "arm", {"on": argument[0], "ops": self.stack(argument[1])}
        if name == "resume":
            return "resume", {"mode": "crash"}
        if name == "release":
            gates = self.observations[-1]["gates"]
            if not gates:
                return "inspect", {}
            gate = gates[argument % len(gates)]
            return "release", {"gate": gate["id"], "outcome": self.outcome(gate, argument)}
        return caller(name, argument)

    def stack(self, moves):
        return [dict(zip(("method", "params"), caller(*move), strict=True)) for move in moves]

    def outcome(self, gate, argument):
        kind = OUTCOMES[gate["kind"]][argument % len(OUTCOMES[gate["kind"]])]
        match kind:
            case "nothing":
                return {"kind": "enter", "messages": []}
            case "turned":
                return {"kind": "enter", "messages": [*reversed(gate["claimed"]), message(argument)]}
            case "par" | "mixed":
                names = ("par", "par", "par") if kind == "par" else ("par", "exc", "nobody")
                self.calls += len(names)
                calls = [{"id": f"c{self.calls - at}", "name": name} for at, name in enumerate(names)]
                return {"kind": "tools", "calls": calls}
            case "context":
                return {"kind": "result", "additionalContexts": [message(argument), message(argument + 1)]}
            case "concludes":
                return {"kind": "result", "concludes": True}
            case "partial":
                return {"kind": "partial", "text": "p"}
            case _:
                return {"kind": kind}


def message(number):
    return {"id": f"m{number}", "text": f"text {number}", "source": {"kind": "user"}}


def caller(name, number):
    match name:
        case "park":
            return "send", {"message": message(number), "target": "next-turn", "wakeup": False}
        case "cancel" | "keep":
            return "cancel", {"cause": "user", "keepInbox": name == "keep"}
        case "remove":
            return "remove", {"id": f"m{number}"}
        case "replace":
            return "replace", {"id": f"m{number}", "message": message(number + 1)}
        case "prepend":
            return "prepend", {"target": "next-step", "message": message(number)}
        case "dispose":
            return "dispose", {}
        case _:
            return name, {"message": message(number)}


def of(events, *types):
    return [event for event in events if event["type"] in types]


@given(SCHEDULE)
@settings(max_examples=50, deadline=None)
def test_replaying_the_splices_gives_the_inbox_after_every_operation(schedule):
    """
    C-EDIT-2, C-LOG-3: from nothing, across resumes.
    """
    lists = {"next-turn": [], "next-step": []}

    for observation in Run(schedule).observations:
        for splice in of(observation["events"], "agent/inbox/spliced"):
            target, start, count = lists[splice["target"]], splice["start"], splice["removedCount"]
            assert 0 <= start <= start + count <= len(target)
            assert count or splice["inserted"]
            target[start : start + count] = splice["inserted"]
        assert observation["inbox"] == {"nextTurn": lists["next-turn"], "nextStep": lists["next-step"]}


@given(SCHEDULE)
@settings(max_examples=50, deadline=None)
def test_insertions_are_claims_discards_and_what_is_pending(schedule):
    """
    C-CLAIM-4: for each id.
    """
    run = Run(schedule)

    came = Counter(event["id"] for event in of(run.events, "agent/inbox/inserted"))
    left = Counter(event["id"] for event in of(run.events, "agent/inbox/claimed", "agent/inbox/discarded"))
    inbox = run.observations[-1]["inbox"]
    assert came == left + Counter(inbox["nextTurn"] + inbox["nextStep"])


@given(SCHEDULE)
@settings(max_examples=50, deadline=None)
def test_turns_and_steps_are_balanced_and_numbered(schedule):
    """
    C-TURN-1, C-TURN-2, C-STEP-1, C-LOG-4: in the log, where a repair has closed what a crash left open.
    """
    turn = step = 0
    is_open = in_step = False

    for event in Run(schedule).log:
        match event.type:
            case "turn/start":
                assert (event.turn, is_open) == (turn + 1, False)
                turn, step, is_open = event.turn, 0, True
            case "turn/end":
                assert (event.turn, is_open, in_step) == (turn, True, False)
                is_open = False
            case "step/start":
                assert (event.turn, event.step, is_open, in_step) == (turn, step + 1, True, False)
                step, in_step = event.step, True
            case "step/end":
                assert (event.step, in_step) == (step, True)
                in_step = False
            case "user/message" | "assistant/message" | "tool/call" | "tool/result":
                assert in_step
            case _:
                assert event.type == "agent/inbox/spliced"


@given(SCHEDULE)
@settings(max_examples=50, deadline=None)
def test_every_batch_is_closed_in_call_order(schedule):
    """
    C-STEP-2: one start and one result a call, nothing but splices in between, before the step ends.
    """
    starts: list[str] = []
    results: list[str] = []

    for event in Run(schedule).log:
        match event.type:
            case "assistant/message":
                assert (starts, results) == ([], [])
                starts = [call.id for call in event.tool_calls]
                results = list(starts)
            case "tool/call":
                assert event.call_id == starts.pop(0)
            case "tool/result":
                assert event.call_id == results.pop(0)
                assert len(results) >= len(starts)
            case "step/end" | "turn/end" | "user/message":
                assert (starts, results) == ([], [])
            case _:
                pass


@given(SCHEDULE)
@settings(max_examples=50, deadline=None)
def test_a_request_shows_the_log(schedule):
    """
    C-REQ-1: the messages before it, in log order; repairs of a resume come in between unseen.
    """
    run = Run(schedule)

    for event in of(run.events, "request"):
        shown = [item.get("id") or item.get("toolResult") or tuple(item["toolCalls"]) for item in event["messages"]]
        logged = [committed(entry) for entry in run.log if committed(entry) is not None]
        assert shown == logged[: len(shown)]


def committed(event):
    match event.type:
        case "user/message":
            return event.message.id
        case "assistant/message":
            return tuple(call.id for call in event.tool_calls)
        case "tool/result":
            return event.call_id
        case _:
            return None


@given(SCHEDULE)
@settings(max_examples=50, deadline=None)
def test_idle_is_rest(schedule):
    """
    C-STAT-1: statuses alternate; at idle no gate is open, and a waiter of that moment is let go.
    """
    status = "idle"

    for observation, (method, _params) in zip((run := Run(schedule)).observations, run.operations, strict=True):
        status = "idle" if method == "resume" else status
        for event in of(observation["events"], "agent/status"):
            assert event["status"] != status
            status = event["status"]
        assert observation["status"] == status
        assert (status == "idle") <= (observation["gates"] == [])
        assert observation["whenIdle"] == (status == "idle")


@given(SCHEDULE)
@settings(max_examples=50, deadline=None)
def test_nothing_starts_after_a_disposal(schedule):
    """
    C-DIS-1: until the next agent goes on with the session.
    """
    disposed = False

    for observation, (method, _params) in zip((run := Run(schedule)).observations, run.operations, strict=True):
        disposed = disposed and method != "resume"
        for event in observation["events"]:
            assert not (disposed and event["type"] == "turn/start")
            disposed = disposed or event["type"] == "agent/disposed"


@given(SCHEDULE, st.integers(0, 200))
@settings(max_examples=50, deadline=None)
def test_an_agent_goes_on_from_a_log_that_was_cut_anywhere(schedule, length):
    """
    C-LOG-3, C-LOG-4, C-EDIT-2: the open turn is closed, the inbox rebuilt, the next turn has the next number.
    """
    log = Run(schedule).log
    session = repair(Session("s", tuple(log[: min(length, len(log))])))
    loop = quiet_loop()
    agent = Agent(session, answer, loop=loop)
    pending = replay(session.events)

    assert (agent.inbox.next_turn, agent.inbox.next_step) == (tuple(pending[NEXT_TURN]), tuple(pending[NEXT_STEP]))

    agent.followup(Message("new", "go on", {"kind": "user"}))
    loop.run_until_quiescent()
    turns = [event.turn for event in agent.log.events if event.type == "turn/start"]
    assert turns == list(range(1, len(turns) + 1))
    assert (agent.status, agent.inbox.next_turn, agent.inbox.next_step) == ("idle", (), ())
    assert agent.log.events[-1].reason == "completed"


async def answer(_request):
    return Reply("done")


@given(SCHEDULE)
@settings(max_examples=25, deadline=None)
def test_a_log_is_the_same_after_it_was_written_and_read(schedule):
    """
    C-LOG-1, C-LOG-3: every event as one line of JSON.
    """
    log = Run(schedule).log

    assert [CLAIM.read(json.loads(json.dumps(CLAIM.write(event)))) for event in log] == log


@given(SCHEDULE)
@settings(max_examples=25, deadline=None)
def test_a_schedule_plays_the_same_way_twice(schedule):
    """
    Every observation is determined by the operations before it, and is JSON.
    """
    first, second = Run(schedule), Run(schedule)

    assert json.dumps(first.observations) == json.dumps(second.observations)


@given(SCHEDULE)
@settings(max_examples=25, deadline=None)
def test_no_operation_brings_the_agent_down(schedule):
    """
    Refusals are answers; nothing is left to the exception handler of the loop.
    """
    run = Run(schedule)

    assert of(run.events, "unhandled-rejection") == []
    assert {type(event).__name__ for event in run.log}.isdisjoint({"PluginEvent"})


def test_an_outcome_of_another_kind_is_refused_before_anything_happens():
    driver = Driver("claim")
    driver.perform("reset", {})
    driver.perform("followup", {"message": message(1)})
    before = driver.observe()

    for outcome in ({"kind": "allow"}, {"kind": "enter", "messages": ["never-sent"]}, {}):
        with pytest.raises(ProtocolError, match=r"pre-step|never-sent"):
            driver.perform("release", {"gate": "g1", "outcome": outcome})

    assert driver.observe()["gates"] == before["gates"]
