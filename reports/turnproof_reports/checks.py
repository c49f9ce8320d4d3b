"""
Print what a check of session logs found: one block for each file that has something to say, and a count at the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from turnproof.check.results import Blame, CheckResult, FileResult, LogViolation
from turnproof_reports.terminal import console, safe, verdict_text

MOST_EVENTS = 5
"""Events that are shown with one violation."""


def print_check(result: CheckResult) -> None:
    """Print the verdict of each file and why; a file that can't be read is told on stderr."""
    out, err = console(), Console(stderr=True, highlight=False, soft_wrap=True)
    for item in result.files:
        if item.unread is not None:
            where = f"{item.path}:{item.unread.line}" if item.unread.line else item.path
            err.print(safe(f"turnproof: {where}: {item.unread.message}"))
        out.print(_head(item))
        for line in _lines(item):
            out.print(line)
    counts = {verdict: sum(item.verdict == verdict for item in result.files) for verdict in _ORDER}
    out.print(" · ".join(f"{count} {verdict}" for verdict, count in counts.items() if count), markup=False)


_ORDER = ("conforms", "damaged", "fails", "unreadable")


def _head(item: FileResult) -> Text:
    text = verdict_text(item.verdict).append(" ").append_text(safe(item.path))
    if item.format is not None:
        judged = sum(rule.verdict in ("passed", "failed") for rule in item.rules)
        what = f"  {item.format}, contract {item.contract}, {item.events} events, {judged} rules exercised"
        text.append(what, style="dim")
    return text


def _lines(item: FileResult) -> Iterator[Text]:
    for violation in item.violations:
        yield from _violation(violation)
    if item.silenced:
        yield Text(f"  and {item.silenced} violations more", style="dim")
    for damage in item.damage:
        yield Text(f"  damage at line {damage.line}: ", style="yellow").append_text(safe(damage.message))
    for note in item.notes:
        yield Text("  note: ", style="dim").append_text(safe(note))


def _violation(violation: LogViolation) -> Iterator[Text]:
    seq = "" if violation.seq is None else f" (seq {violation.seq})"
    yield (
        Text(f"  {violation.rule}", style="red")
        .append(f" line {violation.line}{seq}: ", style="default")
        .append_text(safe(violation.message))
    )
    if violation.clauses:
        yield Text(f"      clauses {', '.join(violation.clauses)}", style="dim")
    for place in violation.events[:MOST_EVENTS]:
        yield Text(f"      line {place.line}: ", style="dim").append_text(safe(place.event or "(earlier)"))
    if violation.blame is not None:
        yield Text("      ").append_text(_blame(violation.blame))


_CULPRITS = {"log": "the log is to blame", "agent": "the agent is to blame", "open": "who is to blame is open"}


def _blame(blame: Blame) -> Text:
    return Text(f"{_CULPRITS[blame.culprit]}: ", style="bold").append_text(safe(blame.reason))
