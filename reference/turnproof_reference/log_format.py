"""
How a session log looks as JSON Lines: a header, then one event a line.

    {"type": "session", "version": 1, "contract": "window", "id": "..."}
    {"type": "turn/start", "seq": 0, "data": {"turn": 1, "trigger": {"kind": "message"}}}

The layout is that of deepseek-harness, so that one checker reads both. Each kind of event has one form: a pair of
functions between the event and its data. Kinds without a form belong to plugins and are kept as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from turnproof_reference.claim.events import InboxSpliced
from turnproof_reference.events import (
    AssistantMessage,
    DurableEvent,
    PluginEvent,
    StepEnd,
    StepStart,
    ToolCalled,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnproof_reference.messages import Message, ToolCall, freeze, thaw
from turnproof_reference.window.events import SteeringMessage

Data: TypeAlias = Mapping[str, Any]
E = TypeVar("E", bound=DurableEvent)


@dataclass(frozen=True, slots=True)
class Form(Generic[E]):
    """Write one kind of event as data and read it back."""

    kind: type[E]
    write: Callable[[E], dict[str, Any]]
    read: Callable[[Data], E]


class LogFormat:
    """
    Write and read the events of one contract.

    Args:
        contract: `window` or `claim`; stands in the header.
        forms: of the events that only this contract has.
    """

    def __init__(self, contract: str, forms: Iterable[Form[Any]] = ()) -> None:
        self.contract = contract
        self._forms: dict[str, Form[Any]] = {form.kind.type: form for form in (*_SHARED, *forms)}

    def write(self, event: DurableEvent) -> dict[str, Any]:
        """Answer the fields `type` and `data` of a line."""
        if isinstance(event, PluginEvent):
            return {"type": event.name, "data": thaw(event.fields)}
        return {"type": event.type, "data": self._forms[event.type].write(event)}

    def read(self, line: Data) -> DurableEvent:
        """
        Read an event.

        Raises:
            KeyError, TypeError, ValueError: when a field is missing or has another shape.
        """
        kind, data = line["type"], line.get("data", {})
        form = self._forms.get(kind)
        if form is None:
            return PluginEvent(str(kind), freeze(data))
        event: DurableEvent = form.read(data)
        return event


def _message(message: Message) -> dict[str, Any]:
    content = [{"type": "text", "text": message.text}]
    return {"id": message.id, "role": "user", "content": content, "source": thaw(message.source)}


def _read_message(data: Data) -> Message:
    return Message(data["id"], _read_text(data), data["source"])


def _read_text(data: Data) -> str:
    return "".join(block["text"] for block in data["content"] if block["type"] == "text")


def _answer(event: AssistantMessage) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": event.text}] if event.text else []
    content += [
        {"type": "tool-call", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in event.tool_calls
    ]
    data: dict[str, Any] = {**_place(event), "message": {"role": "assistant", "content": content}}
    return {**data, "interrupted": True} if event.interrupted else data


def _read_answer(data: Data) -> AssistantMessage:
    calls = tuple(
        ToolCall(block["id"], block["name"], block["arguments"])
        for block in data["message"]["content"]
        if block["type"] == "tool-call"
    )
    interrupted = bool(data.get("interrupted", False))
    return AssistantMessage(*_read_place(data), _read_text(data["message"]), calls, interrupted)


def _result(event: ToolResult) -> dict[str, Any]:
    block = {
        "type": "tool-result",
        "toolCallId": event.call_id,
        "content": [{"type": "text", "text": event.text}],
        "isError": event.is_error,
    }
    message = {"role": "user", "content": [block], "source": {"kind": "tool", "callId": event.call_id}}
    data: dict[str, Any] = {**_place(event), "message": message}
    return data if event.code is None else {**data, "error": {"code": event.code}}


def _read_result(data: Data) -> ToolResult:
    (block,) = data["message"]["content"]
    code = data.get("error", {}).get("code")
    failed = bool(block.get("isError", False))
    return ToolResult(*_read_place(data), block["toolCallId"], failed, code, _read_text(block))


def _place(event: StepStart | StepEnd | AssistantMessage | ToolCalled | ToolResult) -> dict[str, Any]:
    return {"turn": event.turn, "step": event.step}


def _read_place(data: Data) -> tuple[int, int]:
    return _number(data, "turn"), _number(data, "step")


def _number(data: Data, field: str) -> int:
    value = data[field]
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{field} must be a whole number (got {value!r})")
    return value


def _turn_start(event: TurnStart) -> dict[str, Any]:
    data: dict[str, Any] = {"turn": event.turn}
    return data if event.trigger is None else {**data, "trigger": {"kind": event.trigger}}


def _turn_end(event: TurnEnd) -> dict[str, Any]:
    reason: dict[str, Any] = {"kind": event.reason}
    if event.cause is not None:
        reason["reason"] = {"kind": event.cause}
    return {"turn": event.turn, "reason": reason}


def _splice(event: InboxSpliced) -> dict[str, Any]:
    data: dict[str, Any] = {
        "target": event.target,
        "start": event.start,
        "removedCount": event.removed_count,
        "inserted": [_message(message) for message in event.inserted],
    }
    return data if event.outcome is None else {**data, "outcome": event.outcome}


def _read_splice(data: Data) -> InboxSpliced:
    inserted = tuple(_read_message(message) for message in data["inserted"])
    start, removed = _number(data, "start"), _number(data, "removedCount")
    return InboxSpliced(data["target"], start, removed, inserted, data.get("outcome"))


_SHARED: tuple[Form[Any], ...] = (
    Form(TurnStart, _turn_start, lambda data: TurnStart(_number(data, "turn"), data.get("trigger", {}).get("kind"))),
    Form(
        TurnEnd,
        _turn_end,
        lambda data: TurnEnd(
            _number(data, "turn"), data["reason"]["kind"], data["reason"].get("reason", {}).get("kind")
        ),
    ),
    Form(StepStart, _place, lambda data: StepStart(*_read_place(data))),
    Form(StepEnd, _place, lambda data: StepEnd(*_read_place(data))),
    Form(UserMessage, lambda event: _message(event.message), lambda data: UserMessage(_read_message(data))),
    Form(AssistantMessage, _answer, _read_answer),
    Form(
        ToolCalled,
        lambda event: {**_place(event), "callId": event.call_id, "name": event.name},
        lambda data: ToolCalled(*_read_place(data), data["callId"], data["name"]),
    ),
    Form(ToolResult, _result, _read_result),
)

WINDOW = LogFormat(
    "window",
    [
        Form(
            SteeringMessage,
            lambda event: {"turn": event.turn, "message": _message(event.message)},
            lambda data: SteeringMessage(_number(data, "turn"), _read_message(data["message"])),
        )
    ],
)
CLAIM = LogFormat("claim", [Form(InboxSpliced, _splice, _read_splice)])
