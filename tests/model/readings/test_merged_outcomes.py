"""Outcomes that the explorer takes for one lead to the same behaviour: rules tell no state by which of them it was."""

from __future__ import annotations

import pytest

from turnproof_model.explore.search import Search
from turnproof_model.readings import actions
from turnproof_model.readings.actions import Choice
from turnproof_model.readings.arrays import together
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program

BOUNDS = {"messages": 1, "cancels": 1, "tools": 1}

PAIRS = [
    ("window", "prompt-submit", "block"),
    ("window", "request-error", "give-up"),
    ("claim", "request-error", "give-up"),
    ("window", "tool", "error"),
    ("claim", "tool", "error"),
]


def searched_with(contract, kind, other, monkeypatch):
    """Explore with one more outcome of a kind of gate."""
    usual = actions.outcomes
    more = Choice("the other", other)
    monkeypatch.setattr(actions, "outcomes", lambda k, b: (*usual(k, b), *([more] if k == kind else [])))
    search = Search(Layout(Program(forest(contract, BOUNDS))))
    search.run()
    return search


def renamed(search, kind, label, other):
    """Make a function on states that says the one outcome wherever such a gate has settled with the other."""
    one = next(choice.outcome for choice in actions.outcomes(kind, BOUNDS) if choice.label == label)
    layout = search.layout

    def rename(state):
        position = layout.program.positions[layout.position.read(state)]
        awaited = layout.program.forest.book.phases[position[0]].awaits
        for cell in layout.cells.values():
            stored = kind == awaited if cell.name == "came" else kind == "tool"
            live = cell.name in layout.program.live[position] and {one, other} <= set(cell.values)
            if stored and live and cell.read(state) == cell.code(other):
                state = state & ~cell.mask | cell.code(one) << cell.offset
        return state

    return rename


@pytest.mark.parametrize(("contract", "kind", "label"), PAIRS)
def test_no_rule_tells_merged_outcomes_apart(contract, kind, label, monkeypatch):
    """Saying one outcome for the other maps transitions to transitions, so no run can tell which it was."""
    other = actions.merged(kind)[label]
    search = searched_with(contract, kind, other, monkeypatch)
    rename = renamed(search, kind, label, other)
    states = [
        together(search.layout, position, int(element))
        for level in search.levels
        for position, elements in enumerate(level)
        for element in elements
    ]
    apart = [state for state in states if rename(state) != state]

    assert apart
    for state in apart:
        mine, theirs = (
            sorted((repr(t), rename(after)) for t, after in search.told.successors(s)) for s in (state, rename(state))
        )
        assert mine == theirs
