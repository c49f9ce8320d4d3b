"""
Hold what an oracle thinks possible: explanations of all that was seen, and how a request is played on each.

A *hypothesis* is a machine with the policies it has had to assume. Several in one state share one machine: most of
what they disagree about isn't asked for long, and then one play stands for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from attrs import define, field, frozen

from turnproof_model.events import Event
from turnproof_model.machine import Machine
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser


@frozen
class Difference:
    """
    Hold the first difference between what the rules demand and what was observed.

    ``where`` is ``events`` or the field of the observation; ``index`` the position among the judged events.
    ``gone``: the rules had the agent disposed of.
    """

    where: str
    rules: tuple[str, ...]
    expected: object
    observed: object
    index: int = -1
    gone: bool = False


@frozen
class Hypothesis:
    """Hold one explanation of all that was seen: a machine and the policies it lives by."""

    machine: Machine[Any]
    policies: tuple[tuple[str, str], ...] = ()


@define
class Forks(Chooser):
    """
    Replay a prefix of decisions, then take the first way everywhere, and remember how many ways there were.

    ``asked`` collects the names of the freedoms that matter to a play.
    """

    settled: dict[str, str]
    prefix: tuple[int, ...]
    followed: frozenset[str]
    asked: set[str] = field(factory=set)
    options: list[int] = field(factory=list)

    def _decide(self, options: int) -> int:
        at = len(self.options)
        self.options.append(options)
        return self.prefix[at] if at < len(self.prefix) else 0

    def policy(self, policy: Policy) -> str:
        """Take the settled value, or fork over the values."""
        self.asked.add(policy.name)
        if policy.name not in self.settled:
            if policy.deviation and policy.name not in self.followed:
                return policy.default
            self.settled[policy.name] = policy.values[self._decide(len(policy.values))]
        return self.settled[policy.name]

    def once(self, what: str, options: int) -> int:  # noqa: ARG002  # forks are told apart by position
        """Fork over the ways."""
        return self._decide(options)

    def others(self) -> Iterator[tuple[int, ...]]:
        """List the prefixes of the plays that this one leaves to be tried."""
        for at in range(len(self.prefix), len(self.options)):
            taken = self.prefix[:at] + (0,) * (at - len(self.prefix[:at]))
            for way in range(1, self.options[at]):
                yield (*taken, way)


Failure: TypeAlias = tuple[Difference, tuple[Event, ...]]
"""How a play differs, and the events that were expected up to there."""


@frozen
class Played:
    """Hold all plays of one request on one hypothesis: how each ended, and the freedoms that they asked for."""

    hypothesis: Hypothesis
    endings: tuple[Hypothesis | Failure, ...]
    asked: AbstractSet[str]

    def stands_for(self, other: Hypothesis) -> bool:
        """Tell whether another hypothesis would be played alike: in the same state, with the same answers."""
        return self.hypothesis.machine is other.machine and self._answers(self.hypothesis) == self._answers(other)

    def _answers(self, hypothesis: Hypothesis) -> list[tuple[str, str]]:
        return [(name, value) for name, value in hypothesis.policies if name in self.asked]

    def endings_of(self, other: Hypothesis) -> Iterator[Hypothesis | Failure]:
        """Give the endings of another hypothesis that is played alike: what it assumes besides stays as it is."""
        if other is self.hypothesis:
            yield from self.endings
            return
        for ending in self.endings:
            if isinstance(ending, Hypothesis):
                settled = {**dict(other.policies), **{n: v for n, v in ending.policies if n in self.asked}}
                yield Hypothesis(ending.machine, tuple(sorted(settled.items())))
            else:
                yield ending


def distinct(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Keep one hypothesis of each kind, in order; those in one state share the first one's machine."""
    if len(hypotheses) == 1:
        return hypotheses
    kept: dict[tuple[int, tuple[tuple[str, str], ...]], Hypothesis] = {}
    machines: list[Machine[Any]] = []
    for hypothesis in hypotheses:
        place = next((n for n, known in enumerate(machines) if known.alike(hypothesis.machine)), len(machines))
        if place == len(machines):
            machines.append(hypothesis.machine)
        kept.setdefault((place, hypothesis.policies), Hypothesis(machines[place], hypothesis.policies))
    return list(kept.values())
