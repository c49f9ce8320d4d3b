"""
Spell a record as a line of the format that a log is written in: what a missing line would have said.

A trace holds the record itself. A session log of a contract holds its event; the inbox of ``claim`` is written as
splices, so that a record of the inbox needs the lists as they stand.
"""

from __future__ import annotations

from typing import Any

from turnproof.check.entries import Entry
from turnproof_model import events as e
from turnproof_model import trace as t
from turnproof_model.monitors.core_ledger import Ledger
from turnproof_model.vocabulary import Contract


def spelled(record: t.Record, contract: Contract | None, ledger: Ledger) -> Entry | None:
    """
    Write one record as an entry.

    Args:
        record: what is to be written.
        contract: of the log's events; None where it holds records only.
        ledger: the lists at that place.

    Returns:
        The entry, or None where such a log has no line of that kind.
    """
    if contract is None:
        return Entry(0, None, (record,))
    event = _event(record, ledger)
    return Entry(0, None, (record,), event) if event is not None else None


def _event(record: t.Record, ledger: Ledger) -> e.Event | None:
    match record:
        case t.TurnStart(turn):
            return e.TurnStart(turn)
        case t.TurnEnd(turn, reason):
            why: Any = reason
            return e.TurnEnd(turn, why)
        case t.StepStart(turn, step):
            return e.StepStart(turn, step)
        case t.StepEnd(turn, step):
            return e.StepEnd(turn, step)
        case t.UserMessage(name):
            return e.UserMessage(name)
        case t.AssistantMessage(turn, step, calls) if turn is not None and step is not None:
            return e.AssistantMessage(turn, step, calls)
        case t.ToolCall(call):
            return e.ToolCall(call)
        case t.ToolResult(call, failed):
            return e.ToolResult(call, failed)
        case t.InboxEnqueue(list="next-turn" | "next-step") | t.InboxDequeue(list="next-turn" | "next-step"):
            return _splice(record, ledger)
        case _:
            return None


def _splice(record: t.InboxEnqueue | t.InboxDequeue, ledger: Ledger) -> e.Event | None:
    target: Any = record.list
    items = [item.id for item in ledger.lists.get(record.list, ())]
    if isinstance(record, t.InboxEnqueue):
        return e.Spliced(target, len(items), 0, (record.id,))
    return e.Spliced(target, items.index(record.id), 1) if record.id in items else None
