"""What parts the two contracts is found, is what both reference agents do, and is what the page says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.cli.diff import diff
from turnproof.client import Client
from turnproof.contractdiff import differences
from turnproof.contractdiff_families import FAMILIES
from turnproof.contractdiff_moves import Bounds
from turnproof.contractdiff_play import Decision, Exchange, ScenarioError, by_machine, new_machine, perform
from turnproof.contractdiff_sides import Difference
from turnproof.contractdiff_text import lines, page
from turnproof.notation import read_schedule
from turnproof.score import schedule_text
from turnproof_model import catalogue
from turnproof_model import vocabulary as v
from turnproof_model.contracts import CONTRACTS

PAGE = Path(__file__).parent.parent.parent / "docs" / "contracts.md"


@cache
def found() -> tuple[Difference, ...]:
    return differences("window", "claim")


CERTAIN = [difference for difference in found() if not difference.freedoms]
FREE = [difference for difference in found() if difference.freedoms]


@pytest.fixture(scope="module")
def agents() -> Iterator[dict[str, Client]]:
    clients: dict[str, Client] = {
        contract: InProcessCandidate(REFERENCE_DRIVER, {"contract": contract}).connect() for contract in CONTRACTS
    }
    for client in clients.values():
        client.initialize()
    yield clients
    for client in clients.values():
        client.close()


def test_the_contracts_differ_in_every_family_of_rules() -> None:
    told = {difference.family.title for difference in found()}

    assert told == {family.title for family in FAMILIES}
    assert len({difference.signature for difference in found()}) == len(found())
    assert len(CERTAIN) >= 8


def shown_by(client: Client, contract: v.Contract, difference: Difference) -> tuple[str, ...]:
    story = perform(lambda command: Exchange(command, client.ask(command)), contract, difference.moves)
    return tuple(fact.text for fact in difference.family.view(contract, story))


@pytest.mark.parametrize("difference", CERTAIN, ids=lambda difference: difference.score)
def test_both_reference_agents_differ_as_the_machines_do(difference: Difference, agents: dict[str, Client]) -> None:
    one, other = (
        shown_by(agents[side.contract], side.contract, difference) for side in (difference.one, difference.other)
    )

    assert one != other
    assert (one, other) == (difference.one.shown, difference.other.shown)


@pytest.mark.parametrize("difference", FREE, ids=lambda difference: difference.score)
def test_where_a_freedom_decides_the_reference_agents_take_one_of_its_ways(
    difference: Difference, agents: dict[str, Client]
) -> None:
    ways = {difference.one.shown, difference.other.shown}

    assert {shown_by(agents[s.contract], s.contract, difference) for s in (difference.one, difference.other)} <= ways


@pytest.mark.parametrize("difference", found(), ids=lambda difference: difference.score)
def test_each_side_names_rules_of_its_own_contract(difference: Difference) -> None:
    for side in (difference.one, difference.other):
        assert side.rules
        assert {catalogue.rule(rule).family for rule in side.rules} == {side.contract}


@pytest.mark.parametrize("difference", found(), ids=lambda difference: difference.score)
def test_the_commands_of_each_side_can_be_pasted(difference: Difference) -> None:
    for side in (difference.one, difference.other):
        text = schedule_text(side.given)

        assert schedule_text(read_schedule(text)) == text


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_does_not_differ_from_itself(contract: v.Contract) -> None:
    assert differences(contract, contract, Bounds(moves=3)) == ()


def test_the_order_of_the_two_changes_the_sides_only() -> None:
    turned = differences("claim", "window", Bounds(moves=3))

    assert {(d.score, d.other.shown, d.one.shown) for d in turned} == {
        (d.score, d.one.shown, d.other.shown) for d in found() if len(d.moves) <= 3
    }


def test_a_move_that_nothing_asks_for_is_told() -> None:
    with pytest.raises(ScenarioError, match="move 'refuse' must mean something to claim where it stands"):
        perform(by_machine(new_machine("claim")), "claim", (Decision("refuse"),))


def test_the_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(found(), "window", "claim"), (
        "write it again: turnproof diff window claim --markdown docs/contracts.md"
    )


def test_the_command_line_tells_the_differences_and_ends_with_status_1(tmp_path: Path) -> None:
    target = tmp_path / "page.md"
    result = CliRunner().invoke(diff, ["window", "claim", "--json", "-", "--markdown", str(target)])
    document = json.loads(result.output)

    assert result.exit_code == 1
    assert document["schema"] == "turnproof/diff/1"
    assert [entry["scenario"] for entry in document["differences"]] == [d.score for d in found()]
    assert target.read_text(encoding="utf-8") == page(found(), "window", "claim")


def test_the_terminal_shows_each_scenario_with_what_both_do_and_why() -> None:
    text = list(lines(found(), "window", "claim"))
    at = text.index("  inject a")

    assert [line.split("   (")[0] for line in text[at + 1 : at + 3]] == [
        "    window  a is in the log at once",
        "    claim   a waits",
    ]
    assert {f"  {d.score}" for d in CERTAIN} <= set(text)
    assert text[-1] == f"{len(found())} differences between window and claim"


def test_contracts_that_do_not_differ_are_told_alike() -> None:
    assert list(lines((), "claim", "claim")) == ["claim and claim behave alike as far as was searched"]


def test_a_name_that_is_no_contract_is_refused() -> None:
    result = CliRunner().invoke(diff, ["window", "door"])

    assert result.exit_code == 2
    assert "a contract is one of window, claim (got 'door')" in result.output


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["window", "claim", "--seed", "3"], "--seed compares agents, so it needs --agents"),
        (["--agents", "reference", "dsh", "--markdown", "page.md"], "--markdown is about two contracts, not about"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(words: list[str], complaint: str) -> None:
    result = CliRunner().invoke(diff, words)

    assert result.exit_code == 2
    assert complaint in result.output
