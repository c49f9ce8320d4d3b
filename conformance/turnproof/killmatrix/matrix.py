"""
Hold the kill matrix: a row for each defect, and what the whole says about the rules.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from attrs import frozen

from turnproof.killmatrix.defects import Defect, binding, defects
from turnproof.killmatrix.hunting import Hunt

SCHEMA = "turnproof/faults/1"


@frozen
class Row:
    """
    Hold what killed one defect.

    Attributes:
        hunts: the search from each seed.
        extra: searches that went on for a rule which had killed nothing yet.
        races: names of the races in which one of its rules was named; ``None`` where none was run.
        tour: commands of the tour up to the kill, 0 where it survived; ``None`` where none was made.
        capsule: the file of the shrunk kill, where it was kept.
    """

    defect: Defect
    hunts: tuple[Hunt, ...] = ()
    extra: tuple[Hunt, ...] = ()
    races: tuple[str, ...] | None = None
    tour: int | None = None
    capsule: str | None = None

    @property
    def killed(self) -> bool:
        """Whether it died from every seed; where there was no search, in a race or on the tour."""
        if self.hunts:
            return all(hunt.commands is not None for hunt in self.hunts)
        return bool(self.races or self.tour)

    @property
    def commands(self) -> tuple[int, ...]:
        """The commands of the searches that killed it, fewest first."""
        return tuple(sorted(hunt.commands for hunt in self.hunts if hunt.commands is not None))

    @property
    def median(self) -> float | None:
        """The commands to kill, in the middle over the seeds; ``None`` unless it died from each."""
        return median(self.commands) if self.hunts and self.killed else None

    @property
    def worst(self) -> int | None:
        """The most commands that it took; ``None`` unless it died from each seed."""
        return self.commands[-1] if self.hunts and self.killed else None

    @property
    def named(self) -> frozenset[tuple[str, ...]]:
        """The rules of each failure that was met, together."""
        return frozenset(named for hunt in (*self.hunts, *self.extra) for named in hunt.named)

    @property
    def by(self) -> tuple[str, ...]:
        """The rules that it was killed by: those of its own that a failure named, then the others."""
        named = {rule for rules in self.named for rule in rules}
        own = [rule for rule in self.defect.rules if rule in named]
        return (*own, *sorted(named - set(own)))

    def to_json(self) -> dict[str, Any]:
        """Write it as a JSON value."""
        return {
            **self.defect.to_json(),
            "killed": self.killed,
            "by": list(self.by),
            "commands_to_kill": self.median,
            "worst": self.worst,
            "seeds": {str(hunt.seed): hunt.commands for hunt in self.hunts},
            "races": None if self.races is None else list(self.races),
            "tour": self.tour,
            "capsule": self.capsule,
        }


def _counted(share: tuple[int, int] | None) -> dict[str, int] | None:
    return None if share is None else {"killed": share[0], "total": share[1]}


@frozen
class Matrix:
    """Hold all rows; ``budget`` is what each search might spend."""

    rows: tuple[Row, ...]
    seeds: tuple[int, ...]
    budget: int

    @property
    def unkilled(self) -> tuple[Row, ...]:
        """The defects that survived."""
        return tuple(row for row in self.rows if not row.killed)

    @property
    def medians(self) -> tuple[float, ...]:
        """The median of each defect that died from every seed, fewest commands first."""
        return tuple(sorted(row.median for row in self.rows if row.median is not None))

    @property
    def median(self) -> float | None:
        """The commands to kill of the defect in the middle; survivors count as the hardest."""
        return self.medians[len(self.rows) // 2] if len(self.medians) > len(self.rows) // 2 else None

    @property
    def worst(self) -> int | None:
        """The most commands that any defect took from any seed, survivors aside."""
        return max((row.worst for row in self.rows if row.worst is not None), default=None)

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that have to kill something: of a whole contract all, of a choice of defects those they break."""
        rules: list[str] = []
        for contract in dict.fromkeys(row.defect.contract for row in self.rows):
            chosen = [row.defect for row in self.rows if row.defect.contract == contract]
            broken = {rule for defect in chosen for rule in defect.rules}
            whole = tuple(chosen) == defects(contract)
            rules += [rule for rule in binding(contract) if whole or rule in broken]
        return tuple(rules)

    @property
    def kills_nothing(self) -> tuple[str, ...]:
        """The rules that no failure has named."""
        named = {rule for row in self.rows for rule in row.by}
        return tuple(rule for rule in self.rules if rule not in named)

    @property
    def kills_nothing_alone(self) -> tuple[str, ...]:
        """The rules without which every failure would be named by others still."""
        alone = {rules[0] for row in self.rows for rules in row.named if len(rules) == 1}
        return tuple(rule for rule in self.rules if rule not in alone)

    def share(self, part: str) -> tuple[int, int] | None:
        """Count the defects that ``races`` or ``tour`` kill, and all that they were tried on; ``None`` for none."""
        tried = [found for row in self.rows if (found := getattr(row, part)) is not None]
        return (sum(bool(found) for found in tried), len(tried)) if tried else None

    @property
    def exit_code(self) -> int:
        """0 where every defect died, 1 otherwise."""
        return 1 if self.unkilled else 0

    def to_json(self) -> dict[str, Any]:
        """Give the ``turnproof/faults/1`` document."""
        return {
            "schema": SCHEMA,
            "seeds": list(self.seeds),
            "budget": self.budget,
            "faults": [row.to_json() for row in self.rows],
            "unkilled": [row.defect.name for row in self.unkilled],
            "median": self.median,
            "worst": self.worst,
            "killed_by_races": _counted(self.share("races")),
            "killed_by_tour": _counted(self.share("tour")),
            "rules_that_kill_nothing": list(self.kills_nothing),
            "rules_that_kill_nothing_alone": list(self.kills_nothing_alone),
        }
