"""
Measure the explorer's search against SPIN's compiled search and against the rules run on real messages.

All three search the same system: SPIN the exported model (``spin -a``, ``gcc -O2``), which must count the same states
and transitions at the same bound; the plain walk, which makes some hundred states a second, at a small one, and its
transitions a second count. Times are of the searches alone, in processor seconds of this process or of SPIN's;
what goes before (growing the program from the rules, compiling) is printed beside them.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from turnproof_model.explore.encoding import count
from turnproof_model.explore.export.promela import promela
from turnproof_model.explore.search import Search
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.readings.reading import Surroundings
from turnproof_model.vocabulary import Contract

LARGE: Mapping[Contract, Mapping[str, int]] = {
    "window": {"messages": 6, "cancels": 2, "tools": 2},
    "claim": {"messages": 7, "cancels": 2, "tools": 2},
}
"""Bounds with more than half a million states."""

SMALL: Mapping[str, int] = {"messages": 2, "cancels": 1, "tools": 1}
"""Bounds that the plain walk is through with in some seconds."""

ROUNDS = 3
"""Each search is timed this often; the fastest counts."""

FLAGS = ("-O2", "-w", "-DSAFETY", "-DNOREDUCE")
"""SPIN searches for safety alone and leaves nothing out; the compiler optimises."""


@frozen
class Ran:
    """Hold what one search found, and how long it took in processor seconds."""

    states: int
    transitions: int
    seconds: float


def layout_of(contract: Contract, bounds: Mapping[str, int]) -> Layout:
    """Grow the program of a contract and lay it out."""
    return Layout(Program(forest(contract, bounds)))


def ours(layout: Layout) -> Ran:
    """Run the search once."""
    search = Search(layout)
    began = time.process_time()
    search.run()
    return Ran(search.states, search.transitions, time.process_time() - began)


def plain(contract: Contract, bounds: Mapping[str, int]) -> Ran:
    """Run the rules on real messages, state by state."""
    layout = layout_of(contract, bounds)
    began = time.process_time()
    states, transitions = count(layout, Surroundings.of(contract))
    return Ran(states, transitions, time.process_time() - began)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compiled(layout: Layout, folder: Path) -> float:
    """Write the model, and let SPIN and the C compiler make the search; tell their processor seconds."""
    (folder / "model.pml").write_text("".join(promela(layout)), encoding="utf-8")
    began = _children()
    for command in (["spin", "-a", "model.pml"], ["gcc", *FLAGS, "-o", "pan", "pan.c"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return _children() - began


def spin(folder: Path) -> Ran:
    """Run the compiled search once."""
    began = _children()
    run = subprocess.run(
        ["./pan", "-E", "-n", "-m1000000", "-w24"], cwd=folder, check=True, capture_output=True, text=True
    )
    seconds = _children() - began
    states, transitions = (
        int(found[1])
        for word in ("states, stored", r"transitions \(= stored\+matched")
        if (found := re.search(rf"(\d+) {word}", run.stdout)) is not None
    )
    return Ran(states, transitions - 1, seconds)


def measure(bounds: Mapping[Contract, Mapping[str, int]] = LARGE, rounds: int = ROUNDS) -> Iterator[str]:
    """
    Measure both contracts, two lines for each.

    Args:
        bounds: of the large search.
        rounds: how often each search runs; ≥ 1.

    Raises:
        AssertionError: two searches found different systems.
    """
    for contract, within in bounds.items():
        began = time.process_time()
        layout = layout_of(contract, within)
        grown = time.process_time() - began
        best = _fastest([ours(layout) for _ in range(rounds)])
        named = ", ".join(f"{name} {amount}" for name, amount in within.items())
        yield from _against_spin(contract, layout, best, rounds)
        walk = plain(contract, SMALL)
        ratio = (best.transitions / best.seconds) / (walk.transitions / walk.seconds)
        search = Search(layout)
        search.run()
        yield (
            f"explore {contract}: {ratio:.0f} times the transitions a second of the rules run on real messages"
            f" ({best.transitions / best.seconds:,.0f} against {walk.transitions / walk.seconds:,.0f});"
            f" {named}: {best.states:,} states, {best.transitions:,} transitions,"
            f" {search.size() / best.states:.0f} bytes a state, {grown:.1f} s to grow the program from the rules"
        )


def _against_spin(contract: Contract, layout: Layout, best: Ran, rounds: int) -> Iterator[str]:
    if shutil.which("spin") is None or shutil.which("gcc") is None:
        yield f"explore {contract}: SPIN isn't installed (Debian: apt-get install spin gcc), so nothing to compare with"
        return
    with tempfile.TemporaryDirectory() as name:
        compiling = compiled(layout, Path(name))
        theirs = _fastest([spin(Path(name)) for _ in range(rounds)])
    assert (theirs.states, theirs.transitions) == (best.states, best.transitions), (theirs, best)
    yield (
        f"explore {contract}: search / SPIN's compiled search = {best.seconds / theirs.seconds:.2f}"
        f" ({best.seconds:.2f} s against {theirs.seconds:.2f} s and {compiling:.1f} s to compile)"
    )


def _fastest(runs: list[Ran]) -> Ran:
    return min(runs, key=lambda ran: ran.seconds)
