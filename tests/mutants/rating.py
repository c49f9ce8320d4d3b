"""
Tell which schedules show a mutant, and how soon: at the first answer that differs from the sound agent's.

Nothing is judged here, so that a mutant is put through hundreds of schedules in a moment.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from mutants.judging import in_child, substitute, warm
from mutants.mutant import Mutant
from mutants.openings import Opening, Raw
from turnproof_model import vocabulary as v
from turnproof_model.wire import to_wire

NEVER = 99
"""Stands for a schedule that doesn't show the mutant."""

COMMAND_SECONDS = 0.5
"""Work on one command after which a mutant is given up: what hangs tells nothing about schedules."""

Marks = npt.NDArray[np.int8]
"""``(mutants, schedules)``: the commands up to the first difference, or ``NEVER``, in all of a row for what hangs."""


def marks(contract: v.Contract, mutants: Sequence[Mutant], openings: Sequence[Opening], jobs: int) -> Marks:
    """Put each mutant through each schedule."""
    given = [([to_wire(command) for command in one.commands], one.answers) for one in openings]
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _ready, (contract, given)) as pool:
        rows = list(pool.map(_row, mutants, chunksize=4))
    return np.array(rows, dtype=np.int8).reshape(len(mutants), len(given))


_WORK: dict[str, Any] = {}


def _ready(contract: v.Contract, given: list[Any]) -> None:
    """Get a process ready: what is played stays the same for all mutants."""
    _WORK.update(contract=contract, given=given)
    warm()


def _row(mutant: Mutant) -> list[int]:
    answer = in_child(lambda: {"row": _played(mutant)})
    return [NEVER] * len(_WORK["given"]) if answer is None else answer["row"]


def _played(mutant: Mutant) -> list[int]:
    substitute(mutant, mutant.source())
    return [_mark(requests, answers) for requests, answers in _WORK["given"]]


def _mark(requests: Sequence[Any], answers: Sequence[Any]) -> int:
    agent = Raw(_WORK["contract"])
    for count, (request, answer) in enumerate(zip(requests, answers, strict=True), 1):
        signal.setitimer(signal.ITIMER_PROF, COMMAND_SECONDS)
        try:
            if agent.answer(request) != answer:
                return count
        except Exception:  # noqa: BLE001 - whatever it is, the sound agent doesn't raise it
            return count
    return NEVER
