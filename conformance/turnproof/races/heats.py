"""
Play several races on one candidate, one after the other, and go on past those that break its driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from attrs import define, field

from turnproof.candidate import Candidate
from turnproof.client import Client
from turnproof.faults import DriverFault, Fault
from turnproof.merging import agreeing
from turnproof.races.catalogue import ALL, Race, named, race
from turnproof.races.playing import Played, play
from turnproof.results import RaceResult
from turnproof_model.observation import Profile
from turnproof_model.vocabulary import Contract

MOST_FAULTS = 3
"""Breakdowns of the driver after which no further race is played."""


@define
class Heats:
    """Hold what several races showed; ``profile`` is ``None`` where the driver never told who it is."""

    profile: Profile | None = None
    played: list[Played] = field(factory=list)
    faults: list[Fault] = field(factory=list)
    interrupted: bool = False

    @property
    def latitude(self) -> dict[str, list[str]]:
        """The values of each freedom that explain all of them."""
        return reduce(agreeing, (one.latitude for one in self.played), {})


def compete(candidate: Candidate, contract: Contract | None, names: Sequence[str]) -> Heats:
    """
    Play races.

    Args:
        candidate: to be driven.
        contract: to judge by; by default the one that the candidate declares.
        names: of the races, ``all`` being all of them; those of another contract are left out.

    Raises:
        UnknownRaceError: no race has one of these names.
        ValueError: the candidate declares another contract.
    """
    heats = Heats()
    client = candidate.connect()
    try:
        profile = heats.profile = client.initialize()
        if contract not in (None, profile.contract):
            raise ValueError(f"the candidate declares contract {profile.contract!r}, not {contract!r}")
        chosen = named(names, profile.contract)
        for one in chosen:
            heats.played.append(_heat(client, profile, one, heats.faults))
        heats.played.extend(_elsewhere({*names} - {ALL} - {one.name for one in chosen}))
    except DriverFault as fault:
        heats.faults.append(fault.fault)
    except KeyboardInterrupt:
        heats.interrupted = True
    finally:
        client.close()
    return heats


def _elsewhere(names: set[str]) -> list[Played]:
    """Say of races that were asked for that they run under another contract."""
    return [
        Played(RaceResult(name, "not-applicable", reason=f"runs under contract {race(name)[0].contract} alone"))
        for name in sorted(names)
    ]


def _heat(client: Client, profile: Profile, one: Race, faults: list[Fault]) -> Played:
    """Play one race; a driver that breaks down in it is started again for the next."""
    if len(faults) >= MOST_FAULTS:
        return Played(RaceResult(one.name, "not-exercised", reason="the driver keeps breaking down"))
    try:
        return play(client, profile, one)
    except DriverFault as fault:
        faults.append(fault.fault)
        client.initialize()
        return Played(RaceResult(one.name, "not-exercised", reason=f"the driver broke down ({fault.fault.kind})"))
