"""
A failure laid out in lanes, and the evidence that it is laid out from.
"""

from __future__ import annotations

import json

import pytest
from finished_runs import finished

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.evidence import Evidence, Step
from turnproof.expectations import assess, assessment_from_json
from turnproof.results import ResultError, RunResult, run_from_json
from turnproof.runner import run
from turnproof_model import vocabulary as v
from turnproof_model.events import GateOpened, PluginEvent, RequestMade, StatusChanged, TurnEnd, TurnStart
from turnproof_model.observation import GateView, Observation
from turnproof_model.surroundings import Demand
from turnproof_reference.driver import Driver
from turnproof_reports.diagram import measured
from turnproof_reports.lanes import last_move, rows
from turnproof_reports.page import html_report

START, END, BUSY = TurnStart(1), TurnEnd(1, "completed"), StatusChanged("running")


def evidence(demanded, came, where="events", index=0, **fields) -> Evidence:
    """One move in which these events were demanded, and those came."""
    step = Step(v.Cancel("user"), tuple(Demand(event, ("C-CAN-1",)) for event in demanded), Observation(tuple(came)))
    return Evidence((step,), where, index, "idle", "running", **fields)


def marks(laid) -> list[tuple[str, str]]:
    return [(row.mark, row.text) for row in laid]


# ------------------------------------------------------------------------------------------------ lanes
def test_events_agree_up_to_the_first_difference_and_nothing_behind_it_is_judged() -> None:
    laid = rows(evidence([BUSY, START, END], [BUSY, END, START], index=1))

    assert marks(laid) == [
        ("command", "cancel"),
        ("agreed", "~status running"),
        ("expected", "turn/start t1"),
        ("observed", "turn/end t1 completed"),
        ("never-came", "turn/end t1 completed"),
        ("came-after", "turn/start t1"),
    ]


@pytest.mark.parametrize(
    ("demanded", "came", "expected", "observed"),
    [([START], [], "turn/start t1", "nothing more"), ([], [START], "nothing more", "turn/start t1")],
)
def test_a_missing_event_differs_from_nothing_more(demanded, came, expected: str, observed: str) -> None:
    laid = rows(evidence(demanded, came))

    assert marks(laid)[1:] == [("expected", expected), ("observed", observed)]


def test_a_field_differs_behind_all_events() -> None:
    laid = rows(evidence([START], [START], where="when_idle", index=1))

    assert marks(laid)[1:] == [
        ("agreed", "turn/start t1"),
        ("expected", "when idle: idle"),
        ("observed", "when idle: running"),
    ]


def test_events_of_plugins_stand_aside() -> None:
    plugin = PluginEvent("p/x")

    laid = rows(evidence([START], [plugin, START], where="status", index=1))

    assert marks(laid)[1:3] == [("aside", "p/x"), ("agreed", "turn/start t1")]


def test_what_monitors_object_to_is_shown_with_their_rules() -> None:
    laid = rows(evidence([], [], where="monitor", objections=(("C-CAN-1", "it lingers"),)))

    assert [(row.mark, row.text, row.rules) for row in laid[1:]] == [("observed", "it lingers", ("C-CAN-1",))]


def test_a_released_gate_is_found_in_its_lane_by_what_was_open_before() -> None:
    opened = (RequestMade(()), GateOpened("g1", "model"))
    first = Step(v.Inspect(), (), Observation(opened, gates=(GateView("g1", "model"),)))
    last = Step(v.Release(v.Text(), gate="g1"), (Demand(START, ()),), Observation((START,)))

    laid = rows(Evidence((first, last), "status", 1, "idle", "running"))

    assert [(row.move, row.lane) for row in laid if row.mark == "command"] == [(1, "driver"), (2, "model")]
    assert {row.move for row in last_move(laid)} == {2}


def test_every_row_fits_into_the_diagram(broken_run: RunResult) -> None:
    for capsule in broken_run.capsules:
        diagram = measured(rows(capsule.evidence))
        assert all(label.x >= 0 and label.x + label.width <= diagram.width for label in diagram.labels)
        assert all(label.y + 19 <= diagram.height for label in diagram.labels)
        assert diagram.band is not None


# ------------------------------------------------------------------------------------------------ evidence
def test_evidence_differs_in_its_last_move_alone(broken_run: RunResult) -> None:
    for capsule in broken_run.capsules:
        laid = rows(capsule.evidence)
        before = {row.mark for row in laid if row.move < laid[-1].move}
        assert before <= {"command", "agreed", "aside"}, capsule.score


def test_a_report_from_the_file_is_the_report_of_the_run(broken_run: RunResult) -> None:
    assessment = assess(broken_run)
    document = json.loads(json.dumps(assessment.to_json()))

    again = assessment_from_json(document, run_from_json(document))

    assert html_report(again) == html_report(assessment)


@pytest.mark.parametrize("document", [[], {}, {"schema": "turnproof/check/1"}, finished().to_json() | {"rules": [1]}])
def test_what_is_no_run_is_refused(document) -> None:
    with pytest.raises(ResultError):
        run_from_json(document)


def test_a_candidate_that_depends_on_what_nobody_decides_is_flaky() -> None:
    """It forgets a discard in its first life only."""
    lives = []

    def moody(loop):
        lives.append(loop)
        return Driver("window", loop=loop, fault="silent-drop" if len(lives) == 1 else None)

    result = run(InProcessCandidate(moody), commands=300, seed=2)

    assert result.capsules
    assert [capsule.reproduced for capsule in result.capsules] == [False] * len(result.capsules)
    assert all(capsule.evidence is not None for capsule in result.capsules)
    assert "did not fail again" in html_report(assess(result))


def test_the_same_seed_gives_the_same_document() -> None:
    candidate = InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim", "fault": "silent-discard"})

    one, other = (run(candidate, commands=200, seed=3).to_json() | {"seconds": 0} for _ in range(2))

    assert one == other
