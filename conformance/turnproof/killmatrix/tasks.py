"""
Try one defect otherwise than by searching, and keep its kill as a capsule.
"""

from __future__ import annotations

from pathlib import Path

from turnproof.capsule import Capsule
from turnproof.killmatrix.defects import Defect
from turnproof.killmatrix.hunting import Hunt
from turnproof.races import compete
from turnproof.races.catalogue import ALL
from turnproof.runner import SHRINK_COMMANDS
from turnproof.shrink import shrink
from turnproof.trial import Trial


def lost_races(defect: Defect) -> tuple[str, ...]:
    """Name the races in which a failure names one of the defect's rules."""
    heats = compete(defect.candidate, defect.contract, (ALL,))
    return tuple(one.result.name for one in heats.played if not set(one.result.rules).isdisjoint(defect.rules))


def kept(defect: Defect, found: Hunt, folder: Path) -> str | None:
    """
    Shrink the failure that killed a defect and keep it.

    Returns:
        the file; ``None`` where nothing was killed.

    Raises:
        CapsuleError: the capsule can't be written.
    """
    if found.killer is None:
        return None
    client = defect.candidate.connect()
    trial = Trial.open(client, defect.contract, found.killer.assumed)
    shrunk = shrink(trial, found.killer, SHRINK_COMMANDS)
    client.close()
    capsule = Capsule.of(shrunk.failure, defect.contract, found.seed, trial.profile.implementation)
    return str(capsule.save(folder))
