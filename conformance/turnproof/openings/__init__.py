"""
Keep the book of openings: short schedules in which much happens, that every search begins with.

A schedule that is drawn shows a defect by luck; these show many, each in a few commands. They lie beside this module,
one a line, those that show most for their length first. They were chosen by automatic mutants of the reference agents
and by the transitions that they reach, never by the defects that the suite is measured with;
``python -m mutants.book`` (in ``tests``) chooses them anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from attrs import evolve

from turnproof.notation import read_schedule
from turnproof.races.needs import needed
from turnproof_model import vocabulary as v
from turnproof_model.observation import Profile


def file_of(contract: v.Contract) -> Path:
    """Name the file of a contract."""
    return Path(__file__).with_name(f"{contract}.txt")


@lru_cache
def book(contract: v.Contract) -> tuple[tuple[v.Command, ...], ...]:
    """Read the openings of a contract, each from its reset on."""
    lines = file_of(contract).read_text(encoding="utf-8").splitlines()
    return tuple(map(read_schedule, lines))


def openings(profile: Profile) -> Iterator[tuple[v.Command, ...]]:
    """Give the openings that a candidate can be given, in order, each without what the candidate doesn't declare."""
    for opening in book(profile.contract):
        yield tuple(fitted for command in opening for fitted in _fitted(command, profile))


def _fitted(command: v.Command, profile: Profile) -> Iterator[v.Command]:
    """Leave a command out that needs what isn't declared; a reset keeps what it may ask for."""
    if all(map(profile.has, needed((command,)))):
        yield command
    elif isinstance(command, v.Reset):
        yield _without(command, profile)


def _without(reset: v.Reset, profile: Profile) -> v.Reset:
    gates = reset.gates if profile.has("gates.select") else None
    parked = reset.on_abort if profile.has("onAbort.select") else {}
    there = {kind for kind in (*(gates or ()), *parked) if all(map(profile.has, needed((v.Reset((kind,)),))[1:]))}
    return evolve(
        reset,
        gates=None if gates is None else tuple(kind for kind in gates if kind in there),
        on_abort={kind: style for kind, style in parked.items() if kind in there},
    )
