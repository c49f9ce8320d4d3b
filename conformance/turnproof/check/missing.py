"""
Name what may be missing from a log before a line at which a rule breaks.

A lost line leaves a place where the next one can't follow: from what is open there, and from what that line and those
behind it name, it can be told what would have to come before.
"""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.check.marks import Mark
from turnproof_model import trace as t
from turnproof_model.monitors.core_ledger import is_prompt
from turnproof_model.monitors.core_view import CoreView

UNKNOWN = "(unknown)"
"""Stands for the id of a lost message that nothing else names."""


def missing_records(view: CoreView, mark: Mark, lists: tuple[t.ListName, ...]) -> Iterator[t.Record]:
    """
    List the records that may be missing, the likeliest first as far as the line itself tells.

    Args:
        view: of what is open before the marked line.
        mark: where a rule breaks.
        lists: that a lost entry may have been of, the likeliest first.
    """
    yield from _closing(view)
    yield from _needed_later(view, mark, lists)
    named = [mark.edited.entries[place] for place in mark.named]
    for entry in (*([mark.entry] if mark.entry is not None else []), *named):
        for record in entry.records:
            yield from _opening(view, mark, record)
            yield from _naming(view, record, lists)
            if isinstance(record, t.Requested):
                yield from _unshown(view, record)
    yield from _inbox(view, mark, lists)
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


def _needed_later(view: CoreView, mark: Mark, lists: tuple[t.ListName, ...]) -> Iterator[t.Record]:
    """Name the entries of messages that are committed further on, though they never entered."""
    records = [record for entry in mark.edited.entries[mark.place :] for record in entry.records]
    entered = {record.id for record in records if isinstance(record, t.InboxEnqueue)}
    committed = [record.id for record in records if isinstance(record, t.UserMessage | t.SteeringMessage)]
    for name in committed:
        if name not in entered and view.ledger.claim_of(name) is None and view.ledger.find(name) is None:
            yield t.InboxEnqueue(name, lists[0], wakeup=False)
    yield t.InboxEnqueue(UNKNOWN, lists[0], wakeup=False)


def _naming(view: CoreView, record: t.Record, lists: tuple[t.ListName, ...]) -> Iterator[t.Record]:
    """Name what would bring the messages that the line names to where it needs them."""
    names = [record.id] if isinstance(getattr(record, "id", None), str) else getattr(record, "ids", ())  # type: ignore[attr-defined]  # asked for by getattr
    turn = view.turn.number if view.turn is not None else None
    for name in names:
        waiting = view.ledger.find(name)
        if waiting is not None:
            yield t.InboxDequeue(name, waiting.list, turn)
        for target in () if isinstance(record, t.InboxEnqueue) else lists:
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


def _inbox(view: CoreView, mark: Mark, lists: tuple[t.ListName, ...]) -> Iterator[t.Record]:
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
            yield from (t.InboxEnqueue(name, where, wakeup=False) for where in lists)


def _around(view: CoreView) -> Iterator[t.Record]:
    """Name what may happen at any time, and excuses what follows."""
    yield t.Cancelled(keep_inbox=False)
    yield t.Cancelled(keep_inbox=True)
    yield t.DisposeCalled()
    yield t.RequestRetry()
    yield t.SessionResume()
    if view.has("request"):
        yield t.Requested(tuple(view.history))
