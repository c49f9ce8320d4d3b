"""
Prove by induction: the invariant holds at first, and every path keeps it and meets every check on its way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, frozen

from turnproof_model.prove.invariants import Line, Strengthening, lines
from turnproof_model.prove.machine import Path
from turnproof_model.prove.shape import Part, Shape
from turnproof_model.prove.solver import Translator, z3
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import Truth, both, is_true, key_of, negate


@frozen(eq=False)
class Goal:
    """Be one thing to be shown of a path: what it is called, the rule it belongs to, and what must hold."""

    name: str
    rule: str | None
    says: Truth


@frozen(eq=False)
class Failure:
    """Be a goal that wasn't shown: the path, the goal, and a state from which it fails, if there is one."""

    path: Path | None
    goal: Goal
    model: Mapping[str, str]
    unknown: bool = False


@define(eq=False)
class Induction:
    """Hold what a proof needs: paths, and the invariant as a function of the parts of a state."""

    shape: Shape
    observer: Observer
    strengthening: Strengthening
    paths: Sequence[Path]
    seed: int = 0

    def invariant(self, parts: Mapping[str, Part]) -> list[Line]:
        """List the invariant of a state."""
        return lines(self.shape, self.observer, self.strengthening, parts)

    def goals(self, path: Path, before: Sequence[Line]) -> list[Goal]:
        """List what a path has to meet; a line that it leaves alone holds as before."""
        after = self.invariant({**self.shape.unknown(), **path.after})
        kept = [
            Goal(line.name, line.rule, line.says)
            for line, old in zip(after, before, strict=True)
            if key_of(line.says) != key_of(old.says)
        ]
        checks = [Goal(f"check of {check.rule}", check.rule, check.condition) for check in path.checks]
        return [goal for goal in (*checks, *kept) if not is_true(goal.says)]

    def failures(self) -> Iterator[Failure]:
        """Try to show every goal; yield those that fail."""
        yield from self._initial()
        z = Translator()
        solver = z3().Solver()
        solver.set("random_seed", self.seed)
        before = self.invariant(self.shape.unknown())
        solver.add(*(z(line.says) for line in before))
        for path in self.paths:
            goals = self.goals(path, before)
            if not goals:
                continue
            solver.push()
            solver.add(z(path.guard))
            if solver.check(z(negate(both(*(goal.says for goal in goals))))) != z3().unsat:
                yield from self._failing(solver, z, path, goals)
            solver.pop()

    def _failing(self, solver: Any, z: Translator, path: Path, goals: Sequence[Goal]) -> Iterator[Failure]:
        for goal in goals:
            found = solver.check(z(negate(goal.says)))
            if found == z3().sat:
                model = solver.model()
                yield Failure(path, goal, {d.name(): str(model[d]) for d in model.decls()})
            elif found != z3().unsat:
                yield Failure(path, goal, {}, unknown=True)

    def _initial(self) -> Iterator[Failure]:
        z = Translator()
        for line in self.invariant(self.shape.start()):
            solver = z3().Solver()
            if solver.check(z(negate(line.says))) != z3().unsat:
                yield Failure(None, Goal(line.name, line.rule, line.says), {})
