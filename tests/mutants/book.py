"""
Choose the openings that every search begins with: `python -m mutants.book` writes them anew, which takes a while.

They are chosen by what the automatic mutants of the agents show, and by the transitions that they reach. The deliberate
defects, which the suite is measured with, have no part in it. One mutant stands for all of a line, since what is wrong
there mostly shows alike, and one that nearly any schedule shows counts little.

Schedules are drawn as the default search draws them. Of all of them and their beginnings the one is taken next that
shows most of what isn't shown yet for its number of commands.
"""

from __future__ import annotations

import argparse
import random
from typing import get_args

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from mutants import record
from mutants.judging import HANG, KILLED
from mutants.mutant import Mutant
from mutants.openings import LONGEST, Drawer, Opening
from mutants.rating import NEVER, Marks, marks
from mutants.scope import contracts_of
from turnproof.openings import file_of
from turnproof.score import schedule_text
from turnproof_model import vocabulary as v

DRAWN = 400
"""Schedules that are drawn."""

COMMANDS = 220
"""Length of the whole book, resets among them; the schedule that reaches it is the last one."""

TRANSITION = 0.1
"""What reaching a transition counts beside showing a mutant."""

SEED = 1


@frozen
class Taken:
    """Name the beginning of a schedule: its number in the pool, and its commands."""

    number: int
    length: int


@define
class Pool:
    """Hold schedules, and after how many commands each shows each mutant."""

    openings: list[Opening]
    marks: Marks
    weights: npt.NDArray[np.float64] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.weights = 1 - (self.marks < NEVER).mean(axis=1)

    def chosen(self) -> list[Taken]:
        """Choose the book, each time what shows most for its commands."""
        book: list[Taken] = []
        hidden = np.ones(len(self.marks), dtype=bool)
        reached: set[object] = set()
        while sum(taken.length for taken in book) < COMMANDS:
            worth = self._shown(hidden) + TRANSITION * self._reached(reached)
            worth /= np.arange(1, LONGEST + 1)
            number, last = np.unravel_index(worth.argmax(), worth.shape)
            taken = Taken(int(number), int(last) + 1)
            book.append(taken)
            hidden &= self.marks[:, taken.number] > taken.length
            reached.update(*self.openings[taken.number].reached[: taken.length])
        return book

    def _shown(self, hidden: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Weigh the mutants that each beginning of each schedule shows of those that are hidden still."""
        within = [(self.marks[hidden] <= length).T @ self.weights[hidden] for length in range(1, LONGEST + 1)]
        return np.stack(within, axis=1)

    def _reached(self, reached: set[object]) -> npt.NDArray[np.float64]:
        """Count the transitions that each beginning is the first to reach; none behind the end of a schedule."""
        counts = np.zeros((len(self.openings), LONGEST))
        for number, opening in enumerate(self.openings):
            new: set[object] = set()
            for at, found in enumerate(opening.reached):
                new |= found - reached
                counts[number, at] = len(new)
        return counts

    def cut(self, taken: Taken) -> tuple[v.Command, ...]:
        """Give the commands of a beginning."""
        return self.openings[taken.number].commands[: taken.length]


def training(contract: str) -> tuple[Mutant, ...]:
    """List the mutants of a contract that the suite kills through the protocol, the first of each place and lines."""
    entries = [entry for entry in record.read() if entry.verdict.verdict == KILLED]
    told = [entry.mutant for entry in entries if entry.verdict.stage not in ("own tests", HANG)]
    first: dict[object, Mutant] = {}
    for mutant in told:
        if contract in contracts_of(mutant.module):
            first.setdefault((mutant.module, mutant.function, mutant.before), mutant)
    return tuple(first.values())


def choose(contract: v.Contract, jobs: int) -> list[tuple[v.Command, ...]]:
    """Choose the book of a contract."""
    drawn = Drawer(contract, random.Random(SEED)).some(DRAWN)
    pool = Pool(drawn, marks(contract, training(contract), drawn, jobs))
    return [pool.cut(taken) for taken in pool.chosen()]


def main() -> None:
    """Write the books."""
    parser = argparse.ArgumentParser(prog="python -m mutants.book", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    for contract in get_args(v.Contract):
        lines = map(schedule_text, choose(contract, jobs))
        file_of(contract).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
