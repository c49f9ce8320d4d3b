"""Recorded sessions of a real ``window`` agent: the monitors find where it breaks its contract, and nothing else."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from model.monitors.streams import profile

from turnproof_model.monitors.base import DRIVEN, Sight, Violation
from turnproof_model.monitors.watch import Watch
from turnproof_model.wire import observation_from_wire, request_from_wire

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
FILES = sorted(path.name for path in (GOLDEN / "window").glob("*.jsonl"))
SHOWN: frozenset[Sight] = DRIVEN - {"gates"} | {"lists", "window", "idle"}
"""What the recordings show: gates in their observations, but no events of their openings."""


@cache
def deviations() -> dict[str, dict[str, Any]]:
    """List where the recorded agent is known to break its contract, by file."""
    listed = tomllib.loads((GOLDEN / "window-deviations.toml").read_text(encoding="utf-8"))["trace"]
    return {entry["file"]: entry for entry in listed}


def violations(name: str) -> list[Violation]:
    """Judge one recording by the rules of its contract."""
    watch = Watch(profile(), SHOWN | {"gates"})
    watch.judge.view.sees = SHOWN  # type: ignore[attr-defined]  # rules about gates apply, their openings aren't events
    for line in (GOLDEN / "window" / name).read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        if told["request"]["method"] != "initialize":
            watch.feed(request_from_wire(told["request"]), observation_from_wire(told["observation"]))
    return [violation for violation in watch.finish().violations if violation.rule.startswith("W-")]


@pytest.mark.parametrize("name", [name for name in FILES if name not in deviations()])
def test_a_lawful_recording_raises_no_alarm(name):
    """Nothing is found where the agent keeps its contract."""
    assert violations(name) == []


@pytest.mark.parametrize("name", sorted(deviations()))
def test_a_deviation_is_found_where_it_is_listed(name):
    """The first finding is the one that was found by hand, at its line; the first line of a file is the profile."""
    first = violations(name)[0]

    assert first.rule in deviations()[name]["rules"]
    assert first.request + 2 == deviations()[name]["line"]
