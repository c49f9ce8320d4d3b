"""
Hold what a proof rests on, trim it, and check it from scratch with a plain solver.

A certificate says of each position that can be reached what holds there. It proves its duties if it holds at the
beginning, if no step leads from states where it holds to one where it doesn't, and if no step from such states fails a
duty. The check trusts nobody: neither where a fact came from, nor what was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import define, field, frozen

from turnproof_model.prove.machine import Check
from turnproof_model.prove.solver import Translator, answered, brisk, denied, interruptible, joined, told, z3
from turnproof_model.prove.spacer_steps import Place, Step, Steps
from turnproof_model.readings.terms import Term, Truth, is_true, key_of

Source: TypeAlias = Literal["guessed", "learnt", "Spacer", "property"]


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
    duty: Check | None = None


Wanted: TypeAlias = Mapping[Step, Sequence[Check]]
"""What is to be proved of each step."""


@frozen(eq=False)
class Must:
    """Be something that a step must meet, said of the state before it, and the fact or the duty that this is."""

    says: Truth
    fact: Fact | None = None
    duty: Check | None = None


TOGETHER = 10
"""Steps of a position that are asked about in one question: more take longer than each alone."""


@frozen(eq=False)
class _Asked:
    """Be a step with what it must meet, in terms and in the solver's language."""

    step: Step
    guard: Any
    musts: Sequence[Must]
    truths: Sequence[Any]


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
        for place, facts in certificate.items():
            solver = brisk()
            solver.add(joined([self.translate(fact.says) for fact in facts]))
            known = frozenset(fact.says.key for fact in facts)
            leaving = sorted(self.steps.leaving.get(place, ()), key=lambda step: step.after)
            asked = [one for one in (self._asked(step, certificate, known) for step in leaving) if one.musts]
            for begin in range(0, len(asked), TOGETHER):
                self.limit()
                yield from self._ask(solver, asked[begin : begin + TOGETHER])

    def _beginning(self, certificate: Certificate) -> Iterator[Refusal]:
        """Say what doesn't hold at first, whatever the rigid unknowns are."""
        if self.steps.first not in certificate:
            yield Refusal("the beginning", self.steps.first)
            return
        for fact in certificate[self.steps.first]:
            if self._fails(self.steps.initially(fact.says)):
                yield Refusal("the beginning", self.steps.first, fact)

    def _fails(self, says: object) -> bool:
        solver = interruptible()
        return bool(solver.check(z3().Not(self.translate(says))) != z3().unsat)

    def _asked(self, step: Step, certificate: Certificate, known: Container[object]) -> _Asked:
        """List what a step must meet: its duties, and the facts behind it, except what is known before it."""
        musts = [Must(duty.condition, duty=duty) for duty in self.wanted.get(step, ())]
        if step.after not in certificate:
            musts.append(Must(says=False))
        for fact in certificate.get(step.after, ()):
            if fact.says.key in known and self.steps.keeps(step, self.steps.spoken(fact.says)):
                continue
            says = self.steps.after(step, fact.says)
            if not is_true(says):
                musts.append(Must(says, fact=fact))
        musts = [one for one in musts if key_of(one.says) not in known]
        return _Asked(step, self.translate(step.guard), musts, [self.translate(one.says) for one in musts])

    def _ask(self, solver: Any, several: Sequence[_Asked]) -> Iterator[Refusal]:
        """Ask whether one of these steps can be taken, from states where the facts hold, and not meet what it must."""
        solver.push()
        solver.add(denied([denied([one.guard, denied(one.truths)]) for one in several]))
        answer = solver.check()
        if answer != z3().unsat:
            model = solver.model() if answer == z3().sat else None
            for one in several:
                if model is None or told(model, one.guard):
                    yield from self._refused(one, model)
        solver.pop()

    def _refused(self, asked: _Asked, model: Any) -> Iterator[Refusal]:
        step = asked.step
        where = f"{self.steps.paths[step.path].action} at {self.steps.places[step.before]}"
        for must, truth in zip(asked.musts, asked.truths, strict=True):
            if model is None or not told(model, truth):
                yield Refusal(where, step.after, must.fact, must.duty)


# ------------------------------------------------------------------------------------------------ trimming
@define(eq=False)
class _Room:
    """
    Be one position while a certificate is trimmed.

    ``facts``: what is known there; ``places``: where each of them stands in the list, by the key of its term.
    ``literals``: what stands for each of them in the solver, ``numbers``: which place that is, by the solver's number
    of it. ``needed``: the places of those that something rests on.
    """

    facts: Sequence[Fact]
    solver: Any
    literals: list[Any]
    numbers: Mapping[int, int]
    places: Mapping[object, int]
    needed: dict[int, None] = field(factory=dict)

    @classmethod
    def of(cls, facts: Sequence[Fact], translate: Translator) -> _Room:
        """Tell a solver the facts, each behind a literal of its own."""
        solver = brisk()
        literals = [z3().Bool(f"fact {number}") for number in range(len(facts))]
        for literal, fact in zip(literals, facts, strict=True):
            solver.add(z3().Implies(literal, translate(fact.says)))
        numbers = {literal.get_id(): number for number, literal in enumerate(literals)}
        return cls(facts, solver, literals, numbers, {fact.says.key: number for number, fact in enumerate(facts)})

    def core(self, guard: Any, asked: Sequence[Any]) -> list[int]:
        """Tell the places of the facts from which all that is asked follows; those that are needed anyway may do."""
        self.solver.push()
        self.solver.add(guard, denied(asked))
        found = list(range(len(self.facts)))
        for some in (list(self.needed), found):
            if answered(self.solver, [self.literals[number] for number in some]) == z3().unsat:
                found = [self.numbers[one.get_id()] for one in self.solver.unsat_core()]
                break
        self.solver.pop()
        return found


@define(eq=False)
class Trimming:
    """Leave out of a certificate what nothing rests on."""

    checker: Checker
    certificate: Certificate
    _rooms: dict[Place, _Room] = field(factory=dict)
    _todo: dict[Step, list[Truth]] = field(factory=dict)

    def run(self) -> Certificate:
        """Keep what the duties rest on, what that rests on, and so on."""
        checker = self.checker
        self._rooms = {place: _Room.of(facts, checker.translate) for place, facts in self.certificate.items()}
        for place in self.certificate:
            for step in checker.steps.leaving.get(place, ()):
                says = [duty.condition for duty in checker.wanted.get(step, ())]
                if step.after not in self.certificate:
                    says.append(False)
                if says:
                    self._todo[step] = says
        while self._todo:
            checker.limit()
            step = next(iter(self._todo))
            asked = [checker.translate(one) for one in self._todo.pop(step)]
            for number in self._rooms[step.before].core(checker.translate(step.guard), asked):
                self._need(step.before, number)
        return {
            place: tuple(room.facts[number] for number in sorted(room.needed)) for place, room in self._rooms.items()
        }

    def _need(self, place: Place, number: int) -> None:
        """Keep a fact: the steps that lead to it must keep it, where it isn't a fact there that goes on to hold."""
        todo = [(place, number)]
        while todo:
            place, number = todo.pop()
            room = self._rooms[place]
            if number in room.needed:
                continue
            room.needed[number] = None
            for step in self.checker.steps.entering.get(place, ()):
                before = self._rooms.get(step.before)
                if before is None:
                    continue
                says = self.checker.steps.after(step, room.facts[number].says)
                same = before.places.get(key_of(says))
                if same is not None:
                    todo.append((step.before, same))
                elif not is_true(says):
                    self._todo.setdefault(step, []).append(says)
