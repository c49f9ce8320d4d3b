"""
Draw short schedules as the default search draws them, on the sound agents.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from mutants.mutant import PACKAGE
from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.coverage.denominator import Transition
from turnproof.coverage.tracker import Tracker
from turnproof.generator import Generator
from turnproof.habits import Lessons, Table, drawn, tables
from turnproof.inprocess import InProcessDriver
from turnproof.loop import ControlledLoop
from turnproof.notation import read_schedule
from turnproof.score import schedule_text
from turnproof.trial import Trial
from turnproof_model import vocabulary as v
from turnproof_model.wire import to_wire

LONGEST = 12
"""Commands of a schedule at most, its reset among them."""

DRIVER = f"{PACKAGE}.driver"

DENSE: Mapping[str, Mapping[str, int]] = {
    "act": {"burst": 3, "batch": 6, "ambush": 2, "proceed": 1},
    "gates": {"some": 2, "most": 2},
}
"""By what weights are multiplied in every other schedule, so that more happens in few commands."""

UNWRITTEN: Mapping[str, Mapping[str, int]] = {"send": {"goal": 0}, "send-meanwhile": {"goal": 0}}
"""The same in all of them: a score doesn't tell what a message of a goal says."""

Observed = dict[str, Any]


@frozen
class Opening:
    """
    Hold a short schedule with what the sound agent answers to each command.

    ``reached`` are the transitions of each command.
    """

    commands: tuple[v.Command, ...]
    answers: tuple[Observed, ...]
    reached: tuple[frozenset[Transition], ...]

    @property
    def text(self) -> str:
        """The schedule as a score."""
        return schedule_text(self.commands)


@define
class Drawer:
    """Draw openings of one contract."""

    contract: v.Contract
    dice: random.Random
    _trial: Trial = field(init=False)
    _tracker: Tracker = field(init=False)
    _raw: Raw = field(init=False)

    def __attrs_post_init__(self) -> None:
        candidate = InProcessCandidate(REFERENCE_DRIVER, {"contract": self.contract})
        self._trial = Trial.open(candidate.connect(), self.contract)
        self._tracker = self._trial.tracker = Tracker.of(self._trial.profile)
        self._raw = Raw(self.contract)

    def some(self, count: int) -> list[Opening]:
        """Draw so many, every other one dense."""
        return [self._made(dense=bool(number % 2)) for number in range(count)]

    def _made(self, *, dense: bool) -> Opening:
        steps = list(self._steps(dense=dense))
        commands = read_schedule(schedule_text(command for command, _ in steps))
        reached = tuple(new for _, new in steps)
        return Opening(commands, self._raw.answers(commands), reached)

    def _steps(self, *, dense: bool) -> Iterator[tuple[v.Command, frozenset[Transition]]]:
        """Make commands, and tell of each what it has reached."""
        trial = self._trial
        known = _multiplied(tables(trial.profile), UNWRITTEN)
        if dense:
            known = _multiplied(known, DENSE)
        make = Generator(trial.profile, lambda: trial.machine, self._pick, drawn(known, self._pick, Lessons()))
        reset = make.reset()
        trial.begin(reset)
        yield reset, frozenset()
        for _ in range(LONGEST - 1):
            command = make.command()
            if isinstance(command, v.Resume) and not trial.allows(command):
                continue
            written = self._by_kind(command)
            if trial.do(command) is not None:
                raise RuntimeError(f"the sound agent must conform (it doesn't in {schedule_text(trial.schedule)})")
            yield written, frozenset(self._tracker.latest)
            if trial.disposed:
                return

    def _pick(self, options: Sequence[Any]) -> Any:
        return options[self.dice.randrange(1 << 20) % len(options)]

    def _by_kind(self, command: v.Command) -> v.Command:
        """Name a gate that is the oldest of its kind by the kind: that holds for more agents than a number."""
        if not isinstance(command, v.Release) or command.gate is None:
            return command
        kinds = [(gate.view.kind, gate.view.id) for gate in self._trial.machine.gates]
        kind = next(kind for kind, name in kinds if name == command.gate)
        first = next(name for other, name in kinds if other == kind)
        return v.Release(command.outcome, kind=kind) if first == command.gate else command


def _multiplied(known: Mapping[str, Table], by: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {
        choice: {option: weight * by.get(choice, {}).get(option, 1) for option, weight in table.items()}
        for choice, table in known.items()
    }


@define
class Raw:
    """Give commands to an agent, judging nothing; the agent is the one that can be imported now."""

    contract: v.Contract
    _loop: ControlledLoop = field(factory=ControlledLoop, init=False)
    _driver: InProcessDriver = field(init=False)

    def __attrs_post_init__(self) -> None:
        with self._loop.entered():
            self._driver = importlib.import_module(DRIVER).Driver(loop=self._loop, contract=self.contract)
            self._driver.perform("initialize", {"protocol": 1})

    def answers(self, commands: Sequence[v.Command]) -> tuple[Observed, ...]:
        """Give all commands."""
        return tuple(self.answer(to_wire(command)) for command in commands)

    def answer(self, request: Mapping[str, Any]) -> Observed:
        """
        Give one command.

        Raises:
            Exception: any; the agent breaks down.
        """
        with self._loop.entered():
            self._driver.perform(request["method"], request["params"])
            self._loop.run_until_quiescent()
            return self._driver.observe()
