"""
Follow the sequence numbers of a log: the agent gave one to each event, from 0 on, without a gap.

Because the agent numbers and the logger writes, a gap is an event that the logger lost, a number twice an event that
it wrote twice, and a number that comes late an event that it moved. Only the holes that are open are kept.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from attrs import define, field

from turnproof.check.results import Damage, LogEdit

MOST_HOLES = 1000
"""Holes that are kept to see whether a late line fills them; of a log with more the oldest count as lost."""

MOST_DAMAGE = 1000
"""Damage that is listed for one file; further damage is counted."""

MOST_RUNS = 1000
"""Stretches of lines, each with one number a line, back to which a number that comes twice is named by its line."""


class Hole(NamedTuple):
    """Be numbers that are missing, ``first`` to ``last``, noticed at a line whose event is ``before``."""

    first: int
    last: int
    line: int
    before: str


class Run(NamedTuple):
    """Be lines that have one number each, in order: the number and the line of the first."""

    seq: int
    line: int


@define(eq=False)
class Sequence:
    """
    Note what is missing, twice or out of place.

    Attributes:
        gapless: whether the agent numbers every line; else gaps say nothing, and nothing is proved by their absence.
        damage: what is certain by now; a hole may still be filled by a late line. ``silenced`` counts the rest.
        seen: whether any line had a number.
    """

    gapless: bool = True
    damage: list[Damage] = field(factory=list)
    silenced: int = 0
    seen: bool = False
    _next: int = 0
    _shift: int | None = None
    _holes: list[Hole] = field(factory=list)
    _runs: deque[Run] = field(factory=lambda: deque(maxlen=MOST_RUNS))

    @property
    def whole(self) -> bool:
        """Whether the numbers, as far as they have come, show that nothing was lost, repeated or moved."""
        return self.seen and self.gapless and not self.damage and not self._holes

    @property
    def beheaded(self) -> bool:
        """Whether the beginning of the log is missing."""
        return bool(self._holes) and self._holes[0].first == 0

    def follows(self, seq: int, line: int) -> bool:
        """Take the number of one line if it is the next one, and the line the next one too, as it mostly is."""
        if seq != self._next or line - seq != self._shift:
            return False
        self._next = seq + 1
        return True

    def take(self, seq: int, count: int, line: int, event: str) -> None:
        """
        Take the numbers of one line.

        Args:
            seq: its first number.
            count: how many it stands for.
            line: where it stands, from 1.
            event: its type, for messages.
        """
        self.seen = True
        if seq == self._next:
            self._next = seq + count
        elif seq > self._next:
            self._hole(Hole(self._next, seq - 1, line, event))
            self._next = seq + count
        elif not self._fills(seq, count, line, event):
            self._twice(seq, line, event)
            return
        if line - seq != self._shift:
            self._shift = line - seq
            self._runs.append(Run(seq, line))

    def _hole(self, hole: Hole) -> None:
        self._holes.append(hole)
        if len(self._holes) > MOST_HOLES:
            self._lost(self._holes.pop(0))

    def _fills(self, seq: int, count: int, line: int, event: str) -> bool:
        """Recognise a line that comes late; the rest of the hole stays open."""
        for place, hole in enumerate(self._holes):
            if hole.first <= seq and seq + count - 1 <= hole.last:
                rest = [Hole(hole.first, seq - 1, hole.line, hole.before)] if hole.first < seq else []
                if seq + count <= hole.last:
                    rest.append(Hole(seq + count, hole.last, hole.line, hole.before))
                self._holes[place : place + 1] = rest
                message = f"{event} with seq {seq} stands behind later events: it belongs before line {hole.line}"
                self._note(Damage("moved", line, message, seq, LogEdit("moved", event, line, hole.line)))
                return True
        return False

    def _twice(self, seq: int, line: int, event: str) -> None:
        run = next((run for run in reversed(self._runs) if run.seq <= seq), None)
        where = "before" if run is None else f"at line {run.line + seq - run.seq}"
        message = f"seq {seq} stands twice: {event} here, and {where}"
        self._note(Damage("duplicate", line, message, seq, LogEdit("extra", event, line)))

    def all(self) -> list[Damage]:
        """List the damage, holes that are still open among it, by lines."""
        holes = map(_told, self._holes) if self.gapless else ()
        return sorted((*self.damage, *holes), key=lambda damage: damage.line)

    def _lost(self, hole: Hole) -> None:
        if self.gapless:
            self._note(_told(hole))

    def _note(self, damage: Damage) -> None:
        if len(self.damage) < MOST_DAMAGE:
            self.damage.append(damage)
        else:
            self.silenced += 1

    def finish(self) -> None:
        """Count the holes that nothing has filled as lost."""
        for hole in self._holes:
            self._lost(hole)
        self._holes.clear()
        self.damage.sort(key=lambda damage: damage.line)


def _told(hole: Hole) -> Damage:
    count = hole.last - hole.first + 1
    what = f"seq {hole.first} is" if count == 1 else f"seq {hole.first} to {hole.last} are"
    return Damage("hole", hole.line, f"{what} missing before this {hole.before}", hole.first)
