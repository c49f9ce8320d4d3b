"""The bench of the explorer: all three searches find the same system, and a disagreement isn't timed away."""

from __future__ import annotations

import os
import shutil

import pytest

from turnproof.bench import explore_speed

BOUNDS = {"window": {"messages": 1}}

needs_spin = pytest.mark.skipif(
    not os.environ.get("CI") and not (shutil.which("spin") and shutil.which("gcc")),
    reason="SPIN or a C compiler is not installed",
)


@needs_spin
@pytest.mark.slow
def test_the_bench_prints_both_ratios():
    """One line for the ratio to SPIN's search, one for the ratio to the plain walk, with what a state takes."""
    against_spin, against_rules = explore_speed.measure(BOUNDS, rounds=1)

    assert "SPIN's compiled search = " in against_spin
    assert "times the transitions a second of the rules run on real messages" in against_rules
    assert "bytes a state" in against_rules


@needs_spin
@pytest.mark.slow
def test_a_search_that_finds_another_system_is_not_compared(monkeypatch):
    """Where SPIN counts something else there is no ratio."""
    real = explore_speed.ours
    monkeypatch.setattr(explore_speed, "ours", lambda layout: explore_speed.Ran(1, 1, real(layout).seconds))

    with pytest.raises(AssertionError):
        list(explore_speed.measure(BOUNDS, rounds=1))


def test_without_spin_the_bench_says_what_to_install(monkeypatch):
    """A machine without SPIN gets the other ratio, and is told how to get this one."""
    monkeypatch.setattr(explore_speed.shutil, "which", lambda _: None)
    first, second = explore_speed.measure(BOUNDS, rounds=1)

    assert "apt-get install spin gcc" in first
    assert "real messages" in second
