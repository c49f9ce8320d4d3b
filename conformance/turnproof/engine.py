"""
Search fast: bytes are read as choices among what the rules allow, and one byte string is one schedule.

A search begins with the openings, a book of schedules that is kept. Then Hypothesis draws seeds, and the bytes of some
schedules are spread from each; nothing else of it runs between the commands, so that a candidate in a child process is
driven at its own pace. The same bytes give the same schedule as long as the candidate and its freedoms are the same. A
schedule ends with its bytes, after a failure, or a few commands after a disposal.

With several *lanes*, each a trial of the candidate on an agent of its own, several schedules are under way: while one
agent works, what another answered is judged. The lanes take turns by number and never by time, so that what comes out
depends on nothing but the seed. What a lane has learned of the candidate's freedoms the others take over at their next
schedule.
"""

from __future__ import annotations

from collections import Counter, abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

from attrs import define, field
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from turnproof.client import Client
from turnproof.collecting import collecting_seldom
from turnproof.coverage.steering import Steering
from turnproof.coverage.tracker import Tracker
from turnproof.dice import SEED_BYTES, Dice, DiceSpentError, spread
from turnproof.faults import DriverFault
from turnproof.generator import Generator
from turnproof.habits import Lessons, Spoiler, drawn, tables
from turnproof.openings import openings
from turnproof.trial import GONE, RuleFailure, Signature, Trial
from turnproof_model import vocabulary as v

AFTERLIFE = 3
"""Commands given to a disposed agent before the next schedule begins: little can happen any more."""

NEWS = 3
"""Times that a way of failing is met before it is known well."""

Collector = Callable[[RuleFailure], bool]
"""Take a failure and say whether the search goes on."""


class BudgetSpent(BaseException):  # an end, not an error: Hypothesis lets it pass unjudged
    """Say that no more commands may be sent, or that the collector has seen enough."""


T = TypeVar("T")

Turns: TypeAlias = abc.Generator[None, None, T]
"""What a lane does, cut at the moments when it waits for its driver."""


@define
class Engine:
    """
    Play byte strings against one candidate.

    ``budget``: commands that the trials may have sent in the end. ``beside``: trials of the same candidate on drivers
    of their own, a lane for each. ``trials``: those of all lanes. ``met``: how often each way of failing was met.
    """

    trial: Trial
    collector: Collector
    budget: int
    beside: Sequence[Trial] = ()
    known: dict[str, dict[str, int]] = field(init=False)
    lessons: Lessons = field(factory=Lessons, init=False)
    steering: Steering = field(init=False)
    met: Counter[Signature] = field(factory=Counter, init=False)
    trials: tuple[Trial, ...] = field(init=False)
    lanes: list[Turns[None] | None] = field(init=False)
    turn: int = field(default=0, init=False)
    over: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.known = tables(self.trial.profile)
        self.trials = (self.trial, *self.beside)
        self.lanes = [None] * len(self.trials)
        tracker = self.trial.tracker or Tracker.of(self.trial.profile)
        for trial in self.trials:
            trial.tracker = tracker
            trial.patient = True
        self.steering = Steering(tracker)

    @property
    def commands(self) -> int:
        """Requests sent so far, over all lanes."""
        return sum([trial.commands for trial in self.trials])

    # -------------------------------------------------------------------------------------------- lanes
    def play(self, data: bytes) -> None:
        """
        Begin one schedule on the lane that is free, and go on with all lanes until one is free again.

        Raises:
            BudgetSpent: the search is over.
            DriverFault: the candidate's driver broke down.
        """
        self._lend(lambda trial: self._schedule(trial, data))

    def open(self, commands: Iterable[v.Command]) -> None:
        """
        Begin a schedule that is there already in the same way; what can't be given when its turn comes is left out.

        Raises:
            BudgetSpent: the search is over.
            DriverFault: the candidate's driver broke down.
        """
        self._lend(lambda trial: self._opening(trial, commands))

    def _lend(self, play: Callable[[Trial], Turns[None]]) -> None:
        free = self.lanes.index(None)
        self.lanes[free] = play(self.trials[free])
        while None not in self.lanes:
            self._take_turn()

    def _take_turn(self) -> None:
        """Let one lane go on to where it waits for its driver; a lane that is free lets the turn pass."""
        at, self.turn = self.turn, (self.turn + 1) % len(self.lanes)
        lane = self.lanes[at]
        if lane is None:
            return
        try:
            next(lane)
        except StopIteration:
            self.lanes[at] = None
        except BaseException:
            self.lanes[at] = None
            raise

    def finish(self) -> None:
        """
        Judge what is still under way, and begin nothing any more.

        Raises:
            DriverFault: the candidate's driver broke down.
        """
        self.over = True
        while any(self.lanes):
            with suppress(BudgetSpent):
                self._take_turn()
        for trial in self.beside:
            self.trial.oracle.learn(trial.oracle)

    def hear_out(self) -> None:
        """Let the monitors judge the schedules that were broken off."""
        for trial in self.trials:
            failure = trial.tell_monitors()
            if failure is not None:
                self.collector(failure)

    # -------------------------------------------------------------------------------------------- schedules
    def _learn(self, trial: Trial) -> None:
        """Let a lane take over what the others have learned of the candidate's freedoms."""
        for other in self.trials:
            if other is not trial:
                trial.oracle.learn(other.oracle)

    def _opening(self, trial: Trial, commands: Iterable[v.Command]) -> Turns[None]:
        """Play an opening on one lane."""
        self._learn(trial)
        failure = None
        for command in commands:
            if not isinstance(command, v.Release | v.Resume) or trial.allows(command):
                failure = yield from self._give(trial, command)
            if failure is not None:
                break
        failure = failure or trial.end()
        if failure is not None:
            self._spoiled(failure)
            if not self.collector(failure):
                raise BudgetSpent

    def _schedule(self, trial: Trial, data: bytes) -> Turns[None]:
        """Play one schedule on one lane."""
        dice, oracle = Dice(data), trial.oracle
        spoiled: Spoiler = "nothing"
        self._learn(trial)
        with suppress(DiceSpentError):
            habits = drawn(self.known, dice.pick, self.lessons)
            make = Generator(trial.profile, lambda: oracle.machine, dice.pick, habits, steer=self.steering.command)
            failure = yield from self._course(trial, make)
            if failure is not None:
                spoiled = self._spoiled(failure)
            self.lessons.note(make.taken, spoiled)
            if failure is not None and not self.collector(failure):
                raise BudgetSpent

    def _course(self, trial: Trial, make: Generator) -> Turns[RuleFailure | None]:
        """Give commands until the schedule ends; few more to an agent that is gone, or none."""
        afterlife = 0
        failure = yield from self._give(trial, make.reset())
        with suppress(DiceSpentError):
            while failure is None and afterlife <= AFTERLIFE:
                failure = yield from self._give(trial, make.command())
                afterlife = afterlife + 1 if trial.disposed else 0
                if failure is None and afterlife == 1 and make.choose("disposed") == "leave":
                    break
        return failure or trial.end()

    def _give(self, trial: Trial, command: v.Command) -> Turns[RuleFailure | None]:
        """Give one command, and wait for its judgement."""
        if self.over or self.commands >= self.budget:
            raise BudgetSpent
        if isinstance(command, v.Resume) and not trial.allows(command):
            return None
        if isinstance(command, v.Reset):
            trial.rewind()
        if not self.beside:
            return trial.do(command)
        client = cast("Client", trial.client)  # a lane is more than a trial asks for
        trial.enter(command)
        client.post(command)
        yield
        return trial.judge(client.fetch())

    def _spoiled(self, failure: RuleFailure) -> Spoiler:
        """Tell what a failure spoiled: nothing, as long as it is news."""
        self.met[failure.signature] += 1
        if self.met[failure.signature] <= NEWS:
            return "nothing"
        return "linger" if failure.signature == GONE else "all"


def generating(most: int, **more: Any) -> settings:
    """
    Let Hypothesis only generate: nothing is shrunk, kept, timed or printed.

    Args:
        most: how many examples at most.
        more: further settings.
    """
    return settings(
        max_examples=most,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        **more,
    )


def search(
    engine: Engine,
    seed: int,
    each: Callable[[], None] = lambda: None,
    first: Iterator[Sequence[v.Command]] | None = None,
) -> int:
    """
    Play the openings, then schedules that are drawn, until the budget is spent or the collector has seen enough.

    Args:
        engine: plays them.
        seed: where all choices come from.
        each: called before each schedule.
        first: the openings; by default all that the candidate can be given. A search that goes on after a breakdown
            hands on those that are left, so that it doesn't run into the same one again.

    Returns:
        how many schedules were begun.

    Raises:
        DriverFault: the candidate's driver broke down.
    """
    begun = 0
    broken: list[DriverFault] = []

    def begin(play: Callable[[], None]) -> None:
        nonlocal begun
        begun += 1
        each()
        try:
            play()
        except DriverFault as fault:  # Hypothesis would play it again, on a driver that is gone
            broken.append(fault)
            raise BudgetSpent from fault

    @with_seed(seed)
    @generating(engine.budget + 1)  # the first is left out
    @given(st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES))
    def schedules(drawn: bytes) -> None:
        if any(drawn):  # the simplest seed comes first, whatever Hypothesis is to begin with
            for data in spread(drawn):
                begin(partial(engine.play, data))

    with suppress(BudgetSpent), collecting_seldom():
        for commands in openings(engine.trial.profile) if first is None else first:
            begin(partial(engine.open, commands))
        schedules()
    if not broken:
        engine.finish()
    engine.hear_out()
    if broken:
        raise broken[0]
    return begun
