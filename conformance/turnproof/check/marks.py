"""
Find the first rule that breaks in a neighbourhood with some changes made to it.
"""

from __future__ import annotations

from attrs import frozen

from turnproof.check.edits import Edit, Edited, applied
from turnproof.check.entries import Entry
from turnproof.check.neighbourhood import Scene
from turnproof_model import trace as t
from turnproof_model.monitors.core_view import CoreView


@frozen
class Mark:
    """
    Be the first rule that breaks in changed entries.

    ``place`` is where, among them, or their number at the end of the log; ``named`` are the places that are named
    with it.
    """

    edited: Edited
    place: int
    rule: str
    named: tuple[int, ...]

    @property
    def entry(self) -> Entry | None:
        """The line at which it broke; None at the end of the log."""
        return self.edited.entries[self.place] if self.place < len(self.edited.entries) else None


def first_mark(scene: Scene, edits: frozenset[Edit]) -> Mark | None:
    """Judge a scene with some changes up to the first rule that breaks; None where none does."""
    edited = applied(scene.entries, edits)
    judge = scene.judge()
    place = next((place for place, entry in enumerate(edited.entries) if judge.take(entry)), None)
    if place is None:
        if not (scene.ended and judge.finish()):
            return None
        place = len(edited.entries)
    violation = judge.report.violations[0]
    start = edited.entries[0].line if edited.entries else 0
    named = tuple(line - start for line in violation.events if 0 <= line - start < len(edited.entries))
    return Mark(edited, place, violation.rule, named)


def standing(scene: Scene, mark: Mark) -> CoreView:
    """Judge the changed entries up to the mark once more, to see what is open there."""
    judge = scene.judge()
    for entry in mark.edited.entries[: mark.place]:
        judge.take(entry)
    return judge.core.view


def list_names(scene: Scene, mark: Mark) -> tuple[t.ListName, ...]:
    """Name the lists that a lost entry may have been of, the likeliest first."""
    told: dict[t.ListName, None] = {}
    target = getattr(mark.entry.event, "target", None) if mark.entry is not None else None
    if target in ("next-turn", "next-step"):
        return (target,)
    for entry in (*([mark.entry] if mark.entry is not None else []), *scene.entries):
        told.update((record.list, None) for record in entry.records if isinstance(record, _LISTED))
    return tuple(told) or ("queued",)


_LISTED = t.InboxEnqueue | t.InboxDequeue | t.InboxRequeue
