"""Judge session logs, and write them as traces: ``turnproof check`` and ``turnproof convert``."""

from __future__ import annotations

import click

from turnproof.check.checking import check_files
from turnproof.check.results import FORMATS, FormatName
from turnproof.cli.common import json_option, write_json
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
