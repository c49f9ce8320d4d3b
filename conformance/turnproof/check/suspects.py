"""
List what may have been done to a log, seen from the first rule that broke.

A line that is one too many, or out of place, is near the mark or is named with it; ``missing`` names what may have been
lost. The list may be too long, never too clever: whether an edit helps, the monitors say.
"""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.check.edits import Edit
from turnproof.check.entries import Entry
from turnproof.check.marks import Mark, list_names, standing
from turnproof.check.missing import UNKNOWN, missing_records
from turnproof.check.neighbourhood import Scene
from turnproof.check.spelling import spelled
from turnproof_model import trace as t
from turnproof_model.monitors.core_view import CoreView

NEAR = 3
"""How far from the mark a line may be that is one too many or out of place, in entries."""

REACH = 6
"""How far such a line may have been moved, in entries."""

TWICE, MISSING, MOVED, FAR, EXTRA, EXCUSE = 0, 1, 2, 3, 4, 5
"""
How far-fetched an edit is: a line that stands there twice was written twice; a line is lost more easily than moved, to
its neighbour's place more easily than far away, and hardly ever comes from nowhere; that a cancel was lost is what
every agent would say.
"""

OF_THE_INBOX = frozenset(
    {"K-LEDGER", "K-FIFO", "K-ONE", "K-END", "C-CLAIM-1", "C-CLAIM-2", "C-EDIT-2", "C-TURN-3", "C-SEND-3"}
)
"""Rules against which a lost line of the inbox is likelier than any other."""

OF_CANCELS = frozenset({"K-CANCEL", "K-DISCARD"})
"""Rules against which a lost cancel is no excuse, but what they ask for."""

OF_VALUES = frozenset({"K-SAME"})
"""Rules about what a line says, whatever stands around it."""

EXCUSES = (t.Cancelled, t.DisposeCalled, t.SessionResume, t.RequestRetry)


def suspects(scene: Scene, mark: Mark) -> Iterator[Edit]:
    """List the edits that may help against what is marked."""
    view = standing(scene, mark)
    yield from _present(scene, mark)
    yield from _entered_twice(scene, view)
    slots = _slots(scene, mark, view)
    back = _back(scene, mark)
    seen: set[str] = set()
    for record in missing_records(view, mark, list_names(scene, mark)):
        entry = spelled(record, scene.contract, view.ledger)
        if entry is not None and repr(record) not in seen:
            seen.add(repr(record))
            places = back if isinstance(record, t.TurnStart | t.StepStart) else slots
            yield from (Edit(slot, entry, weight=_weight(mark, record)) for slot in places)


def _weight(mark: Mark, record: t.Record) -> int:
    """Say how far-fetched it is that a record is missing."""
    if isinstance(record, EXCUSES):
        cancelled = isinstance(record, t.Cancelled) and mark.rule in OF_CANCELS
        return MISSING if cancelled else EXCUSE
    if isinstance(record, t.InboxEnqueue) and record.id == UNKNOWN:
        return FAR
    return MOVED if mark.rule in OF_THE_INBOX and record.kind != "inbox" else MISSING


def _present(scene: Scene, mark: Mark) -> Iterator[Edit]:
    """List the lines near the mark, or named with it, as one too many or out of place."""
    origins = mark.edited.places
    near = {*range(mark.place - NEAR, mark.place + NEAR + 1), *mark.named}
    known = [origin for place in sorted(near) if 0 <= place < len(origins) and (origin := origins[place]) is not None]
    for origin in known:
        yield Edit(origin, weight=TWICE if _twice(scene.entries, origin) else EXTRA)
        for to in range(origin - REACH, origin + REACH + 2):
            if 0 <= to <= len(scene.entries) and to not in (origin, origin + 1):
                next_to = to in (origin - 1, origin + 2)
                yield Edit(origin, to=to, weight=MOVED if next_to else FAR)


def _twice(entries: list[Entry], place: int) -> bool:
    """Tell whether a line stands there twice, a few lines apart."""
    entry = entries[place]
    near = (*entries[max(place - NEAR, 0) : place], *entries[place + 1 : place + NEAR + 1])
    if entry.records and any(entry.records == other.records for other in near):
        return True
    beside = (*entries[max(place - 1, 0) : place], *entries[place + 1 : place + 2])
    return entry.event is not None and any(entry.event == other.event for other in beside)


def _entered_twice(scene: Scene, view: CoreView) -> Iterator[Edit]:
    """List the lines by which a message entered that waits once too often."""
    waiting = {item.id for item in view.ledger.outstanding()}
    for place, entry in enumerate(scene.entries):
        for record in entry.records:
            if isinstance(record, t.InboxEnqueue) and record.id in waiting and _twice(scene.entries, place):
                yield Edit(place, weight=TWICE)


def _slots(scene: Scene, mark: Mark, view: CoreView) -> list[int]:
    """List the places that something missing may belong before, the nearest first."""
    places = [mark.place, mark.place - 1, *mark.named]
    if mark.entry is not None:
        places += [place for record in mark.entry.records for place in _logged(mark, view, record)]
    found = (_slot(mark.edited.places, place, len(scene.entries)) for place in places)
    return sorted(set(found), reverse=True)


def _back(scene: Scene, mark: Mark) -> list[int]:
    """List the places that something may belong before which opens what the mark closes, the nearest first."""
    places = range(max(mark.place - REACH, 0), mark.place + 1)
    return sorted({_slot(mark.edited.places, place, len(scene.entries)) for place in places}, reverse=True)


def _logged(mark: Mark, view: CoreView, record: t.Record) -> Iterator[int]:
    """Name the line that holds what a request shows too late: what is missing belongs before it."""
    if not isinstance(record, t.Requested):
        return
    pairs = zip(record.messages, view.history, strict=False)
    logged = next((mine for theirs, mine in pairs if mine != theirs), None)
    for place, entry in enumerate(mark.edited.entries[: mark.place]):
        if logged is not None and any(_shown(other) == logged for other in entry.records):
            yield place


def _shown(record: t.Record) -> t.Shown | None:
    match record:
        case t.UserMessage(name) | t.SteeringMessage(name):
            return ("user", name)
        case t.ToolResult(call):
            return ("tool", call)
        case t.AssistantMessage(calls=calls):
            return ("assistant", *calls)
        case _:
            return None


def _slot(origins: list[int | None], place: int, count: int) -> int:
    """Name the place among the entries of the log that a place among the changed ones lies before."""
    return next((origin for origin in origins[max(place, 0) :] if origin is not None), count)
