"""
Two runs compared, and two agents told apart.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from finished_runs import failure, finished

from turnproof import agents
from turnproof.candidate import REFERENCE_DRIVER, ChildCandidate, InProcessCandidate
from turnproof.expectations import assess
from turnproof.node import find_node
from turnproof.parting_search import part
from turnproof.results import Coverage, RunResult
from turnproof_reports.comparing import Comparison, compared

EXAMPLES = Path(__file__).parents[2] / "examples"
RELAY = Path(__file__).with_name("relay.py")


def comparison(before: RunResult, after: RunResult, **shown) -> Comparison:
    return compared(assess(before), assess(after), **shown)


def names(failures) -> list[str]:
    return [failure.rules[0] for failure in failures]


# ------------------------------------------------------------------------------------------------ runs
def test_failures_are_new_or_fixed_by_their_way_of_failing() -> None:
    before = finished(failure("C-DIS-1"), failure("C-SEND-2"))
    after = finished(failure("C-DIS-1", name="another", commands=9), failure("C-CAN-1"), passed=("C-SEND-2",))

    found = comparison(before, after)

    assert (names(found.new), names(found.fixed), found.worse) == (["C-CAN-1"], ["C-SEND-2"], True)
    assert found.mended == ("C-SEND-2",)


def test_what_the_other_candidate_shows_too_is_neither_new_nor_fixed() -> None:
    before = finished(failure("C-SEND-2"), passed=("C-CAN-1",))
    after = finished(failure("C-CAN-1"), passed=("C-SEND-2",))

    found = comparison(before, after, shown_before={"C-CAN-1-0"}, shown_after={"C-SEND-2-0"})

    assert (found.new, found.fixed, found.newly_failing, found.mended) == ((), (), (), ())
    assert (names(found.found_later), names(found.not_met)) == (["C-CAN-1"], ["C-SEND-2"])
    assert not found.worse


def test_a_failure_that_never_showed_twice_is_not_called_fixed() -> None:
    found = comparison(finished(failure("C-SEND-2", reproduced=False)), finished())

    assert (found.fixed, names(found.not_met)) == ((), ["C-SEND-2"])


def test_rules_that_are_no_longer_exercised_are_coverage_lost() -> None:
    found = comparison(
        finished(passed=("C-SEND-1", "C-CAN-1")), finished(passed=("C-SEND-1",), not_exercised=("C-CAN-1",))
    )

    assert (found.lost, found.worse) == (("C-CAN-1",), True)


def test_fewer_transitions_are_coverage_lost_and_unmeasured_ones_are_not() -> None:
    full, less, none = ({"transitions": Coverage(*part)} for part in ((59, 60), (57, 60), (None, None)))

    assert comparison(finished(coverage=full), finished(coverage=less)).less_covered == (("transitions", 59, 57),)
    assert comparison(finished(coverage=full), finished(coverage=none)).less_covered == ()


def test_runs_under_two_contracts_are_not_compared(broken_run: RunResult) -> None:
    with pytest.raises(ValueError, match="under one contract"):
        comparison(finished(), broken_run)


@pytest.mark.slow
def test_one_more_fault_behind_a_relay_is_exactly_what_is_new(tmp_path: Path) -> None:
    """The same real agent, with and without a fault of its driver."""
    agents.install("dsh")
    command = agents.command("dsh", "claim")
    candidates = {"before": ["dsh"], "after": ["mine", "--", sys.executable, str(RELAY), *command]}
    for name, words in candidates.items():
        options = ["--commands", "400", "--json", f"{name}.json", "--capsules", "kept"]
        turnproof(tmp_path, "run", *options, *words)

    turnproof(tmp_path, "report", "--diff", "before.json", "after.json", "--confirm", "--json", "found.json")

    found = json.loads((tmp_path / "found.json").read_text())
    assert found["verdict"] == "worse"
    assert found["new"]
    assert all("C-CAN-1" in failure["rules"] for failure in found["new"])
    assert found["fixed"] == []
    assert "C-CAN-1" in found["newly_failing"]


def turnproof(folder: Path, *words: str) -> None:
    """Run the command line; whatever its verdict, it must not end by an error of its own."""
    done = subprocess.run(
        [sys.executable, "-c", "from turnproof.cli import main; main()", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), f"{shlex.join(words)}: {done.stderr}"


# ------------------------------------------------------------------------------------------------ agents
def test_the_reference_and_a_real_agent_are_told_apart_by_a_short_schedule() -> None:
    agents.install("dsh")
    reference = InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim"})

    found = part(reference, ChildCandidate(agents.command("dsh", "claim")))

    assert len(found.schedule) <= 8
    assert found.shortest
    assert found.keeps == "one"
    assert found.decides


def faulty(fault: str | None) -> InProcessCandidate:
    return InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim", "fault": fault})


def test_a_fault_that_needs_more_than_plain_commands_is_found_and_made_short() -> None:
    """Input under an id that is pending already is sent by chance alone."""
    found = part(faulty(None), faulty("duplicate-accepted"), commands=8_000)

    assert (found.keeps, found.shortest) == ("one", False)
    assert len(found.schedule) <= 8


@pytest.mark.slow
def test_where_neither_breaks_a_rule_the_contract_is_silent_and_the_freedom_is_named() -> None:
    """Whether context that was staged in an aborted batch is committed behind it is left open."""
    example = ChildCandidate([str(find_node().path), str(EXAMPLES / "node" / "driver.mjs")])

    found = part(InProcessCandidate(REFERENCE_DRIVER, {"contract": "window"}), example)

    assert (found.keeps, found.decides, found.freedoms) == ("both", (), ("context-on-abort",))


def test_the_same_agent_is_not_told_apart_from_itself() -> None:
    one, other = (InProcessCandidate(REFERENCE_DRIVER, {"contract": "window"}) for _ in range(2))

    assert part(one, other, commands=1_000) is None


def test_agents_of_two_contracts_are_not_compared() -> None:
    one, other = (InProcessCandidate(REFERENCE_DRIVER, {"contract": contract}) for contract in ("window", "claim"))

    with pytest.raises(ValueError, match="under one contract"):
        part(one, other)
