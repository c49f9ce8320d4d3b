"""
Prove a contract without any hint: nobody says what holds between the moves, a machine finds it out.

Random walks show states; simple sentences that hold in all of them are guessed, and pruned until every step keeps them
(``spacer_walks``, ``spacer_lemmas``, ``spacer_pruning``). Where that isn't enough, clauses are learnt from states that
fail a goal (``spacer_learning``); what is left goes to Spacer, the engine of z3 for Horn clauses (``spacer_local``).
All that was found is trimmed to a certificate, which a plain solver checks from scratch (``spacer_certificate``): only
what stands there counts as proved.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field, frozen

from turnproof_model.explore.counterexample import counterexample
from turnproof_model.prove.induction import INVARIANT, Failure
from turnproof_model.prove.induction import Goal as Named
from turnproof_model.prove.machine import Check
from turnproof_model.prove.proof import Certified, Proof, Property, induction, name_of, order_of
from turnproof_model.prove.solver import Translator, brisk, denied, interruptible, joined, told, z3
from turnproof_model.prove.spacer_certificate import Certificate, Checker, Fact, Refusal, Trimming
from turnproof_model.prove.spacer_learning import Learning
from turnproof_model.prove.spacer_lemmas import Lemma
from turnproof_model.prove.spacer_local import Goal, Local
from turnproof_model.prove.spacer_pruning import Pruning, Undecided
from turnproof_model.prove.spacer_rarities import Rarities
from turnproof_model.prove.spacer_steps import Place, Step, Steps
from turnproof_model.prove.spacer_walks import Rows, Walks
from turnproof_model.prove.vacuity import Vacuity, describe
from turnproof_model.readings.loading import Change
from turnproof_model.readings.terms import Term, key_of
from turnproof_model.vocabulary import Contract

ROUNDS = 40
"""How long walks are: every position is met by then, and most of what can be at one."""

PATIENCE = 8.0
"""How many seconds one goal may take Spacer, and the tries that go with it."""


class OutOfTime(Exception):  # noqa: N818  # a limit that the caller set
    """Say that the time that was given has run out."""


@define(eq=False)
class Search:
    """
    Find a certificate.

    ``steps``: the contract. ``ends``: when to give up, by ``time.perf_counter``. ``verdicts``: what Spacer said of each
    goal that it was asked (by the identity of its duty), ``seconds``: how long that took, ``states``: one that fails it
    as far as guesses tell. ``found``: everything that is believed to hold.
    """

    steps: Steps
    ends: float
    seed: int = 0
    translate: Translator = field(factory=Translator)
    duties: dict[Step, tuple[Check, ...]] = field(factory=dict)
    verdicts: dict[int, str] = field(factory=dict)
    states: dict[int, Any] = field(factory=dict)
    seconds: dict[int, float] = field(factory=dict)
    found: dict[Place, list[Fact]] = field(factory=dict)

    def left(self) -> float:
        """Tell how many seconds are left."""
        return self.ends - time.perf_counter()

    def check_time(self) -> None:
        """Give up where no time is left."""
        if self.left() <= 0:
            raise OutOfTime

    def run(self) -> Certificate:
        """Guess, prune, and ask Spacer for the rest."""
        walks = Walks(self.steps, self.seed)
        met = walks.run(ROUNDS, self.check_time)
        lemmas = Pruning(self.steps, self.translate, self.check_time, self.seed).run(met)
        self.found = {place: list(self._facts(place, some)) for place, some in lemmas.items()}
        self.duties = {step: tuple(self.steps.duties(step)) for step in self.steps.steps if step.before in self.found}
        self._ask_spacer(self._learn(self._open(), met))
        return {place: tuple(facts) for place, facts in self.found.items()}

    def _facts(self, place: Place, lemmas: Sequence[Lemma]) -> Iterator[Fact]:
        for one in self.steps.properties:
            says = self.steps.at(place, one.condition)
            if isinstance(says, Term):
                yield Fact(says, "property")
        yield from (Fact(lemma.says, "guessed") for lemma in lemmas)

    def _open(self) -> list[list[Goal]]:
        """List the goals that don't follow from what was guessed; those that say the same are one."""
        alike: dict[object, list[Goal]] = {}
        for place, facts in self.found.items():
            solver = brisk()
            solver.add(joined([self.translate(fact.says) for fact in facts]))
            known = frozenset(fact.says.key for fact in facts)
            for step in self.steps.leaving.get(place, ()):
                for duty in self._failing(solver, step, known):
                    alike.setdefault(key_of(duty.condition), []).append((step, duty))
        return list(alike.values())

    def _failing(self, solver: Any, step: Step, known: Container[object]) -> Iterator[Check]:
        """List the duties of a step that can fail where all that is known holds."""
        self.check_time()
        duties = [duty for duty in self.duties[step] if key_of(duty.condition) not in known]
        if not duties:
            return
        asked = [self.translate(duty.condition) for duty in duties]
        solver.push()
        solver.add(self.translate(step.guard), denied(asked))
        while solver.check() != z3().unsat:
            model = solver.model()
            kept = [told(model, one) for one in asked]
            for duty, holds in zip(duties, kept, strict=True):
                if not holds:
                    self.states[id(duty)] = self.steps.shape.read(model)
                    yield duty
            duties = [duty for duty, holds in zip(duties, kept, strict=True) if holds]
            asked = [one for one, holds in zip(asked, kept, strict=True) if holds]
            solver.add(denied(asked))
        solver.pop()

    def _learn(self, open_: Sequence[list[Goal]], met: Mapping[Place, Rows]) -> Sequence[list[Goal]]:
        """Learn clauses for goals that don't follow, from rare states as well; return those that still don't."""
        if not open_:
            return []
        met = Rarities(self.steps, self.seed, met=dict(met)).run(ROUNDS, self.check_time)
        lemmas = {place: [fact.says for fact in facts] for place, facts in self.found.items()}
        learning = Learning(self.steps, self.translate, lemmas, met, self.check_time, self.seed)
        left = learning.show_all(open_)
        for place, clauses in learning.clauses.items():
            self.found[place] += [Fact(clause, "learnt") for clause in clauses]
        return left

    def _ask_spacer(self, open_: Sequence[Sequence[Goal]]) -> None:
        """Ask for goal after goal; what is shown for one is known for the next."""
        known = {place: [fact.says for fact in facts] for place, facts in self.found.items()}
        local = Local(self.steps, self.translate, known, self.left, self.seed)
        for goals in open_:
            began = time.perf_counter()
            shown = local.show(goals, PATIENCE) if self.left() > 0 else None
            for _, duty in goals:
                self.verdicts[id(duty)] = "unknown" if shown is None else shown.verdict
                self.seconds[id(duty)] = (time.perf_counter() - began) / len(goals)
            if shown is not None and shown.verdict == "proved":
                local.learn(shown.facts)
                for place, says in shown.facts.items():
                    self.found[place].append(Fact(says, "Spacer"))


@frozen(eq=False)
class Settled:
    """Be a certificate that was checked, with what it doesn't prove."""

    certificate: Certificate
    refused: Sequence[tuple[Step, Check]]
    seconds: float


def settle(checker: Checker, certificate: Certificate, doubted: frozenset[int] = frozenset()) -> Settled:
    """
    Trim a certificate and check it; what it doesn't prove is no longer wanted of it, nor believed.

    Args:
        checker: knows what is wanted.
        certificate: all that was found.
        doubted: the identities of duties that nobody has shown.
    """
    wanted = {step: [duty for duty in duties if id(duty) not in doubted] for step, duties in checker.wanted.items()}
    refused = [(step, duty) for step, duties in checker.wanted.items() for duty in duties if id(duty) in doubted]
    certificate = Trimming(evolve(checker, wanted=wanted), certificate).run()
    while True:
        began = time.perf_counter()
        reasons = list(evolve(checker, wanted=wanted, translate=Translator()).refusals(certificate))
        if not reasons:
            return Settled(certificate, refused, time.perf_counter() - began)
        certificate = _without(certificate, reasons)
        for step, duty in _blamed(wanted, reasons):
            refused.append((step, duty))
            wanted[step] = [one for one in wanted[step] if one is not duty]


def _blamed(wanted: Mapping[Step, Sequence[Check]], reasons: Sequence[Refusal]) -> list[tuple[Step, Check]]:
    return [
        (step, duty)
        for step, duties in wanted.items()
        for duty in duties
        if any(reason.duty is duty for reason in reasons)
    ]


def _without(certificate: Certificate, reasons: Sequence[Refusal]) -> Certificate:
    """Leave out the facts that can't be kept."""
    gone = {(reason.place, reason.fact.says.key) for reason in reasons if reason.fact is not None}
    return {
        place: tuple(fact for fact in facts if (place, fact.says.key) not in gone)
        for place, facts in certificate.items()
    }


def prove_by_spacer(
    contract: Contract, *, seed: int = 0, changes: Sequence[Change] = (), limit: float = 600.0, reach: bool = False
) -> Proof:
    """
    Prove the rules of a contract without being told any invariant.

    Args:
        contract: ``window`` or ``claim``.
        seed: of walks and solvers.
        changes: made to the rules' source.
        limit: seconds after which nothing more is tried.
        reach: whether to ask the explorer for a schedule where a rule isn't proved.
    """
    began = time.perf_counter()
    attempt = induction(contract, seed=seed, changes=changes)
    steps = Steps(attempt.shape, attempt.observer, attempt.paths)
    search = Search(steps, began + limit, seed)
    try:
        certificate = search.run()
        doubted = frozenset(duty for duty, verdict in search.verdicts.items() if verdict != "proved")
        settled = settle(Checker(steps, search.duties, search.check_time), certificate, doubted)
    except (OutOfTime, Undecided):
        return _unknown(contract, seed, steps, began)
    properties = _properties(contract, search, settled)
    failures = tuple(_failure(search, step, duty) for step, duty in settled.refused)
    return Proof(
        contract,
        seed,
        properties,
        _strengthening(settled),
        _vacuity(steps, certificate),
        failures,
        time.perf_counter() - began,
        method="Spacer",
        reached=counterexample(contract, changes) if reach and any(one.known for one in failures) else None,
        certificate=_summary(search, settled),
    )


# ------------------------------------------------------------------------------------------------ results
def _unknown(contract: Contract, seed: int, steps: Steps, began: float) -> Proof:
    """Say that nothing is known of any rule, since time ran out before there was anything to check."""
    rules = {one.rule for one in steps.properties} | {check.rule for path in steps.paths for check in path.checks}
    properties = tuple(
        Property(rule, name_of(rule), "unknown", 0, 0.0) for rule in sorted(rules, key=order_of(contract))
    )
    nothing = Property(INVARIANT, "the lemmas hold", "unknown", 0, 0.0)
    seconds = time.perf_counter() - began
    return Proof(contract, seed, properties, nothing, Vacuity(len(steps.paths), 0, ()), (), seconds, method="Spacer")


def _properties(contract: Contract, search: Search, settled: Settled) -> tuple[Property, ...]:
    """Tell what came of each rule."""
    refused = {id(duty) for _, duty in settled.refused}
    goals: dict[str, list[Check]] = {}
    for duties in search.duties.values():
        for duty in duties:
            goals.setdefault(duty.rule, []).append(duty)
    found: list[Property] = []
    for rule in sorted(goals, key=order_of(contract)):
        verdicts = {search.verdicts.get(id(duty), "unknown") for duty in goals[rule] if id(duty) in refused}
        verdict: Any = "not-proved" if "not-proved" in verdicts else "unknown" if verdicts else "proved"
        asked = sum(search.seconds.get(id(duty), 0.0) for duty in goals[rule])
        found.append(Property(rule, name_of(rule), verdict, len(goals[rule]), asked))
    return tuple(found)


def _strengthening(settled: Settled) -> Property:
    """Say that the facts hold: they were checked."""
    count = sum(len(facts) for facts in settled.certificate.values())
    return Property(INVARIANT, "the facts of the certificate hold", "proved", count, settled.seconds)


def _failure(search: Search, step: Step, duty: Check) -> Failure:
    """Say of a goal that wasn't shown where it fails: from a state, if a way to it is known."""
    path = search.steps.paths[step.path]
    verdict = search.verdicts.get(id(duty), "unknown")
    state = {**search.states[id(duty)], "at": search.steps.places[step.before]} if verdict == "not-proved" else {}
    return Failure(path.action, path.events, Named(f"duty of {duty.rule}", duty.rule, duty.condition), state)


def _vacuity(steps: Steps, certificate: Certificate) -> Vacuity:
    """Ask of every path whether a state that is believed possible takes it."""
    translate = Translator()
    taken: set[int] = set()
    for place, facts in certificate.items():
        solver = interruptible()
        solver.add(*(translate(fact.says) for fact in facts))
        for step in steps.steps:
            if step.before == place and step.path not in taken and solver.check(translate(step.guard)) == z3().sat:
                taken.add(step.path)
    dead = tuple(describe(path) for number, path in enumerate(steps.paths) if number not in taken)
    return Vacuity(len(steps.paths), len(taken), dead)


def _summary(search: Search, settled: Settled) -> Certified:
    facts: dict[str, int] = {}
    for some in settled.certificate.values():
        for fact in some:
            facts[fact.source] = facts.get(fact.source, 0) + 1
    guessed = sum(fact.source == "guessed" for some in search.found.values() for fact in some)
    shown = sum(verdict == "proved" for verdict in search.verdicts.values())
    return Certified(guessed, len(search.verdicts), shown, dict(sorted(facts.items())), settled.seconds)
