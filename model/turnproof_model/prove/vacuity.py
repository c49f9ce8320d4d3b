"""
Show that a proof says something: which paths can be taken at all, and which lines of the invariant do any work.

A path that no state of the invariant takes is *dead*: rules that never come to it are proved there for nothing. A
strengthening line that no goal needs would hide what the proof rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import frozen

from turnproof_model.prove.induction import Goal, Induction
from turnproof_model.prove.invariants import Line
from turnproof_model.prove.machine import Path
from turnproof_model.prove.solver import z3
from turnproof_model.readings.terms import both, negate

Asked: TypeAlias = tuple[Path, tuple[Goal, ...]]
"""A path with its goals."""


@frozen
class Vacuity:
    """Count the paths, and those that some state takes; ``dead`` names the others."""

    paths: int
    satisfiable: int
    dead: tuple[str, ...]


def vacuity(induction: Induction) -> Vacuity:
    """Ask of every path whether a state that the invariant allows takes it."""
    solver = induction.solver(induction.before())
    dead = [path for path in induction.paths if solver.check(induction.translate(path.guard)) != z3().sat]
    return Vacuity(len(induction.paths), len(induction.paths) - len(dead), tuple(describe(path) for path in dead))


def describe(path: Path) -> str:
    """Name a path by its action and what it publishes."""
    return f"{path.action}: {', '.join(path.events) or 'nothing published'}"


def unneeded(induction: Induction) -> tuple[str, ...]:
    """
    Name the strengthening lines without which everything else can still be shown.

    Only paths whose proofs mention a line can need it; of those one is looked for on which something else than the
    line itself fails without it.
    """
    before = induction.before()
    goals = [
        (path, tuple(goal for some in induction.goals(path, before).values() for goal in some))
        for path in induction.paths
    ]
    mentions = _mentions(induction, before, goals)
    names = [line.name for line in before if line.rule is None]
    return tuple(name for name in names if not _fails_without(induction, before, name, mentions.get(name, [])))


def _mentions(induction: Induction, before: Sequence[Line], asked: Sequence[Asked]) -> Mapping[str, list[Asked]]:
    """Find for each line the paths whose proofs mention it."""
    z = induction.translate
    names = {line.name: z3().Bool(f"line {line.name}") for line in before}
    solver = z3().Solver()
    solver.set("random_seed", induction.seed)
    for line in before:
        solver.add(z3().Implies(names[line.name], z(line.says)))
    found: dict[str, list[Asked]] = {}
    for path, goals in asked:
        solver.push()
        solver.add(z(path.guard), z(negate(both(*(goal.says for goal in goals)))))
        if solver.check(*names.values()) == z3().unsat:
            for literal in solver.unsat_core():
                found.setdefault(str(literal).removeprefix("line "), []).append((path, goals))
        solver.pop()
    return found


def _fails_without(induction: Induction, before: Sequence[Line], name: str, asked: Sequence[Asked]) -> bool:
    """Tell whether some goal of these paths, beside the line itself, fails where the line isn't taken for granted."""
    solver = induction.solver([line for line in before if line.name != name])
    z = induction.translate
    for path, goals in asked:
        others = both(*(goal.says for goal in goals if goal.name != name))
        if solver.check(z(path.guard), z(negate(others))) != z3().unsat:
            return True
    return False
