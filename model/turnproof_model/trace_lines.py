"""
Read and write traces, version 1, as JSON Lines.

One line in, one record out: nothing is kept, so a trace of any length can be judged while it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from attrs import fields

from turnproof_model.trace import RECORDS, Header, Record, Requested, SessionResume, Shown
from turnproof_model.wire import CONVERTER, WireError, camel, from_wire, shorten

T = TypeVar("T")

_MESSAGE_FIELDS: Mapping[type[Record], str] = {Requested: "messages", SessionResume: "history"}
"""The field of a record that holds shown messages."""


class TraceError(ValueError):
    """Say that a line is not what the format asks for; ``line`` counts from 1, ``problem`` is all but the place."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


class TraceReader:
    """
    Read one trace: the ``header`` at once, the records while they are iterated over.

    Iterating gives ``(line, record)``, lines counted from 1; empty lines and records of unknown type are skipped.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        """
        Take the header off the lines.

        Raises:
            TraceError: the first line is not a header of version 1.
        """
        self._lines = _objects(lines)
        self.header = header_from_wire(*next(self._lines, (1, None)))

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        """
        Go through the records.

        Raises:
            TraceError: a line is no JSON object, or a record of a known type lacks a field or has one of a wrong form.
        """
        for line, value in self._lines:
            record = record_from_wire(line, value)
            if record is not None:
                yield line, record


def header_from_wire(line: int, value: object) -> Header:
    """
    Read the header of a trace.

    Args:
        line: where it stands, for messages only.
        value: the JSON value.

    Raises:
        TraceError: it is none of version 1, or a field has the wrong form.
    """
    if not is_header(value):
        raise TraceError(line, f'a trace begins with {{"trace": 1, "contract", "records"}} (got {shorten(value)})')
    return _structured(line, value, Header)


def is_header(value: object) -> bool:
    """Tell whether a JSON value opens a trace of version 1."""
    return isinstance(value, Mapping) and value.get("trace") == 1 and not isinstance(value["trace"], bool)


def _objects(lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except ValueError as error:
            raise TraceError(number, f"a line holds one JSON object ({error}; got {shorten(text)})") from error
        if not isinstance(value, dict):
            raise TraceError(number, f"a line holds one JSON object (got {shorten(value)})")
        yield number, value


def record_from_wire(line: int, value: Mapping[str, Any]) -> Record | None:
    """
    Read one record; None where its type is unknown.

    Args:
        line: where it stands, for messages only.
        value: the JSON object.

    Raises:
        TraceError: a field is missing or has the wrong form.
    """
    cls = RECORDS.get(str(value.get("type")))
    if cls is None:
        return None
    held = _MESSAGE_FIELDS.get(cls)
    if held is not None and value.get(held) is not None:
        value = {**value, held: _shown_list(line, value[held])}
    return _structured(line, value, cls)


def record_to_wire(record: Record) -> dict[str, Any]:
    """Write one record as a JSON object."""
    out = {"type": record.type, **_fields_to_wire(record)}
    held = _MESSAGE_FIELDS.get(type(record))
    if held is not None and held in out:
        out[held] = [shown_to_wire(tuple(shown)) for shown in out[held]]
    return out


def write_trace(header: Header, records: Iterable[Record]) -> Iterator[str]:
    """Write a trace line by line, without line ends."""
    yield json.dumps(_fields_to_wire(header), ensure_ascii=False)
    for record in records:
        yield json.dumps(record_to_wire(record), ensure_ascii=False)


def _fields_to_wire(value: Header | Record) -> dict[str, Any]:
    return {
        camel(a.name): CONVERTER.unstructure(getattr(value, a.name))
        for a in fields(type(value))
        if not (a.metadata.get("left_out") and getattr(value, a.name) == a.default)
    }


def _structured(line: int, value: Any, cls: type[T]) -> T:
    try:
        return from_wire(value, cls)
    except WireError as error:
        raise TraceError(line, str(error)) from error


def _shown_list(line: int, value: Any) -> list[Shown]:
    if not isinstance(value, list):
        raise TraceError(line, f"messages are a list (got {shorten(value)})")
    return [shown_from_wire(line, item) for item in value]


def shown_from_wire(line: int, value: Any) -> Shown:
    """
    Read one message of a request.

    Raises:
        TraceError: it is no object of the form user and id, assistant and calls, or tool and callId.
    """
    match value:
        case {"role": "user", "id": str(name)}:
            return ("user", name)
        case {"role": "tool", "callId": str(call)}:
            return ("tool", call)
        case {"role": "assistant"}:
            calls = value.get("calls") or []
            if isinstance(calls, list) and all(isinstance(call, str) for call in calls):
                return ("assistant", *calls)
    form = "a request shows {role: user, id}, {role: assistant, calls} or {role: tool, callId}"
    raise TraceError(line, f"{form} (got {shorten(value)})")


def shown_to_wire(shown: Shown) -> dict[str, Any]:
    """Write one message of a request."""
    role, *rest = shown
    if role == "assistant":
        return {"role": role, "calls": rest}
    return {"role": role, "id" if role == "user" else "callId": rest[0]}
