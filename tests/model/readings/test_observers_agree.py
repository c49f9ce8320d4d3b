"""Hold observers, which proof and explorer rest on, and monitors, which judge candidates, against each other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest
from model.readings.agreement import Edit, Judged, judge, own, schedule

from turnproof_model.contracts import CONTRACTS
from turnproof_model.prove.faults import faults
from turnproof_model.readings.loading import load_rules

PLAIN = range(30)
EDITED = range(12)
EDITS = 4
BROKEN = range(2)
OPEN = 10
"""Monitors may leave one broken run open of so many: they see less."""


def told_apart(contract: str, judged: Iterable[Judged]) -> Counter[str]:
    """Count who found something broken: nobody, both sides, or one of them."""
    sides = {(False, False): "nobody", (True, True): "both", (True, False): "observers", (False, True): "monitors"}
    return Counter(sides[bool(one.observers), bool(own(contract, one.monitors))] for one in judged)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_neither_side_finds_anything_broken_in_lawful_runs(contract):
    """
    Stacked, re-entrant, deferred, resumed and disposed of: what the rules do, both find in order.
    """
    judged = [judge(schedule(contract, seed)) for seed in PLAIN]

    assert {rule for one in judged for rule in one.observers | own(contract, one.monitors)} == set()


@pytest.mark.parametrize("how", ["left out", "twice"])
@pytest.mark.parametrize("contract", CONTRACTS)
def test_both_sides_find_an_event_that_is_missing_or_too_many(contract, how):
    """
    Whatever monitors find in an edited stream, observers find; monitors leave little open of what observers find.
    """
    lengths = {seed: judge(schedule(contract, seed)).events for seed in EDITED}
    edits = {seed: random.Random(seed).sample(range(n), min(EDITS, n)) for seed, n in lengths.items()}
    found = told_apart(
        contract,
        (judge(schedule(contract, seed), edit=Edit(how, n)) for seed, places in edits.items() for n in places),
    )

    assert found["monitors"] == 0
    assert OPEN * found["observers"] <= found["both"]


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_both_sides_find_deliberate_faults_of_the_rules(contract):
    """
    Whatever monitors find where rules are broken, observers find; monitors leave little open of what observers find.
    """
    books = [load_rules(contract, changes=(fault.change,)) for fault in faults(contract)]
    found = told_apart(contract, (judge(schedule(contract, seed), book) for book in books for seed in BROKEN))

    assert found["monitors"] == 0
    assert OPEN * found["observers"] <= found["both"]
