"""
Shards of a search become one run.
"""

from __future__ import annotations

import pytest
from finished_runs import failure, finished

from turnproof.merging import merged
from turnproof.results import Coverage, ResultError


def test_a_rule_that_failed_in_one_shard_failed() -> None:
    whole = merged([finished(passed=("C-DIS-1",)), finished(failure("C-DIS-1"))])

    assert [(rule.id, rule.verdict, rule.exercised, rule.capsules) for rule in whole.rules] == [
        ("C-DIS-1", "failed", 3, ("C-DIS-1-0",))
    ]


def test_a_rule_that_one_shard_exercised_was_exercised() -> None:
    whole = merged([finished(passed=(), not_exercised=("C-DIS-1",)), finished(passed=("C-DIS-1",))])

    assert [(rule.verdict, rule.exercised) for rule in whole.rules] == [("passed", 2)]


def test_the_same_way_of_failing_is_kept_once_with_its_shortest_schedule() -> None:
    long, short = failure("C-DIS-1", name="long", commands=9), failure("C-DIS-1", name="short", commands=2)

    whole = merged([finished(long), finished(short)])

    assert [(capsule.name, capsule.occurrences) for capsule in whole.capsules] == [("short", 2)]
    assert whole.rule("C-DIS-1").capsules == ("short",)


def test_commands_are_added_up_and_the_first_seed_is_named() -> None:
    whole = merged([finished(seed=5, commands=10), finished(seed=4, commands=20)])

    assert (whole.seed, whole.commands) == (4, 30)


def test_a_freedom_keeps_the_values_that_explain_all_shards() -> None:
    one, other = {"after-reject": ["park", "continue"]}, {"after-reject": ["continue"], "idle-context": ["any"]}

    whole = merged([finished(latitude=one), finished(latitude=other)])

    assert whole.latitude == {"after-reject": ["continue"], "idle-context": ["any"]}


def test_shards_cover_together_what_each_of_them_covers() -> None:
    one, other = Coverage(1, 3, ("b", "c")), Coverage(2, 3, ("b",))

    whole = merged([finished(coverage={"transitions": one}), finished(coverage={"transitions": other})])

    assert whole.coverage == {"transitions": Coverage(2, 3, ("b",))}


def test_coverage_that_is_not_listed_is_never_added_up() -> None:
    one, other = Coverage(1, 3), Coverage(2, 3)

    whole = merged([finished(coverage={"transitions": one}), finished(coverage={"transitions": other})])

    assert whole.coverage == {"transitions": other}


def test_runs_of_two_versions_are_not_joined() -> None:
    with pytest.raises(ResultError, match=r"mine 1\.2\.0 under claim and mine 1\.3\.0 under claim"):
        merged([finished(), finished(version="1.3.0")])
