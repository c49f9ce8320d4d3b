"""A search slows the collector of cyclic garbage down, and gives its pace back."""

from __future__ import annotations

import gc

import pytest

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.collecting import SELDOM, collecting_seldom
from turnproof.runner import run


@pytest.fixture(autouse=True)
def pace():
    usual = gc.get_threshold()
    yield usual
    gc.set_threshold(*usual)


def test_the_pace_is_given_back_whatever_happens_inside(pace):
    def fail():
        with collecting_seldom():
            inside.append(gc.get_threshold())
            raise RuntimeError("stopped")

    inside = []
    with pytest.raises(RuntimeError, match="stopped"):
        fail()

    assert inside == [(SELDOM, *pace[1:])]
    assert gc.get_threshold() == pace


@pytest.mark.parametrize("set_before", [0, 2 * SELDOM])
def test_a_collector_that_is_off_or_slower_already_is_left_alone(set_before):
    gc.set_threshold(set_before, 10, 10)
    with collecting_seldom():
        assert gc.get_threshold()[0] == set_before


def test_a_search_runs_with_a_slow_collector(pace):
    """What the search reports to while it runs sees the slower pace; afterwards it is the usual one."""
    seen = set()
    run(
        InProcessCandidate(REFERENCE_DRIVER, {"contract": "window"}),
        commands=60,
        progress=lambda *_: seen.add(gc.get_threshold()[0]),
    )

    assert seen == {SELDOM}
    assert gc.get_threshold() == pace
