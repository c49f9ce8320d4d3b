"""Show the rules: ``turnproof rules``."""

from __future__ import annotations

import click

from turnproof.cli.common import InputError, json_option, write_json
from turnproof_model import catalogue
from turnproof_reports.terminal import print_rule, print_rules


@click.command(
    epilog="""\b
Examples:
  turnproof rules
  turnproof rules --contract claim
  turnproof rules W-ADM-7
"""
)
@click.argument("rule_id", required=False, metavar="[ID]")
@click.option("--contract", type=click.Choice(["window", "claim", "core"]), help="Only the rules of this contract.")
@json_option
def rules(rule_id: str | None, contract: str | None, json_file: str | None) -> None:
    """List the rules of the contracts, or show one with the clauses behind it."""
    if rule_id is None:
        listed = catalogue.rules(contract)
        if json_file != "-":
            print_rules(listed)
        write_json({"schema": "turnproof/rules/1", "rules": [catalogue.to_json(rule) for rule in listed]}, json_file)
        return
    try:
        rule = catalogue.rule(rule_id)
    except KeyError as error:
        raise InputError(str(error.args[0])) from error
    if json_file != "-":
        print_rule(rule, catalogue.clauses(rule.id))
    write_json({"schema": "turnproof/rules/1", "rules": [catalogue.to_json(rule)]}, json_file)
