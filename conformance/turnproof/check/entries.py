"""
Say what a reader makes of a log: entries, each one line that a rule speaks of, in the words of both judges.

``records`` are for the rules of ``core`` (trace format v1), ``event`` for those of a contract; a format that knows
only one of the two leaves the other out.
"""

from __future__ import annotations

from typing import NamedTuple

from turnproof_model.events import Event
from turnproof_model.trace import Record


class Entry(NamedTuple):
    """Be one line of a log: its number from 1, its sequence number if it has one, and what it says."""

    line: int
    seq: int | None
    records: tuple[Record, ...]
    event: Event | None = None
