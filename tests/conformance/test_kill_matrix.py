"""Every deliberate defect dies by a rule that it breaks, and every rule that can be seen kills one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from turnproof.candidate import InProcessCandidate
from turnproof.capsule import read_capsule, replay_capsule
from turnproof.cli import cli
from turnproof.killmatrix import Hunt, Matrix, Plan, Row, UnknownDefectError, defects, hunt, measure
from turnproof.killmatrix.defects import binding
from turnproof_model.contracts import CONTRACTS

QUICK = ("duplicate-accepted", "silent-discard")
"""Defects that any search meets within a few dozen commands."""


def invoked(*arguments):
    return CliRunner().invoke(cli, ["faults", *arguments])


# ---------------------------------------------------------------------------------------------------- the gate
@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_defect_dies_by_a_rule_that_it_breaks_and_every_rule_kills(contract):
    """One seed stands for the ten of a full measurement, ``turnproof faults``."""
    matrix = measure(Plan(defects(contract), seeds=(1,)))

    assert [row.defect.name for row in matrix.unkilled] == []
    assert matrix.kills_nothing == ()
    assert matrix.median <= 1_000
    assert matrix.exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_tours_kill_nineteen_of_twenty_defects(contract):
    """A quarter of the defects stands for all, which ``turnproof faults --tour`` measures; nothing of it is random."""
    quarter = defects(contract)[::4]

    matrix = measure(Plan(quarter, seeds=(), tour=True))

    killed, total = matrix.share("tour")
    assert total == len(quarter)
    assert killed >= 0.95 * total


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_defect_was_made_for_every_rule(contract):
    assert {*binding(contract)} <= {defect.rule for defect in defects(contract)}


# ---------------------------------------------------------------------------------------------------- hunting
def test_a_hunt_ends_with_the_failure_that_names_a_rule_of_the_defect():
    (defect,) = defects("claim", ["duplicate-accepted"])

    found = hunt(defect, seed=1, budget=5_000)

    assert set(found.killer.rules) & set(defect.rules)
    assert found.named[-1] == found.killer.rules
    assert found.commands >= len(found.killer.schedule)
    assert hunt(defect, seed=1, budget=5_000) == found


def test_a_defect_that_is_not_met_within_the_budget_has_survived():
    (defect,) = defects("claim", ["duplicate-accepted"])

    matrix = measure(Plan((defect,), seeds=(1, 2), budget=1))

    assert [hunt.commands for hunt in matrix.rows[0].hunts] == [None, None]
    assert (matrix.unkilled, matrix.median, matrix.worst, matrix.exit_code) == (matrix.rows, None, None, 1)
    assert matrix.kills_nothing == defect.rules
    assert matrix.to_json()["unkilled"] == ["duplicate-accepted"]


def test_a_defect_that_survives_one_seed_of_two_is_not_killed():
    (defect,) = defects("claim", ["runs-after-disposal"])
    needed = max(hunt(defect, seed, 5_000).commands for seed in (1, 2))
    fewest = min(hunt(defect, seed, 5_000).commands for seed in (1, 2))

    assert measure(Plan((defect,), seeds=(1, 2), budget=needed)).exit_code == 0
    assert needed > fewest
    assert measure(Plan((defect,), seeds=(1, 2), budget=needed - 1)).exit_code == 1


def test_how_many_processes_are_at_work_changes_nothing():
    plan = Plan(defects("claim", QUICK), seeds=(1, 2), budget=2_000, races=True)

    assert measure(evolve(plan, jobs=2)).to_json() == measure(plan).to_json()


def test_races_alone_kill_too_and_are_named():
    plan = Plan(defects("claim", ["late-bit"]), seeds=(), races=True)

    matrix = measure(plan)

    assert matrix.rows[0].races == ("late-prompt-taken-back",)
    assert (matrix.exit_code, matrix.share("races")) == (0, (1, 1))


def test_a_tour_kills_too_and_tells_after_how_many_commands():
    plan = Plan(defects("claim", ["silent-discard"]), seeds=(), tour=True)

    matrix = measure(plan)

    assert matrix.rows[0].tour > 0
    assert (matrix.exit_code, matrix.share("tour"), matrix.share("races")) == (0, (1, 1), None)
    assert measure(plan) == matrix


def test_the_kill_of_each_defect_is_kept_as_a_capsule_that_kills_it_again(tmp_path):
    (defect,) = defects("claim", ["silent-discard"])

    matrix = measure(Plan((defect,), seeds=(1,), capsules=tmp_path))

    capsule = read_capsule(Path(matrix.rows[0].capsule))
    sound = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": "claim"})
    assert replay_capsule(capsule, defect.candidate.connect()).verdict == "reproduced"
    assert replay_capsule(capsule, sound.connect()).verdict == "passed"
    assert len(capsule.commands) <= 3


# ---------------------------------------------------------------------------------------------------- rules
def row(name, *named, commands=10):
    (defect,) = defects("claim", [name])
    return Row(defect, (Hunt(1, commands, named),))


def test_a_rule_kills_alone_where_a_failure_names_no_other():
    rows = (row("duplicate-accepted", ("C-SEND-3",)), row("late-bit", ("C-STAT-1", "C-WAKE-3"), ("C-STAT-1",)))

    matrix = Matrix(rows, (1,), 100)

    assert matrix.rules == ("C-SEND-3", "C-WAKE-3")
    assert matrix.kills_nothing == ()
    assert matrix.kills_nothing_alone == ("C-WAKE-3",)


def test_the_defect_in_the_middle_is_a_survivor_where_most_survive():
    dead, alive = row("duplicate-accepted", ("C-SEND-3",), commands=7), row("late-bit", commands=None)

    assert Matrix((dead, dead, alive), (1,), 100).median == 7
    assert Matrix((dead, alive, alive), (1,), 100).median is None
    assert Matrix((dead, alive), (1,), 100).worst == 7


def test_the_search_goes_on_for_a_rule_that_has_killed_nothing_yet():
    """The defect dies by another of its rules first."""
    (defect,) = defects("window", ["silent-drop"])
    first = hunt(defect, 1, 5_000)

    matrix = measure(Plan((evolve(defect, rules=("W-WAKE-4", *first.killer.rules)),), seeds=(1,)))

    assert "W-WAKE-4" not in first.killer.rules
    assert matrix.rows[0].commands == (first.commands,)
    assert "W-WAKE-4" in matrix.rows[0].extra[0].killer.rules


def test_an_unknown_defect_is_refused():
    with pytest.raises(UnknownDefectError, match="no-such"):
        defects("window", ["no-such"])


# ---------------------------------------------------------------------------------------------------- command
def test_the_command_prints_a_line_for_each_defect_and_the_sum():
    shown = invoked("--contract", "claim", *(f"--fault={name}" for name in QUICK), "--seeds", "1", "--jobs", "1")

    assert shown.exit_code == 0
    assert shown.output.split()[:3] == ["duplicate-accepted", "claim", "C-SEND-3"]
    assert "2 of 2 defects killed by a rule of theirs" in shown.output


def test_the_command_writes_the_matrix_as_json_and_nothing_else():
    shown = invoked("--fault", "duplicate-accepted", "--seeds", "1..2", "--commands", "1", "--jobs", "1", "--json", "-")

    document = json.loads(shown.stdout)
    assert shown.exit_code == 1
    assert (document["schema"], document["unkilled"]) == ("turnproof/faults/1", ["duplicate-accepted"])
    assert document["faults"][0]["seeds"] == {"1": None, "2": None}


def test_the_command_lists_the_defects():
    shown = invoked("--list", "--contract", "claim")

    assert len(shown.output.splitlines()) == len(defects("claim"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(("--fault", "no-such"), "no-such"), (("--seeds", "none"), "--races"), (("--seeds", "3..1"), "3..1")],
)
def test_the_command_refuses_what_makes_no_sense(arguments, told):
    shown = invoked(*arguments)

    assert shown.exit_code != 0
    assert told in shown.output + str(shown.exception)
