"""
Play failures of one run on the candidate of another, to tell what is new from what was only found later.

Two searches don't meet the same failures, even with one seed: the first that differs changes all that comes after it.
Whether a failure is new is a question to the other candidate, not to the other run.
"""

from __future__ import annotations

from collections.abc import Sequence

from turnproof.candidate import Candidate
from turnproof.results import CapsuleResult
from turnproof.shrink import play
from turnproof.trial import Trial
from turnproof_model.vocabulary import Contract


def shared(candidate: Candidate, contract: Contract, failures: Sequence[CapsuleResult]) -> frozenset[str]:
    """
    Name the failures that a candidate shows too: one of the same rules breaks on the same commands.

    Args:
        candidate: of the other run.
        contract: of both runs.
        failures: of one run; those without evidence can't be played.

    Raises:
        DriverFault: the candidate's driver broke down.
        UsageError: it can't be found.
    """
    client = candidate.connect()
    out: set[str] = set()
    try:
        for failure in failures:
            if failure.evidence is None:
                continue
            trial = Trial.open(client, contract)
            met = play(trial, tuple(step.command for step in failure.evidence.steps))
            if met is not None and set(met.rules) & set(failure.rules):
                out.add(failure.name)
    finally:
        client.close()
    return frozenset(out)
