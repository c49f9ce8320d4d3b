"""
Play one mutant until the suite objects, in a process of its own.

A mutant is loaded in the place of its module in a forked child, so that nothing of it outlives its trial and imports
are paid once. What the suite does comes in stages, the most telling one first, and ends with the first objection. A
mutant that never comes back runs out of processor time: the guard counts work, not waiting.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from attrs import asdict, frozen

from mutants.mutant import PACKAGE, REFERENCE, Mutant
from mutants.scope import BOTH, contracts_of
from mutants.stages import Objection, Stage, schedules

CPU_SECONDS = 60
"""Work after which a mutant counts as one that hangs; the sound agents need a small part of it in any stage."""

WAIT_SECONDS = 600
"""Waiting after which a child is given up, on however slow a machine."""

MEMORY = 3 << 30
"""Bytes that a mutant may take."""

MOST_TROUBLE = 4_000
"""Characters of a traceback that are kept; they have to go through a pipe at once."""

KILLED, SURVIVED, STILLBORN = "killed", "survived", "stillborn"
HANG = "hang"
"""Stands for a stage where the guard killed the mutant."""


class JudgingError(Exception):
    """Say that a trial itself has failed; nothing is known about the mutant."""


@frozen
class Verdict:
    """
    Say what became of a mutant.

    Args:
        verdict: `killed`, `survived`, or `stillborn` for one that can't even be imported.
        stage: that objected.
        rules: named by the objection, the first few.
        commands: sent in that stage until then.
    """

    verdict: str
    stage: str = ""
    rules: tuple[str, ...] = ()
    commands: int = 0


@cache
def _compiled() -> dict[str, tuple[CodeType, Path]]:
    """Compile the whole reference once: by full name of the module, with its file."""
    found = {}
    for path in sorted((REFERENCE / PACKAGE).rglob("*.py")):
        name = ".".join(path.relative_to(REFERENCE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = compile(path.read_bytes(), str(path), "exec"), path
    return found


class Substitute(MetaPathFinder):
    """Load the reference with one module changed."""

    def __init__(self, name: str, source: str) -> None:
        path = _compiled()[name][1]
        self._modules = {**_compiled(), name: (compile(source, str(path), "exec"), path)}

    def find_spec(self, fullname: str, _path: object = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname not in self._modules:
            return None
        path = self._modules[fullname][1]
        return spec_from_loader(fullname, self, origin=str(path), is_package=path.name == "__init__.py")

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._modules[module.__name__][0], module.__dict__)  # noqa: S102 - a loader's work


def warm() -> None:
    """Read and compile what every trial needs, once for all children."""
    _compiled()
    for contract in BOTH:
        schedules(contract)


def judge(mutant: Mutant, stages: tuple[Stage, ...]) -> Verdict:
    """
    Play a mutant through the stages in a child.

    Raises:
        StaleError: its function has changed.
    """
    source = mutant.source()
    answer = in_child(lambda: asdict(_verdict(mutant, source, stages)))
    if answer is None:
        return Verdict(KILLED, HANG)
    if "trouble" in answer:
        raise JudgingError(f"a trial must end with a verdict ({mutant.key} ended with this)\n{answer['trouble']}")
    return Verdict(answer["verdict"], answer["stage"], tuple(answer["rules"]), answer["commands"])


def sound(contract: str, stages: tuple[Stage, ...]) -> Objection | None:
    """Play the agent as it is; an objection is a fault of the suite."""
    return next((found for stage in stages if (found := stage.play(contract))), None)


def substitute(mutant: Mutant, source: str) -> None:
    """
    Load the mutant in the place of its module.

    Raises:
        Exception: any; it can't be imported.
    """
    name = f"{PACKAGE}.{mutant.module}"
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == PACKAGE]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, Substitute(name, source))
    importlib.import_module(name)


def _verdict(mutant: Mutant, source: str, stages: tuple[Stage, ...]) -> Verdict:
    try:
        substitute(mutant, source)
    except Exception:  # noqa: BLE001 - whatever it is, there is no agent
        return Verdict(STILLBORN)
    for stage in stages:
        for contract in contracts_of(mutant.module):
            objection = stage.play(contract)
            if objection is not None:
                return Verdict(KILLED, stage.name, objection.rules, objection.commands)
    return Verdict(SURVIVED)


def in_child(work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """
    Do some work in a forked child within bounds.

    Returns:
        its answer, or None when the bounds were reached.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _child(work, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = _patiently(child, pipe.fileno())
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def _patiently(child: int, pipe: int) -> bytes:
    """Read what a child says until it is done or its time is up."""
    os.set_blocking(pipe, False)
    end = time.monotonic() + WAIT_SECONDS
    return b"".join(_pieces(child, pipe, end))


def _pieces(child: int, pipe: int, end: float) -> Iterator[bytes]:
    while True:
        if not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            os.kill(child, signal.SIGKILL)
            return
        piece = os.read(pipe, 1 << 16)
        if not piece:
            return
        yield piece


def _child(work: Callable[[], dict[str, Any]], write: int) -> None:
    """Never return: answer and end."""
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (_spent() + CPU_SECONDS, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.write(write, json.dumps(_answer(work)).encode())
    finally:
        os._exit(0)


def _answer(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do the work; trouble with it is an answer too, so that it is never taken for a hang."""
    try:
        return work()
    except BaseException:  # noqa: BLE001 - this process ends with it
        return {"trouble": traceback.format_exc()[-MOST_TROUBLE:]}


def _spent() -> int:
    return int(time.process_time()) + 1
