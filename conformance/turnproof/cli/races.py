"""Show the races: ``turnproof races``."""

from __future__ import annotations

import click

from turnproof.cli.common import InputError, contract_option, json_option, write_json
from turnproof.races import UnknownRaceError
from turnproof.races import race as find_race
from turnproof.races import races as list_races
from turnproof_reports.races import print_race, print_races

SCHEMA = "turnproof/races/1"


@click.command(
    epilog="""\b
Examples:
  turnproof races
  turnproof races steer-after-last-poll
  turnproof races --contract claim --json races.json
  turnproof run reference --race steer-after-last-poll
  turnproof run mine --race all -- node my-driver.mjs
"""
)
@click.argument("name", required=False)
@contract_option
@json_option
def races(name: str | None, contract: str | None, json_file: str | None) -> None:
    """List the races, or show one: named schedules in which something arrives at the one moment that matters."""
    try:
        found = list_races(contract) if name is None else find_race(name)
    except UnknownRaceError as error:
        raise InputError(str(error.args[0])) from error
    listed = [one for one in found if contract in (None, one.contract)]
    if not listed:
        raise InputError(f"race {name!r} doesn't run under contract {contract}; see: turnproof races {name}")
    if json_file != "-":
        (print_races if name is None else print_race)(listed)
    write_json({"schema": SCHEMA, "races": [one.to_json() for one in listed]}, json_file)
