"""
Print races: what there is to run, and what each is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from turnproof_reports.terminal import console


def print_races(listed: Sequence[Any]) -> None:
    """Print a table of races, one line each with the contracts that it runs under."""
    out = console()
    contracts: dict[str, list[str]] = {}
    stories: dict[str, str] = {}
    for race in listed:
        contracts.setdefault(race.name, []).append(race.contract)
        stories[race.name] = race.story
    if not out.is_terminal:
        for name, story in stories.items():
            out.print(f"{name}\t{', '.join(contracts[name])}\t{story}", markup=False)
        return
    table = Table("race", "contracts", "story", box=None, pad_edge=False)
    for name, story in stories.items():
        table.add_row(Text(name), Text(", ".join(contracts[name])), Text(story))
    out.print(table)


def print_race(forms: Sequence[Any]) -> None:
    """Print one race whole: its story, where it was met, and its schedule under each contract."""
    out = console()
    out.print(Text(forms[0].name, style="bold"))
    out.print(Text(f"  {forms[0].story}"))
    out.print(Text(f"  met in: {', '.join(forms[0].sources)}"))
    for form in forms:
        out.print(Text(f"contract {form.contract}", style="bold"))
        out.print(Text(f"  {form.score}"))
        out.print(Text(f"  aims at: {', '.join(form.rules)}"))
        out.print(Text(f"  exercised when: {' … '.join(form.reaches)}"))
        if form.needs:
            out.print(Text(f"  needs: {', '.join(form.needs)}"))
        see = f"turnproof run reference --contract {form.contract} --fault {form.fault} --race {form.name}"
        out.print(Text(f"  see it lost: {see}"))
