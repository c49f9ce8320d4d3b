"""Search for long: ``turnproof campaign``."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from turnproof.campaign import Campaign, CampaignError, CampaignResult
from turnproof.campaign_parts import Part, Plan
from turnproof.cli.common import (
    DEFAULT_SEEDS,
    InputError,
    called,
    candidate,
    contract_option,
    expect_option,
    fault_option,
    json_option,
    seeds_in,
    write_json,
)
from turnproof.cli.reporting import expected_in, report_options, write_reports
from turnproof.expectations import assess
from turnproof_reports.terminal import print_run
from turnproof_reports.watching import campaign_progress


@click.command(
    epilog="""\b
Examples:
  turnproof campaign reference --contract claim --seeds 1..50 --jobs 4
  turnproof campaign dsh --minutes 60 --output nightly --json nightly.json
  turnproof campaign mine --commands 1000000 --output long -- node my-driver.mjs
  turnproof campaign mine --commands 1000000 --output long --resume -- node my-driver.mjs
"""
)
@click.argument("agent")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@contract_option
@click.option("--seeds", metavar="A..B", help=f"Run these seeds.  [default: {DEFAULT_SEEDS}]")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Begin seed after seed for so long.")
@click.option("--commands", type=click.IntRange(1), help="Run as many seeds as so many commands take.")
@click.option(
    "--each", default=20_000, show_default=True, type=click.IntRange(1), help="Commands that a seed is given."
)
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Seeds that run at once.")
@click.option(
    "--lanes",
    type=click.IntRange(1),
    help="Agents that a seed holds at once.  [default: 10 in one driver, or 2 drivers; 1 in process]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".turnproof/campaign"),
    show_default=True,
    help="The folder that everything is kept in.",
)
@click.option("--resume", is_flag=True, help="Go on with the campaign in that folder.")
@fault_option
@expect_option
@report_options
@json_option
@click.pass_context
def campaign(
    context: click.Context,
    /,
    agent: str,
    command: tuple[str, ...],
    contract: str | None,
    seeds: str | None,
    minutes: float | None,
    commands: int | None,
    each: int,
    jobs: int,
    lanes: int | None,
    output: Path,
    resume: bool,
    fault: str | None,
    expect: Path | None,
    docs_url: str | None,
    json_file: str | None,
    **targets: str | None,
) -> None:
    """
    Judge AGENT for long: many seeds, several at once, each searched like "turnproof run --seed" does.

    Every seed leaves its result and its capsules in the output folder when it ends, Ctrl-C included, and --resume
    goes on where a campaign was stopped. What is found doesn't depend on either. Verdict and status are those of all
    seeds together; "turnproof report" renders campaign.json like any run.
    """
    if sum(option is not None for option in (seeds, minutes, commands)) > 1:
        raise InputError("--seeds, --minutes and --commands each say how long a campaign is; give one of them")
    listed = expected_in(expect)
    plan = Plan(
        candidate(agent, command, contract, fault),
        called(agent, command, contract, fault),
        contract,  # type: ignore[arg-type]  # click.Choice has checked it
        each,
        lanes,
    )
    parts = _parts(seeds, minutes, commands, each)
    quiet = json_file == "-"
    result = _run(Campaign(plan, output, jobs), parts, resume, _clock(minutes), shown=not quiet and sys.stderr.isatty())
    assessment = assess(result.run, listed, None if expect is None else str(expect))
    if not quiet:
        print_run(assessment)
    write_reports(assessment, targets, docs_url)
    write_json(assessment.to_json() | {"seeds": list(result.seeds)}, json_file)
    context.exit(assessment.exit_code)


def _run(
    campaign: Campaign, parts: Iterable[Part], resume: bool, enough: Callable[[], bool], *, shown: bool
) -> CampaignResult:
    """Run the parts, and show how far they are to somebody who looks."""
    try:
        campaign.open(resume=resume)
        if not shown:
            return campaign.run(parts, enough)
        with campaign_progress(campaign.plan.called) as campaign.watcher:
            return campaign.run(parts, enough)
    except CampaignError as error:
        raise InputError(str(error)) from error


def _parts(seeds: str | None, minutes: float | None, commands: int | None, each: int) -> Iterable[Part]:
    """List the parts that were asked for; with a time, there is no end to them."""
    if minutes is not None:
        return (Part(seed, each) for seed in itertools.count(1))
    if commands is not None:
        full, rest = divmod(commands, each)
        return [*(Part(seed, each) for seed in range(1, full + 1)), *([Part(full + 1, rest)] if rest else [])]
    return [Part(seed, each) for seed in seeds_in(seeds or DEFAULT_SEEDS)]


def _clock(minutes: float | None) -> Callable[[], bool]:
    """Tell when no other seed is to begin."""
    end = None if minutes is None else time.monotonic() + minutes * 60
    return lambda: end is not None and time.monotonic() >= end
