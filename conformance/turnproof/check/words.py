"""
Name events of a log in a few words, the same wherever they are named: ``step/end 2 of turn 1``, ``tool/result c1``.
"""

from __future__ import annotations

from turnproof.check.entries import Entry
from turnproof_model import events as e
from turnproof_model import trace as t


def entry_words(entry: Entry) -> str:
    """Name what one line says; a splice is named as it stands in the log, not as the records that it makes."""
    if isinstance(entry.event, e.Spliced):
        return _splice(entry.event)
    return record_words(entry.records[0]) if entry.records else _plain(entry)


def _plain(entry: Entry) -> str:
    return entry.event.type if entry.event is not None else "nothing"


def _splice(event: e.Spliced) -> str:
    gone = f" without {event.removed_count} from {event.start}" if event.removed_count else ""
    new = f" with {', '.join(event.inserted)} at {event.start}" if event.inserted else ""
    return f"{event.type} of {event.target}{gone}{new}"


def record_words(record: t.Record) -> str:
    """Name one record by its type and what tells it from its like."""
    match record:
        case t.TurnStart(turn) | t.TurnEnd(turn):
            return f"{record.type} {turn}"
        case t.StepStart(turn, step) | t.StepEnd(turn, step):
            return f"{record.type} {step} of turn {turn}"
        case t.AssistantMessage(calls=calls):
            return f"{record.type} with {', '.join(calls)}" if calls else record.type
        case t.ToolCall(call) | t.ToolResult(call):
            return f"{record.type} {call}"
        case t.InboxEnqueue(name, where) | t.InboxDequeue(name, where) | t.InboxRequeue(name, where):
            return f"{record.type} {name} {where}"
        case t.InboxDiscard(names):
            return f"{record.type} {', '.join(names)}"
        case t.StatusSet(status):
            return f"{record.type} {status}"
        case t.Requested(messages):
            return f"{record.type} with {len(messages)} messages"
        case t.UserMessage(name) | t.SteeringMessage(name) | t.AdmissionStart(name) | t.AdmissionFail(name):
            return f"{record.type} {name}"
        case t.AdmissionAllow(name) | t.AdmissionBlock(name) if name is not None:
            return f"{record.type} {name}"
        case _:
            return record.type
