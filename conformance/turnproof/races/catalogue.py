"""
Read the races: one table each, and in it one for each contract that the race can be run under.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

from attrs import frozen

from turnproof.notation import read_schedule
from turnproof.races.needs import needed
from turnproof.score import schedule_text
from turnproof_model.contracts import CONTRACTS
from turnproof_model.vocabulary import Command, Contract

ALL: Final = "all"
"""What stands for every race."""


class UnknownRaceError(KeyError):
    """Say that no race has this name; ``near`` lists the names that look like it."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        hint = f"did you mean {' or '.join(near)}?" if near else "list them with: turnproof races"
        super().__init__(f"a race must be one of the catalogue (got {name!r}); {hint}")
        self.name = name
        self.near = tuple(near)


@frozen
class Race:
    """
    Be one race, as it runs under one contract.

    Attributes:
        sources: where the bug was met: ``owner/repository#issue``, ``owner/repository@commit``, or ``deviation NAME``
            for one of ``docs/deviations.md``.
        rules: ids of the rules that it aims at; all of them must have applied for the race to be exercised.
        reaches: events, in the words of a score, that must have been published in this order for the same.
        fault: the defect of the reference agent that shows best what the race catches.
        needs: capabilities that a candidate must declare to be driven through it.
    """

    name: str
    contract: Contract
    story: str
    sources: tuple[str, ...]
    schedule: tuple[Command, ...]
    rules: tuple[str, ...]
    reaches: tuple[str, ...]
    fault: str
    needs: tuple[str, ...]

    @property
    def score(self) -> str:
        """The schedule on one line."""
        return schedule_text(self.schedule)

    def to_json(self) -> dict[str, Any]:
        """Write it as a JSON value."""
        return {
            "name": self.name,
            "contract": self.contract,
            "story": self.story,
            "sources": list(self.sources),
            "schedule": self.score,
            "rules": list(self.rules),
            "reaches": list(self.reaches),
            "fault": self.fault,
            "needs": list(self.needs),
        }


def races(contract: str | None = None) -> tuple[Race, ...]:
    """
    List the races of a contract, or of all of them, in the order of the catalogue.

    Raises:
        ValueError: no such contract.
    """
    if contract not in (None, *CONTRACTS):
        raise ValueError(f"a contract is one of {', '.join(CONTRACTS)} (got {contract!r})")
    return tuple(one for one in _load() if contract in (None, one.contract))


def race(name: str) -> tuple[Race, ...]:
    """
    Find a race by its name: one for each contract that it runs under.

    Raises:
        UnknownRaceError: no race has it; the message names the nearest.
    """
    found = tuple(one for one in _load() if one.name == name)
    if not found:
        known = dict.fromkeys(one.name for one in _load())
        raise UnknownRaceError(name, difflib.get_close_matches(name, known, n=3, cutoff=0.5))
    return found


def named(names: Sequence[str], contract: Contract) -> tuple[Race, ...]:
    """
    Choose races of a contract by name, ``all`` being all of them.

    Returns:
        in the order of the catalogue; what doesn't run under this contract is left out.

    Raises:
        UnknownRaceError: no race of any contract has one of these names.
    """
    wanted = {one.name for name in names if name != ALL for one in race(name)}
    return tuple(one for one in races(contract) if ALL in names or one.name in wanted)


@cache
def _load() -> tuple[Race, ...]:
    text = resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)["race"]
    return tuple(_race(table, contract) for table in tables for contract in CONTRACTS if contract in table)


def _race(table: Mapping[str, Any], contract: Contract) -> Race:
    own = table[contract]
    schedule = read_schedule(own["schedule"])
    return Race(
        table["name"],
        contract,
        table["story"],
        tuple(table["sources"]),
        schedule,
        tuple(own["rules"]),
        tuple(own["reaches"]),
        own["fault"],
        needed(schedule) + tuple(own.get("needs", ())),
    )
