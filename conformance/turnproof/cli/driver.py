"""Probe a driver, print the protocol's schema: ``turnproof driver``."""

from __future__ import annotations

import json

import click

from turnproof.cli.common import candidate, contract_option, json_option, write_json
from turnproof.drivercheck import check_driver, checked_json
from turnproof_model.schema import protocol_schema
from turnproof_reports.terminal import print_probes


@click.group()
def driver() -> None:
    """Look at a driver, not at the agent behind it."""


@driver.command(
    epilog="""\b
Examples:
  turnproof driver check -- node my-driver.mjs
  turnproof driver check reference --contract claim
  turnproof driver check --json - -- ./my-driver
"""
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="AGENT | -- CMD…")
@contract_option
@json_option
@click.pass_context
def check(context: click.Context, command: tuple[str, ...], contract: str | None, json_file: str | None) -> None:
    """
    Probe a driver against the protocol: every declared capability works, every other operation is refused.

    One word without a space is looked up among the bundled agents first.
    """
    bundled = len(command) == 1 and (command[0] in ("reference", "dsh") or ":" in command[0])
    chosen = candidate(command[0], () if bundled else command, contract)
    probes = check_driver(chosen)
    if json_file != "-":
        print_probes(probes)
    document = checked_json(probes)
    write_json(document, json_file)
    context.exit({"conforms": 0, "fails": 1, "driver-fault": 3}[document["verdict"]])


@driver.command()
def schema() -> None:
    """Print the JSON Schema of the driver protocol."""
    click.echo(json.dumps(protocol_schema(), indent=1, ensure_ascii=False))
