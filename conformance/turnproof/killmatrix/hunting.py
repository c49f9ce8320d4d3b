"""
Let the usual search loose on one defect until a failure names one of its rules, and count the commands.

It is the search of ``turnproof run``, with the same engine and the same choices, cut off at the kill.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from attrs import define, field, frozen

from turnproof.engine import Engine, search
from turnproof.faults import DriverFault
from turnproof.killmatrix.defects import Defect
from turnproof.openings import openings
from turnproof.runner import MOST_FAULTS, ROUND
from turnproof.trial import RuleFailure, Trial
from turnproof_model.vocabulary import Command


@frozen
class Hunt:
    """
    Hold what one search for one defect came to.

    Attributes:
        commands: sent up to the kill; ``None`` where the budget was spent before.
        named: the rules of each distinct failure up to then, in order.
        killer: the failure that named one of the defect's rules.
    """

    seed: int
    commands: int | None
    named: tuple[tuple[str, ...], ...]
    killer: RuleFailure | None = None


@define
class _Hunter:
    """Collect failures until one names a wanted rule."""

    wanted: frozenset[str]
    named: dict[tuple[str, ...], None] = field(factory=dict)
    killer: RuleFailure | None = None

    def collect(self, failure: RuleFailure) -> bool:
        """Note the rules, and say whether to search on; what only monitors object to accuses nobody."""
        if failure.disagreement:
            return True
        self.named[failure.rules] = None
        if not self.wanted.isdisjoint(failure.rules):
            self.killer = failure
        return self.killer is None


def hunt(defect: Defect, seed: int, budget: int, wanted: Collection[str] = ()) -> Hunt:
    """
    Search for a defect.

    Args:
        defect: to be found.
        seed: where all choices come from.
        budget: commands to send at most, ≥ 1.
        wanted: ids of the rules of which one must be named; by default those of the defect.
    """
    hunter = _Hunter(frozenset(wanted or defect.rules))
    sent = breakdowns = 0
    first: Iterator[Sequence[Command]] | None = None
    client = defect.candidate.connect()
    try:
        while hunter.killer is None and sent < budget and breakdowns < MOST_FAULTS:
            trial = Trial.open(client, defect.contract)
            first = openings(trial.profile) if first is None else first
            try:
                search(Engine(trial, hunter.collect, budget - sent), seed + breakdowns * ROUND, first=first)
            except DriverFault:
                breakdowns += 1  # a defect may hang or spin; what is left of the budget goes to another round
            sent += trial.commands
    finally:
        client.close()
    return Hunt(seed, sent if hunter.killer is not None else None, tuple(hunter.named), hunter.killer)
