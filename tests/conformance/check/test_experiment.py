"""Logs of random runs: the reference agents break no rule, and an edit of a log is seen and named."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from turnproof.bench.check_speed import MEGABYTE, write_log
from turnproof.check import check_file
from turnproof.check.experiment import AGENTS, FORMATS, Experiment, check, documents, run

REFERENCE = [item for item in AGENTS if item[0] == "reference"]

DEVIATIONS = Path(__file__).parents[2] / "data" / "dsh-deviations"
LISTED = [json.loads(path.read_text(encoding="utf-8")) for path in DEVIATIONS.glob("*.json")]
KNOWN = {rule for entry in LISTED for rule in (entry["rule"], *entry.get("also", ()))}
"""The rules that the bundled agent is known to break; each brings others along."""


@pytest.mark.parametrize(("agent", "contract"), REFERENCE)
def test_logs_of_the_reference_agents_break_no_rule_in_any_format(agent: str, contract: str) -> None:
    experiment = Experiment(random.Random(0))
    for written in documents(agent, contract, 40, seed=3):  # type: ignore[arg-type]
        for name, document in written.items():
            if document:
                experiment.take(agent, name, document, 0)

    assert experiment.broken == {}
    assert set(experiment.logs) == {(agent, name) for name in FORMATS}


def test_logs_of_the_bundled_agent_break_what_it_is_known_to_break() -> None:
    failing = 0
    for written in documents("dsh", "claim", 25, seed=3):
        assert check(written["session log"]).verdict == "conforms"
        result = check(written["driver session"])
        failing += result.verdict == "fails"
        assert result.verdict == "conforms" or KNOWN & {violation.rule for violation in result.violations}

    assert failing


@pytest.mark.slow
def test_an_edit_that_changes_the_history_is_reported_and_named() -> None:
    """With sequence numbers every edit is reported; over all formats nine of ten are named."""
    experiment = run(12, 300, 11, REFERENCE)

    numbered = [tally for (_, name, _), tally in experiment.tallies.items() if name == "session log"]
    assert sum(tally.made for tally in numbered) > 50
    assert all(tally.reported == tally.made == tally.named for tally in numbered)
    sessions = [tally for (_, name, _), tally in experiment.tallies.items() if name == "driver session"]
    assert sum(tally.reported for tally in sessions) >= 0.98 * sum(tally.made for tally in sessions)
    tallies = experiment.tallies.values()
    assert sum(tally.named for tally in tallies) >= 0.9 * sum(tally.reported for tally in tallies)


def test_the_figures_are_printed() -> None:
    command = [sys.executable, "-m", "turnproof.check.experiment", "--runs", "1", "--edits", "8", "--without", "dsh"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert "reference window     session log" in printed
    assert " edits, " in printed.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("contract", ["window", "claim"])
def test_memory_does_not_grow_with_the_log(tmp_path: Path, contract: str) -> None:
    peaks = []
    for size in (2, 8):
        path = tmp_path / f"{size}.jsonl"
        write_log(path, contract, size * MEGABYTE)  # type: ignore[arg-type]
        tracemalloc.start()
        assert check_file(str(path)).verdict == "conforms"
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] - peaks[0] < MEGABYTE
