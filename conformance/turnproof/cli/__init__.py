"""
Parse, call and print: the command line of turnproof.

Exit codes: 0 conforms · 1 a rule failed · 2 usage or unreadable input · 3 driver fault · 4 inconclusive. Each command
takes ``--json FILE`` (``-`` for stdout, with nothing else on it). This package alone may know the renderers.
"""

from __future__ import annotations

import sys

import click

from turnproof.cli.agents import agents
from turnproof.cli.campaign import campaign
from turnproof.cli.check import check, convert
from turnproof.cli.diff import diff
from turnproof.cli.driver import driver
from turnproof.cli.explore import explore
from turnproof.cli.faults import faults
from turnproof.cli.play import play
from turnproof.cli.prove import prove
from turnproof.cli.races import races
from turnproof.cli.replay import replay
from turnproof.cli.report import report
from turnproof.cli.rules import rules
from turnproof.cli.run import run
from turnproof.faults import UsageError


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: turnproof run reference",
)
@click.version_option(package_name="turnproof")
def cli() -> None:
    """Tell whether an LLM Agent keeps its promises about messages."""


for _command in (
    run,
    campaign,
    replay,
    report,
    diff,
    check,
    convert,
    play,
    explore,
    prove,
    rules,
    races,
    faults,
    agents,
    driver,
):
    cli.add_command(_command)


def main() -> None:
    """Run the command line; Ctrl-C outside a search ends with status 130 and one line."""
    try:
        sys.exit(cli(standalone_mode=False) or 0)
    except click.exceptions.Abort:
        click.echo("turnproof: stopped", err=True)
        sys.exit(130)
    except UsageError as error:
        click.echo(f"turnproof: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; Python would complain once more at exit
        sys.exit(1)
