"""A tour leads a candidate through every transition that it can be led through, and says what it couldn't reach."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from modest import modest

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.cli import cli
from turnproof.results import RunResult
from turnproof.runner import run
from turnproof.tour import take
from turnproof.trial import RuleFailure, Trial

CONTRACTS = ("window", "claim")


def toured(candidate: InProcessCandidate) -> RunResult:
    return run(candidate, commands=0, tour=True)


def first_failure(contract: str, fault: str) -> tuple[RuleFailure, int]:
    met: list[RuleFailure] = []

    def collect(failure: RuleFailure) -> bool:
        met.append(failure)
        return False

    client = InProcessCandidate(REFERENCE_DRIVER, {"contract": contract, "fault": fault}).connect()
    try:
        trial = Trial.open(client)
        take(trial, collect)
    finally:
        client.close()
    return met[0], trial.commands


@pytest.fixture(scope="module")
def sound() -> RunResult:
    """A tour of a sound agent that declares little."""
    return toured(modest())


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_reference_agent_is_led_through_everything(contract: str) -> None:
    result = toured(InProcessCandidate(REFERENCE_DRIVER, {"contract": contract}))

    assert result.verdict == "conforms"
    assert [name for name, part in result.coverage.items() if part.missing or part.covered != part.total] == []
    assert (result.coverage["transitions"].total or 0) > 5_000


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_a_candidate_does_not_declare_is_neither_tried_nor_missed(contract: str) -> None:
    result = toured(modest(contract, declared=("inbox",)))

    whole = result.coverage["transitions"]
    assert result.verdict == "conforms"
    assert (whole.covered, whole.missing) == (whole.total, ())
    assert result.coverage["stacks"].total == 0


def test_a_tour_is_the_same_every_time(sound: RunResult) -> None:
    again = toured(modest())

    assert (again.commands, again.examples) == (sound.commands, sound.examples)
    assert again.coverage == sound.coverage


def test_a_broken_agent_loses_what_lies_in_and_behind_its_failures(sound: RunResult) -> None:
    result = toured(modest(fault="keep-inbox-ignored"))

    lost = result.coverage["transitions"]
    assert result.verdict == "fails"
    assert lost.total == sound.coverage["transitions"].total
    assert 0 < (lost.covered or 0) < (lost.total or 0)
    assert any("cancel keep" in name for name in lost.missing)


def test_a_driver_that_breaks_down_is_started_again_and_the_tour_goes_on(sound: RunResult) -> None:
    result = toured(modest(breaks_at=sound.commands // 2))

    whole = result.coverage["transitions"]
    assert len(result.driver_faults) == 1
    assert (whole.covered or 0) >= (whole.total or 0) - 1


@pytest.mark.parametrize(
    ("contract", "fault"),
    [("window", "steering-before-prompt"), ("window", "last-cause-wins"), ("claim", "last-moment-wake-lost")],
)
def test_a_tour_comes_upon_a_defect_after_the_same_commands_each_time(contract: str, fault: str) -> None:
    one, other = first_failure(contract, fault), first_failure(contract, fault)

    assert one[0].schedule == other[0].schedule
    assert one[1] == other[1]


def test_a_run_plays_the_tour_first_and_then_the_search() -> None:
    result = run(modest(declared=("inbox",)), commands=50, tour=True)
    alone = toured(modest(declared=("inbox",)))

    assert result.commands == alone.commands + 50


def test_the_command_line_tours_where_it_is_asked_to() -> None:
    ended = CliRunner().invoke(cli, ["run", "modest:ModestDriver", "--tour"])

    assert ended.exit_code == 0
    assert "(100.0 %)" in ended.output
