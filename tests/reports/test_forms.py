"""
JUnit, SARIF, Markdown and badges: valid by their schemas, honest about what was not shown, safe from hostile words.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
import xmlschema
from attrs import evolve
from finished_runs import FAULT, KNOWN, NASTY, failure, finished

from turnproof.expectations import Expectation, assess
from turnproof.results import RunResult
from turnproof_model.observation import Implementation
from turnproof_reports.badge import badge
from turnproof_reports.junit import junit_report
from turnproof_reports.markdown import MOST_BYTES, fence, markdown_report, span
from turnproof_reports.sarif import FINGERPRINT, sarif_report

SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"


@pytest.fixture
def nasty() -> RunResult:
    """A run in which all that a candidate says is hostile."""
    broken = failure("C-SEND-2", name=f"C-SEND-2-{NASTY}", occurrences=2)
    broken = evolve(broken, text=f"broke C-SEND-2\n  saw {NASTY}", score=NASTY)
    run = finished(broken, failure("C-DIS-1"), not_exercised=("C-WAKE-1",), driver_faults=(FAULT,))
    return evolve(run, agent=Implementation(NASTY, NASTY, NASTY, NASTY), candidate=NASTY)


def junit(*arguments) -> ET.Element:
    return ET.fromstring(junit_report(assess(*arguments)))  # noqa: S314  # written by ourselves


def sarif(*arguments) -> dict:
    return json.loads(sarif_report(assess(*arguments)))["runs"][0]


# ------------------------------------------------------------------------------------------------ JUnit
@pytest.fixture(scope="module")
def junit_schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")


def test_junit_of_a_real_run_is_valid(broken_run: RunResult, junit_schema: xmlschema.XMLSchema) -> None:
    junit_schema.validate(junit_report(assess(broken_run)))


def test_junit_of_hostile_words_is_valid_and_keeps_them_as_text(
    nasty: RunResult, junit_schema: xmlschema.XMLSchema
) -> None:
    text = junit_report(assess(nasty))

    junit_schema.validate(text)
    assert "<script>" not in text
    assert "<script>alert(1)</script>" in ET.fromstring(text)[0].get("name")  # noqa: S314  # written by ourselves


def test_junit_tells_each_outcome_in_its_own_terms() -> None:
    run = finished(failure("C-SEND-2"), failure("C-DIS-1"), passed=("C-SEND-1", "C-CAN-1"), not_exercised=("C-WAKE-1",))
    stale = Expectation("C-CAN-1", "was slow")

    suite = junit(run, [KNOWN, stale])[0]

    told = {case.get("name").split()[0]: [part.tag for part in case] for case in suite.iter("testcase")}
    assert told == {
        "C-SEND-2": ["failure"],
        "C-DIS-1": ["skipped"],
        "C-SEND-1": [],
        "C-CAN-1": ["failure"],
        "C-WAKE-1": ["skipped"],
    }
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "0",
        "skipped": "2",
    }


def test_junit_makes_an_error_of_a_driver_that_broke_down() -> None:
    suite = junit(finished(driver_faults=(FAULT,)))[0]

    (case,) = [case for case in suite.iter("testcase") if case.get("name") == "driver"]
    assert case.find("error").get("message") == "the driver ended"


# ------------------------------------------------------------------------------------------------ SARIF
@pytest.fixture(scope="module")
def sarif_schema() -> dict:
    return json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text())


def test_sarif_of_a_real_run_is_valid(broken_run: RunResult, sarif_schema: dict) -> None:
    jsonschema.validate(json.loads(sarif_report(assess(broken_run))), sarif_schema)


def test_sarif_of_hostile_words_is_valid(nasty: RunResult, sarif_schema: dict) -> None:
    jsonschema.validate(json.loads(sarif_report(assess(nasty, [KNOWN]))), sarif_schema)


def test_sarif_links_each_rule_to_its_explanation() -> None:
    document = json.loads(sarif_report(assess(finished(failure("C-SEND-2"))), "https://docs.example/turnproof/"))

    rules = {rule["id"]: rule["helpUri"] for rule in document["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["C-SEND-2"] == "https://docs.example/turnproof/rules.html#c-send-2"


def test_sarif_suppresses_an_expected_failure_with_its_reason_and_no_other() -> None:
    results = sarif(finished(failure("C-SEND-2"), failure("C-DIS-1")), [KNOWN])["results"]

    assert {found["ruleId"]: found.get("suppressions") for found in results} == {
        "C-SEND-2": None,
        "C-DIS-1": [{"kind": "external", "justification": KNOWN.words}],
    }


def test_sarif_fingerprints_are_of_the_way_of_failing_not_of_the_schedule() -> None:
    one = failure("C-DIS-1", name="C-DIS-1-aaaa", commands=3, signature="s")
    other = failure("C-DIS-1", name="C-DIS-1-bbbb", commands=9, signature="s")

    prints = [sarif(finished(each))["results"][0]["partialFingerprints"] for each in (one, other)]

    assert prints == [{FINGERPRINT: "s"}] * 2


def test_sarif_reports_stale_expectations_and_breakdowns_under_rules_of_their_own() -> None:
    run = sarif(finished(passed=("C-DIS-1",)), [KNOWN])
    broken = sarif(finished(driver_faults=(FAULT,)))

    assert [found["ruleId"] for found in run["results"]] == ["stale-expectation"]
    assert [found["ruleId"] for found in broken["results"]] == ["driver-fault"]
    assert broken["invocations"] == [{"executionSuccessful": False}]


# ------------------------------------------------------------------------------------------------ Markdown, badge
def test_markdown_names_what_failed_what_is_expected_and_what_is_stale() -> None:
    stale = Expectation("C-SEND-1", "was slow")

    text = markdown_report(assess(finished(failure("C-SEND-2"), failure("C-DIS-1")), [KNOWN, stale]))

    assert "### ❌ C-SEND-2" in text
    assert f"### ⚠️ C-DIS-1\n\nExpected: `{KNOWN.words}`" in text
    assert "**stale**: C-SEND-1" in text


@pytest.mark.parametrize("text", [NASTY, "```\n````", "`", "a`b``c"])
def test_untrusted_text_cannot_leave_its_code_span_or_fence(text: str) -> None:
    ticks = fence(text).partition("text\n")[0]
    opening = span(text)[: len(span(text)) - len(span(text).lstrip("`"))]

    assert ticks not in fence(text)[len(ticks) : -len(ticks)]
    assert opening not in span(text)[len(opening) : -len(opening)]


def test_markdown_never_passes_what_servers_take_and_counts_the_rest() -> None:
    long = [evolve(failure("C-SEND-2", signature=str(n)), text="é" * 40_000) for n in range(200)]

    text = markdown_report(assess(finished(*long)))

    assert len(text.encode()) < MOST_BYTES
    assert "more failures, which have no room here" in text


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (finished(failure("C-SEND-2")), "1 of 2 rules held"),
        (finished(), "1 of 1 rules held"),
        (finished(driver_faults=(FAULT,)), "driver fault"),
        (finished(passed=(), not_exercised=("C-SEND-1",)), "inconclusive"),
    ],
)
def test_a_badge_says_how_many_rules_held_or_why_it_can_not(run: RunResult, words: str) -> None:
    root = ET.fromstring(badge(assess(run)))  # noqa: S314  # written by ourselves

    assert root.get("aria-label") == f"turnproof claim: {words}"
