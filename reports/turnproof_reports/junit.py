"""
Render a run as JUnit XML: one test case for each rule and each race, as GitHub, GitLab and Jenkins read it.

A rule or race that failed unexpectedly is a failure, and so is a stale expectation; a driver that broke down is an
error of a test case of its own; what was not shown, and expected failures, are skipped with their reason. Nothing else
reads as passed.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from turnproof.expectations import Assessment
from turnproof_reports.summary import Entry, RaceEntry, entries, race_entries, replay_line, visible

SHOWN = 5
"""Failures of one rule whose text its case shows."""


def junit_report(assessment: Assessment) -> str:
    """Render a run, expectations taken into account."""
    result = assessment.result
    listed = entries(assessment)
    cases = [_case(assessment, entry) for entry in listed]
    cases += [_race_case(assessment, entry) for entry in race_entries(assessment)]
    if result.driver_faults or not listed:
        cases.insert(0, _driver_case(assessment))
    tally = {name: str(sum(case.find(tag) is not None for case in cases)) for name, tag in _TALLIED.items()}
    shared = {"tests": str(len(cases)), **tally, "time": f"{result.seconds:.3f}"}
    suites = ET.Element("testsuites", {"name": "turnproof", **{k: v for k, v in shared.items() if k != "skipped"}})
    suite = ET.SubElement(suites, "testsuite", {"name": _suite_name(assessment), **shared})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(assessment).items():
        ET.SubElement(properties, "property", {"name": name, "value": visible(value)})
    suite.extend(cases)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


_TALLIED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _suite_name(assessment: Assessment) -> str:
    return visible(f"turnproof {assessment.result.agent.name} {assessment.result.contract}")


def _properties(assessment: Assessment) -> dict[str, object]:
    result = assessment.result
    own = {"agent": result.agent.name, "version": result.agent.version, "contract": result.contract}
    return {**own, "seed": result.seed, "commands": result.commands, "verdict": assessment.verdict} | dict(
        result.environment
    )


def _case(assessment: Assessment, entry: Entry) -> ET.Element:
    case = ET.Element("testcase", {"classname": _class_name(assessment), "name": f"{entry.id} {entry.title}".strip()})
    reasons = "; ".join(entry.reasons)
    match entry.outcome:
        case "passed":
            pass
        case "failed":
            message = f"{entry.id}: {entry.title} ({len(entry.failures)} failing schedules)"
            _add(case, "failure", message, _failure_text(assessment, entry), "rule-broken")
        case "stale":
            message = f"expected to fail ({reasons}), and exercised {entry.result.exercised} times without failing"
            _add(case, "failure", message, message, "stale-expectation")
        case "expected":
            _add(case, "skipped", f"expected failure: {reasons}")
        case "unmet":
            _add(case, "skipped", f"expected to fail ({reasons}), and not exercised")
        case "not-exercised":
            _add(case, "skipped", "not exercised by this run")
        case outcome:
            _add(case, "skipped", f"{outcome}: {entry.result.reason}")
    return case


def _race_case(assessment: Assessment, entry: RaceEntry) -> ET.Element:
    case = ET.Element("testcase", {"classname": _class_name(assessment), "name": f"race {entry.name}"})
    match entry.outcome:
        case "passed":
            pass
        case "failed":
            text = "" if entry.failure is None else entry.failure.text
            _add(case, "failure", f"race {entry.name} was lost: {entry.why}", text, "race-lost")
        case "expected":
            _add(case, "skipped", f"expected failure: {entry.why}")
        case outcome:
            _add(case, "skipped", f"{outcome}: {entry.why}")
    return case


def _class_name(assessment: Assessment) -> str:
    """Name the group that servers show; dots would nest it."""
    return visible(f"turnproof.{assessment.result.agent.name.replace('.', '_')}.{assessment.result.contract}")


def _driver_case(assessment: Assessment) -> ET.Element:
    case = ET.Element("testcase", {"classname": _class_name(assessment), "name": "driver"})
    faults = assessment.result.driver_faults
    text = "\n\n".join(map(str, faults))
    _add(case, "error", faults[0].message if faults else "the driver told of no rule", text, "driver-fault")
    return case


def _failure_text(assessment: Assessment, entry: Entry) -> str:
    lines = [entry.rule.statement, ""] if entry.rule else []
    for failure in entry.failures[:SHOWN]:
        lines.append(failure.text)
        if (replay := replay_line(assessment, failure)) is not None:
            lines.append(f"  replay    {replay}")
        lines.append("")
    if len(entry.failures) > SHOWN:
        lines.append(f"and {len(entry.failures) - SHOWN} more")
    return "\n".join(lines)


def _add(case: ET.Element, tag: str, message: str, text: str = "", sort: str = "") -> None:
    attributes = {"message": visible(message).replace("\n", " ")} | ({"type": sort} if sort else {})
    ET.SubElement(case, tag, attributes).text = visible(text) or None
