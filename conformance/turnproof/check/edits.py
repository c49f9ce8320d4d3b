"""
Change a neighbourhood: leave an entry out, put one in that is missing, move one.

An ``Edit`` undoes one thing that may have been done to the log. Several of them apply to the entries as they stand in
the log, so that their order doesn't matter; what is put in at one place goes in the order in which things close and
open.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from attrs import field, frozen

from turnproof.check.entries import Entry
from turnproof.check.results import LogEdit
from turnproof.check.words import entry_words
from turnproof_model import trace as t

_ORDER: tuple[type[t.Record], ...] = (
    *(t.ToolCall, t.ToolResult, t.StepEnd, t.TurnEnd, t.SessionResume, t.InboxEnqueue, t.StatusSet, t.TurnStart),
    *(t.InboxDequeue, t.InboxDiscard, t.AdmissionStart, t.AdmissionAllow, t.StepStart, t.UserMessage),
    *(t.SteeringMessage, t.Requested, t.AssistantMessage),
)


def _rank(entry: Entry) -> int:
    """Order what is put in at one place: what closes comes before what opens."""
    kind = type(entry.records[0]) if entry.records else t.Record
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


@frozen
class Edit:
    """
    Undo one change.

    Leave out the entry at ``at`` (no ``entry``, no ``to``), put ``entry`` in before ``at``, or move the entry at
    ``at`` before ``to``. ``weight`` says how far-fetched that is, for choosing among sets of one size.
    """

    at: int
    entry: Entry | None = None
    to: int | None = None
    weight: int = field(default=1, eq=False)

    def words(self, entries: list[Entry]) -> LogEdit:
        """Say it for a reader."""
        if self.entry is not None:
            return LogEdit("missing", entry_words(self.entry), _line(entries, self.at))
        entry = entries[self.at]
        if self.to is None:
            return LogEdit("extra", entry_words(entry), entry.line)
        return LogEdit("moved", entry_words(entry), entry.line, _line(entries, self.to))


def _line(entries: list[Entry], place: int) -> int:
    """Name the line that something belongs before; behind the last entry that is the line after it."""
    return entries[place].line if place < len(entries) else entries[-1].line + 1


class Edited(NamedTuple):
    """Hold changed entries, numbered anew, and where each of them stood; what was put in has no such place."""

    entries: list[Entry]
    places: list[int | None]


def applied(entries: list[Entry], edits: Collection[Edit]) -> Edited:
    """Apply some edits at once."""
    gone = {edit.at for edit in edits if edit.entry is None}
    put: dict[int, list[tuple[Entry, int | None]]] = {}
    for edit in edits:
        if edit.entry is not None:
            put.setdefault(edit.at, []).append((edit.entry, None))
        elif edit.to is not None:
            put.setdefault(edit.to, []).append((entries[edit.at], edit.at))
    out: list[Entry] = []
    places: list[int | None] = []
    start = entries[0].line if entries else 1  # behind all lines that the state before the entries may name
    for place in range(len(entries) + 1):
        for entry, origin in sorted(put.get(place, ()), key=lambda pair: _rank(pair[0])):
            out.append(entry._replace(line=start + len(out)))
            places.append(origin)
        if place < len(entries) and place not in gone:
            out.append(entries[place]._replace(line=start + len(out)))
            places.append(place)
    return Edited(out, places)
