"""Tell two contracts apart by scenarios, or two agents by a schedule: ``turnproof diff``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import click
from click.core import ParameterSource

from turnproof.candidate import Candidate
from turnproof.cli.common import InputError, candidate, contract_option, json_option, write_json, write_text
from turnproof.contractdiff import differences
from turnproof.contractdiff_text import lines, page
from turnproof.faults import DriverFault
from turnproof.naming import REFERENCE
from turnproof.parting_search import part
from turnproof_model.contracts import CONTRACTS
from turnproof_model.vocabulary import Contract
from turnproof_reports.terminal import print_fault, print_parting


@click.command(
    epilog="""\b
Examples:
  turnproof diff window claim
  turnproof diff --agents reference dsh
  turnproof diff --agents "node old/driver.mjs" "node new/driver.mjs"
"""
)
@click.argument("one")
@click.argument("other")
@click.option("--agents", is_flag=True, help="ONE and OTHER are agents, or command lines of drivers in quotes.")
@contract_option
@click.option("--commands", default=20_000, show_default=True, type=click.IntRange(1), help="How many to give to both.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Where all choices come from.")
@click.option("--markdown", metavar="FILE", help="Write what parts two contracts as a page; '-' is stdout.")
@json_option
@click.pass_context
def diff(
    context: click.Context,
    /,
    one: str,
    other: str,
    agents: bool,
    contract: str | None,
    commands: int,
    seed: int,
    markdown: str | None,
    json_file: str | None,
) -> None:
    """
    Find the shortest scenarios on which two contracts behave differently, or the schedule that parts two agents.

    Of agents it is told who decides between them. The status is 0 where no difference was found, and 1 where one was.
    """
    if not agents:
        _refuse(context, ("contract", "commands", "seed"), "compares agents, so it needs --agents")
        context.exit(_contracts(one, other, json_file, markdown))
    _refuse(context, ("markdown",), "is about two contracts, not about agents")
    context.exit(_agents(one, other, contract, commands, seed, json_file))


def _refuse(context: click.Context, options: Iterable[str], why: str) -> None:
    """Refuse options that were given and would do nothing."""
    for option in options:
        if context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise InputError(f"--{option} {why}")


def _contracts(one: str, other: str, json_file: str | None, markdown: str | None) -> int:
    mine, theirs = _contract(one), _contract(other)
    if "-" == json_file == markdown:
        raise InputError("one document goes to stdout (got --json - and --markdown -)")
    found = differences(mine, theirs)
    if "-" not in (json_file, markdown):
        click.echo("\n".join(lines(found, one, other)))
    if markdown is not None:
        write_text(page(found, one, other), markdown)
    document = {
        "schema": "turnproof/diff/1",
        "contracts": [one, other],
        "differences": [difference.to_json() for difference in found],
    }
    write_json(document, json_file)
    return int(bool(found))


def _contract(name: str) -> Contract:
    for contract in CONTRACTS:
        if name == contract:
            return contract
    known = ", ".join(CONTRACTS)
    raise InputError(f"a contract is one of {known} (got {name!r}); agents are compared by --agents")


def _agents(one: str, other: str, contract: str | None, commands: int, seed: int, json_file: str | None) -> int:
    agreed = contract or _own_contract(one) or _own_contract(other)
    try:
        parting = part(_candidate(one, agreed), _candidate(other, agreed), commands=commands, seed=seed)
    except DriverFault as error:
        print_fault(error.fault)
        return 3
    except ValueError as error:
        raise InputError(str(error)) from error
    if json_file != "-":
        print_parting(parting, one, other)
    found = None if parting is None else parting.to_json()
    write_json({"schema": "turnproof/diff-agents/1", "one": one, "other": other, "parting": found}, json_file)
    return int(parting is not None)


def _candidate(name: str, contract: str | None) -> Candidate:
    """Find an agent by name, or take words with a space between them as a driver's command line."""
    return candidate(name, tuple(shlex.split(name)) if " " in name else (), contract)


def _own_contract(name: str) -> str | None:
    """Ask an agent for its contract; the reference keeps either."""
    if name == REFERENCE:
        return None
    client = _candidate(name, None).connect()
    try:
        return client.initialize().contract
    except DriverFault as error:
        raise InputError(f"{name}: the driver broke down: {error.fault.message}") from error
    finally:
        client.close()
