"""
Follow the commands of a trial, and credit the transitions that a candidate has been seen to make.

Nothing is credited where the observation differs from what the rules demand, and no move where several readings of it
are left that disagree about the situation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from attrs import define, field

from turnproof.coverage.denominator import Transition, inside, move, soon, stack, transitions, variant
from turnproof.coverage.labels import label, operation_label
from turnproof.coverage.shipped import shipped
from turnproof.coverage.situations import Situation, situation
from turnproof_model.observation import Implementation, Profile
from turnproof_model.vocabulary import Arm, Batch, Command, Contract, Reset


@define
class Tracker:
    """
    Collect what was reached.

    ``known``: what is credited. ``latest``: what the last command reached, whether for the first time or not.
    ``news``: what was reached, in the order of its first time.
    """

    known: AbstractSet[Transition]
    reached: set[Transition] = field(factory=set, init=False)
    news: list[Transition] = field(factory=list, init=False)
    latest: tuple[Transition, ...] = field(default=(), init=False)
    _varied: frozenset[str] = field(init=False)
    _last: tuple[Any, Situation] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._varied = frozenset(label for sort, _, label, *_ in self.known if sort == "variants")

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
        if type(command) in _UNCREDITED:
            return
        self.latest = tuple(self._credited(self._made(command, before, oracle)))

    def credit(self, transitions: Iterable[Transition]) -> None:
        """Enter what was reached, as far as it is known."""
        for _ in self._credited(transitions):
            pass

    def _credited(self, transitions: Iterable[Transition]) -> Iterator[Transition]:
        """Go through what is known of what was reached; mostly it was reached before, and that is asked first."""
        for transition in transitions:
            if transition in self.reached:
                yield transition
            elif transition in self.known:
                self.reached.add(transition)
                self.news.append(transition)
                yield transition

    def _situation(self, machine: Any) -> Situation:
        """Tell a situation; the one after a command is mostly asked for again before the next."""
        if self._last is None or self._last[0] is not machine:
            self._last = machine, situation(machine)
        return self._last[1]

    def _made(self, command: Command, before: Any, oracle: Any) -> Sequence[Transition]:
        at, name = self._situation(before), label(command, before)
        if before.arms:
            left = oracle.machine.arms
            fired = [armed.arm for armed in before.arms if all(still.arm is not armed.arm for still in left)]
            if fired:
                return list(_fired(fired, at, name, before))
        if type(command) is Batch:
            return (stack(at, name),)
        moves = self._moves(at, name, oracle)
        return (*moves, variant(at, name)) if name in self._varied else moves

    def _moves(self, at: Situation, name: str, oracle: Any) -> tuple[Transition, ...]:
        """Tell the move that was made, or none where it isn't sure which; hypotheses in one state share a machine."""
        first, *others = oracle.hypotheses
        after = self._situation(first.machine)
        if any(one.machine is not first.machine and situation(one.machine) != after for one in others):
            return ()
        return (move(at, name, after),)


_UNCREDITED = frozenset({Reset, Arm})
"""Commands that are no transitions themselves."""


def _fired(arms: list[Arm], at: Situation, name: str, before: Any) -> Iterator[Transition]:
    for arm in arms:
        operations = "; ".join(operation_label(op, before) for op in arm.ops)
        if arm.defer:
            yield soon(at, arm.on, operations, arm.defer)
        else:
            yield inside(at, name, arm.on, operations)


@lru_cache
def _known(contract: Contract, capabilities: frozenset[str]) -> frozenset[Transition]:
    profile = Profile(Implementation("", ""), contract, capabilities=dict.fromkeys(capabilities, True))
    return transitions(shipped(contract), profile)
