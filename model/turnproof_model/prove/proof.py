"""
Prove a contract, and say what was proved: rule by rule, what it rests on, and what it can't say.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

from attrs import asdict, evolve, frozen

from turnproof_model import catalogue
from turnproof_model.explore.checks import covers
from turnproof_model.explore.counterexample import Counterexample, counterexample
from turnproof_model.prove.actions import ALGEBRA, Walk
from turnproof_model.prove.induction import INVARIANT, Failure, Induction, Outcome
from turnproof_model.prove.machine import UNCARRIED, Path
from turnproof_model.prove.places import Places
from turnproof_model.prove.shape import Shape
from turnproof_model.prove.vacuity import Vacuity, unneeded, vacuity
from turnproof_model.readings.execute import enter
from turnproof_model.readings.loading import Change, changed_functions, load_rules
from turnproof_model.readings.observers import observer_of
from turnproof_model.vocabulary import Contract

Verdict: TypeAlias = Literal["proved", "not-proved", "unknown"]

NAMES: Mapping[str, str] = {
    "W-FIFO-2": "FIFO conservation",
    "C-CLAIM-4": "FIFO conservation",
    "W-TURN-2": "turn enclosure",
    "C-TURN-2": "turn enclosure",
}
"""The names under which some properties are known elsewhere."""


@frozen
class Property:
    """Be what came of one rule: how many goals it took, on how many paths, and how long."""

    rule: str
    name: str
    verdict: Verdict
    goals: int
    seconds: float


@frozen
class Uncarried:
    """
    Be something that a proof can't speak about.

    ``covered``: the bounds at which the explorer checks it, and the command that does; nothing where it is judged on
    real messages alone, by the oracle and the monitors.
    """

    name: str
    says: str
    covered: tuple[Mapping[str, int], str] | None


@frozen
class Certified:
    """
    Be what a proof without hints rests on.

    ``guessed``: how many lemmas were guessed from states and hold. ``asked``, ``shown``: how many goals didn't follow
    from them, and how many of those Spacer showed. ``facts``: how many facts the certificate has, by who came up with
    them. ``seconds``: how long it took to check it from scratch.
    """

    guessed: int
    asked: int
    shown: int
    facts: Mapping[str, int]
    seconds: float


@frozen(eq=False)
class Proof:
    """
    Be the result of proving a contract.

    ``strengthening``: what came of the lines that induction needs besides. ``failures``: goals that weren't shown, if
    any. ``certificate``: of a proof without hints.
    ``idle``: strengthening lines that nothing needs, if that was asked. ``reached``: a schedule on which a rule
    breaks, where goals weren't shown and the explorer finds one.
    """

    contract: Contract
    seed: int
    properties: tuple[Property, ...]
    strengthening: Property
    vacuity: Vacuity
    failures: tuple[Failure, ...]
    seconds: float
    method: str = "induction"
    idle: tuple[str, ...] | None = None
    reached: Counterexample | None = None
    certificate: Certified | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst of all properties."""
        found = {one.verdict for one in (*self.properties, self.strengthening)}
        return next((v for v in _WORST if v in found), "proved")

    @property
    def unspoken(self) -> tuple[str, ...]:
        """The rules of the contract that no goal belongs to."""
        spoken = {one.rule for one in self.properties}
        return tuple(rule.id for rule in catalogue.rules(self.contract) if rule.id not in spoken)

    @property
    def uncarried(self) -> tuple[Uncarried, ...]:
        """What this proof can't speak about, each with what speaks about it."""
        return tuple(Uncarried(name, says, covers(self.contract, name)) for name, says in UNCARRIED.items())


_WORST: tuple[Verdict, ...] = ("not-proved", "unknown", "proved")


def induction(contract: Contract, *, seed: int = 0, changes: Sequence[Change] = ()) -> Induction:
    """
    Take the rules of a contract apart, ready to be proved.

    Args:
        contract: ``window`` or ``claim``.
        seed: of the solver.
        changes: made to the rules' source.
    """
    if changes:
        walk = _walk(contract, changes)
        return _ready(walk, walk.paths(), seed)
    return _ready(*unchanged(contract), seed)


def changed_induction(contract: Contract, changes: Sequence[Change]) -> Induction:
    """
    Take changed rules apart, ready to be proved; of the paths only those that a change can have touched.

    The others are paths of the rules as they are, which are proved already.

    Args:
        contract: ``window`` or ``claim``.
        changes: made to the rules' source.
    """
    changed = changed_functions(contract, changes)
    if changed is None:
        return induction(contract, changes=changes)
    walk = evolve(_walk(contract, changes), before=unchanged(contract)[0], changed=changed)
    return _ready(walk, walk.paths())


@cache
def unchanged(contract: Contract) -> tuple[Walk, tuple[Path, ...]]:
    """Walk the rules as they are, once in a process; changed rules keep most of these paths."""
    walk = _walk(contract)
    return walk, walk.paths()


def _walk(contract: Contract, changes: Sequence[Change] = ()) -> Walk:
    book = load_rules(contract, algebra=ALGEBRA, changes=changes, enter=enter)
    observer = observer_of(contract)
    shape = Shape.of(book, observer.ghosts)
    return Walk(book, shape, observer, Places.of(contract, tuple(book.phases), changes))


def _ready(walk: Walk, paths: Sequence[Path], seed: int = 0) -> Induction:
    strengthening = _invariants(walk.book.contract).strengthening
    return Induction(walk.shape, walk.observer, strengthening, paths, seed)


def _invariants(contract: Contract) -> Any:
    return importlib.import_module(f"turnproof_model.prove.invariants_{contract}")


def prove(
    contract: Contract, *, seed: int = 0, changes: Sequence[Change] = (), needed: bool = False, reach: bool = False
) -> Proof:
    """
    Prove every rule of a contract that the observers state, for any number of messages, turns, steps and calls.

    Args:
        contract: ``window`` or ``claim``.
        seed: of the solver.
        changes: made to the rules' source.
        needed: whether to look for strengthening lines that nothing needs.
        reach: whether to ask the explorer for a schedule where a goal isn't shown.
    """
    began = time.perf_counter()
    attempt = induction(contract, seed=seed, changes=changes)
    outcomes = tuple(attempt.run())
    by_rule: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_rule.setdefault(outcome.rule, []).append(outcome)
    properties = {rule: _property(rule, some) for rule, some in by_rule.items()}
    strengthening = properties.pop(INVARIANT)
    failures = tuple(failure for outcome in outcomes for failure in outcome.failures)
    return Proof(
        contract,
        seed,
        tuple(properties[rule] for rule in sorted(properties, key=order_of(contract))),
        strengthening,
        vacuity(attempt),
        failures,
        time.perf_counter() - began,
        idle=unneeded(attempt) if needed else None,
        reached=counterexample(contract, changes) if reach and failures else None,
    )


def to_json(proof: Proof) -> Mapping[str, object]:
    """Write a proof as a JSON value."""
    dead = list(proof.vacuity.dead)
    return {
        "schema": "turnproof/prove/1",
        "contract": proof.contract,
        "method": proof.method,
        "seed": proof.seed,
        "properties": [asdict(one) for one in proof.properties],
        "strengthening": {**asdict(proof.strengthening), "unneeded": proof.idle},
        "vacuity": {"paths": proof.vacuity.paths, "satisfiable": proof.vacuity.satisfiable, "dead": dead},
        "failures": [_failure(failure) for failure in proof.failures],
        "reached": None if proof.reached is None else _reached(proof.reached),
        "certificate": None if proof.certificate is None else asdict(proof.certificate),
        "not_carried": {"rules": list(proof.unspoken), "besides": [_uncarried(one) for one in proof.uncarried]},
        "seconds": proof.seconds,
        "verdict": proof.verdict,
    }


def _failure(failure: Failure) -> Mapping[str, object]:
    return {
        "rule": failure.goal.rule or None,
        "goal": failure.goal.name,
        "action": failure.action,
        "events": list(failure.events),
        "state": dict(failure.state),
    }


def _reached(found: Counterexample) -> Mapping[str, object]:
    return {"rules": list(found.rules), "commands": found.commands, "bounds": dict(found.within.bounds)}


def _uncarried(one: Uncarried) -> Mapping[str, object]:
    bounds, command = one.covered or (None, None)
    return {"what": one.name, "says": one.says, "bounds": bounds, "checked_by": command}


def order_of(contract: Contract) -> Any:
    """Order rules as their document does; what isn't one of them comes last."""
    places = {rule.id: i for i, rule in enumerate(catalogue.rules(contract))}
    return lambda rule: (places.get(rule, len(places)), rule)


def _property(rule: str, outcomes: Sequence[Outcome]) -> Property:
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    verdict: Verdict = "proved"
    if failures:
        verdict = "not-proved" if any(failure.known for failure in failures) else "unknown"
    seconds = sum(outcome.seconds for outcome in outcomes)
    return Property(rule, name_of(rule), verdict, sum(outcome.goals for outcome in outcomes), seconds)


def name_of(rule: str) -> str:
    """Tell the title of a rule, with the name under which it is known elsewhere."""
    if rule == INVARIANT:
        return "the strengthening lines hold"
    try:
        title = catalogue.rule(rule).title
    except catalogue.UnknownRuleError:
        return rule
    known = NAMES.get(rule)
    return title if known is None else f"{known}: {title}"
