"""Judge a candidate: ``turnproof run``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from turnproof.capsule import CapsuleError
from turnproof.cli.common import (
    InputError,
    called,
    candidate,
    contract_option,
    expect_option,
    fault_option,
    json_option,
    write_json,
)
from turnproof.cli.reporting import expected_in, report_options, write_reports
from turnproof.expectations import Assessment, ExpectationsError, assess
from turnproof.expectations_update import update_file
from turnproof.races import UnknownRaceError
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
  turnproof run mine --expect expected.toml --html report.html -- node my-driver.mjs
  turnproof run mine --race all -- node my-driver.mjs
  turnproof run reference --contract window --tour
"""
)
@click.argument("agent")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@contract_option
@click.option("--commands", default=20_000, show_default=True, type=click.IntRange(1), help="How many to send.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Where all choices come from.")
@click.option(
    "--lanes",
    type=click.IntRange(1),
    help="Agents held at once.  [default: 10 in one driver, or 2 drivers; 1 in process]",
)
@click.option(
    "--capsules",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".turnproof/capsules"),
    show_default=True,
    help="The folder that failures are kept in.",
)
@click.option("--race", "raced", multiple=True, metavar="NAME", help="Play this race, or all of them. See below.")
@click.option("--tour", is_flag=True, help="Lead it through every transition that can be reached. See below.")
@fault_option
@expect_option
@click.option("--update", is_flag=True, help="Rewrite that file to what this run found, keeping its comments.")
@report_options
@json_option
@click.pass_context
def run(
    context: click.Context,
    /,
    agent: str,
    command: tuple[str, ...],
    contract: str | None,
    commands: int,
    seed: int,
    lanes: int | None,
    capsules: Path,
    raced: tuple[str, ...],
    tour: bool,
    fault: str | None,
    expect: Path | None,
    update: bool,
    docs_url: str | None,
    json_file: str | None,
    **targets: str | None,
) -> None:
    """
    Judge AGENT: a bundled agent, a Python driver as MODULE:FACTORY, or any name followed by "-- CMD…".

    The search goes on past each failure, so that one run finds all failing rules within its budget. Each failure is
    shrunk and kept as a capsule, which "turnproof replay" plays again.

    With --race, which may be repeated, the named races are played instead ("turnproof races" lists them); with
    --commands too, races first and then the search.

    With --tour nothing is left to chance: a computed set of schedules leads the agent through every transition that
    can be reached, planned anew where it takes another lawful way; with --commands too, the search comes after it.
    """
    if (raced or tour) and context.get_parameter_source("commands") is ParameterSource.DEFAULT:
        commands = 0
    if update and expect is None:
        raise InputError("--update rewrites the file that --expect names; name one")
    listed = expected_in(expect, may_be_missing=update)  # a mistake in the file is told before the search
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
                called=called(agent, command, contract, fault),
                races=raced,
                tour=tour,
                lanes=lanes,
            )
        except UnknownRaceError as error:
            raise InputError(str(error.args[0])) from error
        except (CapsuleError, ValueError) as error:
            raise InputError(str(error)) from error

    if quiet or not sys.stderr.isatty():
        result = search(None)
    else:
        with search_progress(f"{agent}", commands) as progress:
            result = search(progress)
    assessment = assess(result, listed, None if expect is None else str(expect))
    if not quiet:
        print_run(assessment)
    write_reports(assessment, targets, docs_url)
    write_json(assessment.to_json(), json_file)
    if update and expect is not None:
        _update(expect, assessment)
    context.exit(assessment.exit_code)


def _update(expect: Path, assessment: Assessment) -> None:
    """Rewrite the expectations to what was found."""
    try:
        found = update_file(expect, assessment)
    except ExpectationsError as error:
        raise InputError(str(error)) from error
    click.echo(f"{expect}: {len(found.added)} added, {len(found.removed)} removed", err=True)
