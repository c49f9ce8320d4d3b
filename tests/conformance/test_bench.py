"""The benches measure what they say: the plain searches are lawful, and all sides are given the same."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from turnproof.bench import driver_speed, finding, throughput
from turnproof.bench.finding import PLAIN, SEARCHERS, Task, commands_to_kill
from turnproof.candidate import InProcessCandidate
from turnproof.killmatrix import defects
from turnproof.trial import Trial

EASY = ("wake-deferred", "newest-first")
"""Defects that any search finds."""
NUMBER = r"\d+(?:\.\d+)?"


@pytest.mark.parametrize("contract", ["window", "claim"])
@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_search_gives_nothing_that_a_sound_agent_may_not_be_given(name, contract):
    """Every command of the plain alphabet is allowed when it is given, and all of the budget is spent."""
    client = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": contract}).connect()
    trial = Trial.open(client, contract)
    failures = []

    PLAIN[name](trial, lambda failure: bool(failures.append(failure)), 250, 1)

    assert failures == []
    assert trial.commands == 250


@pytest.mark.parametrize("name", SEARCHERS)
def test_every_search_finds_a_defect_that_is_easy_to_find_and_stops_there(name):
    """Commands are counted up to the kill; the same task takes the same number again."""
    task = Task(name, defects(names=EASY[:1])[0], 2, 2_000)
    count = commands_to_kill(task)

    assert count is not None
    assert count < 2_000
    assert commands_to_kill(task) == count


def test_a_defect_that_is_not_found_within_the_cap_has_no_count():
    """A reset alone kills nothing."""
    assert commands_to_kill(Task("engine", defects(names=EASY[:1])[0], 1, 1)) is None


def test_finding_prints_a_line_for_each_search_and_each_ratio():
    """The ratio printed is that of the two medians printed."""
    lines = list(finding.measure(seeds=(1, 2, 3), cap=900, jobs=1, names=EASY))
    halves = {line.split()[1]: int(re.findall(r"within (\d+) commands", line)[0]) for line in lines[: len(SEARCHERS)]}
    ratios = {line.split()[3]: float(line.split()[5]) for line in lines[len(SEARCHERS) :]}

    assert set(halves) == set(SEARCHERS)
    assert ratios == {name: pytest.approx(halves["engine"] / halves[name], abs=0.02) for name in PLAIN}


def test_a_ratio_to_a_search_that_finds_too_little_is_told_as_a_bound():
    """Where half of the defects aren't found within the cap, the cap stands for what it would take."""
    lines = list(finding.measure((1,), cap=60, names=["idle-steers-merged"], against=["uniform"]))

    (ours,) = re.findall(r"engine kills half of 1 defects within (\d+) commands", lines[0])
    assert "uniform kills half of 1 defects within more than 60 commands" in lines[1]
    assert f"engine / uniform = less than {int(ours) / 60:.2f}" in lines[2]


def test_throughput_gives_both_sides_the_same_commands():
    """In process, and against a driver that is fed what the engine sent."""
    argv = (sys.executable, "-m", "turnproof_reference", "--contract", "claim")
    in_process = list(throughput.measure(60, rounds=1))
    (driver,) = driver_speed.measure_driver("reference", argv, 60, rounds=1)
    judged, bare, share = (float(found) for found in re.findall(NUMBER, driver)[:3])

    assert [line.split(":")[0] for line in in_process] == [
        f"throughput {c}" for c in ("window", "window", "claim", "claim")
    ]
    assert share == pytest.approx(judged / bare, abs=0.02)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["nothing"], "judging, throughput, driver, finding"),
        (["finding", "--searches", "none"], "uniform,machine,listed"),
    ],
)
def test_a_bench_or_search_that_nobody_knows_is_refused(asked, told):
    """The names are listed with the refusal."""
    shown = subprocess.run(
        [sys.executable, "-m", "turnproof.bench", *asked], capture_output=True, text=True, check=False
    )

    assert shown.returncode == 2
    assert told in shown.stderr
