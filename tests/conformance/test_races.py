"""Each race is passed by a sound agent, lost by one that has its bug, and never passed by one that wasn't there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from attrs import evolve

from turnproof.candidate import InProcessCandidate
from turnproof.races import UnknownRaceError, named, play, race, races
from turnproof_model import catalogue
from turnproof_reference.driver.contracts import faults_of

ROOT = Path(__file__).parents[2]
KNOWN_CASES = {json.loads(path.read_text())["source"] for path in (ROOT / "tests/data/cases").glob("*.json")}
DEVIATIONS = (ROOT / "docs/deviations.md").read_text(encoding="utf-8")
ALL = races()


def named_with_contract(one):
    return f"{one.name}-{one.contract}"


def played(one, fault=None, capabilities=()):
    keywords = {"contract": one.contract} | ({"fault": fault} if fault else {})
    client = InProcessCandidate("turnproof_reference.driver:Driver", keywords).connect()
    profile = client.initialize()
    lacking = dict.fromkeys(capabilities, False)
    found = play(client, evolve(profile, capabilities={**profile.capabilities, **lacking}), one)
    client.close()
    return found


@pytest.mark.parametrize("one", ALL, ids=named_with_contract)
def test_a_sound_agent_is_driven_to_the_moment_and_passes(one):
    found = played(one)

    assert (found.result.verdict, found.result.reason) == ("passed", None)


@pytest.mark.parametrize("one", ALL, ids=named_with_contract)
def test_the_agent_that_has_the_bug_loses_the_race_by_a_rule_of_the_bug(one):
    fault = faults_of(one.contract)[one.fault]

    found = played(one, fault.name)

    assert found.result.verdict == "failed"
    assert set(found.result.rules) & set(fault.rules)


@pytest.mark.parametrize("one", ALL, ids=named_with_contract)
def test_a_race_says_what_it_is_about_and_where_it_was_met(one):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", one.name)
    assert len(re.findall(r"[.](?= |$)", one.story)) == 2
    assert one.reaches
    for rule in one.rules:
        assert catalogue.rule(rule).family == one.contract
    for source in one.sources:
        kind, _, name = source.partition(" ")
        assert f"`{name}`" in DEVIATIONS if kind == "deviation" else source in KNOWN_CASES


def test_there_are_25_races_and_more_and_every_contract_has_its_share():
    assert len({one.name for one in ALL}) >= 25
    assert len(races("window")) >= 25
    assert len(races("claim")) >= 25
    assert len({(one.contract, one.score) for one in ALL}) == len(ALL)


# ---------------------------------------------------------------------------------------------------- honesty
def test_a_race_whose_moment_was_never_reached_is_not_passed():
    (one, _) = race("steer-after-last-poll")
    event, rule = "steering/message t9 s", "W-GOAL-1"

    elsewhere = played(evolve(one, reaches=(*one.reaches, event)))
    untouched = played(evolve(one, rules=(*one.rules, rule)))
    backwards = played(evolve(one, reaches=one.reaches[::-1]))

    assert (elsewhere.result.verdict, elsewhere.result.reason) == ("not-exercised", f"never reached: {event}")
    assert (untouched.result.verdict, untouched.result.reason) == ("not-exercised", f"never applied: {rule}")
    assert backwards.result.verdict == "not-exercised"


def test_an_agent_that_takes_another_way_has_not_passed():
    """A command that can't be given ends the race where it is."""
    (one, _) = race("steer-after-last-poll")

    found = played(evolve(one, schedule=one.schedule[:2] + one.schedule[4:]))

    assert found.result.verdict == "not-exercised"
    assert "no open gate" in found.result.reason


@pytest.mark.parametrize("one", [one for one in ALL if one.needs], ids=named_with_contract)
def test_a_race_is_not_applicable_without_what_it_needs(one):
    found = played(one, capabilities=one.needs[-1:])

    assert (found.result.verdict, found.result.reason) == ("not-applicable", f"needs {one.needs[-1]}")
    assert found.commands == 0


def test_needs_are_read_off_the_schedule():
    assert race("stop-during-parallel-tools")[0].needs == ("gates.select", "tools.parallel")
    assert race("prompt-rewritten-by-a-hook")[0].needs == ("gates.select", "prompt.content", "prompt.contexts")
    assert race("cancel-before-retry")[0].needs == ("gates.select", "request-error", "flush")


# ---------------------------------------------------------------------------------------------------- names
def test_races_are_chosen_by_name_for_one_contract():
    assert [one.name for one in named(["late-prompt-corrected", "steer-after-last-poll"], "claim")] == [
        "steer-after-last-poll",
        "late-prompt-corrected",
    ]
    assert named(["late-prompt-corrected"], "window") == ()
    assert named(["all"], "window") == races("window")


def test_an_unknown_race_is_answered_with_those_that_look_like_it():
    with pytest.raises(UnknownRaceError, match="did you mean steer-after-last-poll"):
        named(["steer-after-last-pol"], "window")
    with pytest.raises(ValueError, match="one of window, claim"):
        races("core")
