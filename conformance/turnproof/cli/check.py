"""Judge session logs, and write them as traces: ``turnproof check`` and ``turnproof convert``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from turnproof.check.checking import check_files
from turnproof.check.convert import traces
from turnproof.check.lines import UnreadableError
from turnproof.check.results import FORMATS, FormatName
from turnproof.cli.common import InputError, json_option, write_json
from turnproof_model.trace import TraceContract
from turnproof_reports.checks import print_check

format_option = click.option("--format", "format_", type=click.Choice(FORMATS), help="What to take the files for.")
contract_option = click.option(
    "--contract", type=click.Choice(("core", "window", "claim")), help="Whose rules to judge by, whatever the log says."
)


@click.command(
    epilog="""\b
Examples:
  turnproof check session.jsonl
  turnproof check logs/*.jsonl.gz --json -
  turnproof check trace.jsonl --contract core

Exit codes: 0 nothing is wrong · 1 a rule is broken or a log is damaged · 2 a file can't be read.
"""
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@format_option
@contract_option
@json_option
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    format_: FormatName | None,
    contract: TraceContract | None,
    json_file: str | None,
) -> None:
    """
    Judge session logs: traces, driver sessions, capsules, logs of deepseek-harness, also as .gz or .zst.

    The format is told by the content; "-" reads standard input.
    """
    result = check_files(files, format_, contract)
    if json_file != "-":
        print_check(result)
    for item in result.files:
        if item.unread is not None and json_file == "-":
            where = f"{item.path}:{item.unread.line}" if item.unread.line else item.path
            click.echo(f"turnproof: {where}: {item.unread.message}", err=True)
    write_json(result.to_json(), json_file)
    context.exit(result.exit_code)


@click.command(
    epilog="""\b
Examples:
  turnproof convert session.jsonl > trace.jsonl
  turnproof convert driver-session.jsonl --into traces/
"""
)
@click.argument("file", metavar="FILE")
@format_option
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to, one file for each trace; without it the one trace goes to stdout.",
)
def convert(file: str, format_: FormatName | None, into: Path | None) -> None:
    """
    Write a log as traces, version 1.

    A driver session becomes one trace for each of its schedules.
    """
    try:
        for number, trace in enumerate(traces(file, format_), 1):
            if into is not None:
                _write_lines(into / f"{_stem(file)}.{number}.jsonl", trace.lines())
            elif number > 1:
                raise InputError(
                    f"{file}: holds more than one schedule, each a trace of its own; name a folder with --into"
                )
            else:
                _print_lines(trace.lines())
    except UnreadableError as error:
        where = f"{file}:{error.line}" if error.line else file
        raise InputError(f"{where}: {error.message}") from error


def _stem(file: str) -> str:
    return Path(file).name.partition(".")[0] or "trace"


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise InputError(f"{path}: can't be written: {error}") from error
