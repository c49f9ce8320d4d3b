"""
Tell what a file is by how it begins.

==================  ===========================================================================
trace               ``{"trace": 1, "contract", "records"}`` in the first line
driver-session      ``{"request", "observation"}`` in each line
capsule             one JSON document with ``"schema": "turnproof/capsule/1"``
deepseek-harness    ``{"type": "session", "id", …}`` in the first line
==================  ===========================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from turnproof.capsule import SCHEMA
from turnproof.check import harness
from turnproof.check.lines import LONGEST_LINE, Lines, UnreadableError
from turnproof.check.results import FormatName
from turnproof_model import trace_lines
from turnproof_model.wire import shorten

_BOM = b"\xef\xbb\xbf"


class Opening(NamedTuple):
    """Hold what a file was taken for: its format, and the JSON object that it begins with."""

    format: FormatName
    head: dict[str, Any]


def opening(lines: Lines, forced: FormatName | None = None) -> Opening:
    """
    Read the beginning of a file and tell its format.

    Args:
        lines: at their beginning; afterwards behind what ``head`` holds.
        forced: the format to take it for, whatever it looks like.

    Raises:
        UnreadableError: it is empty, not JSON, of no known format, or of a version that isn't known.
    """
    first = _first(lines)
    head = _object(first, lines)
    found = _format(head)
    if found is None and forced is None:
        raise UnreadableError(f"a log begins as one of the known formats does (got {shorten(head, 80)})", lines.number)
    kind = forced or found
    assert kind is not None
    if problem := _version(kind, head):
        raise UnreadableError(problem, lines.number)
    return Opening(kind, head)


def _first(lines: Lines) -> bytes:
    for line in lines:
        content = line.removeprefix(_BOM) if lines.number == 1 else line
        if content.strip():
            return content
    raise UnreadableError("a log has at least one line (got an empty file)")


def _object(first: bytes, lines: Lines) -> dict[str, Any]:
    """Read the first line, or, where it only begins a document, the whole file."""
    if first.strip() != b"{":
        return harness.parse(first, lines.number)
    at = lines.number
    parts, size = [first], len(first)
    for line in lines:
        parts.append(line)
        size += len(line)
        if size > LONGEST_LINE:
            raise UnreadableError(f"a document holds at most {LONGEST_LINE} bytes (got more)", lines.number)
    try:
        value = json.loads(b"".join(parts))
    except json.JSONDecodeError as error:
        raise UnreadableError(f"a document is JSON ({error.msg})", at + error.lineno - 1) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UnreadableError(f"a document is JSON in UTF-8 ({error})", at) from error
    return dict(value)


def _format(head: Mapping[str, Any]) -> FormatName | None:
    if "trace" in head and "type" not in head:
        return "trace"
    if isinstance(head.get("request"), dict) and "observation" in head:
        return "driver-session"
    if str(head.get("schema", "")).startswith(SCHEMA.rpartition("/")[0]):
        return "capsule"
    return "deepseek-harness" if harness.is_header(head) else None


def _version(kind: FormatName, head: Mapping[str, Any]) -> str:
    """Say what is wrong with the version that a file names; empty if nothing is."""
    if kind == "trace" and not trace_lines.is_header(head):
        return f"a trace is of version 1 (got {shorten(head.get('trace'), 40)})"
    if kind == "capsule" and head.get("schema") != SCHEMA:
        return f"a capsule is of {SCHEMA!r} (got {shorten(head.get('schema'), 40)})"
    if kind == "deepseek-harness" and harness.is_header(head) and head.get("version") not in harness.VERSIONS:
        return f"a session log is of version 0 or 1 (got {shorten(head.get('version'), 40)})"
    return ""


def json_lines(lines: Lines, head: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """
    Give the objects of a file of JSON Lines, the one that was read already first.

    Raises:
        UnreadableError: a line holds no JSON object.
    """
    yield lines.number, dict(head)
    for line in lines:
        if not line.isspace():
            yield lines.number, harness.parse(line, lines.number)
