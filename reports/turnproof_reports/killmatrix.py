"""
Print a kill matrix: a line for each defect, then what the whole amounts to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from turnproof_reports.terminal import console

SHOWN_RULES = 3
"""Rules that a line names; the JSON has them all."""


@contextmanager
def matrix_progress() -> Iterator[Callable[[int, int, int], None]]:
    """Show how far a measurement is, on stderr."""
    columns = (
        TextColumn("kill matrix"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[survived]} survived"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("kill matrix", total=None, survived=0)

        def update(done: int, total: int, survived: int) -> None:
            bar.update(task, completed=done, total=total, survived=survived)

        yield update


def print_defects(defects: Sequence[Any]) -> None:
    """Print a line for each defect: its contract, its rules, where it comes from and its story."""
    out = console()
    table = Table("defect", "contract", "rules", "origin", "story", box=None, pad_edge=False)
    for one in defects:
        cells = (one.name, one.contract, " ".join(one.rules), one.origin, one.story)
        if out.is_terminal:
            table.add_row(*map(Text, cells))
        else:
            out.print("\t".join(cells), markup=False)
    if out.is_terminal:
        out.print(table)


def print_matrix(matrix: Any) -> None:
    """Print a line for each defect, and the verdict on defects and rules."""
    out = console()
    heads = ("defect", "contract", "killed by", "median", "worst", "races", "tour")
    table = Table(*heads, box=None, pad_edge=False)
    for row in matrix.rows:
        cells = _cells(row)
        style = "" if row.killed else "red"
        if out.is_terminal:
            table.add_row(*cells, style=style)
        else:
            out.print("\t".join(cells), markup=False)
    if out.is_terminal:
        out.print(table)
    _print_sums(out, matrix)


def _cells(row: Any) -> tuple[str, ...]:
    shown = " ".join(row.by[:SHOWN_RULES]) + (" …" if len(row.by) > SHOWN_RULES else "")
    by = shown if row.killed else f"survived ({row.defect.rule})"
    races = "" if row.races is None else str(len(row.races))
    tour = "" if row.tour is None else str(row.tour or "survived")
    return (row.defect.name, row.defect.contract, by, _number(row.median), _number(row.worst), races, tour)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _print_sums(out: Console, matrix: Any) -> None:
    survivors = [row.defect.name for row in matrix.unkilled]
    killed = len(matrix.rows) - len(survivors)
    how = f" from each of {len(matrix.seeds)} seeds within {matrix.budget} commands" if matrix.seeds else ""
    out.print(f"{killed} of {len(matrix.rows)} defects killed by a rule of theirs{how}", markup=False)
    if matrix.median is not None:
        out.print(f"commands to kill: {matrix.median:g} in the middle, {matrix.worst} at worst", markup=False)
    for words in ("races", "tour"):
        if (share := matrix.share(words)) is not None:
            out.print(f"killed by {words}: {share[0]} of {share[1]}", markup=False)
    if survivors:
        out.print(Text("survived: ", style="red").append(" ".join(survivors)))
    for words, rules in (
        ("rules that kill nothing: ", matrix.kills_nothing),
        ("rules that kill nothing alone: ", matrix.kills_nothing_alone),
    ):
        if rules and matrix.seeds:
            out.print(f"{words}{' '.join(rules)}", markup=False)
