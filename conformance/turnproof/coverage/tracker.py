"""
Follow the commands of a trial, and credit the transitions that a candidate has been seen to make.

Nothing is credited where the observation differs from what the rules demand, and no move where several readings of it
are left that disagree about the situation.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from attrs import define, field

from turnproof.coverage.denominator import Transition, inside, move, soon, stack, transitions, variant
from turnproof.coverage.moves import label, operation_label
from turnproof.coverage.shipped import shipped
from turnproof.coverage.situations import Situation, situation
from turnproof_model.observation import Implementation, Profile
from turnproof_model.vocabulary import Arm, Batch, Command, Contract, Reset


@define
class Tracker:
    """
    Collect what was reached.

    ``known``: what is credited. ``latest``: what the last command reached, whether for the first time or not.
    """

    known: AbstractSet[Transition]
    reached: set[Transition] = field(factory=set, init=False)
    latest: tuple[Transition, ...] = field(default=(), init=False)

    @classmethod
    def of(cls, profile: Profile) -> Tracker:
        """Follow a candidate, whatever freedoms it will show."""
        return cls(_known(profile.contract, frozenset(filter(profile.has, profile.capabilities))))

    def note(self, command: Command, before: Any, oracle: Any) -> None:
        """
        Take note of a command whose observation conforms.

        Args:
            command: as it was given.
            before: the machine of the leading hypothesis as it was before.
            oracle: as it is now.
        """
        self.latest = ()
        if isinstance(command, (Reset, Arm)) or before.deferred:
            return
        after = {situation(hypothesis.machine) for hypothesis in oracle.hypotheses}
        self.latest = tuple(made for made in _made(command, before, oracle.machine, after) if made in self.known)
        self.reached.update(self.latest)


@lru_cache
def _known(contract: Contract, capabilities: frozenset[str]) -> frozenset[Transition]:
    profile = Profile(Implementation("", ""), contract, capabilities=dict.fromkeys(capabilities, True))
    return transitions(shipped(contract), profile)


def _made(command: Command, before: Any, now: Any, after: set[Situation]) -> Iterator[Transition]:
    at, name = situation(before), label(command, before)
    if before.arms:
        fired = [armed.arm for armed in before.arms if all(still.arm is not armed.arm for still in now.arms)]
        for arm in fired:
            operations = "; ".join(operation_label(op, before) for op in arm.ops)
            if arm.defer:
                yield soon(at, arm.on, operations, arm.defer)
            else:
                yield inside(at, name, arm.on, operations)
        if fired:
            return
    if isinstance(command, Batch):
        yield stack(at, name)
    else:
        if len(after) == 1:
            yield move(at, name, *after)
        yield variant(at, name)
