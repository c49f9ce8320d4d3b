"""
Let Spacer show what lemmas alone don't: on few parts of the state, and on more only where fewer are too coarse.

The contract becomes Horn clauses, a predicate for each position over the parts that are kept, with the lemmas of the
position as facts about all parts. Parts that aren't kept may be anything that the lemmas allow, so what Spacer shows
holds; a way to a broken rule that it finds may be none. Then that way is tried with all parts: if it can be gone, the
rule is broken, and if not, the parts that stand in its way are kept from then on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import define, field, frozen

from turnproof_model.prove.machine import Check
from turnproof_model.prove.solver import Translator, interruptible, read, z3
from turnproof_model.prove.spacer_steps import AT, Place, Step, Steps, unknowns, unknowns_of
from turnproof_model.readings.terms import Term, Truth, both, either, key_of, negate, rebuild, var

Goal: TypeAlias = tuple[Step, Check]
Ways: TypeAlias = Mapping[str, tuple[Step, ...]]
"""The steps that a clause stands for, by the name of the clause."""


@frozen(eq=False)
class Shown:
    """
    Be what came of some goals.

    ``verdict``: as Spacer and the tries on all parts have it. ``kept``: the parts that were kept. ``facts``: what
    Spacer says of the states at each position, where it shows the goals. ``way``: the steps to a broken rule.
    """

    verdict: Literal["proved", "not-proved", "unknown"]
    kept: tuple[str, ...]
    facts: Mapping[Place, Term]
    way: tuple[Step, ...] = ()


@define(eq=False)
class Local:
    """
    Ask Spacer.

    ``steps``: the contract. ``lemmas``: what is known at the positions that can be reached. ``left``: tells how many
    seconds are left.
    """

    steps: Steps
    translate: Translator
    lemmas: Mapping[Place, list[Term]]
    left: Any
    seed: int = 0
    _known: dict[Place, list[tuple[frozenset[str], Any]]] = field(factory=dict)

    def show(self, goals: Sequence[Goal], patience: float) -> Shown:
        """
        Show goals together, on as few parts as it takes.

        Args:
            goals: steps, each with something that it has to meet.
            patience: seconds after which they stay unknown.
        """
        ends = time.perf_counter() + min(patience, self.left())
        kept = frozenset(unknowns(*(duty.condition for _, duty in goals))) & frozenset(self.steps.sorts) - {AT}
        whole = False
        while True:
            asked = _Clauses(self, kept, whole)
            answer = asked.query(goals, ends - time.perf_counter())
            if answer == z3().unsat:
                return Shown("proved", tuple(sorted(kept)), asked.facts())
            if answer != z3().sat:
                return Shown("unknown", tuple(sorted(kept)), {})
            way = asked.way()
            more = self._obstacles(way, kept, ends - time.perf_counter())
            if more is None:
                return Shown("not-proved", tuple(sorted(kept)), {}, tuple(steps[0] for steps, _ in way))
            if not more and whole:
                return Shown("unknown", tuple(sorted(kept)), {})
            whole = not more  # what was left out of the lemmas stands in its way
            kept |= more

    def near(self, place: Place, names: frozenset[str] | None) -> list[Any]:
        """Say in the solver's language what is known at a position, of some parts alone or of all."""
        if place not in self._known:
            self._known[place] = [(frozenset(unknowns(one)), self.translate(one)) for one in self.lemmas[place]]
        return [said for spoken, said in self._known[place] if names is None or spoken <= names]

    def learn(self, facts: Mapping[Place, Term]) -> None:
        """Take for known what Spacer has shown."""
        for place, says in facts.items():
            self.lemmas[place].append(says)
            self._known.pop(place, None)

    # -------------------------------------------------------------------------------------------- a way
    def _obstacles(
        self, way: Sequence[tuple[tuple[Step, ...], Check | None]], kept: frozenset[str], seconds: float
    ) -> Any:
        """
        Try a way with all parts.

        Returns:
            The parts without which it could be gone; nothing at all where it can be gone.
        """
        solver = interruptible()
        links: dict[str, Any] = {}
        for name, says in self._links(way, solver):
            links.setdefault(name, z3().Bool(f"link {name}"))
            solver.add(z3().Implies(links[name], says))
        solver.set("timeout", max(1, int(1000 * seconds)))
        answer = solver.check(*links.values())
        if answer == z3().sat:
            return None
        if answer != z3().unsat:
            return frozenset()
        core = {str(one).removeprefix("link ") for one in solver.unsat_core()}
        return _fewest(solver, links, kept, [name for name in links if name in core - kept])

    def _links(self, way: Sequence[tuple[tuple[Step, ...], Check | None]], solver: Any) -> Iterator[tuple[str, Any]]:
        """Say of each part how it goes on along a way; tell the solver the rest."""
        for name, sort in self.steps.sorts.items():
            if name != AT and name not in self.steps.rigid:
                begins: Any = var(f"{name}@0", sort) == self.steps.start[name]
                yield name, self.translate(begins)
        for i, (steps, duty) in enumerate(way):
            place = steps[0].before
            solver.add(self.translate(_dated(both(*self.lemmas[place]), i)))
            if duty is not None:
                solver.add(self.translate(_dated(both(steps[0].guard, negate(duty.condition)), i)))
                continue
            taken = [z3().Bool(f"step {i} {step.path}") for step in steps]
            solver.add(z3().Or(*taken))
            for step, here in zip(steps, taken, strict=True):
                solver.add(z3().Implies(here, self.translate(_dated(step.guard, i))))
                for name, says in self._goes_on(step, i):
                    yield name, z3().Implies(here, self.translate(says))

    def _goes_on(self, step: Step, i: int) -> Iterator[tuple[str, Truth]]:
        after = self.steps.paths[step.path].after
        for name, part in self.steps.parts.items():
            if name in self.steps.rigid or name in self.steps.used[step.after]:
                then: Any = var(f"{name}@{i + 1}", part.sort)
                yield name, then == _dated(after.get(name, part), i)


def _dated(value: Any, i: int) -> Any:
    """Say something of the state after so many steps."""
    return rebuild(value, lambda term: var(f"{term.args[0]}@{i}", term.sort) if term.op == "var" else None)


def _fewest(solver: Any, links: Mapping[str, Any], kept: frozenset[str], names: list[str]) -> frozenset[str]:
    """Leave out parts that stand in the way of nothing."""
    base = [links[name] for name in links if name in kept]
    for name in list(names):
        others = [other for other in names if other != name]
        if solver.check(*base, *(links[other] for other in others)) == z3().unsat:
            names = others
    return frozenset(names)


@define(eq=False)
class _Clauses:
    """Hold the Horn clauses over some parts."""

    local: Local
    kept: frozenset[str]
    whole: bool
    engine: Any = field(init=False)
    relations: dict[Place, Any] = field(factory=dict)
    ways: dict[str, tuple[Step, ...]] = field(factory=dict)
    duties: dict[str, Check] = field(factory=dict)

    def query(self, goals: Sequence[Goal], seconds: float) -> Any:
        """Ask whether a goal can fail; unknown where time runs out."""
        z = z3()
        self.engine = z.Fixedpoint()
        self.engine.set(engine="spacer", timeout=max(1, int(1000 * seconds)))
        self.engine.set("spacer.random_seed", self.local.seed)
        self.engine.set("ctrl_c", False)  # an interruption isn't a lack of time
        for name in ("xform.inline_eager", "xform.inline_linear", "xform.slice"):
            self.engine.set(name, False)  # an answer would speak of predicates that are gone by quantifiers
        broken = z.Function("broken", z.BoolSort())
        self._declare(broken)
        self._begin()
        self._go()
        for i, (step, duty) in enumerate(goals):
            self.ways[f"goal{i}"], self.duties[f"goal{i}"] = (step,), duty
            body = [*self._before(step.before, step.guard), z.Not(self.local.translate(duty.condition))]
            self.engine.add_rule(broken(), body, f"goal{i}")
        try:
            return self.engine.query(broken())
        except z.Z3Exception:  # that is how it says that time has run out
            return z.unknown

    def _names(self, place: Place) -> list[str]:
        """List the parts that a position's predicate is about."""
        steps = self.local.steps
        return [n for n in steps.sorts if n in self.kept and (n in steps.used[place] or n in steps.rigid)]

    def _declare(self, broken: Any) -> None:
        z, steps = z3(), self.local.steps
        sorts = {"bool": z.BoolSort(), "int": z.IntSort()}
        for place in self.local.lemmas:
            args = [sorts[steps.sorts[name]] for name in self._names(place)]
            self.relations[place] = z.Function(f"place{place}", *args, z.BoolSort())
        for relation in (*self.relations.values(), broken):
            self.engine.register_relation(relation)
        fresh = (one for path in steps.paths for one in unknowns_of(path).items())  # a name may be of either sort
        for name, sort in dict.fromkeys((*steps.sorts.items(), *fresh)):
            self.engine.declare_var(z.Bool(name) if sort == "bool" else z.Int(name))

    def _begin(self) -> None:
        steps, translate = self.local.steps, self.local.translate
        values = [steps.start.get(name, steps.parts[name]) for name in self._names(steps.first)]
        self.engine.add_rule(self.relations[steps.first](*map(translate, values)), [], "beginning")

    def _go(self) -> None:
        """Add a clause for all steps that do the same with the parts that are kept; those that do nothing need none."""
        alike: dict[tuple[object, ...], list[Step]] = {}
        steps = self.local.steps
        for step in steps.steps:
            if step.before in self.relations and step.after in self.relations:
                names = self._names(step.after)
                if step.before != step.after or not steps.keeps(step, names):
                    then = [steps.paths[step.path].after.get(name, steps.parts[name]) for name in names]
                    alike.setdefault((step.before, step.after, *map(key_of, then)), []).append(step)
        for i, group in enumerate(alike.values()):
            self.ways[f"way{i}"] = tuple(group)
            after = steps.paths[group[0].path].after
            then = [after.get(name, steps.parts[name]) for name in self._names(group[0].after)]
            head = self.relations[group[0].after](*map(self.local.translate, then))
            guard = either(*(step.guard for step in group))
            self.engine.add_rule(head, self._before(group[0].before, guard, *then), f"way{i}")

    def _before(self, place: Place, guard: Truth, *then: object) -> list[Any]:
        """Say that the loop is at a position, with what is known there of the parts that are spoken of, or of all."""
        translate = self.local.translate
        names = [translate(self.local.steps.parts[name]) for name in self._names(place)]
        spoken = None if self.whole else self.kept.union(unknowns(guard, *then))
        return [self.relations[place](*names), *self.local.near(place, spoken), translate(guard)]

    def way(self) -> list[tuple[tuple[Step, ...], Check | None]]:
        """Tell the way to a broken rule that was found: the steps that may be taken, one after the other."""
        names = [str(name) for name in self.engine.get_rule_names_along_trace()]
        return [(self.ways[name], self.duties.get(name)) for name in reversed(names) if name in self.ways]

    def facts(self) -> Mapping[Place, Term]:
        """Tell what Spacer says of the states at each position, where it says anything."""
        places = {relation.name(): place for place, relation in self.relations.items()}
        answer = self.engine.get_answer()
        found: dict[Place, Term] = {}
        for one in answer.children() if z3().is_and(answer) else (answer,):
            head, means = (one.body() if z3().is_quantifier(one) else one).children()
            place = places.get(head.decl().name())
            if place is not None:
                names = self._names(place)
                indices = [z3().get_var_index(arg) for arg in head.children()]
                parts = {i: self.local.steps.parts[name] for i, name in zip(indices, names, strict=True)}
                says = read(means, parts)
                if isinstance(says, Term):
                    found[place] = says
        return found
