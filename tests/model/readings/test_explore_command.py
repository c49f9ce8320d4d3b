"""The command line of the explorer says what was seen, and never passes an unfinished search off as a finished one."""

from __future__ import annotations

import importlib
import json

import pytest
from click.testing import CliRunner

from turnproof_model.explore.product import Product
from turnproof_model.explore.search import Search
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program

command = importlib.import_module("turnproof.cli.explore")  # the package has a command of this name
SMALL = ["--bound", "messages=1", "--bound", "reentrant=0"]


def _run(*words):
    return CliRunner().invoke(command.explore, [*words])


def _found(*words):
    result = _run(*words, "--json", "-")
    return result.exit_code, json.loads(result.output)


@pytest.mark.parametrize(("contract", "rules"), [("window", {"W-FIFO-2", "W-TURN-2"}), ("claim", {"C-TURN-2"})])
def test_a_finished_search_names_every_rule_that_it_checked_and_what_stays_live(contract, rules):
    """A finished search ends with status 0, with all rules of its passes, and with three properties of liveness."""
    code, found = _found(contract, *SMALL)

    assert (code, found["complete"], found["violations"]) == (0, True, [])
    assert 0 < found["states"] < found["transitions"]
    assert rules <= set(found["checked"])
    assert set(found["checked"]) == {rule for one in found["passes"] for rule in one["rules"]}
    assert [one["holds"] for one in found["liveness"]["properties"]] == [True, True, True]


def test_a_search_that_only_counts_names_no_checked_rule():
    """Counting says that nothing was checked."""
    code, found = _found("claim", *SMALL, "--count")

    assert (code, found["checked"], found["passes"], found["liveness"]) == (0, [], [], None)
    assert "no rules were checked" in _run("claim", *SMALL, "--count").output


def test_a_bound_that_does_not_exist_is_a_usage_error():
    """A misspelt bound ends with status 2 and lists those that there are."""
    result = _run("window", "--bound", "mesages=1")

    assert result.exit_code == 2
    assert "messages" in result.output


def test_a_search_beyond_its_memory_stops_and_says_so():
    """A search that may keep no state ends early, for want of memory."""
    layout = Layout(Program(forest("window", {"messages": 1})))

    assert Search(layout, limit=0).run() == "memory"


def test_passes_beyond_their_memory_leave_the_counts_and_say_that_not_all_was_checked(monkeypatch):
    """Where a pass outgrows the memory, the result is incomplete, ends with 4, and has what was met until then."""
    _, counted = _found("window", *SMALL, "--count")
    monkeypatch.setattr(Product, "size", property(lambda _: 1 << 30))
    result = _run("window", *SMALL, "--memory", "64", "--json", "-")
    found = json.loads(result.stdout)

    assert (result.exit_code, found["complete"], found["ended"]) == (4, False, "memory")
    assert (found["states"], found["passes"][0]["complete"], found["liveness"]) == (counted["states"], False, None)
    assert "outgrew --memory 64 MiB" in result.stderr


def test_an_interrupted_pass_leaves_what_was_found_so_far(monkeypatch):
    """An interruption ends with status 4, with the counts and the rules that were looked at."""
    expand, levels = Product._expand, []

    def interrupted(product, level):
        levels.append(level)
        if len(levels) == 5:
            raise KeyboardInterrupt
        return expand(product, level)

    monkeypatch.setattr(Product, "_expand", interrupted)
    result = _run("window", *SMALL, "--json", "-")
    found = json.loads(result.stdout)

    assert (result.exit_code, found["complete"], found["ended"]) == (4, False, "interrupted")
    assert found["checked"]
    assert found["passes"][0]["pairs"] > 1
    assert "interrupted" in result.stderr


def test_an_interruption_before_the_search_says_that_nothing_was_seen(monkeypatch):
    """An interruption while the rules are taken apart ends with status 4, too."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "search", interrupted)
    result = _run("window", *SMALL)

    assert result.exit_code == 4
    assert "nothing has been seen" in result.stderr


# ------------------------------------------------------------------------------------------------ predicates
def test_a_witness_is_printed_as_a_score_with_what_was_seen():
    """A shortest way to a state is told command by command, each with its events."""
    result = _run("window", "--bound", "reentrant=0", "--until", "steering retained after a blocked admission")

    assert result.exit_code == 0
    assert "g1 block" in result.output
    assert "~enqueue m2 steering" in result.output


def test_a_state_that_nothing_leads_to_is_said_to_be_out_of_reach_of_these_bounds():
    """A complete search without a witness says never, and ends with status 0."""
    code, found = _found("claim", *SMALL, "--until", "pending('next-turn') >= 2")

    assert (code, found["witness"]["reached"], found["witness"]["steps"]) == (0, False, [])
    assert "never within these bounds" in _run("claim", *SMALL, "--until", "pending('next-turn') >= 2").output


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("at == 'idel'", "'idle'"),
        ("__import__('os')", "pending"),
        ("at.upper() == 'IDLE'", "no such part"),
        ("pending('queue') > 0", "queued"),
        ("took('model')", "took(KIND, OUTCOME)"),
        ("event(at)", "words in quotes"),
        ("window is True", "compares by"),
        ("nonsense", "knows the names"),
        ("at ==", "expression"),
    ],
)
def test_what_is_no_predicate_is_a_usage_error_that_helps(text, hint):
    """Whatever isn't listed is refused with what there is, and never run."""
    result = _run("window", *SMALL, "--until", text)

    assert result.exit_code == 2
    assert hint in result.output


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_predicates_can_be_listed(contract):
    """The list has the named ones with their text, and the words that others are made of."""
    result = _run(contract, "--list-predicates")

    assert result.exit_code == 0
    assert "took(KIND, OUTCOME)" in result.output
    assert "pending(" in result.output
