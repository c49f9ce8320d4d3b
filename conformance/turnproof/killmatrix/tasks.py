"""
Try one defect otherwise than by searching: in races, on a tour; and keep its kill as a capsule.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from turnproof.faults import DriverFault
from turnproof.keeping import keep
from turnproof.killmatrix.defects import Defect
from turnproof.killmatrix.hunting import Hunt
from turnproof.races import compete
from turnproof.races.catalogue import ALL
from turnproof.tour import take
from turnproof.trial import RuleFailure, Trial


def lost_races(defect: Defect) -> tuple[str, ...]:
    """Name the races in which a failure names one of the defect's rules."""
    heats = compete(defect.candidate, defect.contract, (ALL,))
    lost = [one for one in heats.played if one.failure is not None and not one.failure.disagreement]
    return tuple(one.result.name for one in lost if not set(one.result.rules).isdisjoint(defect.rules))


def toured(defect: Defect) -> int:
    """
    Lead the defective agent through every transition there is, until a failure names one of the defect's rules.

    Returns:
        the commands up to the kill; 0 where the tour ended without one.
    """
    killed = False

    def collect(failure: RuleFailure) -> bool:
        nonlocal killed
        killed = not failure.disagreement and not set(failure.rules).isdisjoint(defect.rules)
        return not killed

    client = defect.candidate.connect()
    try:
        trial = Trial.open(client, defect.contract)
        with suppress(DriverFault):  # where its driver breaks down the tour ends, and the defect has survived it
            take(trial, collect)
    finally:
        client.close()
    return trial.commands if killed else 0


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
    profile = client.initialize()
    client.close()
    return keep(defect.candidate, profile, found.killer, found.seed, folder)[0].file
