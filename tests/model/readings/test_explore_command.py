"""The command line of the explorer says what was seen, and never passes an unfinished search off as a finished one."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from turnproof.cli.explore import explore
from turnproof_model.explore.search import Search
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program

SMALL = ["--bound", "messages=1", "--bound", "reentrant=0"]


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_a_finished_search_is_complete_and_names_no_checked_rule(contract):
    """A finished search ends with status 0 and says that it has checked nothing but counted."""
    result = CliRunner().invoke(explore, [contract, *SMALL, "--json", "-"])
    found = json.loads(result.output)

    assert (result.exit_code, found["complete"], found["checked"]) == (0, True, [])
    assert 0 < found["states"] < found["transitions"]


def test_a_bound_that_does_not_exist_is_a_usage_error():
    """A misspelt bound ends with status 2 and lists those that there are."""
    result = CliRunner().invoke(explore, ["window", "--bound", "mesages=1"])

    assert result.exit_code == 2
    assert "messages" in result.output


def test_a_search_beyond_its_memory_stops_and_says_so():
    """A search that may keep no state ends early, for want of memory."""
    layout = Layout(Program(forest("window", {"messages": 1})))

    assert Search(layout, limit=0).run() == "memory"
