"""Tell two agents apart by a schedule: ``turnproof diff``."""

from __future__ import annotations

import shlex

import click

from turnproof.candidate import Candidate
from turnproof.cli.common import InputError, candidate, contract_option, json_option, write_json
from turnproof.faults import DriverFault
from turnproof.naming import REFERENCE
from turnproof.parting_search import part
from turnproof_reports.terminal import print_fault, print_parting


@click.command(
    epilog="""\b
Examples:
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
    json_file: str | None,
) -> None:
    """
    Find the shortest schedule on which ONE and OTHER behave differently, and who decides between them.

    The status is 0 where no difference was found, and 1 where one was.
    """
    if not agents:
        raise InputError("diff compares agents: say --agents before their names")
    context.exit(_agents(one, other, contract, commands, seed, json_file))


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
