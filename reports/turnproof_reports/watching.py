"""Show how far a campaign is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def campaign_progress(name: str) -> Iterator[Callable[[int, int, int], None]]:
    """Show how far a campaign is, on stderr; it may have no end."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed} commands"),
        TextColumn("{task.fields[parts]} seeds"),
        TextColumn("{task.fields[found]} failures"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, parts=0, found=0)

        def update(sent: int, parts: int, found: int) -> None:
            bar.update(task, completed=sent, parts=parts, found=found)

        yield update
