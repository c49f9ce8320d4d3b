"""Every known deviation of a real agent is explained in docs/deviations.md, and is real."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from turnproof.agents import command, install
from turnproof.candidate import Candidate, ChildCandidate, InProcessCandidate
from turnproof.trial import RuleFailure, Trial
from turnproof_model.surroundings import MisuseError
from turnproof_model.vocabulary import Reset
from turnproof_model.wire import request_from_wire

DATA = Path(__file__).parent / "data"
SCHEDULES = sorted((DATA / "dsh-deviations").glob("*.json"))
TEXT = (Path(__file__).parent.parent / "docs" / "deviations.md").read_text(encoding="utf-8")
REFERENCE = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": "claim"})


def first_failure(candidate: Candidate, path: Path) -> RuleFailure | None:
    client = candidate.connect()
    try:
        trial = Trial.open(client, "claim")
        for request in json.loads(path.read_text(encoding="utf-8"))["requests"]:
            command = request_from_wire(request)
            try:
                failure = trial.begin(command) if isinstance(command, Reset) else trial.do(command)
            except MisuseError:
                return None  # the candidate took another way before, lawfully
            if failure is not None:
                return failure
    finally:
        client.close()
    return None


@pytest.mark.parametrize("path", SCHEDULES, ids=lambda path: path.stem)
def test_the_real_agent_breaks_the_rule_and_the_reference_agent_does_not(path: Path) -> None:
    entry = json.loads(path.read_text(encoding="utf-8"))
    install("dsh")

    failure = first_failure(ChildCandidate(command("dsh")), path)

    assert failure is not None
    assert not failure.disagreement
    assert {entry["rule"], *entry.get("also", [])} & set(failure.rules)
    assert first_failure(REFERENCE, path) is None


@pytest.mark.parametrize("path", SCHEDULES, ids=lambda path: path.stem)
def test_the_document_explains_each_schedule(path: Path) -> None:
    rule = json.loads(path.read_text(encoding="utf-8"))["rule"]

    section = TEXT.partition(f"`{path.stem}`")[2].partition("###")[0]

    assert f"({rule})\n`{path.stem}`" in TEXT
    assert all(part in section for part in ("The documents say", "What happens", "Why it matters"))


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_the_document_lists_each_recorded_session_that_breaks_a_rule(contract: str) -> None:
    entries = tomllib.loads((DATA / "golden" / f"{contract}-deviations.toml").read_text(encoding="utf-8"))["trace"]

    for entry in entries:
        row = f"| `{contract}/{entry['file'].removesuffix('.jsonl')}` | {entry['line']} | {', '.join(entry['rules'])} |"
        assert row in TEXT
