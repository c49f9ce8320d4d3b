"""Put the judge on trial: ``turnproof faults``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from turnproof.capsule import CapsuleError
from turnproof.cli.common import DEFAULT_SEEDS, InputError, contract_option, json_option, seeds_in, write_json
from turnproof.killmatrix import Matrix, Plan, defects, measure
from turnproof_reports.killmatrix import matrix_progress, print_defects, print_matrix


@click.command(
    epilog="""\b
Examples:
  turnproof faults --list
  turnproof faults --contract claim --seeds 1..3 --races
  turnproof faults --fault late-bit --fault stale-cancel --capsules kills
  turnproof faults --tour --races --json matrix.json
"""
)
@contract_option
@click.option("--fault", "names", multiple=True, metavar="ID", help="Only this deliberate defect; may be repeated.")
@click.option(
    "--seeds", default=DEFAULT_SEEDS, show_default=True, metavar="A..B", help="Search from these seeds, or from none."
)
@click.option("--commands", default=20_000, show_default=True, type=click.IntRange(1), help="Budget of each search.")
@click.option("--races", is_flag=True, help="Run all races on each defect too.")
@click.option("--tour", is_flag=True, help="Take each defect on a tour too.")
@click.option(
    "--capsules", type=click.Path(path_type=Path, file_okay=False), help="Shrink one kill of each defect into here."
)
@click.option("--jobs", type=click.IntRange(1), help="Processes at work; by default as many as there are processors.")
@click.option("--list", "listed", is_flag=True, help="Only tell which defects there are.")
@json_option
@click.pass_context
def faults(
    context: click.Context,
    /,
    contract: str | None,
    names: tuple[str, ...],
    seeds: str,
    commands: int,
    races: bool,
    tour: bool,
    capsules: Path | None,
    jobs: int | None,
    listed: bool,
    json_file: str | None,
) -> None:
    """
    Search for each deliberate defect of the reference agents, and tell which rules caught it and how fast.

    A defect is killed where a failure names a rule that it breaks. Ends with status 1 where one survives a search of
    any seed.
    """
    chosen = defects(contract, names)
    if listed:
        if json_file != "-":
            print_defects(chosen)
        write_json({"schema": "turnproof/defects/1", "faults": [one.to_json() for one in chosen]}, json_file)
        return
    searched = () if seeds == "none" else tuple(seeds_in(seeds))
    if not (searched or races or tour):
        raise InputError("--seeds none leaves nothing to do; add --races or --tour")
    plan = Plan(chosen, searched, commands, races, tour, capsules, jobs or os.cpu_count() or 1)
    matrix = _measured(plan, quiet=json_file == "-" or not sys.stderr.isatty())
    if json_file != "-":
        print_matrix(matrix)
    write_json(matrix.to_json(), json_file)
    context.exit(matrix.exit_code)


def _measured(plan: Plan, *, quiet: bool) -> Matrix:
    try:
        if quiet:
            return measure(plan)
        with matrix_progress() as progress:
            return measure(plan, progress)
    except CapsuleError as error:
        raise InputError(str(error)) from error
