"""How events and requests look on the wire."""

from __future__ import annotations

from typing import Any

from turnproof_reference.driver.record import WireEvent
from turnproof_reference.events import (
    AgentError,
    AssistantMessage,
    Event,
    HistoryEntry,
    StatusChanged,
    StepEnd,
    StepStart,
    ToolCalled,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnproof_reference.messages import Message


class Accepted:
    """Remember each message as it was accepted, so that only another text is shown and an id is enough to name it."""

    __slots__ = ("_latest", "_texts")

    def __init__(self) -> None:
        self._texts: dict[str, set[str]] = {}  # by message id
        self._latest: dict[str, Message] = {}  # by id

    def remember(self, message: Message) -> None:
        """Take note of a message on its way in."""
        self._texts.setdefault(message.id, set()).add(message.text)
        self._latest[message.id] = message

    def recall(self, message_id: str) -> Message | None:
        """Answer the last message that was accepted under this id."""
        return self._latest.get(message_id)

    def text(self, message: Message) -> dict[str, str]:
        """Answer the field that tells a text other than the accepted one, or which of several that was; or nothing."""
        known = self._texts.get(message.id)
        return {} if known is None or known == {message.text} else {"text": message.text}


def project(event: Event, accepted: Accepted) -> WireEvent:
    """Answer the wire form of an event that both contracts have; unknown kinds show their type alone."""
    wire: WireEvent = {"kind": "session" if event.durable else "live", "type": event.type}
    match event:
        case StepStart() | StepEnd():
            wire |= {"turn": event.turn, "step": event.step}
        case UserMessage():
            wire |= {"id": event.message.id, "source": event.message.kind, **accepted.text(event.message)}
        case AssistantMessage():
            wire |= {"turn": event.turn, "step": event.step, **_answer(event)}
            if event.interrupted:
                wire["interrupted"] = True
        case ToolCalled():
            wire["callId"] = event.call_id
        case ToolResult():
            wire |= {"callId": event.call_id, "isError": event.is_error}
            if event.code is not None:
                wire["code"] = event.code
        case TurnStart():
            wire["turn"] = event.turn
            if event.trigger is not None:
                wire["trigger"] = event.trigger
        case TurnEnd():
            wire |= {"turn": event.turn, "reason": event.reason}
            if event.cause is not None:
                wire["cause"] = event.cause
        case StatusChanged():
            wire["status"] = event.status
        case AgentError():
            wire |= {"turn": event.turn, "step": event.step, "message": event.message}
        case _:
            pass
    return wire


def shown(entry: HistoryEntry, accepted: Accepted) -> dict[str, Any]:
    """Answer one message as the model sees it."""
    if isinstance(entry, Message):
        return {"role": "user", "id": entry.id, **accepted.text(entry)}
    if isinstance(entry, ToolResult):
        return {"role": "user", "toolResult": entry.call_id, "isError": entry.is_error}
    return {"role": "assistant", **_answer(entry)}


def _answer(event: AssistantMessage) -> dict[str, Any]:
    calls = [call.id for call in event.tool_calls]
    return {"toolCalls": calls, "text": event.text} if event.text else {"toolCalls": calls}
