"""Reports of a run tell of each race what came of it, and never call one passed that wasn't exercised."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from attrs import evolve
from finished_runs import NASTY, failure, finished

from turnproof.expectations import Expectation, assess
from turnproof.results import RaceResult
from turnproof_reports.junit import junit_report
from turnproof_reports.markdown import markdown_report
from turnproof_reports.page import html_report
from turnproof_reports.summary import again_line, race_entries
from turnproof_reports.terminal import print_run

LOST = RaceResult("late-prompt-taken-back", "failed", ("C-WAKE-3",), "C-WAKE-3-0")
RACES = (
    LOST,
    RaceResult("stop-at-enqueue", "passed"),
    RaceResult("wait-across-a-restart", "not-exercised", reason=f"the agent took another way: {NASTY}"),
    RaceResult("reference-of-a-blocked-prompt", "not-applicable", reason="needs reference"),
)
RUN = finished(failure("C-WAKE-3"), races=RACES)
KNOWN = Expectation("C-WAKE-3", "known since spring")


def cases(assessment):
    listed = ET.fromstring(junit_report(assessment)).iter("testcase")  # noqa: S314 - we have just written it
    return {case.get("name"): [(child.tag, child.get("message")) for child in case] for case in listed}


def test_junit_has_a_case_for_each_race():
    found = cases(assess(RUN))

    assert found["race stop-at-enqueue"] == []
    assert found["race late-prompt-taken-back"] == [("failure", "race late-prompt-taken-back was lost: C-WAKE-3")]
    assert found["race wait-across-a-restart"][0][0] == "skipped"
    assert found["race reference-of-a-blocked-prompt"] == [("skipped", "not-applicable: needs reference")]


def test_a_race_lost_by_an_expected_failure_is_skipped_in_junit():
    found = cases(assess(RUN, [KNOWN]))

    assert found["race late-prompt-taken-back"] == [("skipped", "expected failure: C-WAKE-3: known since spring")]


def test_markdown_counts_races_and_names_those_that_were_not_passed():
    text = markdown_report(assess(RUN))

    assert "Races: 1 failed · 1 passed · 1 not exercised · 1 not applicable." in text
    assert "- failed: late-prompt-taken-back (`C-WAKE-3`)" in text
    assert "- passed" not in text


def test_the_page_lists_races_and_links_a_lost_one_to_its_failure():
    page = html_report(assess(RUN))

    assert '<a href="#failure-C-WAKE-3-0">C-WAKE-3</a>' in page
    assert page.count('<span class="badge">not exercised</span>') == 1
    assert "<script>alert(1)" not in page


def test_the_terminal_names_what_was_not_passed(capsys):
    print_run(assess(RUN))

    told = capsys.readouterr().out
    assert "race failed late-prompt-taken-back: C-WAKE-3 (C-WAKE-3-0)" in told
    assert "race not-applicable reference-of-a-blocked-prompt: needs reference" in told
    assert "race passed" not in told
    assert "\x1b" not in told


@pytest.mark.parametrize("render", [junit_report, markdown_report, html_report])
def test_a_run_without_races_says_nothing_of_them(render):
    assert race_entries(assess(evolve(RUN, races=()))) == ()
    assert "Races" not in render(assess(evolve(RUN, races=())))


def test_the_line_that_repeats_a_run_names_its_races():
    assert again_line(evolve(RUN, races=())) == "turnproof run AGENT --contract claim --commands 100 --seed 1"
    alone = evolve(RUN, races=RACES[:2], commands=0)
    assert again_line(alone) == (
        "turnproof run AGENT --contract claim --race late-prompt-taken-back --race stop-at-enqueue"
    )
