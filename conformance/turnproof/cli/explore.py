"""Search a contract exhaustively within bounds: ``turnproof explore``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from turnproof.cli.common import InputError, json_option, write_json, write_pieces
from turnproof.exploration import Exploration, judge, to_json
from turnproof_model.contracts import CONTRACTS
from turnproof_model.explore.export.formats import SUFFIXES, check_name, export
from turnproof_model.explore.export.graphs import Of
from turnproof_model.explore.search import DEFAULT_BOUNDS, Found, search
from turnproof_model.explore.symmetry import symmetry
from turnproof_model.explore.until import NAMED, words
from turnproof_model.explore.witness import witness
from turnproof_model.readings.forest import forest
from turnproof_model.vocabulary import Contract
from turnproof_reports.explored import print_exploration


def _bounds(given: tuple[str, ...]) -> dict[str, int]:
    bounds: dict[str, int] = {}
    for word in given:
        name, _, amount = word.partition("=")
        if not amount.isdecimal():
            raise InputError(f"--bound takes NAME=NUMBER (got {word!r})")
        bounds[name] = int(amount)
    return bounds


def _look(what: str, states: int) -> None:
    """Tell a terminal how far it is."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{what}: {states}", nl=False, err=True)


def _look_away() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)


@click.command(
    epilog="""\b
Examples:
  turnproof explore window --bound messages=3 --bound cancels=1 --bound tools=2 --json -
  turnproof explore window --until "steering retained after a blocked admission"
  turnproof explore claim --until "at == 'idle' and pending('waking') >= 1"
  turnproof explore claim --list-predicates

\b
Ends with 0 where all was seen and holds, 1 where a rule is broken, 4 where the search ended early.
"""
)
@click.argument("contract", type=click.Choice(CONTRACTS))
@click.option("--bound", "given", multiple=True, metavar="NAME=NUMBER", help="How much there may be of something.")
@click.option("--until", metavar="PREDICATE", help="Find a shortest way to a state, instead of checking rules.")
@click.option("--list-predicates", is_flag=True, help="List predicates that have a name, and what others are made of.")
@click.option("--count", is_flag=True, help="Count states and transitions only; check no rules.")
@click.option("--memory", type=click.IntRange(1), metavar="MIB", help="The most that states may take.")
@click.option(
    "--graph",
    "graphs",
    multiple=True,
    metavar="FILE",
    help=f"Write a graph, a trace or a model for SPIN, as the end of the name says: {', '.join(SUFFIXES)}.",
)
@click.option("--graph-of", type=click.Choice(["phases", "states"]), help="What is drawn; pictures show phases.")
@json_option
@click.pass_context
def explore(
    context: click.Context,
    contract: Contract,
    given: tuple[str, ...],
    until: str | None,
    list_predicates: bool,
    count: bool,
    memory: int | None,
    graphs: tuple[str, ...],
    graph_of: Of | None,
    json_file: str | None,
) -> None:
    """
    Search everything that can happen to an agent of CONTRACT within bounds.

    Counts states and transitions, checks every rule that a proof speaks of, and asks whether the agent can always get
    back to rest; a broken rule comes with a shortest schedule, replayed on real messages.
    """
    if list_predicates:
        _print_predicates(contract)
        return
    try:
        for name in graphs:
            check_name(name)
        found = search(contract, _bounds(given), memory)
        exploration = _explored(found, until, memory, count=count)
        for name in graphs:
            write_pieces(export(name, found.search, of=graph_of, **_trace(exploration)), name)
    except ValueError as error:
        raise InputError(str(error)) from error
    except KeyboardInterrupt:
        click.echo("turnproof: interrupted before the search began; nothing has been seen", err=True)
        context.exit(4)
    _look_away()
    _explain(exploration.ended, memory)
    if json_file != "-":
        print_exploration(exploration)
    write_json(to_json(exploration), json_file)
    context.exit(exploration.exit_code)


def _explored(found: Found, until: str | None, memory: int | None, *, count: bool) -> Exploration:
    """Do what was asked with what was found; an interruption leaves what there is by then."""
    if not found.complete:
        return Exploration(found)
    if until is not None:
        return Exploration(found, witness=witness(found.contract, found.bounds, until))
    names = symmetry(found.contract, found.bounds)
    if count:
        return Exploration(found, symmetry=names)
    checked, alive = judge(found, memory=memory, look=_look)
    return Exploration(found, checked, alive, symmetry=names)


def _trace(exploration: Exploration) -> dict[str, Sequence[Any]]:
    witness = exploration.witness
    return {} if witness is None or not witness.reached else {"trace": witness.traced}


def _explain(ended: str, memory: int | None) -> None:
    if ended == "memory":
        click.echo(
            f"turnproof: the states outgrew --memory {memory} MiB; what follows is what was met until then. "
            "Allow more, or lower a bound.",
            err=True,
        )
    elif ended:
        click.echo("turnproof: interrupted; what follows is what was met until then.", err=True)


def _print_predicates(contract: Contract) -> None:
    for name, text in NAMED[contract].items():
        click.echo(f"{name}\n    {text}")
    click.echo("\nOthers are made of")
    for word in words(forest(contract, dict.fromkeys(DEFAULT_BOUNDS, 0))):
        click.echo(f"    {word}")
