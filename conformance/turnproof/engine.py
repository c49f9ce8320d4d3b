"""
Search fast: bytes are read as choices among what the rules allow, and one byte string is one schedule.

Hypothesis draws the bytes; nothing else of it runs between the commands, so that a candidate in a child process is
driven at its own pace. The same bytes give the same schedule as long as the candidate and its freedoms are the same.
A schedule ends with its bytes, after a failure, or a few commands after a disposal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from attrs import define, field
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from turnproof.faults import DriverFault
from turnproof.generator import Generator
from turnproof.habits import Lessons, Spoiler, drawn, tables
from turnproof.trial import GONE, RuleFailure, Signature, Trial
from turnproof_model import vocabulary as v

CHUNK = 12
"""Bytes read at once: choices are the digits of one whole number made of them."""

SMALLEST = 1 << 16
"""Read again below this remainder: what is left would favour small digits."""

SCHEDULE_BYTES = 384
"""Bytes of one schedule: some 60 commands."""

AFTERLIFE = 3
"""Commands given to a disposed agent before the next schedule begins: little can happen any more."""

NEWS = 3
"""Times that a way of failing is met before it is known well."""

Collector = Callable[[RuleFailure], bool]
"""Take a failure and say whether the search goes on."""


class DiceSpentError(Exception):
    """Say that a byte string has no choice left."""


class BudgetSpent(BaseException):  # an end, not an error: Hypothesis lets it pass unjudged
    """Say that no more commands may be sent, or that the collector has seen enough."""


@define
class Dice:
    """Read a byte string as choices."""

    data: bytes
    at: int = 0
    digits: int = 0

    def pick(self, options: Sequence[Any]) -> Any:
        """
        Take one of the options.

        Raises:
            DiceSpentError: no bytes are left.
        """
        if self.digits < SMALLEST:
            if self.at >= len(self.data):
                raise DiceSpentError
            self.digits = int.from_bytes(self.data[self.at : self.at + CHUNK], "little") | (1 << (8 * CHUNK))
            self.at += CHUNK
        self.digits, digit = divmod(self.digits, len(options))
        return options[digit]


@define
class Engine:
    """
    Play byte strings against one candidate.

    ``budget``: commands that the trial may have sent in the end. ``met``: how often each way of failing was met.
    """

    trial: Trial
    collector: Collector
    budget: int
    known: dict[str, dict[str, int]] = field(init=False)
    lessons: Lessons = field(factory=Lessons, init=False)
    met: Counter[Signature] = field(factory=Counter, init=False)
    spoiled: Spoiler = field(default="nothing", init=False)

    def __attrs_post_init__(self) -> None:
        self.known = tables(self.trial.profile)

    def play(self, data: bytes) -> None:
        """
        Play one schedule.

        Raises:
            BudgetSpent: the search is over.
            DriverFault: the candidate's driver broke down.
        """
        dice, trial, self.spoiled = Dice(data), self.trial, "nothing"
        with suppress(DiceSpentError):
            habits = drawn(self.known, dice.pick, self.lessons)
            make = Generator(trial.profile, lambda: trial.machine, dice.pick, habits)
            with suppress(DiceSpentError):
                self._play(make)
            self.lessons.note(make.taken, self.spoiled)

    def _play(self, make: Generator) -> None:
        """Give commands until the schedule ends; few more to an agent that is gone, or none."""
        afterlife = 0
        going = self._give(make.reset())
        while going and afterlife <= AFTERLIFE:
            going = self._give(make.command())
            afterlife = afterlife + 1 if self.trial.disposed else 0
            if afterlife == 1 and make.choose("disposed") == "leave":
                return

    def _give(self, command: v.Command) -> bool:
        """Give one command and tell whether the schedule goes on."""
        trial = self.trial
        if trial.commands >= self.budget:
            raise BudgetSpent
        if isinstance(command, v.Resume) and not trial.allows(command):
            return True
        failure = trial.begin(command) if isinstance(command, v.Reset) else trial.do(command)
        if failure is None:
            return True
        self.met[failure.signature] += 1
        if self.met[failure.signature] > NEWS:
            self.spoiled = "linger" if failure.signature == GONE else "all"
        if not self.collector(failure):
            raise BudgetSpent
        return False


def search(engine: Engine, seed: int, each: Callable[[], None] = lambda: None) -> int:
    """
    Play schedules until the budget is spent or the collector has seen enough.

    Args:
        engine: plays them.
        seed: where all choices come from.
        each: called before each schedule.

    Returns:
        how many schedules were begun.

    Raises:
        DriverFault: the candidate's driver broke down.
    """
    begun = 0
    broken: list[DriverFault] = []

    @with_seed(seed)
    @settings(
        max_examples=engine.budget,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary(min_size=SCHEDULE_BYTES, max_size=SCHEDULE_BYTES))
    def schedules(data: bytes) -> None:
        nonlocal begun
        begun += 1
        each()
        try:
            engine.play(data)
        except DriverFault as fault:  # Hypothesis would play it again, on a driver that is gone
            broken.append(fault)
            raise BudgetSpent from fault

    with suppress(BudgetSpent):
        schedules()
    if broken:
        raise broken[0]
    return begun
