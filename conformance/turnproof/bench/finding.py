"""
Measure how many commands it takes to find a defect: the engine against searches without steering.

The defects are those of the reference agents, each on trial in this process; what counts is the first failure of a
rule that must catch it. All searches are given the same defects and seeds.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import chain
from typing import Any, ClassVar, TypeAlias

from attrs import define, field, frozen
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from turnproof.bench.plain import FORMS, Alphabet, Way
from turnproof.engine import AFTERLIFE, BudgetSpent, Collector, generating
from turnproof.faults import DriverFault
from turnproof.killmatrix.defects import Defect, defects
from turnproof.killmatrix.hunting import hunt
from turnproof.runner import ROUND
from turnproof.trial import RuleFailure, Trial
from turnproof_model import vocabulary as v

LENGTH = 50
"""Commands of a schedule of the plain searches: Hypothesis' own default."""

CAP = 600
"""Commands after which a search gives up, when nothing else is said: many times what ours takes for half of them."""

SEEDS = 3
"""Seeds of each search when nothing else is said, from 1 on."""

Searcher: TypeAlias = Callable[[Trial, Collector, int, int], None]
"""Searches with a trial: what takes failures, how many commands may be sent, and the seed."""


@define
class Giver:
    """Give commands of a plain search; a schedule begins anew after a failure, or soon after a disposal."""

    trial: Trial
    collector: Collector
    budget: int
    afterlife: int = field(default=0, init=False)
    over: bool = field(default=False, init=False)

    def begin(self, alphabet: Alphabet) -> None:
        """Begin a schedule."""
        self.afterlife = 0
        self.give(alphabet.reset())

    def give(self, command: Any) -> bool:
        """
        Give one command and tell whether the schedule goes on.

        Raises:
            BudgetSpent: the search is over.
        """
        trial = self.trial
        if trial.commands >= self.budget:
            self.over = True
            raise BudgetSpent
        failure = trial.begin(command) if isinstance(command, v.Reset) else trial.do(command)
        if failure is not None and not self.collector(failure):
            self.over = True
            raise BudgetSpent
        self.afterlife += trial.disposed
        return failure is None and self.afterlife <= AFTERLIFE


def uniform(trial: Trial, collector: Collector, budget: int, seed: int) -> None:
    """Take any form of a command, all alike, and any way of making it, all alike."""
    dice = random.Random(seed)
    _without_steering(Giver(trial, collector, budget), dice, lambda ways: dice.choice(dice.choice(ways)))


def listed(trial: Trial, collector: Collector, budget: int, seed: int) -> None:
    """Take any way of making a command, all alike: mostly releases and sends, of which there are many."""
    dice = random.Random(seed)
    _without_steering(Giver(trial, collector, budget), dice, lambda ways: dice.choice(list(chain(*ways))))


def _without_steering(giver: Giver, dice: random.Random, take: Callable[[list[list[Way]]], Way]) -> None:
    with suppress(BudgetSpent):
        while True:
            alphabet = Alphabet(giver.trial, dice.choice)
            giver.begin(alphabet)
            for _ in range(LENGTH):
                ways = [found for form in FORMS.values() if (found := form(alphabet))]
                if not giver.give(take(ways)()):
                    break


class PlainMachine(RuleBasedStateMachine):
    """Be a stateful machine as its author would write it first: a rule for each form, each taken as it comes."""

    giver: ClassVar[Giver]

    def __init__(self) -> None:
        super().__init__()
        self._data: st.DataObject | None = None
        self.alphabet = self._new_alphabet()

    def _new_alphabet(self) -> Alphabet:
        return Alphabet(type(self).giver.trial, self._pick)

    def _pick(self, options: Sequence[Any]) -> Any:
        assert self._data is not None
        return self._data.draw(st.sampled_from(options))

    @initialize(data=st.data())
    def start(self, data: st.DataObject) -> None:
        """Begin a schedule."""
        self._data = data
        self._begin()

    def _begin(self) -> None:
        self.alphabet = self._new_alphabet()
        type(self).giver.begin(self.alphabet)

    def take(self, form: str) -> None:
        """Give a command of one form."""
        if not type(self).giver.give(self._pick(FORMS[form](self.alphabet))()):
            self._begin()


def _ruled(form: str) -> Any:
    """Make the stateful rule of one form."""

    def take(self: PlainMachine) -> None:
        self.take(form)

    take.__name__ = form
    return precondition(lambda self: bool(FORMS[form](self.alphabet)))(rule()(take))


def machine(trial: Trial, collector: Collector, budget: int, seed: int) -> None:
    """Leave the taking to Hypothesis."""
    rules = {form: _ruled(form) for form in FORMS}
    giver = Giver(trial, collector, budget)
    plain = type("Plain", (PlainMachine,), {**rules, "giver": giver})
    try:
        run_state_machine_as_test(with_seed(seed)(plain), settings=SETTINGS)
    except (BudgetSpent, Flaky):  # an end amid a schedule may look to Hypothesis as though it drew otherwise
        if not giver.over:
            raise


SETTINGS = generating(1_000_000, stateful_step_count=LENGTH)
"""Examples without end: the giver ends them."""

PLAIN: Mapping[str, Searcher] = {"uniform": uniform, "machine": machine, "listed": listed}
"""The plain searches."""

ENGINE = "engine"
"""Ours, which hunts defects as ``turnproof faults`` does."""

SEARCHERS: tuple[str, ...] = (ENGINE, *PLAIN)
"""All searches, ours first."""


@frozen
class Task:
    """Name a search for one defect."""

    searcher: str
    defect: Defect
    seed: int
    cap: int


def commands_to_kill(task: Task) -> int | None:
    """Search for one defect; tell how many commands that took, or ``None`` if it wasn't found within the cap."""
    if task.searcher == ENGINE:
        return hunt(task.defect, task.seed, task.cap).commands
    wanted, named = frozenset(task.defect.rules), set[str]()
    sent, seed = 0, task.seed

    def collect(failure: RuleFailure) -> bool:
        named.update(failure.rules)
        return named.isdisjoint(wanted)

    client = task.defect.candidate.connect()
    while named.isdisjoint(wanted) and sent < task.cap:
        trial = Trial.open(client, task.defect.contract)
        with suppress(DriverFault):  # a defect may hang; what is left of the cap goes to another round
            PLAIN[task.searcher](trial, collect, task.cap - sent, seed)
        sent, seed = sent + trial.commands, seed + ROUND
    client.close()
    return None if named.isdisjoint(wanted) else sent


def measure(
    seeds: Sequence[int] = range(1, SEEDS + 1),
    cap: int = CAP,
    jobs: int = 1,
    names: Sequence[str] = (),
    against: Sequence[str] = tuple(PLAIN),
) -> Iterator[str]:
    """
    Let each search loose on each defect, and give a line for each search and one for each ratio.

    Args:
        seeds: that every search runs with.
        cap: commands after which a search gives up; medians below it don't depend on it.
        jobs: processes that share the work.
        names: of the defects; all of them by default.
        against: names of the plain searches.
    """
    chosen = defects(names=names)
    halves: dict[str, float] = {}
    with ProcessPoolExecutor(jobs) as pool:
        for name in (ENGINE, *against):
            tasks = [Task(name, defect, seed, cap) for defect in chosen for seed in seeds]
            counts = list(pool.map(commands_to_kill, tasks))
            middles = sorted(_middle(counts[at : at + len(seeds)]) for at in range(0, len(counts), len(seeds)))
            halves[name], quarters = statistics.median(middles), middles[len(middles) * 3 // 4]
            yield (
                f"finding: {name} kills half of {len(chosen)} defects within {_number(halves[name], cap)} commands, "
                f"three quarters within {_number(quarters, cap)} "
                f"({len(seeds)} seeds; {counts.count(None)} of {len(counts)} searches came to nothing)"
            )
    for name in against:
        share = f"{halves[ENGINE] / min(halves[name], cap):.2f}"
        told = share if math.isfinite(halves[name]) else f"less than {share}"
        yield f"finding: engine / {name} = {told} of the commands for half of them"


def _middle(found: Sequence[int | None]) -> float:
    return statistics.median(math.inf if count is None else count for count in found)


def _number(value: float, cap: int) -> str:
    return f"{value:.0f}" if math.isfinite(value) else f"more than {cap}"
