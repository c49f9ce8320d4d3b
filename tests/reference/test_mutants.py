"""
What is on record about the mutants of the reference agents still holds.

A sample of them is played again, each in a process of its own; the whole record is made by `make mutants`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutants import record
from mutants.judging import KILLED, SURVIVED
from mutants.mutant import StaleError
from mutants.report import PAGE, matrix_on_record, page, share
from mutants.stages import QUICK

TESTS = Path(__file__).parents[1]
ENTRIES = record.read()
BY_KEY = {entry.mutant.key: entry for entry in ENTRIES}
WANTED = 0.95
"""Share of the mutants that differ which the suite must kill."""

KNOWN = 0.9
"""Share of the record that must still fit the agents; below it the record says nothing about them."""

KILLED_SAMPLE, LIVING_SAMPLE = 60, 2


def spread(entries, size):
    """Take so many entries, spread over all of them, the same ones as long as the record stays."""
    ordered = sorted((entry for entry in entries if fits(entry)), key=lambda entry: entry.mutant.key)
    return ordered[:: max(1, len(ordered) // size)][:size]


def fits(entry):
    try:
        entry.mutant.source()
    except StaleError:
        return False
    return True


def play_again(entries):
    """Play mutants in a process that has nothing but them to do, and answer what became of each by key."""
    command = [sys.executable, "-m", "mutants", "again", *(entry.mutant.key for entry in entries)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.mark.slow
def test_a_sample_of_the_mutants_that_the_suite_kills_fast_is_killed_again() -> None:
    fast = {stage.name for stage in QUICK}
    sample = spread((entry for entry in ENTRIES if entry.verdict.stage in fast), KILLED_SAMPLE)

    found = play_again(sample)

    assert len(sample) == KILLED_SAMPLE
    assert {key for key, verdict in found.items() if verdict != KILLED} == set()
    assert found.keys() == {entry.mutant.key for entry in sample}


@pytest.mark.slow
def test_a_mutant_that_differs_in_nothing_is_not_objected_to() -> None:
    """The foil of the test above, and a look for false alarms."""
    equivalent = {key for key, entry in record.reviewed().items() if entry.kind == "equivalent"}
    sample = spread((entry for entry in ENTRIES if entry.mutant.key in equivalent), LIVING_SAMPLE)

    assert set(play_again(sample).values()) == {SURVIVED}


def test_the_record_is_about_the_agents_as_they_are() -> None:
    assert sum(map(fits, ENTRIES)) >= KNOWN * len(ENTRIES), "run: make mutants power"


def test_each_mutant_is_known_by_what_it_changes() -> None:
    assert len(BY_KEY) == len(ENTRIES)
    for entry in ENTRIES:
        assert record.Entry.of_line(entry.line()) == entry


def test_nearly_all_mutants_that_differ_are_killed() -> None:
    kinds = {key: entry.kind for key, entry in record.reviewed().items()}

    killed, counted = share(ENTRIES, kinds)

    assert killed >= WANTED * counted


def test_the_review_is_about_mutants_that_live_and_shows_each_as_it_is() -> None:
    texts = [text for entry in record.review() for text in entry.texts]

    assert texts == [f"{key} {BY_KEY[key].mutant.text}" for key in (text.split()[0] for text in texts)]
    assert {BY_KEY[text.split()[0]].verdict.verdict for text in texts} == {SURVIVED}
    assert len(set(texts)) == len(texts)
    assert all(entry.why.endswith(".") for entry in record.review())


def test_the_page_is_written_from_the_record() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(ENTRIES, record.review(), matrix_on_record())
