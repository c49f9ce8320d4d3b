"""Step through a contract by hand: ``turnproof play``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import click

from turnproof.play import Play, PlayError
from turnproof_model.contracts import CONTRACTS
from turnproof_model.vocabulary import Contract

PROMPT = "play> "


@click.command(
    epilog="""\b
Examples:
  turnproof play window
  turnproof play claim --script story.txt
  echo 'followup a · g1 allow · g2 text' | turnproof play window

\b
Ends with 0, or with 2 where a line of a script or a pipe could not be taken.
"""
)
@click.argument("contract", type=click.Choice(CONTRACTS))
@click.option("--script", type=click.File(encoding="utf-8"), help="Take the lines of this file instead of typed ones.")
@click.pass_context
def play(context: click.Context, contract: Contract, script: IO[str] | None) -> None:
    """
    Step through the machine of CONTRACT: state, what can be done, and the events with the rules behind them.

    Type ``help`` for the words. A line that can't be taken changes nothing.
    """
    playing = Play(contract)
    by_hand = script is None and sys.stdin.isatty()
    for line in playing.help() if by_hand else ():
        click.echo(line)
    for line in playing.state():
        click.echo(line)
    context.exit(_go_on(playing, _typed() if by_hand else script or sys.stdin, by_hand=by_hand))


def _typed() -> Iterator[str]:
    """Ask for lines until the input ends; the terminal's own editing and history work where Python has them."""
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415  # importing it is what switches line editing on
    while True:
        try:
            yield input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return


def _go_on(playing: Play, lines: Iterator[str] | IO[str], *, by_hand: bool) -> int:
    status = 0
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        try:
            shown = playing.take(line)
        except PlayError as error:
            status = 0 if by_hand else 2
            click.echo(f"  {error}" if by_hand else f"turnproof: line {number}: {error}", err=not by_hand)
            continue
        for text in shown:
            click.echo(text)
        if playing.over:
            break
    return status
