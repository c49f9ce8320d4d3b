"""Search a contract exhaustively within bounds: ``turnproof explore``."""

from __future__ import annotations

import attrs
import click

from turnproof.cli.common import InputError, json_option, write_json, write_pieces
from turnproof_model.contracts import CONTRACTS
from turnproof_model.explore.export.formats import SUFFIXES, check_name, export
from turnproof_model.explore.export.graphs import Of
from turnproof_model.explore.search import search
from turnproof_model.explore.symmetry import symmetry


def _bounds(words: tuple[str, ...]) -> dict[str, int]:
    bounds: dict[str, int] = {}
    for word in words:
        name, _, amount = word.partition("=")
        if not amount.isdecimal():
            raise InputError(f"--bound takes NAME=NUMBER (got {word!r})")
        bounds[name] = int(amount)
    return bounds


@click.command(
    epilog="""\b
Example:
  turnproof explore window --bound messages=3 --bound cancels=1 --bound tools=2 --json -
"""
)
@click.argument("contract", type=click.Choice(CONTRACTS))
@click.option("--bound", "words", multiple=True, metavar="NAME=NUMBER", help="How much there may be of something.")
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
    contract: str,
    words: tuple[str, ...],
    memory: int | None,
    graphs: tuple[str, ...],
    graph_of: Of | None,
    json_file: str | None,
) -> None:
    """
    Search everything that can happen to an agent of CONTRACT within bounds, and count states and transitions.

    Ends with status 0 when all was seen, and 4 when the search ended early.
    """
    try:
        for name in graphs:
            check_name(name)
        found = search(contract, _bounds(words), memory)  # type: ignore[arg-type]  # click.Choice has checked it
        for name in graphs:
            write_pieces(export(name, found.search, of=graph_of), name)
    except ValueError as error:
        raise InputError(str(error)) from error
    if found.ended == "memory":
        click.echo(
            f"turnproof: the states outgrew --memory {memory} MiB; what follows is what was met until then. "
            "Allow more, or lower a bound.",
            err=True,
        )
    if json_file != "-":
        bounds = ", ".join(f"{name} {amount}" for name, amount in found.bounds.items())
        state = "complete" if found.complete else f"incomplete ({found.ended})"
        click.echo(f"{contract}: {bounds}")
        click.echo(
            f"{found.states} states, {found.transitions} transitions, depth {found.depth}, {state}, "
            f"{found.seconds:.1f} s, {found.bytes_per_state:.0f} bytes a state; no rules were checked on the way"
        )
    names = symmetry(found.contract, found.bounds) if found.complete else None
    if names is not None and json_file != "-":
        cut = [f"{name} {amount}" for name, amount in names.bounds.items() if amount != found.bounds[name]]
        where = f", counted with {', '.join(cut)}" if cut else ""
        click.echo(f"if messages had names: {names.states_without_symmetry} states instead of {names.states}{where}")
    result: dict[str, object] = {
        "schema": "turnproof/explore/1",
        "contract": found.contract,
        "bounds": dict(found.bounds),
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "seconds": round(found.seconds, 3),
        "complete": found.complete,
        "violations": [],
        "checked": [],
        "symmetry": None if names is None else attrs.asdict(names),
    }
    write_json(result, json_file)
    context.exit(0 if found.complete else 4)
