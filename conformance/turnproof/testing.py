"""
Offer what people need who write tests of their own: the public, stable part of turnproof for Python.

Three ways in, from the least to the most of your own:

- ``assert_conforms(candidate)`` in one test: the whole suite, all failing rules in one message.
- The pytest plugin (``turnproof.pytest_plugin``): one test for each rule, and one for each race.
- ``AgentMachine``: a Hypothesis state machine to subclass, with rules, invariants and weights of your own; a failing
  schedule is shrunk by Hypothesis and kept in its example database::

      class MyAgent(AgentMachine):
          candidate = ChildCandidate(["node", "my-driver.mjs"])

          @rule()
          def impatient_user(self):
              self.give(followup(self.generator.message()))
              self.give(Cancel("user"))

      TestMyAgent = MyAgent.TestCase

Every command that such a rule gives goes to the candidate, to the rules of the contract and to the monitors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from turnproof.agent_machine import AgentMachine
from turnproof.candidate import Candidate, ChildCandidate, InProcessCandidate
from turnproof.expectations import Assessment, Expectation, assess, read_expectations
from turnproof.faults import DriverFault, Fault
from turnproof.limits import Limits
from turnproof.races import UnknownRaceError
from turnproof.results import CapsuleResult, RaceResult, RuleResult, RunResult
from turnproof.runner import run
from turnproof.trial import RuleBrokenError, RuleFailure
from turnproof_model.vocabulary import (
    Arm,
    Batch,
    Cancel,
    Command,
    Contract,
    Dispose,
    Inspect,
    Message,
    Release,
    Reset,
    Resume,
    Send,
    Source,
    followup,
    inject,
    steer,
)

__all__ = [
    "AgentMachine",
    "Arm",
    "Assessment",
    "Batch",
    "Cancel",
    "Candidate",
    "CapsuleResult",
    "ChildCandidate",
    "Command",
    "Contract",
    "Dispose",
    "DriverFault",
    "Expectation",
    "Fault",
    "InProcessCandidate",
    "Inspect",
    "Limits",
    "Message",
    "NotConformingError",
    "RaceResult",
    "Release",
    "Reset",
    "Resume",
    "RuleBrokenError",
    "RuleFailure",
    "RuleResult",
    "RunResult",
    "Send",
    "Source",
    "UnknownRaceError",
    "assert_conforms",
    "followup",
    "inject",
    "judge",
    "steer",
]


class NotConformingError(AssertionError):
    """Say what a run found that nobody expected; ``assessment`` holds all of it."""

    def __init__(self, assessment: Assessment) -> None:
        super().__init__(_words(assessment))
        self.assessment = assessment


def judge(
    candidate: Candidate,
    contract: Contract | None = None,
    *,
    commands: int = 20_000,
    seed: int = 1,
    capsules: Path | None = None,
    expectations: Path | Sequence[Expectation] = (),
    races: Sequence[str] = (),
) -> Assessment:
    """
    Run the suite on a candidate, and hold the run against what is expected to fail.

    Args:
        candidate: to be judged.
        contract: to judge by; by default the one that the candidate declares.
        commands: how many to send; 0 leaves the search out, for races alone.
        seed: where all choices come from.
        capsules: the folder that failures are kept in; by default none are.
        expectations: a TOML file, or the expectations themselves.
        races: names of races to play before the search, ``all`` being all of them.

    Raises:
        UnknownRaceError: no race has one of these names.
        ValueError: the candidate declares another contract, or the file can't be read.
    """
    listed = read_expectations(expectations) if isinstance(expectations, Path) else tuple(expectations)
    result = run(candidate, contract, commands=commands, seed=seed, capsules=capsules, races=races)
    return assess(result, listed, str(expectations) if isinstance(expectations, Path) else None)


def assert_conforms(
    candidate: Candidate,
    contract: Contract | None = None,
    *,
    commands: int = 20_000,
    seed: int = 1,
    capsules: Path | None = None,
    expectations: Path | Sequence[Expectation] = (),
    races: Sequence[str] = (),
) -> Assessment:
    """
    Run the suite on a candidate and fail unless all is as expected; the arguments are those of ``judge``.

    Raises:
        NotConformingError: a rule failed unexpectedly, an expectation is stale, the driver broke down, or the run shows
            too little to tell.
    """
    assessment = judge(
        candidate,
        contract,
        commands=commands,
        seed=seed,
        capsules=capsules,
        expectations=expectations,
        races=races,
    )
    if assessment.verdict != "conforms":
        raise NotConformingError(assessment)
    return assessment


def _words(assessment: Assessment) -> str:
    """Say what was found: each unexpected failure as text, then what else is wrong."""
    result = assessment.result
    lines = [f"{result.agent.name} {result.agent.version} under contract {result.contract}: {assessment.verdict}"]
    lines += [failure.text for failure in assessment.unexpected]
    lines += [f"stale expectation: {expectation.rule}: {expectation.words}" for expectation in assessment.stale]
    lines += [f"not met: {e.rule} is expected to fail and was not exercised" for e in assessment.unmet]
    lines += [f"driver fault: {fault}" for fault in result.driver_faults]
    return "\n".join(lines)
