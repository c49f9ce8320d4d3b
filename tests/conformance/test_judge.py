"""A run finds what is wrong with a candidate, names the rule, and tells a broken driver from a broken rule."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from attrs import frozen
from click.testing import CliRunner

from turnproof.candidate import ChildCandidate, InProcessCandidate
from turnproof.cli import cli
from turnproof.limits import Limits
from turnproof.runner import MOST_FAULTS, run

TESTS = Path(__file__).parents[1]
BUDGET = 20_000


def reference(contract, **kwargs):
    return InProcessCandidate("turnproof_reference.driver:Driver", {"contract": contract, **kwargs})


def test_a_run_shrinks_what_it_finds_to_a_schedule_of_a_few_commands(tmp_path):
    """
    C-SEND-3: sending one message twice while it is pending shows an agent that accepts it twice.
    """
    result = run(reference("claim", fault="duplicate-accepted"), commands=200, capsules=tmp_path)
    shortest = min((item for item in result.capsules if "C-SEND-3" in item.rules), key=lambda item: item.commands)

    assert result.exit_code == 1
    assert shortest.commands <= 4
    assert {path.stem for path in tmp_path.iterdir()} == {item.name for item in result.capsules}


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_two_runs_with_one_seed_tell_the_same(contract):
    """Everything but the time that passed comes from the seed."""
    first, second = (run(reference(contract), commands=400, seed=7).to_json() for _ in range(2))

    assert first | {"seconds": 0} == second | {"seconds": 0}
    assert first["verdict"] == "conforms"


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_other_seeds_give_other_schedules(contract):
    """What is exercised how often depends on the seed alone."""
    results = [run(reference(contract), commands=400, seed=seed) for seed in (1, 2)]

    assert results[0].rules != results[1].rules


# ---------------------------------------------------------------------------------------------------- driver faults
def breaking_down(defect, at):
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    command = [sys.executable, "-m", "miniature_drivers.breakdowns", defect, str(at)]
    return ChildCandidate(command, env={"PYTHONPATH": path})


@frozen
class Hasty:
    """Be a candidate whose driver is not waited for."""

    candidate: ChildCandidate

    def connect(self, limits=None):
        assert limits is None
        return self.candidate.connect(Limits(request_seconds=0.2, grace_seconds=0.05, line_bytes=1 << 16))


@pytest.mark.parametrize(
    ("defect", "kind"),
    [("hangs", "hung"), ("dies", "exited"), ("answers_garbage", "malformed-line"), ("floods", "flooded")],
)
def test_a_driver_that_breaks_down_is_a_verdict_of_its_own(defect, kind):
    """Each restart ends in the same breakdown; no rule has failed, and none is called passed for long."""
    result = run(Hasty(breaking_down(defect, at=20)), commands=BUDGET)

    assert result.exit_code == 3
    assert [fault.kind for fault in result.driver_faults] == [kind] * MOST_FAULTS
    for fault in result.driver_faults:
        assert fault.stderr == f"about to break down: {defect}\n"
        assert fault.answered == 19
        assert fault.exchanges[-1].answer is None


def test_a_breakdown_is_shown_with_its_last_requests_and_words():
    """The command ends with status 3, and what it prints is enough to see what the driver was asked."""
    candidate = breaking_down("dies", at=5)
    arguments = ["run", "mine", "--commands", "50", "--", *candidate.argv]

    shown = CliRunner(env=dict(candidate.env)).invoke(cli, arguments)

    assert shown.exit_code == 3
    assert "exited" in shown.output
    assert "about to break down: dies" in shown.output
    assert "after 4 answers" in shown.output
    assert "reset" in shown.output
