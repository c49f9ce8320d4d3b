"""The search over arrays: the same over both kinds of elements, with shortest traces, within its memory."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from turnproof.cli.explore import explore
from turnproof_model.explore.search import Search, search
from turnproof_model.readings import arrays
from turnproof_model.readings.codegen import Told
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program

BOUNDS = {"messages": 2, "cancels": 1, "tools": 1}


@pytest.fixture(scope="module", params=["window", "claim"])
def layout(request):
    return Layout(Program(forest(request.param, BOUNDS)))


def finished(layout):
    running = Search(layout)
    assert running.run() == ""
    return running


def states_of(running):
    """List all states of a search by level, packed."""
    return [
        {arrays.together(running.layout, position, int(e)) for position, states in enumerate(level) for e in states}
        for level in running.levels
    ]


def test_states_that_need_more_bits_are_searched_as_python_integers(layout, monkeypatch):
    """The same source over arrays of Python integers finds the same states and transitions, level by level."""
    machine = finished(layout)
    monkeypatch.setattr(arrays, "BITS", 0)
    unbounded = finished(layout)

    assert {states.dtype.kind for states in unbounded.seen} == {"O"}
    assert (states_of(unbounded), unbounded.transitions) == (states_of(machine), machine.transitions)


def test_each_level_holds_what_one_transition_makes_of_the_level_before(layout):
    """State by state, the told form leads from each level to the next one and to nothing unseen."""
    running = finished(layout)
    told = Told(layout)
    met = set[int]()
    transitions = 0
    levels = states_of(running)
    assert levels[0] == {layout.initial()}
    for level, following in zip(levels, [*levels[1:], set()], strict=True):
        met |= level
        made = [after for state in sorted(level) for _, after in told.successors(state)]
        transitions += len(made)
        assert set(made) - met == following

    assert transitions == running.transitions


def test_a_trace_is_a_shortest_way(layout):
    """From the first state, each transition of a trace leads to the next state; there are as many as the depth."""
    running = finished(layout)
    told = Told(layout)
    for depth, level in enumerate(states_of(running)):
        trace = running.trace_to(max(level))
        states = [layout.initial(), *(step.state for step in trace)]

        assert (states[-1], len(trace)) == (max(level), depth)
        assert all((t.transition, t.state) in told.successors(before) for before, t in zip(states, trace, strict=False))


def test_a_trace_to_a_state_that_nothing_leads_to_is_refused(layout):
    """Only states that were met have a trace."""
    running = Search(layout)

    with pytest.raises(ValueError, match="a state that was met"):
        running.trace_to(layout.initial() + 1)


def test_cells_share_bits_only_if_they_are_never_live_together(layout):
    """Wherever two cells are live at one position, they lie apart; and some do share bits."""
    cells = list(layout.cells.values())
    shared = [(a, b) for i, a in enumerate(cells) for b in cells[:i] if a.mask & b.mask]

    assert shared
    for position in layout.program.positions:
        live = layout.program.live[position]
        assert not any(a.name in live and b.name in live for a, b in shared)


def test_a_search_keeps_within_its_memory_and_tells_what_it_found():
    """Beyond its memory a search stops; it is incomplete then, and every state it counts takes part of that memory."""
    found = search("window", {"messages": 5, "cancels": 2, "reentrant": 0}, memory=1)

    assert (found.ended, found.complete) == ("memory", False)
    assert 0 < found.states * found.bytes_per_state <= 1 << 20


def test_the_command_says_that_its_memory_was_too_small():
    """Status 4, ``complete`` is false, and the message tells what to do."""
    bounds = ["--bound", "messages=5", "--bound", "cancels=2", "--bound", "reentrant=0"]
    result = CliRunner().invoke(explore, ["window", *bounds, "--memory", "1", "--json", "-"])
    found = json.loads(result.stdout)

    assert (result.exit_code, found["complete"], found["symmetry"]) == (4, False, None)
    assert "outgrew --memory 1 MiB" in result.stderr
