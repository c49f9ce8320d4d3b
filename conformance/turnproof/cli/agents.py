"""List and install the bundled agents: ``turnproof agents``."""

from __future__ import annotations

import click

from turnproof import agents as bundled
from turnproof.cli.common import InputError, json_option, write_json
from turnproof.node import SetupError
from turnproof_reports.terminal import print_agents


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  turnproof agents
  turnproof agents install dsh
""",
)
@json_option
@click.pass_context
def agents(context: click.Context, json_file: str | None) -> None:
    """List the bundled agents, or install one."""
    if context.invoked_subcommand is not None:
        return
    known = bundled.list_agents()
    if json_file != "-":
        print_agents(known)
    entries = [
        {
            "name": info.name,
            "language": info.language,
            "version": info.version,
            "contracts": list(info.contracts),
            "installed": info.installed,
            "problem": info.problem,
        }
        for info in known
    ]
    write_json({"schema": "turnproof/agents/1", "agents": entries}, json_file)


@agents.command()
@click.argument("name")
def install(name: str) -> None:
    """Bring the locked packages of a bundled agent; running it again mends what is broken."""
    try:
        info = bundled.install(name)
    except SetupError as error:
        raise InputError(str(error)) from error
    click.echo(f"{info.name} {info.version} is ready: turnproof run {info.name}")
