"""What is written to the wire is read back as it was, and what is not of the protocol is refused by name."""

from __future__ import annotations

import json
from typing import get_args

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vocabulary_values import values

from turnproof_model import vocabulary as v
from turnproof_model.events import Event, PluginEvent, TurnStart
from turnproof_model.observation import InboxView, Observation, Profile
from turnproof_model.wire import (
    WireError,
    event_from_wire,
    from_wire,
    observation_from_wire,
    profile_from_wire,
    request_from_wire,
    to_wire,
)

EMPTY = {"events": [], "gates": [], "status": "idle", "acceptsNextStep": None, "inbox": None, "whenIdle": None}
PROFILE = {
    "protocol": 1,
    "implementation": {"name": "n", "version": "1", "language": "l", "runtime": "r"},
    "contract": "claim",
    "capabilities": {},
    "gates": [],
    "tools": {},
}
MESSAGE = {"id": "a", "text": "a", "source": {"kind": "user"}}
REQUESTS = st.one_of([values(cls) for cls in (v.Operation, *get_args(v.Request))])


def through_json(value):
    return json.loads(json.dumps(to_wire(value)))


def observation(**fields):
    return observation_from_wire(EMPTY | fields)


@given(REQUESTS)
@settings(max_examples=200)
def test_a_request_is_read_back_as_it_was_written(request_):
    """Holds for every request, nested operations among them."""
    assert request_from_wire(through_json(request_)) == request_


@given(values(Observation))
@settings(max_examples=200, deadline=None)
def test_an_observation_is_read_back_as_it_was_written(observation_):
    """Holds for every event and gate, plugin events among them."""
    assert observation_from_wire(through_json(observation_)) == observation_


@given(values(Profile), values(v.Outcome))
def test_a_profile_and_an_outcome_are_read_back_as_they_were_written(profile, outcome):
    """Holds for the values that stand outside requests and observations."""
    assert profile_from_wire(through_json(profile)) == profile
    assert from_wire(through_json(outcome), v.Outcome) == outcome


@given(values(Event))
def test_unjudged_fields_survive_too(event):
    """Equality skips fields that are never compared; the wire doesn't."""
    read = event_from_wire(through_json(event))

    assert attrs.asdict(read) == attrs.asdict(event)


@pytest.mark.parametrize(
    ("request_", "params"),
    [
        (v.Cancel(), {"cause": "user"}),
        (v.Resume(), {"mode": "crash"}),
        (v.Initialize(), {"protocol": 1}),
        (v.followup(v.Message("a", "a")), {"message": MESSAGE}),
        (v.Send(v.Message("a", "a")), {"message": MESSAGE, "target": "next-turn", "wakeup": True}),
        (v.Arm("turn/end", ()), {"on": "turn/end", "ops": []}),
        (v.Reset(), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_that_the_protocol_asks_for_are_written_even_at_their_default(request_, params):
    """Optional parameters are left out, the others never."""
    assert to_wire(request_)["params"] == params


@pytest.mark.parametrize("field", sorted(EMPTY))
def test_an_observation_without_one_of_its_fields_is_refused(field):
    """A driver that forgets a field is told which."""
    rest = {key: value for key, value in EMPTY.items() if key != field}

    with pytest.raises(WireError, match=f"must carry {field}"):
        observation_from_wire(rest)


@pytest.mark.parametrize("field", sorted(PROFILE))
def test_a_profile_without_one_of_its_fields_is_refused(field):
    """A driver that forgets a field is told which."""
    rest = {key: value for key, value in PROFILE.items() if key != field}

    with pytest.raises(WireError, match=field):
        profile_from_wire(rest)


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"events": "abc"}, r"a list expected \(got 'abc'\) @ \$.events"),
        ({"events": [[]]}, r"an event is an object .* @ \$.events\[0\]"),
        ({"events": [{"kind": "sesion", "type": "turn/start"}]}, r"one of \[.*\] .* @ \$.events\[0\]"),
        ({"events": [{"kind": "session"}]}, r"carries its type as text .* @ \$.events\[0\]"),
        ({"events": [{"kind": "session", "type": "turn/start"}]}, r"TurnStart must carry turn @ \$.events\[0\]"),
        (
            {"events": [{"kind": "session", "type": "turn/start", "turn": True}]},
            r"a whole number expected \(got True\)",
        ),
        ({"gates": [{"id": "g1", "kind": "modl"}]}, r"one of prompt-submit, .* @ \$.gates\[0\].kind"),
        ({"gates": [{"kind": "model"}]}, r"GateView must carry id @ \$.gates\[0\]"),
        ({"status": "busy"}, r"one of idle, running expected \(got 'busy'\) @ \$.status"),
        ({"acceptsNextStep": 1}, r"true or false expected \(got 1\)"),
        ({"inbox": []}, r"InboxView is an object"),
        ({"inbox": {"nextTurn": ["a"]}}, r"InboxView must carry nextStep"),
        ({"whenIdle": "never"}, r"'would-spin' expected"),
        ({"goal": []}, r"an object expected"),
    ],
)
def test_a_bad_observation_is_refused_with_its_place(fields, place):
    """The message says where, what must stand there, and what came."""
    with pytest.raises(WireError, match=place):
        observation(**fields)


@pytest.mark.parametrize(
    ("wire", "place"),
    [
        (3, "a request names one of the methods"),
        ({"method": "hurry"}, "a request names one of the methods"),
        ({"method": "cancel", "params": []}, "params of 'cancel' are an object"),
        ({"method": "cancel", "params": {"cause": "weather"}}, "one of user, parent expected"),
        ({"method": "followup", "params": {}}, "Message is an object"),
        ({"method": "followup", "params": {"message": {"id": "a"}}}, "'text' is missing"),
        ({"method": "followup", "params": {"message": MESSAGE | {"source": {}}}}, "a text 'kind'"),
        ({"method": "release", "params": {"gate": "g1", "outcome": {"kind": "maybe"}}}, "an outcome is an object"),
        ({"method": "arm", "params": {"on": "x", "ops": [], "nth": 0}}, "'nth' must be >= 1"),
        ({"method": "arm", "params": {"on": "x", "ops": [{"method": "nap"}]}}, r"\$.ops\[0\]"),
    ],
)
def test_a_bad_request_is_refused(wire, place):
    """The message says what must hold."""
    with pytest.raises(WireError, match=place):
        request_from_wire(wire)


def test_what_an_abbreviation_stands_for_can_not_be_overridden():
    """W-SEND-1, C-SEND-1: followup is next-turn and waking, whatever else its parameters say."""
    wire = {"method": "followup", "params": {"message": MESSAGE, "target": "next-step", "wakeup": False}}

    assert request_from_wire(wire) == v.followup(v.Message("a", "a"))


def test_a_type_that_the_contract_does_not_name_becomes_a_plugin_event():
    """Such events are legal anywhere; they keep their fields."""
    wire = {"kind": "session", "type": "todo/added", "text": "milk"}

    event = event_from_wire(wire)

    assert event == PluginEvent("todo/added", {"kind": "session", "text": "milk"})
    assert to_wire(event) == wire


def test_fields_that_a_driver_adds_are_passed_over():
    """Sequence numbers may accompany any durable event."""
    event = event_from_wire({"kind": "session", "type": "turn/start", "turn": 1, "seq": 7})

    assert event == TurnStart(1)


def test_the_older_form_of_a_tool_result_is_read_as_the_present_one():
    """Recorded traces have it."""
    older = {"role": "tool", "callId": "c1", "isError": False}
    wire = {"kind": "request", "messages": [older]}

    assert to_wire(event_from_wire(wire))["messages"] == [{"role": "user", "toolResult": "c1", "isError": False}]


def test_an_empty_list_of_kinds_says_the_same_as_none():
    """Drivers differ in what they write for an empty outbox."""
    empty = {"nextTurn": [], "nextStep": []}

    assert observation(inbox=empty | {"nextStepKinds": []}).inbox == InboxView()
    assert observation(inbox=empty).inbox == InboxView()
