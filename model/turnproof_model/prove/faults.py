"""
Break the rules on purpose: small changes of their source, each with the rule whose proof must fail.

A fault that no goal notices would show a hole in the observers. One that no short schedule shows would be a change of
what can't be reached. ``faults_window`` and ``faults_claim`` list them.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Mapping

from attrs import frozen

from turnproof_model.explore.counterexample import STAGES, Counterexample, counterexample
from turnproof_model.prove.induction import Failure
from turnproof_model.prove.proof import changed_induction, unchanged
from turnproof_model.prove.traces import Trace, broken, shortest
from turnproof_model.readings.loading import Change
from turnproof_model.vocabulary import Contract

EARLY: Mapping[Contract, int] = {"window": 2, "claim": 3}
"""How many stages of the explorer are searched before anything else."""


@frozen
class Fault:
    """Be one deliberate change: its name, the rule that must fail, what is wrong then, and the change."""

    name: str
    rule: str
    says: str
    change: Change


@frozen(eq=False)
class Kill:
    """
    Be what a proof said to a fault: a goal that can't be shown any more, of its rule if there is one.

    Where no goal of the rule fails itself, what fails is a strengthening line that the rule's proof rests on.
    ``seconds``: of processor time, as everywhere here.
    """

    fault: Fault
    failure: Failure | None
    seconds: float

    @property
    def killed(self) -> bool:
        """Whether the proof fails."""
        return self.failure is not None

    @property
    def named(self) -> bool:
        """Whether a goal of the rule itself fails."""
        return self.failure is not None and self.failure.goal.rule == self.fault.rule


@frozen(eq=False)
class Shown:
    """
    Be a short schedule that shows a fault, on real messages.

    ``found``: one on which a rule breaks, as the explorer found it, or one on which the changed rules answer otherwise
    than the rules as they are; nothing, where neither is. ``rules``: those that break on it, if any.

    What is *shortest*: stages of the explorer come one after the other (``STAGES``). In the first that breaks a rule,
    the schedule has the fewest transitions, moves of the loop among them, of all that its slices allow. One on which
    the answers differ has the fewest commands of all that are tried in the first surroundings that show a difference.
    """

    fault: Fault
    found: Counterexample | Trace | None
    rules: tuple[str, ...]
    seconds: float

    @property
    def commands(self) -> int | None:
        """How many commands it takes; nothing where no schedule was found."""
        if self.found is None:
            return None
        return self.found.commands if isinstance(self.found, Counterexample) else len(self.found.commands)


def fault(name: str, rule: str, says: str, module: str, old: str, new: str) -> Fault:
    """Describe a fault on one line or a few."""
    return Fault(name, rule, says, Change(module, old, new))


def faults(contract: Contract) -> tuple[Fault, ...]:
    """List the faults of a contract."""
    listed: tuple[Fault, ...] = importlib.import_module(f"turnproof_model.prove.faults_{contract}").FAULTS
    return listed


def prepare(contract: Contract) -> float:
    """
    Take the rules as they are apart and search them, once in a process, for all faults; tell the processor seconds.

    Without it the first faults take that much longer.
    """
    began = time.process_time()
    unchanged(contract)
    counterexample(contract, stages=STAGES[contract][: EARLY[contract]])
    return time.process_time() - began


def kill(contract: Contract, one: Fault) -> Kill:
    """Try to prove a contract with a fault in it, until the rule fails that must."""
    began = time.process_time()
    first: Failure | None = None
    for failure in _failures(contract, one.change):
        if failure.goal.rule == one.rule:
            return Kill(one, failure, time.process_time() - began)
        first = first or failure
    return Kill(one, first, time.process_time() - began)


def show(contract: Contract, one: Fault) -> Shown:
    """
    Look for a short schedule that shows a fault.

    The explorer's first stages find most within moments; where they don't, changed and unchanged rules side by side
    often do, which costs less than the stages that are left.
    """
    began = time.process_time()
    found, rules = _found(contract, one.change)
    return Shown(one, found, rules, time.process_time() - began)


def _found(contract: Contract, change: Change) -> tuple[Counterexample | Trace | None, tuple[str, ...]]:
    stages, first = STAGES[contract], EARLY[contract]
    early = counterexample(contract, (change,), stages[:first])
    if early is not None:
        return early, early.rules
    trace = shortest(contract, change)
    rules = () if trace is None else broken(contract, change, trace)
    later = None if rules else counterexample(contract, (change,), stages[first:])
    return (trace, rules) if later is None else (later, later.rules)


def _failures(contract: Contract, change: Change) -> Iterator[Failure]:
    for outcome in changed_induction(contract, (change,)).run():
        yield from outcome.failures
