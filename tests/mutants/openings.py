"""
Draw short schedules as the default search draws them, and vary them one choice at a time.

A schedule is what its choices make of it on the sound agent: another number for one of them, or a few less, make
another lawful schedule.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.coverage.denominator import Transition
from turnproof.coverage.tracker import Tracker
from turnproof.generator import Generator
from turnproof.habits import Lessons, Table, drawn, tables
from turnproof.notation import read_schedule
from turnproof.score import schedule_text
from turnproof.trial import Trial
from turnproof_model import vocabulary as v
from turnproof_model.wire import to_wire

LONGEST = 12
"""Commands of a schedule at most, its reset among them."""

OPTIONS = 1 << 20
"""A choice is a number below this one; the rest of its division by the number of options is what it takes."""

DENSE: Mapping[str, Mapping[str, int]] = {
    "act": {"burst": 3, "batch": 6, "ambush": 2, "proceed": 1},
    "gates": {"some": 2, "most": 2},
}
"""By what weights are multiplied in every other schedule, so that more happens in few commands."""

UNWRITTEN: Mapping[str, Mapping[str, int]] = {"send": {"goal": 0}, "send-meanwhile": {"goal": 0}}
"""The same in all of them: a score doesn't tell what a message of a goal says."""

Observed = dict[str, Any]


@define
class Choices:
    """Take what a list of numbers says, and go on with new ones behind its end."""

    numbers: list[int]
    dice: random.Random
    at: int = field(default=0, init=False)

    def pick(self, options: Sequence[Any]) -> Any:
        """Take one of the options."""
        if self.at == len(self.numbers):
            self.numbers.append(self.dice.randrange(OPTIONS))
        self.at += 1
        return options[self.numbers[self.at - 1] % len(options)]


@frozen
class Opening:
    """
    Hold a short schedule with what the sound agent answers to each command.

    ``reached`` are the transitions of each command; ``dense`` and ``numbers`` are what it was made from.
    """

    commands: tuple[v.Command, ...]
    answers: tuple[Observed, ...]
    reached: tuple[frozenset[Transition], ...]
    numbers: tuple[int, ...]
    dense: bool

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
        return [self._made((), dense=bool(number % 2)) for number in range(count)]

    def varied(self, opening: Opening, count: int) -> list[Opening]:
        """Vary one so many times."""
        return [self._made(self._changed(opening.numbers), dense=opening.dense) for _ in range(count)]

    def _changed(self, numbers: tuple[int, ...]) -> Sequence[int]:
        """Change a choice, or drop one or a few, once or more often."""
        changed = list(numbers)
        for _ in range(self.dice.choice((1, 1, 2, 4))):
            at = self.dice.randrange(len(changed))
            if self.dice.random() < 0.3:
                del changed[at : at + self.dice.choice((1, 2, 4))]
            elif self.dice.random() < 0.3:
                changed.insert(at, self.dice.randrange(OPTIONS))
            else:
                changed[at] = self.dice.randrange(OPTIONS)
            if not changed:
                break
        return changed

    def _made(self, numbers: Sequence[int], *, dense: bool) -> Opening:
        choices = Choices(list(numbers), self.dice)
        steps = list(self._steps(choices, dense=dense))
        commands = read_schedule(schedule_text(command for command, _ in steps))
        reached = tuple(new for _, new in steps)
        return Opening(commands, self._raw.answers(commands), reached, tuple(choices.numbers[: choices.at]), dense)

    def _steps(self, choices: Choices, *, dense: bool) -> Iterator[tuple[v.Command, frozenset[Transition]]]:
        """Make commands, and tell of each what it has reached."""
        trial = self._trial
        known = _multiplied(tables(trial.profile), UNWRITTEN)
        if dense:
            known = _multiplied(known, DENSE)
        make = Generator(trial.profile, lambda: trial.machine, choices.pick, drawn(known, choices.pick, Lessons()))
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
    """Give commands to an agent, judging nothing."""

    contract: v.Contract
    _client: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._client = InProcessCandidate(REFERENCE_DRIVER, {"contract": self.contract}).connect()
        self._client.initialize()

    def answers(self, commands: Sequence[v.Command]) -> tuple[Observed, ...]:
        """Give all commands."""
        return tuple(self.answer(to_wire(command)) for command in commands)

    def answer(self, request: Mapping[str, Any]) -> Observed:
        """Give one command."""
        self._client._send(request["method"], request["params"])
        return self._client._receive()  # type: ignore[no-any-return]
