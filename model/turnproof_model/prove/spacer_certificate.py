"""
Hold what a proof rests on, trim it, and check it from scratch with a plain solver.

A certificate says of each position that can be reached what holds there. It proves its duties if it holds at the
beginning, if no step leads from states where it holds to one where it doesn't, and if no step from such states fails a
duty. The check trusts nobody: neither where a fact came from, nor what was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import define, field, frozen

from turnproof_model.prove.solver import Translator, interruptible, joined, told, z3
from turnproof_model.prove.spacer_steps import Duty, Place, Step, Steps, unknowns
from turnproof_model.readings.terms import Term, Truth, both, implies, is_true, negate, rebuild

Source: TypeAlias = Literal["guessed", "Spacer", "property"]


@frozen(eq=False)
class Fact:
    """Be something that holds whenever the loop is at a position, and who came up with it."""

    says: Term
    source: Source


Certificate: TypeAlias = Mapping[Place, Sequence[Fact]]
"""The facts of each position that can be reached."""


@frozen(eq=False)
class Refusal:
    """
    Be a reason why a certificate proves nothing.

    ``where``: what happens there. ``place``: where that leads. ``fact``: a fact of that place which isn't kept, or
    ``duty``: what isn't met, if it is one of these.
    """

    where: str
    place: Place
    fact: Fact | None = None
    duty: Duty | None = None


Wanted: TypeAlias = Mapping[Step, Sequence[Duty]]
"""What is to be proved of each step."""

Must: TypeAlias = tuple[Step, Truth, Fact | None, Duty | None]
"""What a step must meet, and the fact or the duty that this is."""


@define(eq=False)
class Checker:
    """
    Check certificates of a contract.

    ``steps``: the contract. ``wanted``: what a certificate is to prove. ``limit``: is called before each question;
    raises where there is no time left.
    """

    steps: Steps
    wanted: Wanted
    limit: Callable[[], None] = lambda: None
    translate: Translator = field(factory=Translator)

    def refusals(self, certificate: Certificate) -> Iterator[Refusal]:
        """List the reasons why a certificate doesn't prove what is wanted; none is a proof."""
        yield from self._beginning(certificate)
        by_path: dict[int, list[Step]] = {}
        for step in self.steps.steps:
            if step.before in certificate:
                by_path.setdefault(step.path, []).append(step)
        known = [implies(self._at(place), both(*(fact.says for fact in facts))) for place, facts in certificate.items()]
        solver = interruptible()
        solver.add(*map(self.translate, known))
        for number, steps in by_path.items():
            self.limit()
            yield from self._path(solver, number, steps, certificate)

    def _at(self, place: Place) -> Truth:
        at: Any = self.steps.parts["at"] == place
        return at  # type: ignore[no-any-return]  # a comparison

    def _beginning(self, certificate: Certificate) -> Iterator[Refusal]:
        """Say what doesn't hold at first, whatever the rigid unknowns are."""
        if self.steps.first not in certificate:
            yield Refusal("the beginning", self.steps.first)
            return

        def replace(term: Term) -> object | None:
            return self.steps.start.get(term.args[0]) if term.op == "var" else None

        for fact in certificate[self.steps.first]:
            if self._fails(rebuild(fact.says, replace)):
                yield Refusal("the beginning", self.steps.first, fact)

    def _fails(self, says: object) -> bool:
        solver = interruptible()
        return bool(solver.check(z3().Not(self.translate(says))) != z3().unsat)

    def _path(self, solver: Any, number: int, steps: Sequence[Step], certificate: Certificate) -> Iterator[Refusal]:
        """Ask a path, from all of its positions at once, for everything that it must meet."""
        met = [one for step in steps for one in self._musts(step, certificate)]
        if not met:
            return
        asked = [self.translate(implies(self._at(step.before), says)) for step, says, _, _ in met]
        guard = self.translate(self.steps.paths[number].guard)
        here = self.translate(_any(self._at(step.before) for step in steps))
        solver.push()
        solver.add(guard, here, z3().Not(joined(asked)))
        answer = solver.check()
        if answer != z3().unsat:
            model = solver.model() if answer == z3().sat else None
            for (step, _, fact, duty), truth in zip(met, asked, strict=True):
                if model is None or not told(model, truth):
                    where = f"{self.steps.paths[number].action} at {self.steps.places[step.before]}"
                    yield Refusal(where, step.after, fact, duty)
        solver.pop()

    def _musts(self, step: Step, certificate: Certificate) -> Iterator[Must]:
        """List what a step must meet: its duties, and the facts behind it that it may change."""
        for duty in self.wanted.get(step, ()):
            yield step, duty.says, None, duty
        if step.after not in certificate:
            yield step, False, None, None
            return
        for fact in certificate[step.after]:
            if step.before == step.after and self.steps.keeps(step, tuple(unknowns(fact.says))):
                continue
            says = self.steps.after(step, fact.says)
            if not is_true(says):
                yield step, says, fact, None


def _any(truths: Iterable[Truth]) -> Truth:
    return negate(both(*(negate(truth) for truth in truths)))


# ------------------------------------------------------------------------------------------------ trimming
@define(eq=False)
class Trimming:
    """
    Leave out of a certificate what nothing rests on.

    ``needed``: by position, the places of facts in the certificate that something rests on.
    """

    checker: Checker
    certificate: Certificate
    needed: dict[Place, dict[int, None]] = field(factory=dict)
    _solvers: dict[Place, tuple[Any, dict[str, int]]] = field(factory=dict)
    _todo: dict[Step, list[Truth]] = field(factory=dict)

    def run(self) -> Certificate:
        """Keep what the duties rest on, what that rests on, and so on."""
        steps = self.checker.steps
        reached = [step for step in steps.steps if step.before in self.certificate]
        self.needed = {place: {} for place in self.certificate}
        into: dict[Place, list[Step]] = {}
        for step in reached:
            into.setdefault(step.after, []).append(step)
            says = [duty.says for duty in self.checker.wanted.get(step, ())]
            if step.after not in self.certificate:
                says.append(False)
            if says:
                self._todo[step] = says
        while self._todo:
            self.checker.limit()
            step = next(iter(self._todo))
            for number in self._core(step, self._todo.pop(step)):
                if number not in self.needed[step.before]:
                    self.needed[step.before][number] = None
                    self._want(self.certificate[step.before][number], into.get(step.before, ()))
        return {
            place: tuple(facts[number] for number in sorted(self.needed[place]))
            for place, facts in self.certificate.items()
        }

    def _want(self, fact: Fact, into: Sequence[Step]) -> None:
        """Ask the steps that lead to a fact to keep it."""
        steps = self.checker.steps
        spoken = tuple(unknowns(fact.says))
        for step in into:
            if step.before != step.after or not steps.keeps(step, spoken):
                says = steps.after(step, fact.says)
                if not is_true(says):
                    self._todo.setdefault(step, []).append(says)

    def _core(self, step: Step, says: Sequence[Truth]) -> list[int]:
        """Tell the facts from which something follows on a step."""
        solver, names = self._solver(step.before)
        translate = self.checker.translate
        solver.push()
        solver.add(translate(step.guard), translate(negate(both(*says))))
        core = list(names.values())
        for some in ([f"fact {number}" for number in self.needed[step.before]], list(names)):
            if solver.check(*map(z3().Bool, some)) == z3().unsat:  # what is needed anyway may do
                core = [names[str(one)] for one in solver.unsat_core()]
                break
        solver.pop()
        return core

    def _solver(self, place: Place) -> tuple[Any, dict[str, int]]:
        if place not in self._solvers:
            solver = interruptible()
            solver.set("core.minimize", True)
            names = {f"fact {number}": number for number in range(len(self.certificate[place]))}
            for name, number in names.items():
                says = self.checker.translate(self.certificate[place][number].says)
                solver.add(z3().Implies(z3().Bool(name), says))
            self._solvers[place] = (solver, names)
        return self._solvers[place]
