"""
Read session logs of deepseek-harness, of either revision, as JSON Lines.

::

    {"type": "session", "version": 0, "id": "…"}
    {"type": "turn/start", "seq": 0, "time": 1784522140646, "data": {"turn": 1, "trigger": {"kind": "message"}}}

The header comes first, each further line is an event; ``seq`` and ``time`` may be missing. Most lines are chunks of
what the model streamed and events of plugins: no rule speaks of them, so that their type is enough and they aren't
parsed. An older form of messages, without ids and with the content in the event itself, is read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from attrs import define, field

from turnproof.check.entries import Entry
from turnproof.check.lines import Lines, UnreadableError
from turnproof.check.sequence import Sequence
from turnproof_model import events as e
from turnproof_model import trace as t
from turnproof_model.vocabulary import Contract, Source
from turnproof_model.wire import shorten

Data: TypeAlias = Mapping[str, Any]
Parts: TypeAlias = tuple[tuple[t.Record, ...], e.Event]

VERSIONS = (None, 0, 1)
"""The versions of the header that are known; the oldest logs name none."""

CLAIM_RECORDS: tuple[t.TraceKind, ...] = ("inbox", "log")
WINDOW_RECORDS: tuple[t.TraceKind, ...] = ("log",)

_HEAD = re.compile(rb'\{"type":"([^"\\]*)"(?:,"seq":(\d+))?[,}]')
_PACKED = frozenset({b"reasoning-chunks", b"text-chunks", b"tool-call-chunks"})
_decoder: Any = json.JSONDecoder()
_decode, _scan = _decoder.decode, _decoder.scan_once


class FieldError(ValueError):
    """Say which field of an event isn't what its type asks for."""


def decoded(line: bytes, number: int) -> str:
    """
    Read bytes as UTF-8.

    Raises:
        UnreadableError: they aren't.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(f"a line is UTF-8 (byte {error.start + 1} isn't)", number) from error


def parse(line: bytes, number: int) -> dict[str, Any]:
    """
    Read one line as a JSON object.

    Raises:
        UnreadableError: it isn't UTF-8, isn't JSON, or no object.
    """
    text = decoded(line, number)
    try:
        value = _value(text)
    except (ValueError, RecursionError) as error:
        problem = "the line is cut off" if line[-1:] != b"\n" else "a line holds one JSON object"
        raise UnreadableError(f"{problem} ({error}; got {shorten(text, 80)})", number) from error
    if not isinstance(value, dict):
        raise UnreadableError(f"a line holds one JSON object (got {shorten(value, 80)})", number)
    return value


def _value(text: str) -> Any:
    """Decode a line; the quick way knows no blanks around the value."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        return _decode(text)
    return value if text[end:] == "\n" else _decode(text)


def is_header(value: Mapping[str, Any]) -> bool:
    """Tell whether an object opens a session log."""
    return value.get("type") == "session" and "id" in value


def recorded_under(header: Mapping[str, Any]) -> Contract | None:
    """Name the contract that a header states; None where it states none."""
    contract = header.get("contract")
    return contract if contract in ("window", "claim") else None


@define(eq=False)
class HarnessReader:
    """
    Turn lines into entries.

    Attributes:
        lines: behind the header.
        sequence: of the sequence numbers, of all lines.
        evidence: the contract that the entries so far speak for: splices for ``claim``, triggers of turns and steering
            messages for ``window``; ``since`` is the line of the first that did.
        older: the line of the first message in the older form.
    """

    lines: Lines
    sequence: Sequence = field(factory=Sequence)
    evidence: Contract | None = None
    since: int = 0
    older: int | None = None
    _lists: dict[str, list[str]] = field(factory=lambda: {"next-turn": [], "next-step": []})
    _turn: int | None = None
    _line: int = 0

    def __iter__(self) -> Iterator[Entry]:
        """
        Go through the entries.

        Raises:
            UnreadableError: a line is no event of a session log.
        """
        head, forms, lines, follows = _HEAD.match, _FORMS, self.lines, self.sequence.follows
        for line in lines:
            found = head(line)
            if found is not None and found[1] not in forms:
                seq = found[2]
                plain = line[-2:] == b"}\n" and line.isascii() and b"\0" not in line
                if seq is None or not plain or not follows(int(seq), lines.number):
                    self._skip(line, found)
            elif not line.isspace():
                entry = self._entry(parse(line, lines.number))
                if entry is not None:
                    yield entry

    def _skip(self, line: bytes, head: re.Match[bytes]) -> None:
        """Pass over a line that no rule speaks of, with no more than a look at its ends."""
        if line[-2:] != b"}\n" or b"\0" in line:
            parse(line, self.lines.number)
        elif not line.isascii():
            decoded(line, self.lines.number)
        seq = head[2]
        if seq is not None:
            self.sequence.take(int(seq), 1, self.lines.number, head[1].decode())
        elif head[1] in _PACKED and b'"seq0":' in line:
            self._packed(parse(line, self.lines.number))

    def _packed(self, value: Data) -> None:
        """Count the chunks that were packed into one row; each had a sequence number."""
        first, data = value.get("seq0"), value.get("data")
        count = max((len(data.get(name, ())) for name in ("texts", "args")), default=1) if isinstance(data, dict) else 1
        if isinstance(first, int):
            self.sequence.take(first, count, self.lines.number, str(value["type"]))

    def _entry(self, value: dict[str, Any]) -> Entry | None:
        kind, seq, number = value.get("type"), value.get("seq"), self.lines.number
        if not isinstance(kind, str):
            raise UnreadableError(f"an event has a 'type' (got {shorten(value, 80)})", number)
        form = _FORMS.get(kind.encode())
        if seq is not None:
            if type(seq) is not int:
                raise UnreadableError(f"the 'seq' of {kind} is a whole number (got {shorten(seq, 80)})", number)
            self.sequence.take(seq, 1, number, kind)
        if form is None:
            return None
        data = value.get("data", {})
        if not isinstance(data, dict):
            raise UnreadableError(f"the 'data' of {kind} is an object (got {shorten(data, 80)})", number)
        self._line = number
        try:
            records, event = form(self, data)
        except (FieldError, TypeError, AttributeError, KeyError, StopIteration) as error:
            raise UnreadableError(f"{kind} has another form than its type asks for: {error}", number) from error
        return Entry(number, seq, records, event)

    def _speaks_for(self, contract: Contract) -> None:
        self.evidence, self.since = contract, self._line

    # -------------------------------------------------------------------------------------------- turns and steps
    def _turn_start(self, data: Data) -> Parts:
        turn = _whole(data, "turn")
        trigger = data.get("trigger")
        kind = trigger.get("kind") if trigger is not None else None
        if kind is not None and self.evidence is None:
            self._speaks_for("window")
        self._turn = turn
        return (t.TurnStart(turn),), e.TurnStart(turn, kind)

    def _turn_end(self, data: Data) -> Parts:
        turn = _whole(data, "turn") if "turn" in data else (self._turn or 0)
        self._turn = None
        reason = data.get("reason")
        if reason is None and "error" in data:
            return (t.TurnEnd(turn, "error"),), e.TurnEnd(turn, "error")
        if not isinstance(reason, dict) or not isinstance(reason.get("kind"), str):
            raise FieldError(f"'reason' is an object with a 'kind' (got {shorten(reason, 80)})")
        cause = reason.get("reason")
        why = cause.get("kind") if isinstance(cause, dict) else None
        return (t.TurnEnd(turn, reason["kind"]),), e.TurnEnd(turn, reason["kind"], why)

    def _step_start(self, data: Data) -> Parts:
        turn, step = _whole(data, "turn"), _whole(data, "step")
        return (t.StepStart(turn, step),), e.StepStart(turn, step)

    def _step_end(self, data: Data) -> Parts:
        turn, step = _whole(data, "turn"), _whole(data, "step")
        return (t.StepEnd(turn, step),), e.StepEnd(turn, step)

    # -------------------------------------------------------------------------------------------- messages
    def _user_message(self, data: Data) -> Parts:
        name = self._id(data)
        source = _source(data)
        kind = source.kind if source is not None else None
        return (t.UserMessage(name, data.get("content"), source),), e.UserMessage(name, kind)

    def _steering_message(self, data: Data) -> Parts:
        if self.evidence != "window":
            self._speaks_for("window")
        message = data.get("message", data)
        name = self._id(message)
        record = t.SteeringMessage(name, message.get("content"), _source(message))
        return (record,), e.SteeringMessage(_whole(data, "turn"), name)

    def _id(self, message: Data) -> str:
        name = message.get("id")
        if name is None:
            self._older()
            return f"(line {self._line})"
        if not isinstance(name, str):
            raise FieldError(f"'id' is text (got {shorten(name, 80)})")
        return name

    def _older(self) -> None:
        if self.older is None:
            self.older = self._line

    def _assistant_message(self, data: Data) -> Parts:
        message = data.get("message")
        if message is None:
            message = data
            self._older()
        calls = tuple(_text(block, "id") for block in message.get("content", ()) if block.get("type") == "tool-call")
        turn, step = _whole(data, "turn"), _whole(data, "step")
        event = e.AssistantMessage(turn, step, calls, interrupted=bool(data.get("interrupted", False)))
        return (t.AssistantMessage(turn, step, calls),), event

    def _tool_call(self, data: Data) -> Parts:
        call = _text(data, "callId")
        return (t.ToolCall(call),), e.ToolCall(call)

    def _tool_result(self, data: Data) -> Parts:
        message = data.get("message")
        if message is None:
            call, failed = _text(data, "callId"), data.get("isError") is True
        else:
            block = next(block for block in message["content"] if "toolCallId" in block)
            call, failed = _text(block, "toolCallId"), block.get("isError") is True
        error = data.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        return (t.ToolResult(call, failed),), e.ToolResult(call, failed, code)

    # -------------------------------------------------------------------------------------------- the inbox of claim
    def _spliced(self, data: Data) -> Parts:
        if self.evidence != "claim":
            self._speaks_for("claim")
        target = data.get("target")
        if target not in self._lists:
            raise FieldError(f"'target' is next-turn or next-step (got {shorten(target, 80)})")
        start = _whole(data, "start")
        count = _whole(data, "removedCount") if "removedCount" in data else 0
        inserted = data.get("inserted", ())
        names = tuple(_text(message, "id") for message in inserted)
        items = self._lists[target]
        removed = items[start : start + count]
        items[start : start + count] = names
        outcome = data.get("outcome")
        event = e.Spliced(target, start, count, names, "canceled" if outcome == "canceled" else None)
        records: list[t.Record] = []
        if removed and outcome == "canceled":
            records.append(t.InboxDiscard(tuple(removed)))
        else:
            records += [t.InboxDequeue(name, target, self._turn) for name in removed]
        behind = start + len(names) == len(items)
        for place, message in enumerate(inserted, start):
            at = None if behind else place
            records.append(
                t.InboxEnqueue(names[place - start], target, False, message.get("content"), _source(message), at)
            )
        return tuple(records), event

    def _end_of_seed(self, _: Data) -> Parts:
        """A new agent goes on over a log that it was given."""
        return (t.SessionResume(),), e.PluginEvent("session/end-seed")


def _whole(data: Data, name: str) -> int:
    value = data.get(name)
    if type(value) is not int:
        raise FieldError(f"{name!r} is a whole number (got {shorten(value, 80)})")
    return value


def _text(data: Data, name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise FieldError(f"{name!r} is text (got {shorten(value, 80)})")
    return value


def _source(message: Data) -> Source | None:
    source = message.get("source")
    if source is None:
        return None
    if not isinstance(source, dict) or not isinstance(source.get("kind"), str):
        raise FieldError(f"'source' is an object with a 'kind' (got {shorten(source, 80)})")
    return Source(source["kind"], {key: item for key, item in source.items() if key != "kind"})


_FORMS: Mapping[bytes, Callable[[HarnessReader, Data], Parts]] = {
    b"turn/start": HarnessReader._turn_start,
    b"turn/end": HarnessReader._turn_end,
    b"step/start": HarnessReader._step_start,
    b"step/end": HarnessReader._step_end,
    b"user/message": HarnessReader._user_message,
    b"steering/message": HarnessReader._steering_message,
    b"assistant/message": HarnessReader._assistant_message,
    b"tool/call": HarnessReader._tool_call,
    b"tool/result": HarnessReader._tool_result,
    b"agent/inbox/spliced": HarnessReader._spliced,
    b"session/end-seed": HarnessReader._end_of_seed,
}
"""What a rule speaks of, by type."""
