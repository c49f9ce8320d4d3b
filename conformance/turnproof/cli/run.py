"""Judge a candidate: ``turnproof run``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from turnproof.capsule import CapsuleError
from turnproof.cli.common import InputError, candidate, contract_option, json_option, write_json
from turnproof.results import RunResult
from turnproof.runner import Progress
from turnproof.runner import run as run_suite
from turnproof_reports.terminal import print_run, search_progress


@click.command(
    epilog="""\b
Examples:
  turnproof run reference --contract claim
  turnproof run dsh --commands 20000 --seed 1 --json dsh.json
  turnproof run mine -- node my-driver.mjs
  turnproof run my_package.driver:Driver
"""
)
@click.argument("agent")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@contract_option
@click.option("--commands", default=20_000, show_default=True, type=click.IntRange(1), help="How many to send.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Where all choices come from.")
@click.option(
    "--capsules",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".turnproof/capsules"),
    show_default=True,
    help="The folder that failures are kept in.",
)
@click.option("--fault", help="Run the reference agent with this deliberate defect.")
@json_option
@click.pass_context
def run(
    context: click.Context,
    agent: str,
    command: tuple[str, ...],
    contract: str | None,
    commands: int,
    seed: int,
    capsules: Path,
    fault: str | None,
    json_file: str | None,
) -> None:
    """
    Judge AGENT: a bundled agent, a Python driver as MODULE:FACTORY, or any name followed by "-- CMD…".

    The search goes on past each failure, so that one run finds all failing rules within its budget. Each failure is
    shrunk and kept as a capsule, which "turnproof replay" plays again.
    """
    chosen = candidate(agent, command, contract, fault)
    quiet = json_file == "-"

    def search(progress: Progress | None) -> RunResult:
        try:
            return run_suite(
                chosen,
                contract,  # type: ignore[arg-type]  # click.Choice has checked it
                commands=commands,
                seed=seed,
                capsules=capsules,
                progress=progress,
            )
        except (CapsuleError, ValueError) as error:
            raise InputError(str(error)) from error

    if quiet or not sys.stderr.isatty():
        result = search(None)
    else:
        with search_progress(f"{agent}", commands) as progress:
            result = search(progress)
    if not quiet:
        print_run(result, capsules)
    write_json(result.to_json(), json_file)
    context.exit(result.exit_code)
