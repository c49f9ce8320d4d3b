"""
Render a run as SARIF 2.1.0: one result for each failure, stale expectation and breakdown of the driver.

Rule ids are those of the catalogue. A result's fingerprint is the way of failing, not the schedule that showed it, so
that it is the same alert in every run; its place is the capsule, the one file that a failure has. An expected failure
carries a suppression with its reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import metadata
from pathlib import Path, PurePath
from typing import Any

from turnproof.expectations import Assessment, Expectation
from turnproof.faults import Fault
from turnproof.results import CapsuleResult
from turnproof_reports.summary import Entry, entries, expectation_of, replay_line, visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "turnproofSignature/v1"

OWN_RULES: Mapping[str, str] = {
    "driver-fault": "The driver broke down, so that the agent behind it can't be judged.",
    "stale-expectation": "A failure is expected that the run exercised without finding it.",
}
"""Rules of the report itself, beside those of the catalogue."""


def sarif_report(assessment: Assessment, docs: str | None = None) -> str:
    """
    Render a run.

    Args:
        assessment: of the run.
        docs: where the pages of turnproof are; by default where the installed package says.
    """
    listed = entries(assessment)
    rules = [_rule(entry, docs or documentation()) for entry in listed]
    rules += [_own_rule(name, words, docs or documentation()) for name, words in OWN_RULES.items()]
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    result = assessment.result
    results = [
        *(_failure(assessment, failure, index) for failure in result.capsules),
        *(_stale(assessment, expectation, index) for expectation in assessment.stale),
        *(_fault(fault, index) for fault in result.driver_faults),
    ]
    driver = {
        "name": "turnproof",
        "semanticVersion": result.environment.get("turnproof", "0"),
        "informationUri": docs or documentation(),
        "rules": rules,
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"turnproof/{visible(result.agent.name)}/{result.contract}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not result.driver_faults and not result.interrupted}],
        "results": results,
        "properties": {
            "agentVersion": visible(result.agent.version),
            "seed": result.seed,
            "commands": result.commands,
            "verdict": assessment.verdict,
        },
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def documentation() -> str:
    """Give the address of the pages, as the package's metadata have it; a name of its own where they have none."""
    for entry in metadata("turnproof").get_all("Project-URL") or []:
        label, _, address = entry.partition(", ")
        if label.casefold() == "documentation":
            return str(address)
    return "urn:turnproof:docs"


def _help(docs: str, rule_id: str) -> str:
    """Say where a rule is explained."""
    if docs.startswith("urn:"):
        return f"urn:turnproof:rule:{rule_id}"
    return f"{docs.rstrip('/')}/rules.html#{rule_id.lower()}"


def _rule(entry: Entry, docs: str) -> dict[str, Any]:
    statement = entry.rule.statement if entry.rule else entry.id
    clauses = [f"{clause.document}, {clause.section}: {clause.says}" for clause in entry.clauses]
    return {
        "id": entry.id,
        "name": entry.id.replace("-", ""),
        "shortDescription": {"text": entry.title or entry.id},
        "fullDescription": {"text": statement},
        "help": {
            "text": "\n".join([statement, *clauses]),
            "markdown": "\n".join([statement, "", *(f"- {clause}" for clause in clauses)]),
        },
        "helpUri": _help(docs, entry.id),
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["turnproof", entry.family]},
    }


def _own_rule(name: str, words: str, docs: str) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": words},
        "fullDescription": {"text": words},
        "helpUri": docs,
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["turnproof"]},
    }


def _failure(assessment: Assessment, failure: CapsuleResult, index: Mapping[str, int]) -> dict[str, Any]:
    rule = failure.rules[0]
    replay = replay_line(assessment, failure)
    text = visible(failure.text) + ("" if replay is None else f"\n  replay    {replay}")
    out: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": index.get(rule, -1),
        "level": "error",
        "kind": "fail",
        "message": {"text": text},
        "locations": [_location(failure.file or f"{failure.name}.json")],
        "partialFingerprints": {FINGERPRINT: failure.signature},
        "occurrenceCount": max(failure.occurrences, 1),
        "properties": {"rules": list(failure.rules), "score": visible(failure.score), "flaky": not failure.reproduced},
    }
    reason = expectation_of(assessment, failure)
    return out if reason is None else out | {"suppressions": [{"kind": "external", "justification": reason}]}


def _stale(assessment: Assessment, expectation: Expectation, index: Mapping[str, int]) -> dict[str, Any]:
    return {
        "ruleId": "stale-expectation",
        "ruleIndex": index["stale-expectation"],
        "level": "error",
        "message": {"text": f"{expectation.rule} is expected to fail, and did not: {expectation.words}"},
        "locations": [_location(assessment.file or "expectations.toml")],
        "partialFingerprints": {FINGERPRINT: _digest("stale", expectation.rule, expectation.agent)},
    }


def _fault(fault: Fault, index: Mapping[str, int]) -> dict[str, Any]:
    return {
        "ruleId": "driver-fault",
        "ruleIndex": index["driver-fault"],
        "level": "error",
        "message": {"text": visible(fault)},
        "locations": [_location("driver")],
        "partialFingerprints": {FINGERPRINT: _digest("fault", fault.kind, fault.stage)},
    }


def _location(file: str) -> dict[str, Any]:
    """Point at a file, below the working directory where it can be: alerts live in a repository."""
    path = PurePath(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    address = Path(path).as_uri() if path.is_absolute() else _relative(path)
    return {"physicalLocation": {"artifactLocation": {"uri": address}, "region": {"startLine": 1}}}


def _relative(path: PurePath) -> str:
    """Write a relative path as a URI, with what isn't plain escaped."""
    return Path("/", path).as_uri().removeprefix("file:///")


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
