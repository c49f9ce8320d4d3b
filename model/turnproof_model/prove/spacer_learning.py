"""
Learn clauses: where a goal can fail as far as lemmas tell, say what is wrong with the state from which it does.

The solver shows a state from which a goal fails. Of its parts those are kept that make it fail, and a clause denies
what is special about them (``spacer_cubes``). Each step that leads there must keep the clause, which may take a clause
before it, and so on backwards; where it can't be shown, another clause is tried. A state that was met and does the same
shows that a clause is wrong: the state behind it is met, too, from then on. What is learnt holds where the lemmas do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import define, field, frozen

from turnproof_model.prove.solver import Translator, answered, brisk, denied, valued, z3
from turnproof_model.prove.spacer_cubes import Cubes, State
from turnproof_model.prove.spacer_local import Goal
from turnproof_model.prove.spacer_pruning import Undecided
from turnproof_model.prove.spacer_steps import Place, Step, Steps, is_fresh, unknowns
from turnproof_model.prove.spacer_walks import Rows
from turnproof_model.readings.terms import Sort, Term, Truth, both, implies, negate, var

Outcome: TypeAlias = Literal["shown", "not shown", "met", "spent"]
"""What came of a try: ``met`` where a state that was met shows the opposite, ``spent`` where no questions are left."""

TURNS = ((600, 1), (2000, 2), (2500, 3))
"""How many questions may be asked for one goal, and how much slack there is, turn after turn."""

DEPTH = 14
"""How many steps back clauses may rest on clauses: once around the loop."""

AGAIN = 12
"""How often states that are met behind a clause may change what is special about one state."""

STATES = 40
"""How many states are denied, one after the other, to show one thing."""

LIKE = 20
"""How many states that were met are tried in place of one that looks the same."""


@frozen(eq=False)
class _Scene:
    """Be a state before a step, with the parts of it that alone make something fail."""

    step: Step
    says: Truth
    state: State
    names: tuple[str, ...]


@define(eq=False)
class Learning:
    """
    Learn clauses.

    ``steps``: the contract. ``lemmas``: what holds at the positions that can be reached. ``met``: states that were met
    there. ``clauses``: what was learnt, by position. ``asked``: how many questions there were.
    """

    steps: Steps
    translate: Translator
    lemmas: Mapping[Place, Iterable[Term]]
    met: Mapping[Place, Rows]
    limit: Callable[[], None] = lambda: None
    seed: int = 0
    clauses: dict[Place, list[Term]] = field(factory=dict)
    asked: int = 0
    _cubes: Cubes = field(init=False)
    _solvers: dict[Place, Any] = field(factory=dict)
    _failed: dict[tuple[Place, int], tuple[int, int]] = field(factory=dict)
    _most: int = 0
    _slack: int = 0

    def __attrs_post_init__(self) -> None:
        """Tell solvers what holds."""
        self._cubes = Cubes(self.steps, dict(self.met), self.seed)
        for place, lemmas in self.lemmas.items():
            self._solvers[place] = brisk(self.seed)
            self._solvers[place].add(*map(self.translate, lemmas))
            self.clauses[place] = []

    def show_all(self, open_: Iterable[Sequence[Goal]]) -> Sequence[Any]:
        """Learn what groups of goals need, with more patience in each turn; return the groups that aren't shown."""
        left = list(open_)
        for questions, slack in TURNS:
            left = [goals for goals in left if not self.show(goals, questions, slack)]
        return left

    def show(self, goals: Sequence[Goal], questions: int, slack: int) -> bool:
        """
        Learn what some goals need.

        Args:
            goals: steps, each with something that it has to meet.
            questions: how many may be asked.
            slack: how many clauses that aren't the first choice may rest on each other.
        """
        mark, self._most, self._slack = self._mark(), self.asked + questions, slack
        self._failed.clear()
        shown = all(self._show(step, duty.condition, DEPTH) == "shown" for step, duty in goals)
        if not shown:
            self._forget(mark)
        return shown

    # -------------------------------------------------------------------------------------------- search
    def _show(self, step: Step, says: Truth, depth: int) -> Outcome:
        """Show that something holds before a step, or behind it as said before it: deny what fails it."""
        for _ in range(STATES):
            scene = self._scene(step, says)
            if scene is None:
                return "shown"
            if self.asked > self._most:
                return "spent"
            behind: list[Sequence[int]] = []
            outcome = self._deny(scene, depth, behind)
            if behind:
                if step.after in self.lemmas:
                    self._cubes.add(step.after, behind[0])
                return "met"
            if outcome != "shown":
                return outcome
        return "not shown"

    def _deny(self, scene: _Scene, depth: int, behind: list[Sequence[int]]) -> Outcome:
        """Find a clause that a state fails and that holds; put what was met behind a state like it into ``behind``."""

        def real() -> bool:
            behind.extend(self._behind(scene))
            return bool(behind)

        place = scene.step.before
        if not depth or place not in self._cubes.met:
            return "not shown"
        for _ in range(AGAIN):
            cubes = self._cubes.special(place, scene.state, scene.names, real)
            outcome = self._try(place, cubes, depth)
            if outcome != "met":
                return outcome
        return "not shown"

    def _try(self, place: Place, cubes: Sequence[Sequence[Term]], depth: int) -> Outcome:
        """Try clauses one after the other; the later ones need slack."""
        for late, cube in enumerate(cubes[: self._slack + 1]):
            clause = negate(both(*cube))
            assert isinstance(clause, Term), "a cube of literals is neither plainly true nor plainly false"
            if self._failed.get((place, clause.key), (0, -1)) >= (depth, self._slack):
                continue
            mark = self._mark()
            self._learn(place, clause)
            self._slack -= late
            outcome = self._keep(place, clause, depth)
            self._slack += late
            if outcome == "shown":
                return outcome
            self._forget(mark)
            if outcome != "not shown":
                return outcome
            self._failed[place, clause.key] = (depth, self._slack)
        return "not shown"

    def _keep(self, place: Place, clause: Term, depth: int) -> Outcome:
        """Show that every step that leads to a position keeps a clause there."""
        if not self._begins(place, clause):
            return "not shown"
        for step in self.steps.entering.get(place, ()):
            if step.before in self._solvers:
                outcome = self._show(step, self.steps.after(step, clause), depth - 1)
                if outcome != "shown":
                    return outcome
        return "shown"

    # -------------------------------------------------------------------------------------------- what is known
    def _mark(self) -> Mapping[Place, int]:
        return {place: len(clauses) for place, clauses in self.clauses.items()}

    def _learn(self, place: Place, clause: Term) -> None:
        self.clauses[place].append(clause)
        self._solvers[place].push()
        self._solvers[place].add(self.translate(clause))

    def _forget(self, mark: Mapping[Place, int]) -> None:
        """Know no more than at some time before: what rested on a clause that fell goes with it."""
        for place, clauses in self.clauses.items():
            while len(clauses) > mark[place]:
                clauses.pop()
                self._solvers[place].pop()

    # -------------------------------------------------------------------------------------------- questions
    def _begins(self, place: Place, clause: Term) -> bool:
        """Tell whether a clause holds where everything begins."""
        if place != self.steps.first:
            return True
        says = self.translate(self.steps.initially(clause))
        return bool(brisk(self.seed).check(denied([says])) == z3().unsat)

    def _scene(self, step: Step, says: Truth) -> _Scene | None:
        """Ask for a state from which something fails, and for the parts of it that alone make it fail."""
        self.limit()
        if says is True:
            return None
        self.asked += 1
        solver = self._solvers[step.before]
        solver.push()
        solver.add(self.translate(step.guard), denied([self.translate(says)]))
        answer = solver.check()
        model = solver.model() if answer == z3().sat else None
        solver.pop()
        if answer == z3().unknown:
            raise Undecided(step)
        return None if model is None else self._lifted(step, says, model)

    def _lifted(self, step: Step, says: Truth, model: Any) -> _Scene:
        spoken = unknowns(step.guard, says)
        solver = brisk(self.seed)
        solver.add(self.translate(implies(step.guard, says)))
        for name, sort in spoken.items():
            if is_fresh(name):
                solver.add(self.translate(var(name, sort)) == self._value(model, var(name, sort), sort))
        state = {name: self._value(model, part, part.sort) for name, part in self.steps.parts.items()}
        links = {name: z3().Bool(f"link {name}") for name in spoken if not is_fresh(name)}
        for name, link in links.items():
            solver.add(z3().Implies(link, self.translate(self.steps.parts[name]) == state[name]))
        names = list(links)
        for name in tuple(names):
            others = [other for other in names if other != name]
            if answered(solver, (links[other] for other in others)) == z3().unsat:
                names = others
        return _Scene(step, says, state, tuple(names))

    def _value(self, model: Any, value: object, sort: Sort) -> int | bool:
        return valued(model, self.translate(value), sort)

    def _behind(self, scene: _Scene) -> Iterator[Sequence[int]]:
        """Look for a state that was met, looks the same and makes the same fail; tell what is met behind it."""
        step = scene.step
        spoken = unknowns(step.guard, scene.says, *self.steps.paths[step.path].after.values())
        solver = brisk(self.seed)
        solver.add(self.translate(step.guard), denied([self.translate(scene.says)]))
        for state in self._cubes.like(step.before, scene.state, scene.names)[:LIKE]:
            self.asked += 1
            solver.push()
            self._settle(solver, state, spoken)
            model = solver.model() if solver.check() == z3().sat else None
            solver.pop()
            if model is not None:
                yield self._row(step, state, model)
                return

    def _settle(self, solver: Any, state: Mapping[str, Any], names: Iterable[str]) -> None:
        """Tell a solver what some parts are."""
        for name in names:
            if name in state:
                solver.add(self.translate(self.steps.parts[name]) == state[name])

    def _row(self, step: Step, state: State, model: Any) -> Sequence[int]:
        """Tell the state behind a step from one that was met; of what it makes, a model of all that it is made of."""
        after = self.steps.paths[step.path].after
        return [
            int(self._value(model, after[name], part.sort) if name in after else state[name])
            for name, part in self.steps.parts.items()
        ]
