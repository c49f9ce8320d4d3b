"""
The rules of ``core`` over faults of real agents, each a trace and its corrected twin.

A case names its public source, the rule that catches it, and the rules that may speak up besides.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnproof_model.monitors.base import Report
from turnproof_model.monitors.core import judge_trace
from turnproof_model.trace_lines import TraceReader

CASES = {path.stem: path for path in sorted((Path(__file__).parents[2] / "data" / "cases").glob("*.json"))}


def case(name: str) -> dict[str, Any]:
    """Read a case."""
    return json.loads(CASES[name].read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def judged(lines: list[dict[str, Any]]) -> Report:
    """Judge the lines of a trace."""
    reader = TraceReader([json.dumps(line) for line in lines])
    return judge_trace(reader.header, reader)


@pytest.mark.parametrize("name", CASES)
def test_a_fault_of_a_real_agent_is_caught(name):
    """The declared rule catches it, and nothing else does that isn't declared."""
    told = case(name)
    report = judged(told["bad"])

    assert told["rule"] in report.broken()
    assert set(report.broken()) <= {told["rule"], *told["also"]}


@pytest.mark.parametrize("name", CASES)
def test_its_corrected_twin_raises_no_alarm(name):
    """The twin differs in the fault alone."""
    assert judged(case(name)["good"]).violations == []


@pytest.mark.parametrize("name", CASES)
def test_a_finding_points_at_lines_of_its_trace(name):
    """Each violation carries the lines that are involved, the latest one being where it was seen."""
    told = case(name)
    last = len(told["bad"])

    for violation in judged(told["bad"]).violations:
        assert violation.message
        assert violation.events
        assert all(2 <= line <= last for line in violation.events)
