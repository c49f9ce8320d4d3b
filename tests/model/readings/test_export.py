"""What the explorer writes for other tools: they read it, and it tells what the search found."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import networkx as nx
import pytest
from click.testing import CliRunner

from turnproof.cli.explore import explore
from turnproof_model.explore.export import formats
from turnproof_model.explore.export.formats import ExportError, export
from turnproof_model.explore.search import search

BOUNDS = {"messages": 1, "cancels": 1, "tools": 1, "reentrant": 0}
ARGUMENTS = [word for name, amount in BOUNDS.items() for word in ("--bound", f"{name}={amount}")]


@pytest.fixture(scope="module", params=["window", "claim"])
def found(request):
    return search(request.param, BOUNDS)


def written(name, found, **options):
    return "".join(export(name, found.search, **options))


def test_graphml_holds_every_state_and_every_transition(found):
    """networkx reads as many nodes and edges as there are states and transitions; all states lie below the first."""
    graph = nx.parse_graphml(written("x.graphml", found), force_multigraph=True)
    depths = nx.single_source_shortest_path_length(graph, "n0")

    assert (graph.number_of_nodes(), graph.number_of_edges()) == (found.states, found.transitions)
    assert depths == {node: facts["depth"] for node, facts in graph.nodes(data=True)}


def test_graphml_tells_numbers_as_numbers(found):
    """What is spent and how long queues are can be computed with; truths and names are text."""
    graph = nx.parse_graphml(written("x.graphml", found))

    assert {type(facts["messages spent"]) for _, facts in graph.nodes(data=True)} == {int}
    assert {type(facts["at"]) for _, facts in graph.nodes(data=True)} == {str}
    assert {type(facts["told"]) for _, facts in graph.nodes(data=True) if "told" in facts} == {str}


def test_the_graph_of_phases_counts_states_and_leaves_out_commands_that_change_no_phase(found):
    """Its nodes share out all states; every edge that stays where it is is a move or an outcome."""
    graph = nx.parse_graphml(written("x.graphml", found, of="phases"))
    stays = [facts["label"] for source, target, facts in graph.edges(data=True) if source == target]

    assert sum(facts["states"] for _, facts in graph.nodes(data=True)) == found.states
    assert nx.is_strongly_connected(graph)
    assert not {"send", "cancel"} & {word for label in stays for word in label.split(", ")}


def test_dot_and_mermaid_draw_the_same_phases(found):
    """The two pictures have the same nodes and edges with the same labels."""
    dots, lines = written("x.dot", found), written("x.mmd", found)
    drawn = re.findall(r'(n\d+) -> (n\d+) \[label="(.*)"\]', dots)
    told = re.findall(r"^  (n\d+) --> (n\d+)(?:: (.*))?$", lines, re.MULTILINE)

    assert drawn == told
    assert re.findall(r'^  (n\d+) \[label="(.*)"\];', dots, re.MULTILINE) == [
        (node, name) for name, node in re.findall(r'state "(.*)" as (n\d+)', lines)
    ]


def test_a_picture_that_nobody_could_read_is_refused(found, monkeypatch):
    """A Mermaid picture of more edges than Mermaid draws isn't written, and the error names the way out."""
    monkeypatch.setattr(formats, "MERMAID_EDGES", found.transitions - 1)

    with pytest.raises(ExportError, match="graph of phases"):
        written("x.mmd", found, of="states")


def test_an_itf_trace_is_one_way_from_a_new_agent(found):
    """Every state gives every variable a value of one type; the first is a new agent, the last as deep as any."""
    trace = json.loads(written("x.itf.json", found))
    kinds = {name: {type(state[name]) for state in trace["states"]} for name in trace["vars"]}

    assert [state["#meta"]["index"] for state in trace["states"]] == list(range(found.depth))
    assert all(len(kind) == 1 for kind in kinds.values())
    assert {(state["phase"], state["messages spent"]) for state in trace["states"][:1]} == {("idle", 0)}


def test_a_search_that_ended_early_is_written_as_far_as_it_came():
    """Transitions to states that weren't kept aren't edges."""
    early = search("window", {"messages": 5, "cancels": 2, "reentrant": 0}, memory=1)
    graph = nx.parse_graphml(written("x.graphml", early, of="phases"))

    assert early.ended == "memory"
    assert sum(facts["states"] for _, facts in graph.nodes(data=True)) == early.states


# ------------------------------------------------------------------------------------------------ files
def test_files_are_written_by_the_command(tmp_path):
    """One command writes several forms; each file is whole."""
    names = [str(tmp_path / f"x{suffix}") for suffix in formats.SUFFIXES]
    options = [word for name in names for word in ("--graph", name)]
    result = CliRunner().invoke(explore, ["window", *ARGUMENTS, *options])

    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"x{suffix}" for suffix in formats.SUFFIXES)
    assert all(path.stat().st_size for path in tmp_path.iterdir())


def test_a_name_without_a_format_is_refused_before_anything_is_searched(monkeypatch):
    """The formats that there are stand in the error; status 2."""
    monkeypatch.setattr(sys.modules["turnproof.cli.explore"], "search", lambda *_: pytest.fail("it searched"))
    result = CliRunner().invoke(explore, ["window", "--graph", "x.png"])

    assert result.exit_code == 2
    assert ".graphml" in result.output


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path):
    """An unwritable path ends with status 2 and names the file."""
    name = str(tmp_path / "missing" / "x.dot")
    result = CliRunner().invoke(explore, ["window", *ARGUMENTS, "--graph", name])

    assert (result.exit_code, name in result.output) == (2, True)


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    """What can't be finished isn't put in the place of what was there, and nothing else is left behind."""
    path = tmp_path / "x.pml"
    path.write_text("before", encoding="utf-8")

    def full(*_args, **_options):
        yield "half"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["turnproof.cli.explore"], "export", full)
    result = CliRunner().invoke(explore, ["window", *ARGUMENTS, "--graph", str(path)])

    assert (result.exit_code, "No space left on device" in result.output) == (2, True)
    assert [(p.name, p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()] == [("x.pml", "before")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_device_is_written_to_and_not_replaced(tmp_path):
    """A full device is told like a full disk, and a name that leads to it goes on leading there."""
    name = tmp_path / "x.dot"
    name.symlink_to("/dev/full")
    result = CliRunner().invoke(explore, ["window", *ARGUMENTS, "--graph", str(name)])

    assert (result.exit_code, "No space left on device" in result.output) == (2, True)
    assert [path.readlink() for path in tmp_path.iterdir()] == [Path("/dev/full")]
