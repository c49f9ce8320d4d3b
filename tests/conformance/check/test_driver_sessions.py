"""Driver sessions and capsules are judged as in a run, and any log can be written as traces."""

from __future__ import annotations

import json
import tomllib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from conformance.check.logs import TOOLS, checked, log, text

from turnproof.capsule import Capsule
from turnproof.check import check_file
from turnproof.check.checking import check_lines
from turnproof.check.convert import traces_of
from turnproof.check.lines import Lines, UnreadableError
from turnproof_model.observation import Implementation
from turnproof_model.wire import request_from_wire

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
SESSIONS = sorted(GOLDEN.glob("*/*.jsonl"))
SHORT = GOLDEN / "window" / "01-one-followup.jsonl"


def listed() -> dict[str, dict[str, Any]]:
    found = {}
    for contract in ("window", "claim"):
        entries = tomllib.loads((GOLDEN / f"{contract}-deviations.toml").read_text(encoding="utf-8"))["trace"]
        found.update({f"{contract}/{entry['file']}": entry for entry in entries})
    return found


LISTED = listed()


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_session_conforms_or_breaks_the_rules_it_is_listed_for(path: Path) -> None:
    result = check_file(str(path))

    assert (result.format, result.contract, result.damage) == ("driver-session", path.parent.name, ())
    entry = LISTED.get(f"{path.parent.name}/{path.name}")
    if entry is None:
        assert result.verdict == "conforms"
    else:
        assert {violation.rule for violation in result.violations} & set(entry["rules"])
        assert result.violations[0].line == entry["line"]


def session() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SHORT.read_text(encoding="utf-8").splitlines()]


def test_a_lost_event_of_a_session_is_named() -> None:
    lines = session()
    events = next(line["observation"]["events"] for line in lines if len(line["observation"].get("events", [])) > 2)
    lost = events.pop(1)
    result = checked(lines)

    assert lost["type"] == "agent/status"
    edits = {str(edit) for item in result.violations if item.blame is not None for edit in item.blame.edits}
    assert edits == {f"~status running is missing before line {result.violations[0].line}"}


def test_a_session_that_lacks_an_exchange_says_so() -> None:
    lines = session()
    release = next(n for n, line in enumerate(lines) if line["request"]["method"] == "release")
    del lines[release - 1]
    result = checked(lines)

    assert result.verdict == "damaged"
    assert [damage.kind for damage in result.damage] == ["hole"]
    assert "an exchange before it is missing or changed" in result.damage[0].message


def test_a_session_may_be_judged_by_core_alone() -> None:
    result = checked(session(), contract="core")

    assert {rule.id[0] for rule in result.rules} == {"K"}
    assert result.verdict == "conforms"


def test_a_session_is_not_judged_by_the_other_contract() -> None:
    result = checked(session(), contract="claim")

    assert result.unread is not None
    assert result.unread.message == "the candidate of this session declares contract window, not claim"


def test_a_failure_in_one_schedule_does_not_hide_those_in_others() -> None:
    lines = session()
    twice = [*lines, *(json.loads(json.dumps(lines))[1:])]
    for part in (lines[1:], twice[len(lines) :]):
        next(line["observation"]["events"] for line in part if line["observation"]["events"]).pop()

    assert len({violation.line for violation in checked(twice).violations}) == 2


# ------------------------------------------------------------------------------------------------ capsules
COMMANDS = tuple(
    request_from_wire(value)
    for value in (
        {"method": "reset", "params": {}},
        {"method": "followup", "params": {"message": {"id": "a", "text": "a", "source": {"kind": "user"}}}},
    )
)
EXPECTED = {"kind": "live", "type": "agent/status", "status": "running"}


def capsule(expected: object, observed: object, where: str = "events") -> dict[str, Any]:
    candidate = Implementation("mine", "1")
    made = Capsule("window", ("W-STAT-1",), COMMANDS, expected, observed, where, 1, candidate, "text")  # type: ignore[arg-type]
    return made.to_json()


def judged(document: dict[str, Any]) -> Any:
    return check_lines("capsule", Lines(BytesIO(json.dumps(document, indent=1).encode())))


def test_a_capsule_breaks_its_rules_while_they_demand_what_it_expects() -> None:
    result = judged(capsule(EXPECTED, None))

    assert (result.format, result.contract, result.verdict) == ("capsule", "window", "fails")
    assert [violation.rule for violation in result.violations] == ["W-STAT-1"]
    assert result.violations[0].message == "expected agent/status status=running, observed nothing"


@pytest.mark.parametrize(
    ("document", "note"),
    [
        (capsule({**EXPECTED, "status": "idle"}, None), "don't demand any more what the capsule expects"),
        (capsule(None, EXPECTED), "demand by now what the capsule observed"),
    ],
)
def test_a_capsule_that_the_rules_left_behind_conforms_with_a_note(document: dict[str, Any], note: str) -> None:
    result = judged(document)

    assert result.verdict == "conforms"
    assert note in result.notes[0]


def test_a_capsule_whose_commands_can_not_be_given_any_more_says_so() -> None:
    document = capsule(EXPECTED, None)
    document["commands"].append({"method": "release", "params": {"gate": "g9", "outcome": {"kind": "text"}}})
    result = judged(document)

    assert result.verdict == "conforms"
    assert "can't be played any more" in result.notes[0]


# ------------------------------------------------------------------------------------------------ conversion
def converted(content: bytes) -> list[bytes]:
    lines = Lines(BytesIO(content))
    return [b"\n".join(line.encode() for line in trace.lines()) + b"\n" for trace in traces_of(lines)]


def test_a_session_log_becomes_a_trace_that_conforms() -> None:
    (trace,) = converted(text(log("claim", TOOLS)))
    result = checked(trace)

    assert (result.format, result.contract, result.verdict) == ("trace", "claim", "conforms")
    assert json.loads(trace.splitlines()[0])["records"] == ["inbox", "log"]


def test_what_is_wrong_in_a_log_is_wrong_in_its_trace() -> None:
    (trace,) = converted(text(log("claim", "+a turn a step user:a say:c1 call:c1 step. turn.")))

    assert {violation.rule for violation in checked(trace).violations} == {"K-BATCH"}


def test_a_trace_of_a_trace_is_the_same() -> None:
    (trace,) = converted(text(log("claim", TOOLS)))

    assert converted(trace) == [trace]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_trace_of_a_session_breaks_the_rules_of_core_that_the_session_breaks(path: Path) -> None:
    """The bridge to core and the written trace agree."""
    content = path.read_bytes()
    by_session = {violation.rule for violation in checked(content, "core").violations}
    by_trace = {violation.rule for trace in converted(content) for violation in checked(trace).violations}

    assert by_trace == by_session


def test_each_schedule_of_a_session_becomes_a_trace() -> None:
    lines = session()

    assert len(converted(text([*lines, *lines[1:]]))) == 2


def test_a_capsule_holds_no_history_to_convert() -> None:
    with pytest.raises(UnreadableError, match="a capsule holds commands and no history"):
        converted(json.dumps(capsule(EXPECTED, None), indent=1).encode())
