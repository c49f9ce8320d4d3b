"""
Run one part of a campaign in a process of its own.

An interrupt from the terminal is kept from it, since who runs the campaign decides what becomes of the part: asked to
terminate, it stops at the end of a schedule, shrinks what it has found, and leaves that as an interrupted run.
"""

from __future__ import annotations

import json
import multiprocessing
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from attrs import frozen

from turnproof.candidate import Candidate
from turnproof.capsule import CapsuleError
from turnproof.runner import run
from turnproof_model.vocabulary import Contract

_PROCESSES = multiprocessing.get_context("spawn")  # a fork would share the parent's drivers and locks


@frozen
class Part:
    """Name a part of a campaign: a seed and the commands that it is given."""

    seed: int
    commands: int


@frozen
class Plan:
    """
    Say who is judged and by what.

    ``called`` is what a command line calls the candidate by; ``commands`` are given to each seed but a last, smaller
    one; ``lanes`` is the number of agents that a part holds at once.
    """

    candidate: Candidate
    called: str
    contract: Contract | None = None
    commands: int = 20_000
    lanes: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Write what must be the same when the campaign is gone on with."""
        fixed = {"candidate": self.called, "contract": self.contract, "commands": self.commands, "lanes": self.lanes}
        return {"schema": "turnproof/campaign/1", **fixed}


@frozen
class Running:
    """Hold a part that is under way: its process, how much it has sent, and where it leaves what it found."""

    part: Part
    folder: Path
    process: BaseProcess
    sent: Any

    @classmethod
    def begin(cls, plan: Plan, part: Part, folder: Path) -> Running:
        """
        Start the process of a part.

        Args:
            plan: of the campaign.
            part: to be run.
            folder: where parts leave their results; what an earlier attempt left is removed.
        """
        sent = _PROCESSES.Value("q", 0)
        shutil.rmtree(folder / str(part.seed), ignore_errors=True)
        for name in (f"{part.seed}.json", f"{part.seed}.error"):
            (folder / name).unlink(missing_ok=True)
        process = _PROCESSES.Process(target=play, args=(plan, part, folder, sent), name=f"seed {part.seed}")
        with _no_interrupt():
            process.start()
        return cls(part, folder, process, sent)

    @property
    def result(self) -> Path:
        """The file that the result is left in."""
        return self.folder / f"{self.part.seed}.json"

    @property
    def complaint(self) -> Path:
        """The file that says why the part can't be run."""
        return self.folder / f"{self.part.seed}.error"


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Keep the interrupt of the terminal from a process that is started meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def play(plan: Plan, part: Part, folder: Path, sent: Any) -> None:
    """
    Run a part, and leave its result or a complaint in the folder.

    Args:
        plan: of the campaign.
        part: to be run.
        folder: where results are left.
        sent: a shared number, kept at the commands sent so far.
    """
    asked_to_stop = False

    def stop(*_: object) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True

    def progress(commands: int, _: int, __: int) -> None:
        sent.value = commands
        if asked_to_stop:
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        result = run(
            plan.candidate,
            plan.contract,
            commands=part.commands,
            seed=part.seed,
            capsules=folder / str(part.seed),
            progress=progress,
            called=plan.called,
            lanes=plan.lanes,
        )
    except (CapsuleError, ValueError) as error:
        write(folder / f"{part.seed}.error", str(error))
    else:
        write(folder / f"{part.seed}.json", json.dumps(result.to_json(), indent=1, ensure_ascii=False) + "\n")


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_suffix(".part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
