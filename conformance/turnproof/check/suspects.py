"""
List what may have been done to a log, seen from the first rule that broke.

A lost line leaves a mark where the next line can't follow: from what is open there, and from what that line names, it
can be told what may be missing. A line that is one too many, or out of place, is near the mark or is named with it.
The list may be too long, never too clever: whether an edit helps, the monitors say.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from turnproof.check.edits import Edit, Edited, applied
from turnproof.check.entries import Entry
from turnproof.check.neighbourhood import Scene
from turnproof.check.spelling import spelled
from turnproof_model import trace as t
from turnproof_model.monitors.core_ledger import is_prompt
from turnproof_model.monitors.core_view import CoreView

NEAR = 3
"""How far from the mark a line may be that is one too many or out of place, in entries."""

REACH = 6
"""How far such a line may have been moved, in entries."""

TWICE, MISSING, MOVED, EXTRA, EXCUSE = 0, 1, 2, 4, 5
"""
How far-fetched an edit is: a line that stands there twice was written twice; a line is lost more easily than moved, and
hardly ever comes from nowhere; that a cancel was lost is what every agent would say.
"""

EXCUSES = (t.Cancelled, t.DisposeCalled, t.SessionResume, t.RequestRetry)


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


def suspects(scene: Scene, mark: Mark) -> Iterator[Edit]:
    """List the edits that may help against what is marked."""
    origins = mark.edited.places
    near = {*range(mark.place - NEAR, mark.place + NEAR + 1), *mark.named}
    known = [origin for place in sorted(near) if 0 <= place < len(origins) and (origin := origins[place]) is not None]
    for origin in known:
        yield Edit(origin, weight=TWICE if _twice(scene.entries, origin) else EXTRA)
        for to in range(origin - REACH, origin + REACH + 2):
            if 0 <= to <= len(scene.entries) and to not in (origin, origin + 1):
                yield Edit(origin, to=to, weight=MOVED)
    slots = sorted({_slot(origins, place, len(scene.entries)) for place in (mark.place, mark.place - 1, *mark.named)})
    for entry in _missing(scene, mark):
        weight = EXCUSE if isinstance(entry.records[0], EXCUSES) else MISSING
        for slot in reversed(slots):
            yield Edit(slot, entry, weight=weight)


def _twice(entries: list[Entry], place: int) -> bool:
    """Tell whether a line stands there twice, a few lines apart."""
    near = (*entries[max(place - NEAR, 0) : place], *entries[place + 1 : place + NEAR + 1])
    return any(entries[place].records == other.records for other in near)


def _slot(origins: list[int | None], place: int, count: int) -> int:
    """Name the place among the entries of the log that a place among the changed ones lies before."""
    return next((origin for origin in origins[max(place, 0) :] if origin is not None), count)


def _missing(scene: Scene, mark: Mark) -> Iterator[Entry]:
    """Spell what may be missing before the marked line."""
    judge = scene.judge()
    for entry in mark.edited.entries[: mark.place]:
        judge.take(entry)
    seen: set[str] = set()
    for record in _records(judge.core.view, mark):
        line = spelled(record, scene.contract, judge.core.view.ledger)
        if line is not None and repr(record) not in seen:
            seen.add(repr(record))
            yield line


def _records(view: CoreView, mark: Mark) -> Iterator[t.Record]:
    yield from _closing(view)
    for record in mark.entry.records if mark.entry is not None else ():
        yield from _opening(view, mark, record)
        yield from _naming(view, record)
        if isinstance(record, t.Requested):
            yield from _unshown(view, record)
    yield from _inbox(view, mark)
    yield from _around(view)


def _closing(view: CoreView) -> Iterator[t.Record]:
    """Name what would close what is open."""
    for call in view.batch.missing if view.batch is not None else ():
        yield t.ToolCall(call)
        yield t.ToolResult(call)
    if view.step is not None:
        yield t.StepEnd(*view.step)
    if view.turn is not None:
        cancelled = view.turn.cancel is not None or view.turn.disposed is not None
        yield t.TurnEnd(view.turn.number, "aborted" if cancelled else "completed")


def _opening(view: CoreView, mark: Mark, record: t.Record) -> Iterator[t.Record]:
    """Name what would open what the line belongs to."""
    turn, step = getattr(record, "turn", None), getattr(record, "step", None)
    open_turn = view.turn.number if view.turn is not None else None
    if isinstance(record, t.TurnStart):
        if turn != (view.last or 0) + 1:
            yield t.TurnStart(record.turn - 1)
            yield t.TurnEnd(record.turn - 1, "completed")
        return
    if open_turn is None or turn not in (None, open_turn):
        yield t.TurnStart(turn if turn is not None else (view.last or 0) + 1)
    inside = turn if turn is not None else open_turn
    if inside is None:
        return
    if isinstance(record, t.StepStart):
        if record.step > 1:
            yield t.StepStart(inside, record.step - 1)
            yield t.StepEnd(inside, record.step - 1)
        return
    if view.step is None or step not in (None, view.step[1]):
        yield t.StepStart(inside, step if step is not None else _next_step(mark, inside))
    if isinstance(record, t.ToolCall | t.ToolResult):
        place = view.step or (inside, step if step is not None else _next_step(mark, inside))
        yield t.AssistantMessage(place[0], place[1], _called(mark))
        yield t.ToolCall(record.call_id)
        yield t.ToolResult(record.call_id)


def _next_step(mark: Mark, turn: int) -> int:
    """Number the step that would come next in a turn, by those before the mark."""
    before = (record for entry in mark.edited.entries[: mark.place] for record in entry.records)
    steps = (record.step for record in before if isinstance(record, t.StepStart) and record.turn == turn)
    return max(steps, default=0) + 1


def _called(mark: Mark) -> tuple[str, ...]:
    """Name the calls that a lost assistant message made, by the calls and results that follow in one run."""
    calls: dict[str, None] = {}
    for entry in mark.edited.entries[mark.place :]:
        for record in entry.records:
            if not isinstance(record, t.ToolCall | t.ToolResult):
                return tuple(calls)
            calls[record.call_id] = None
    return tuple(calls)


def _naming(view: CoreView, record: t.Record) -> Iterator[t.Record]:
    """Name what would bring the messages that the line names to where it needs them."""
    names = [record.id] if isinstance(getattr(record, "id", None), str) else getattr(record, "ids", ())  # type: ignore[attr-defined]  # asked for by getattr
    where: t.ListName = getattr(record, "list", "queued")
    turn = view.turn.number if view.turn is not None else None
    for name in names:
        waiting = view.ledger.find(name)
        if waiting is not None:
            yield t.InboxDequeue(name, waiting.list, turn)
        for target in dict.fromkeys((where, *view.ledger.lists)):
            yield t.InboxEnqueue(name, target, wakeup=False)
        yield t.AdmissionAllow(name)
        yield t.AdmissionStart(name)
    if isinstance(record, t.StatusSet):
        yield t.StatusSet("idle" if record.status == "running" else "running")


def _unshown(view: CoreView, record: t.Requested) -> Iterator[t.Record]:
    """Name what the model was shown and the log doesn't hold."""
    shown, logged = record.messages, view.history
    place = next((n for n, (a, b) in enumerate(zip(shown, logged, strict=False)) if a != b), len(logged))
    if place >= len(shown):
        return
    role, *names = shown[place]
    if role == "user":
        yield t.UserMessage(names[0])
        yield t.SteeringMessage(names[0])
    elif role == "tool":
        yield t.ToolResult(names[0])
    else:
        turn, step = view.step or (None, None)
        yield t.AssistantMessage(turn, step, tuple(names))


def _inbox(view: CoreView, mark: Mark) -> Iterator[t.Record]:
    """Name what would let go of messages that wait or were claimed."""
    turn = view.turn.number if view.turn is not None else None
    for claim in view.ledger.claims:
        yield t.UserMessage(claim.id)
        yield t.SteeringMessage(claim.id)
        yield t.AdmissionBlock(claim.id)
        yield t.AdmissionFail(claim.id)
    for item in view.ledger.outstanding():
        yield t.InboxDequeue(item.id, item.list, turn)
        yield t.InboxDiscard((item.id,), "removal")
        if is_prompt(item.list):
            yield t.InboxRequeue(item.id, item.list)
    for record in mark.entry.records if mark.entry is not None else ():
        for name in record.pending if isinstance(record, t.End) else ():
            yield t.InboxEnqueue(name, "queued", wakeup=False)


def _around(view: CoreView) -> Iterator[t.Record]:
    """Name what may happen at any time, and excuses what follows."""
    yield t.Cancelled(keep_inbox=False)
    yield t.Cancelled(keep_inbox=True)
    yield t.DisposeCalled()
    yield t.RequestRetry()
    yield t.SessionResume()
    if view.has("request"):
        yield t.Requested(tuple(view.history))
