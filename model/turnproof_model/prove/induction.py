"""
Prove by induction: the invariant holds at first, and every path keeps it and meets every check on its way.

What a path has to meet is asked rule by rule. A goal that fails comes with a state from which it fails, a
*counterexample to induction*: that state needn't be one that any schedule reaches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from turnproof_model.prove.invariants import Line, Strengthening, lines
from turnproof_model.prove.machine import Path
from turnproof_model.prove.shape import Part, Shape
from turnproof_model.prove.solver import Translator, z3
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import Truth, both, is_true, key_of, negate

INVARIANT = ""
"""Stands for the rule of goals that only strengthen."""


@frozen(eq=False)
class Goal:
    """Be one thing to be shown of a path: what it is called, the rule it belongs to, and what must hold."""

    name: str
    rule: str
    says: Truth


@frozen(eq=False)
class Failure:
    """
    Be a goal that wasn't shown.

    ``action``: where; ``events``: what it publishes. ``state``: a state from which the goal fails, its parts by name;
    empty where the solver doesn't know.
    """

    action: str
    events: tuple[str, ...]
    goal: Goal
    state: Mapping[str, object]

    @property
    def known(self) -> bool:
        """Whether there is a state from which the goal fails."""
        return bool(self.state)


@frozen(eq=False)
class Outcome:
    """Be what came of the goals of one rule on one path."""

    rule: str
    goals: int
    seconds: float
    failures: tuple[Failure, ...] = ()


@define(eq=False)
class Induction:
    """Hold what a proof needs: paths, and the invariant as a function of the parts of a state."""

    shape: Shape
    observer: Observer
    strengthening: Strengthening
    paths: Sequence[Path]
    seed: int = 0
    translate: Translator = field(factory=Translator)

    def invariant(self, parts: Mapping[str, Part]) -> list[Line]:
        """List the invariant of a state."""
        return lines(self.shape, self.observer, self.strengthening, parts)

    def before(self) -> list[Line]:
        """List the invariant of the state from which a path begins."""
        return self.invariant(self.shape.unknown())

    def goals(self, path: Path, before: Sequence[Line]) -> Mapping[str, list[Goal]]:
        """List by rule what a path has to meet; a line that it leaves alone holds as before."""
        after = self.invariant({**self.shape.unknown(), **path.after})
        kept = [
            Goal(line.name, line.rule or INVARIANT, line.says)
            for line, old in zip(after, before, strict=True)
            if key_of(line.says) != key_of(old.says)
        ]
        checks = [Goal(f"check of {check.rule}", check.rule, check.condition) for check in path.checks]
        found: dict[str, list[Goal]] = {}
        for goal in (*checks, *kept):
            found.setdefault(goal.rule, []).append(goal)
        return found

    def solver(self, before: Sequence[Line]) -> Any:
        """Make a solver that takes the invariant for granted."""
        solver = z3().Solver()
        solver.set("random_seed", self.seed)
        solver.add(*(self.translate(line.says) for line in before))
        return solver

    def run(self) -> Iterator[Outcome]:
        """Try to show every goal."""
        yield from self._initial()
        before = self.before()
        solver = self.solver(before)
        for path in self.paths:
            yield from self._attempt(solver, path, self.goals(path, before))

    def queries(self) -> Iterator[tuple[str, str]]:
        """
        Write each path as a query for other solvers, in SMT-LIB 2: a proof is that every one of them is unsatisfiable.

        Returns:
            A name and a text for each path, in the order of the paths.
        """
        before = self.before()
        for number, path in enumerate(self.paths):
            solver = self.solver(before)
            says = [goal.says for goals in self.goals(path, before).values() for goal in goals]
            solver.add(self.translate(path.guard), self.translate(negate(both(*says))))
            yield f"{number:04}-{path.action.replace(' ', '-').replace(',', '')}", str(solver.to_smt2())

    def _attempt(self, solver: Any, path: Path, goals: Mapping[str, Sequence[Goal]]) -> Iterator[Outcome]:
        """
        Ask for all goals of a path at once, and one by one only if that fails; each rule bears its share of the time.

        Guard and question are assumptions, so that what the solver learns from one path it knows for the next.
        """
        began = time.perf_counter()
        says = both(*(goal.says for some in goals.values() for goal in some))
        guard = self.translate(path.guard)
        shown = is_true(says) or solver.check(guard, self.translate(negate(says))) == z3().unsat
        share = (time.perf_counter() - began) / max(1, sum(len(some) for some in goals.values()))
        for rule, some in goals.items():
            failures = () if shown else tuple(self._failing(solver, path, guard, some))
            yield Outcome(rule, len(some), share * len(some), failures)

    def _failing(self, solver: Any, path: Path, guard: Any, goals: Sequence[Goal]) -> Iterator[Failure]:
        for goal in goals:
            found = z3().unsat if is_true(goal.says) else solver.check(guard, self.translate(negate(goal.says)))
            if found != z3().unsat:
                state = self.shape.read(solver.model()) if found == z3().sat else {}
                yield Failure(path.action, path.events, goal, state)

    def _initial(self) -> Iterator[Outcome]:
        start = self.shape.start()
        for line in self.invariant(start):
            began = time.perf_counter()
            solver = z3().Solver()
            holds = is_true(line.says) or solver.check(self.translate(negate(line.says))) == z3().unsat
            goal = Goal(line.name, line.rule or INVARIANT, line.says)
            failed = () if holds else (Failure("the beginning", (), goal, start),)
            yield Outcome(goal.rule, 1, time.perf_counter() - began, failed)
