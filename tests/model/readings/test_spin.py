"""SPIN, which knows nothing of us, finds as many states and transitions in the exported model as the search finds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from turnproof_model.explore.export import promela as exported
from turnproof_model.explore.search import Search
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program

needs_spin = pytest.mark.skipif(
    not os.environ.get("CI") and not (shutil.which("spin") and shutil.which("gcc")),
    reason="SPIN or a C compiler is not installed",
)

BOUNDS = [
    ("window", {"messages": 2, "cancels": 1, "tools": 1}),
    ("window", {"messages": 1, "reentrant": 1}),
    ("window", {"messages": 2, "disposals": 1, "resumes": 1}),
    ("claim", {"messages": 2, "cancels": 1, "tools": 1}),
    ("claim", {"messages": 1, "reentrant": 1}),
    ("claim", {"messages": 2, "edits": 1}),
]


def layout_of(contract, bounds):
    return Layout(Program(forest(contract, bounds)))


def counted_by_spin(layout, folder):
    """Search the exported model with SPIN: states stored, and transitions without the one into the first state."""
    (folder / "model.pml").write_text("".join(exported.promela(layout)), encoding="utf-8")
    for command in (
        ["spin", "-a", "model.pml"],
        ["gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    run = subprocess.run(
        ["./pan", "-E", "-n", "-m100000", "-w16"], cwd=folder, check=True, capture_output=True, text=True
    )
    counts = [
        re.search(rf"(\d+) {word}", run.stdout) for word in ("states, stored", r"transitions \(= stored\+matched")
    ]
    assert "errors: 0" in run.stdout
    assert "max search depth too small" not in run.stdout
    states, transitions = (int(count[1]) for count in counts)
    return states, transitions - 1


@needs_spin
@pytest.mark.slow
@pytest.mark.parametrize(("contract", "bounds"), BOUNDS)
def test_spin_counts_what_the_search_counts(contract, bounds, tmp_path):
    """An independent search of the same guarded transitions stores our states and takes our transitions."""
    layout = layout_of(contract, bounds)
    search = Search(layout)

    assert search.run() == ""
    assert counted_by_spin(layout, tmp_path) == (search.states, search.transitions)


@needs_spin
@pytest.mark.slow
def test_models_of_too_many_steps_for_spin_count_the_same(tmp_path, monkeypatch):
    """Where SPIN can't compile so many indivisible steps, sequences that it doesn't interleave count the same."""
    monkeypatch.setattr(exported, "STEPS", 0)
    layout = layout_of("window", {"messages": 1, "cancels": 1})
    search = Search(layout)
    search.run()

    assert counted_by_spin(layout, tmp_path) == (search.states, search.transitions)


def test_assignments_made_at_once_see_the_old_contents():
    """Two cells that exchange their contents go through one that is kept aside."""
    layout = layout_of("window", {"messages": 1})
    first, second = list(layout.cells)[:2]
    from turnproof_model.readings.packed import cell

    steps, kept = exported._in_order({first: cell(second), second: cell(first)})
    values = {exported._name(first): 1, exported._name(second): 2}
    for step in steps:
        target, _, source = step.partition(" = ")
        values[target] = values[source]

    assert (values[exported._name(first)], values[exported._name(second)], kept) == (2, 1, 1)
