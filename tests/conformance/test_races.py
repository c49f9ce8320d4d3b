"""Each race is passed by a sound agent, lost by one that has its bug, and never passed by one that wasn't there."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from turnproof.candidate import ChildCandidate, InProcessCandidate
from turnproof.cli import cli
from turnproof.expectations import Expectation, assess
from turnproof.merging import merged
from turnproof.races import UnknownRaceError, compete, named, play, race, races
from turnproof.races.heats import MOST_FAULTS
from turnproof.results import run_from_json
from turnproof.runner import run
from turnproof.testing import NotConformingError, assert_conforms
from turnproof_model import catalogue
from turnproof_reference.driver.contracts import faults_of

ROOT = Path(__file__).parents[2]
KNOWN_CASES = {json.loads(path.read_text())["source"] for path in (ROOT / "tests/data/cases").glob("*.json")}
DEVIATIONS = (ROOT / "docs/deviations.md").read_text(encoding="utf-8")
ALL = races()


def named_with_contract(one):
    return f"{one.name}-{one.contract}"


def defective(fault):
    """The reference agent of contract ``claim`` with a defect."""
    return InProcessCandidate(
        "turnproof_reference.driver:Driver", {"contract": "claim"} | ({"fault": fault} if fault else {})
    )


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


# ---------------------------------------------------------------------------------------------------- runs
def invoked(*arguments):
    return CliRunner().invoke(cli, arguments)


def ran(*arguments):
    """Run races by the command line; give the run's document and the exit code."""
    shown = invoked("run", *arguments, "--json", "-")
    return json.loads(shown.stdout), shown.exit_code


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Keep what runs write out of the working directory."""
    monkeypatch.chdir(tmp_path)


def test_a_run_of_races_says_which_were_run_and_what_came_of_them():
    document, code = ran("reference", "--race", "steer-inside-turn-end", "--race", "steer-after-last-poll")

    assert (code, document["verdict"], document["commands"]) == (0, "conforms", 0)
    assert document["races"] == [
        {"name": "steer-after-last-poll", "verdict": "passed"},
        {"name": "steer-inside-turn-end", "verdict": "passed"},
    ]


def test_a_lost_race_is_a_failure_of_the_run_with_a_capsule():
    document, code = ran(
        *("reference", "--contract", "claim", "--fault", "late-bit", "--race", "late-prompt-taken-back")
    )

    (lost,), (failure,) = document["races"], document["failures"]
    assert (code, lost["verdict"], lost["rules"]) == (1, "failed", ["C-WAKE-3"])
    assert (lost["capsule"], lost["signature"]) == (failure["capsule"], failure["signature"])


def test_a_run_keeps_its_races_when_it_is_written_and_read():
    result = run(defective("late-bit"), commands=0, races=["all"])

    assert run_from_json(json.loads(json.dumps(result.to_json()))).races == result.races
    assert {race.verdict for race in result.races} == {"passed", "failed"}


def test_a_search_follows_the_races_where_it_was_asked_for():
    document, _ = ran("reference", "--race", "steer-after-last-poll", "--commands", "60")

    assert document["commands"] == 60
    assert len(document["races"]) == 1


def test_a_run_without_any_race_that_applies_is_inconclusive():
    document, code = ran("reference", "--contract", "window", "--race", "late-prompt-taken-back")

    assert (code, document["verdict"]) == (4, "inconclusive")
    assert document["races"][0]["verdict"] == "not-applicable"
    assert document["races"][0]["reason"] == "runs under contract claim alone"


def test_a_race_lost_by_an_expected_failure_alone_is_expected():
    result = run(defective("late-bit"), commands=0, races=["late-prompt-taken-back"])

    (lost,) = result.races
    assert assess(result).race_outcome(lost) == "failed"
    assert assess(result, [Expectation("C-WAKE-3", "known")]).race_outcome(lost) == "expected"
    assert assess(result, [Expectation("C-WAKE-3", "known")]).race_reasons(lost) == ("known",)
    assert assess(result, [Expectation("C-SEND-1", "another")]).race_outcome(lost) == "failed"


def test_a_test_of_ones_own_can_run_races_alone():
    named_ones = ["stop-at-enqueue", "late-prompt-taken-back"]

    assert assert_conforms(defective(None), commands=0, races=named_ones).result.commands == 0
    with pytest.raises(NotConformingError, match="C-WAKE-3"):
        assert_conforms(defective("late-bit"), commands=0, races=named_ones)


def test_joined_runs_name_each_race_once_and_a_lost_one_lost():
    lost = run(defective("late-bit"), commands=0, races=["late-prompt-taken-back"])
    sound = run(defective(None), commands=0, races=["late-prompt-taken-back", "stop-at-enqueue"])

    joint = merged([sound, lost])

    assert {race.name: race.verdict for race in joint.races} == {
        "late-prompt-taken-back": "failed",
        "stop-at-enqueue": "passed",
    }
    assert joint.races[0].capsule == joint.capsules[0].name


def test_a_driver_that_breaks_down_in_every_race_has_passed_none():
    path = os.pathsep.join([str(ROOT / "tests"), *filter(None, sys.path)])
    command = [sys.executable, "-m", "miniature_drivers.breakdowns", "dies", "3"]

    heats = compete(ChildCandidate(command, env={"PYTHONPATH": path}), None, ["all"])

    assert len(heats.faults) == MOST_FAULTS
    assert {one.result.verdict for one in heats.played} <= {"not-exercised", "not-applicable"}
    assert "keeps breaking down" in heats.played[-1].result.reason


def test_races_of_another_contract_than_the_candidate_declares_are_refused():
    with pytest.raises(ValueError, match="declares contract 'claim'"):
        compete(defective(None), "window", ["all"])


# ---------------------------------------------------------------------------------------------------- command
def test_the_command_lists_all_races_and_shows_one():
    listed, shown = invoked("races", "--contract", "claim"), invoked("races", "steer-after-last-poll")

    assert len(listed.output.splitlines()) == len(races("claim"))
    for words in ("openclaw/openclaw#125035", "W-STEP-8", "contract claim", race("steer-after-last-poll")[0].score):
        assert words in shown.output


def test_the_command_writes_races_as_json():
    document = json.loads(invoked("races", "late-prompt-corrected", "--json", "-").stdout)

    assert document["schema"] == "turnproof/races/1"
    assert [one["contract"] for one in document["races"]] == ["claim"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("races", "no-such"), "got 'no-such'"),
        (("races", "late-prompt-corrected", "--contract", "window"), "doesn't run under contract window"),
        (("run", "reference", "--race", "no-such"), "got 'no-such'"),
    ],
)
def test_the_command_refuses_a_race_that_is_not_there(arguments, told):
    shown = invoked(*arguments)

    assert shown.exit_code == 2
    assert told in shown.output
