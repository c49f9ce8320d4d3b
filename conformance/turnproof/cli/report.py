"""Render finished runs, join shards, compare two: ``turnproof report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from turnproof.cli.common import InputError, expect_option, json_option, write_json
from turnproof.cli.reporting import expected_in, report_options, write_reports
from turnproof.confirming import shared
from turnproof.expectations import Assessment, Expectation, ExpectationsError, assess, assessment_from_json
from turnproof.faults import DriverFault
from turnproof.merging import merged
from turnproof.naming import candidate_called
from turnproof.results import ResultError, run_from_json
from turnproof_reports.comparing import compared, unmatched
from turnproof_reports.terminal import print_comparison, print_fault, print_run


@click.command(
    epilog="""\b
Examples:
  turnproof report run.json --html report.html --junit junit.xml
  turnproof report shard-*.json --expect expected.toml --markdown "$GITHUB_STEP_SUMMARY"
  turnproof report --diff before.json after.json --confirm
"""
)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN.json…")
@click.option("--diff", is_flag=True, help="Compare two runs: new failures, fixed ones, coverage that was lost.")
@click.option(
    "--confirm",
    is_flag=True,
    help="With --diff: play what only one run met on the other's candidate too, before saying so.",
)
@expect_option
@click.option("--exit-zero", is_flag=True, help="End with status 0 whatever the runs say.")
@report_options
@json_option
@click.pass_context
def report(
    context: click.Context,
    /,
    runs: tuple[Path, ...],
    diff: bool,
    confirm: bool,
    expect: Path | None,
    exit_zero: bool,
    docs_url: str | None,
    json_file: str | None,
    **targets: str | None,
) -> None:
    """
    Render finished runs (what "turnproof run --json" wrote), without running anything.

    Several runs of one candidate, each with a seed of its own, are joined into one. The status is that of
    the verdict; with --diff it is 1 where the second run is worse.
    """
    listed = expected_in(expect)
    loaded = [_load(path, expect, listed) for path in runs]
    status = _compare(loaded, json_file, confirm=confirm) if diff else _render(loaded, targets, docs_url, json_file)
    context.exit(0 if exit_zero else status)


def _load(path: Path, expect: Path | None, listed: tuple[Expectation, ...]) -> Assessment:
    """
    Read a run with the expectations it was held against, or with other ones.

    Raises:
        InputError: it can't be read, or isn't a run.
    """
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        result = run_from_json(document)
        return assessment_from_json(document, result) if expect is None else assess(result, listed, str(expect))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read: {error}") from error
    except (ResultError, ExpectationsError) as error:
        raise InputError(f"{path}: {error}") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error


def _render(
    loaded: list[Assessment], targets: dict[str, str | None], docs_url: str | None, json_file: str | None
) -> int:
    """Join the runs, write what was asked for, and print the rest."""
    try:
        joint = merged([assessment.result for assessment in loaded])
    except ResultError as error:
        raise InputError(str(error)) from error
    whole = assess(joint, loaded[0].expectations, loaded[0].file)
    write_reports(whole, targets, docs_url)
    write_json(whole.to_json(), json_file)
    if json_file is None and not any(targets.values()):
        print_run(whole)
    return whole.exit_code


def _compare(loaded: list[Assessment], json_file: str | None, *, confirm: bool) -> int:
    if len(loaded) != 2:
        raise InputError(f"--diff takes two runs, before and after (got {len(loaded)})")
    before, after = loaded
    try:
        comparison = compared(before, after, *(_shown_too(before, after) if confirm else ()))
    except DriverFault as error:
        print_fault(error.fault)
        return 3
    except ValueError as error:
        raise InputError(str(error)) from error
    if json_file != "-":
        print_comparison(comparison)
    write_json(comparison.to_json(), json_file)
    return int(comparison.worse)


def _shown_too(before: Assessment, after: Assessment) -> tuple[frozenset[str], frozenset[str]]:
    """Play what only the later run met on the earlier candidate, and the other way round."""
    came, went = unmatched(before, after)
    one, other = before.result, after.result
    return (
        shared(candidate_called(one.candidate, one.contract), one.contract, came),
        shared(candidate_called(other.candidate, other.contract), other.contract, went),
    )
