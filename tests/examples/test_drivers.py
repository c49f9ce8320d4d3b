"""
The example drivers, in Python and in Node: they keep the protocol, their agents keep the contract, and a defect shows.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from turnproof.candidate import Candidate, ChildCandidate, InProcessCandidate
from turnproof.drivercheck import check_driver
from turnproof.node import find_node
from turnproof.runner import run

EXAMPLES = Path(__file__).parents[2] / "examples"
MODULES = ("agent", "driver")


@pytest.fixture(params=["python", "node"])
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def candidate(language: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Candidate]:
    """Make a candidate of the example in a folder; the Python one runs in this process."""

    def make(folder: Path) -> Candidate:
        if language == "node":
            return ChildCandidate([str(find_node().path), str(folder / "driver.mjs")])
        monkeypatch.syspath_prepend(str(folder))
        for name in MODULES:
            monkeypatch.delitem(sys.modules, name, raising=False)
        return InProcessCandidate("driver:Driver")

    yield make
    for name in MODULES:
        sys.modules.pop(name, None)


def test_the_driver_keeps_the_protocol(language: str, candidate: Callable[[Path], Candidate]) -> None:
    probes = check_driver(candidate(EXAMPLES / language))

    assert [(probe.title, probe.evidence) for probe in probes if probe.verdict == "failed"] == []
    assert sum(probe.verdict == "passed" for probe in probes) > 20


@pytest.mark.slow
def test_the_agent_keeps_the_contract(language: str, candidate: Callable[[Path], Candidate]) -> None:
    result = run(candidate(EXAMPLES / language), "window", commands=2_000)

    assert [capsule.text for capsule in result.capsules] == []
    assert sum(rule.verdict == "passed" for rule in result.rules) > 60


@pytest.mark.parametrize(
    ("language", "sound", "broken", "rule"),
    [
        ("python", "steered = not self.aborted and self.take_in", "steered = self.take_in", "W-CAN-6"),
        ("node", "this.aborted ||= first;", "", "W-CAN-1"),
    ],
    indirect=["language"],
)
def test_a_defect_of_the_agent_is_found_by_its_rule(
    language: str,
    sound: str,
    broken: str,
    rule: str,
    candidate: Callable[[Path], Candidate],
    tmp_path: Path,
) -> None:
    folder = tmp_path / language
    shutil.copytree(EXAMPLES / language, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (agent,) = folder.glob("agent.*")
    source = agent.read_text()
    assert sound in source
    agent.write_text(source.replace(sound, broken))

    result = run(candidate(folder), "window", commands=2_000, seed=2)

    assert rule in {each.id for each in result.rules if each.verdict == "failed"}
