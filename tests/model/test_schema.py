"""The published JSON Schema says what the reader accepts, and is generated from the same classes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vocabulary_values import values

from turnproof_model import vocabulary as v
from turnproof_model.observation import Observation, Profile
from turnproof_model.schema import protocol_schema
from turnproof_model.wire import WireError, observation_from_wire, request_from_wire, to_wire

ROOT = Path(__file__).parents[2]
SCHEMA = protocol_schema()


def validator(name):
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


REQUEST, OBSERVATION, PROFILE = validator("Request"), validator("Observation"), validator("Profile")
REQUESTS = st.one_of([values(cls) for cls in (v.Operation, *get_args(v.Request))])


def request_line(request):
    return {"jsonrpc": "2.0", "id": 1, **request}


def releases_one_gate(request):
    ops = getattr(request, "ops", ())
    named = not isinstance(request, v.Release) or (request.gate is None) != (request.kind is None)
    return named and all(releases_one_gate(op) for op in ops)


def test_the_schema_keeps_the_rules_of_its_dialect():
    """Checked against the metaschema of 2020-12."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert SCHEMA["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]


def test_every_reference_leads_to_a_definition():
    """A validator would find a dangling one only when it gets there."""
    text = json.dumps(SCHEMA)
    referred = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}

    assert referred <= set(SCHEMA["$defs"])


def test_the_checked_in_copy_is_the_generated_one():
    """Print it anew with `turnproof driver schema` when the vocabulary changes."""
    copy = (ROOT / "docs" / "driver-protocol.schema.json").read_text(encoding="utf-8")

    assert copy == json.dumps(SCHEMA, indent=1, ensure_ascii=False) + "\n"


def test_every_method_and_every_outcome_is_described():
    """Nothing of the protocol is left to the prose alone."""
    methods = {request["properties"]["method"]["const"] for request in SCHEMA["$defs"]["Request"]["oneOf"]}
    outcomes = SCHEMA["$defs"]["GateOutcomes"]["properties"]

    assert methods == {cls.method for cls in get_args(v.Request) if cls is not v.Send} | {
        "send",
        "followup",
        "steer",
        "inject",
    }
    assert set(outcomes) == set(get_args(v.GateKind))


@given(REQUESTS.filter(releases_one_gate))
@settings(max_examples=60, deadline=None)
def test_every_request_that_can_be_written_is_valid(request_):
    """The schema is not narrower than what turnproof sends."""
    REQUEST.validate(request_line(to_wire(request_)))


@given(values(Observation), values(Profile))
@settings(max_examples=40, deadline=None)
def test_every_answer_that_can_be_written_is_valid(observation, profile):
    """The schema is not narrower than what a driver may answer."""
    OBSERVATION.validate(to_wire(observation))
    PROFILE.validate(to_wire(profile))


@given(values(Observation), st.data())
@settings(max_examples=60, deadline=None)
def test_reader_and_schema_refuse_the_same_omissions(observation, data):
    """Leaving any one field of an event or gate out is refused by both or by neither."""
    wire = to_wire(observation)
    objects = [wire, *wire["events"], *wire["gates"]]
    chosen = data.draw(st.sampled_from(objects))
    del chosen[data.draw(st.sampled_from(sorted(chosen)))]

    assert OBSERVATION.is_valid(wire) == readable(wire)


DATA = ROOT / "tests" / "data"
RECORDED = sorted([*DATA.glob("golden/*/*.jsonl"), *DATA.glob("dsh-deviations/*.json")])
OLDER = ('"method":"initialize"', '"role":"tool"', '"invariants"', '"via"')
"""Marks of recorded lines that were written before version 1 of the protocol."""


def recorded(path):
    """Read the requests and the observations of a recording."""
    if path.suffix == ".json":
        case = json.loads(path.read_text(encoding="utf-8"))
        return case["requests"], [case["observed"]]
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not any(mark in line for mark in OLDER)]
    exchanges = [json.loads(line) for line in lines]
    return [each["request"] for each in exchanges], [each["observation"] for each in exchanges]


@cache
def validate(name, text):
    """Validate a part of a recording; the same parts come again and again."""
    validator(name).validate(json.loads(text))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_what_real_agents_were_asked_and_answered_is_valid(path):
    """The schema, the reader and the recordings agree."""
    requests, observations = recorded(path)

    assert requests
    assert observations
    for request in requests:
        validate("Request", json.dumps(request_line(request)))
        request_from_wire(request)
    for observation in observations:
        for event in observation["events"]:
            validate("Event", json.dumps(event))
        validate("Observation", json.dumps(observation | {"events": []}))
        observation_from_wire(observation)


def readable(wire):
    try:
        observation_from_wire(wire)
    except WireError:
        return False
    return True


@pytest.mark.parametrize(
    "request_",
    [
        {"method": "nap", "params": {}},
        {"method": "cancel", "params": {}},
        {"method": "cancel", "params": {"cause": "user", "keepinbox": True}},
        {"method": "release", "params": {"outcome": {"kind": "text"}}},
        {"method": "release", "params": {"gate": "g1", "kind": "model", "outcome": {"kind": "text"}}},
        {"method": "batch", "params": {"ops": [{"method": "inspect", "params": {}}]}},
        {"method": "arm", "params": {"on": "turn/end", "ops": [], "nth": 0}},
    ],
    ids=json.dumps,
)
def test_a_request_of_another_form_is_not_valid(request_):
    """Unknown names, missing parameters, both ways to name a gate, what may not be nested, counts below their least."""
    assert not REQUEST.is_valid(request_line(request_))
