"""
Keep one failure: make its schedule short, play it once more for the evidence, and write the capsule.

Deterministic: the same failure of the same candidate is always kept in the same words.
"""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from turnproof.candidate import Candidate
from turnproof.capsule import Capsule
from turnproof.client import Client
from turnproof.evidence import gather, unrepeated
from turnproof.faults import DriverFault, Fault
from turnproof.results import CapsuleResult
from turnproof.score import schedule_text
from turnproof.shrink import shrink
from turnproof.trial import RuleFailure, Trial
from turnproof_model.observation import Profile
from turnproof_model.vocabulary import Contract

SHRINK_COMMANDS = 6_000
"""Commands spent on shrinking one failure at most."""

SHORT = 12
"""Commands of a schedule that a person reads at a glance."""


def keep(
    candidate: Candidate, profile: Profile, failure: RuleFailure, seed: int, folder: Path | None
) -> tuple[CapsuleResult, Fault | None]:
    """
    Shrink one failure and keep it as a capsule.

    Args:
        candidate: that failed.
        profile: what it declares.
        failure: as it was met.
        seed: of the search that met it.
        folder: where the capsule is kept; ``None`` keeps none.

    Returns:
        the failure as a run tells of it, met once; and how the driver broke down meanwhile, if it did.

    Raises:
        CapsuleError: the capsule can't be written.
    """
    evidence, fault = None, None
    client = candidate.connect()
    try:
        failure = _shrunk(client, profile.contract, failure)
        evidence = gather(client, profile.contract, failure.schedule, failure.assumed)
    except DriverFault as error:
        fault = error.fault
    finally:
        client.close()
    capsule = Capsule.of(failure, profile.contract, seed, profile.implementation)
    kept = CapsuleResult(
        capsule.name,
        failure.rules,
        len(failure.schedule),
        schedule_text(failure.schedule),
        capsule.text,
        disagreement=failure.disagreement,
        file=None if folder is None else str(capsule.save(folder)),
        signature=failure.signature.digest,
        reproduced=evidence is not None,
        evidence=evidence or unrepeated(failure),
    )
    return kept, fault


def _shrunk(client: Client, contract: Contract, failure: RuleFailure) -> RuleFailure:
    """Shrink without assumptions if that comes out short, else with what the candidate had shown before."""
    best: RuleFailure | None = None
    for assumed in dict.fromkeys(((), failure.assumed)):
        trial = Trial.open(client, contract, assumed)
        found = shrink(trial, failure, SHRINK_COMMANDS)
        if found.reproduced and (best is None or len(found.failure.schedule) < len(best.schedule)):
            best = evolve(found.failure, assumed=assumed)
        if best is not None and len(best.schedule) <= SHORT:
            break
    return best or failure
