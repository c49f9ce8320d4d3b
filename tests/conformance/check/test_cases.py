"""Real bugs of many agents, as traces: the bad one breaks its rule, its corrected twin none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conformance.check.logs import checked

from turnproof.check.results import FileResult

CASES = sorted((Path(__file__).parents[2] / "data" / "cases").glob("*.json"))


def judged(path: Path, twin: str) -> tuple[dict[str, Any], FileResult]:
    case = json.loads(path.read_text(encoding="utf-8"))
    return case, checked(case[twin])


def test_the_cases_are_here() -> None:
    assert len(CASES) == 42


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_bad_trace_breaks_its_declared_rule_and_nothing_else(path: Path) -> None:
    case, result = judged(path, "bad")

    found = {violation.rule for violation in result.violations}
    assert case["rule"] in found
    assert found <= {case["rule"], *case["also"]}
    assert case["source"]
    assert (result.format, result.verdict) == ("trace", "fails")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_corrected_twin_breaks_no_rule(path: Path) -> None:
    _, result = judged(path, "good")

    assert result.violations == ()
    assert result.verdict == "conforms"
