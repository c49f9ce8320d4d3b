"""The packed reading and the plain walk over real messages must see the same states and transitions."""

from __future__ import annotations

import pytest

from turnproof_model.explore.encoding import count
from turnproof_model.explore.search import Search
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.readings.reading import Surroundings


@pytest.mark.parametrize(
    ("contract", "bounds"),
    [
        ("window", {"messages": 1, "cancels": 1, "tools": 1}),
        ("window", {"messages": 1, "cancels": 1, "reentrant": 1}),
        ("window", {"messages": 2, "disposals": 1, "resumes": 1}),
        ("window", {"messages": 1, "cancels": 1, "tools": 2}),
        ("window", {"messages": 2, "cancels": 2}),
        ("window", {"messages": 2, "cancels": 1, "references": 1}),
        ("window", {"messages": 2, "references": 1, "reentrant": 1}),
        ("window", {"messages": 2, "references": 1, "disposals": 1, "resumes": 1}),
        ("claim", {"messages": 1, "cancels": 1, "tools": 1}),
        ("claim", {"messages": 1, "cancels": 1, "reentrant": 1}),
        ("claim", {"messages": 2, "edits": 1}),
        ("claim", {"messages": 1, "cancels": 1, "tools": 2}),
        ("claim", {"messages": 1, "disposals": 1, "resumes": 1, "tools": 1}),
    ],
)
def test_the_packed_search_counts_what_a_walk_over_real_messages_counts(contract, bounds):
    """Both readings of one contract at one bound have equally many states and transitions."""
    around = Surroundings.of(contract, bounds)
    layout = Layout(Program(forest(contract, bounds, around)))
    packed = Search(layout)

    assert packed.run() == ""
    assert (packed.states, packed.transitions) == count(layout, around)


def test_states_have_a_bit_for_snapshots_only_where_the_bounds_allow_references():
    """Without references a state is no wider; watched or not, no cell tells of snapshots."""
    bounds = {"messages": 2, "cancels": 1}
    cells = {
        (references, watched): {
            name
            for name in Layout(Program(forest("window", {**bounds, "references": references}, watched=watched))).cells
            if name.endswith("#attached")
        }
        for references in (0, 1)
        for watched in (False, True)
    }

    assert cells[0, False] == cells[0, True] == set()
    assert cells[1, False] == {"queued#attached", "claimed#attached"} < cells[1, True]
