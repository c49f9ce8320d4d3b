"""
Cut a score into words, and read the small parts: outcomes, quoted text, calls, values of conditions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from turnproof_model import vocabulary as v
from turnproof_model.wire import OUTCOME_BY_KIND

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>(?:content=)?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))|(?P<box>\[[^\]]*\])|(?P<mark>[{};·])"""
    r"""|(?P<word>[^\s{};·\[\]'"]+))"""
)


class NotationError(ValueError):
    """Say which words are no command, and what would be; nothing has changed."""


def tokens(line: str) -> list[str]:
    """
    Cut a line into words, quoted texts, bracketed lists and marks.

    Raises:
        NotationError: a quotation or a bracket isn't closed.
    """
    found: list[str] = []
    at = 0
    while line[at:].strip():
        match = _TOKEN.match(line, at)
        if match is None:
            raise NotationError(f"quotes and brackets must be closed (from {line[at:].strip()!r} on they aren't)")
        found.append(match[match.lastgroup or 0])
        at = match.end()
    return found


def made(kind: str, brought: Mapping[str, Any]) -> v.Outcome:
    """Make an outcome of a kind with what it brings along."""
    try:
        return OUTCOME_BY_KIND[kind](**brought)
    except TypeError:
        names = ", ".join(name.replace("_", " ") for name in brought) or "nothing"
        raise NotationError(f"outcome {kind!r} doesn't go with what follows it (got {names}); see 'help'") from None


def quoted(word: str) -> tuple[str, str]:
    """Read quoted text, and the name of the field it is for."""
    name, value = ("content", word.removeprefix("content=")) if word.startswith("content=") else ("text", word)
    if value[:1] not in ("'", '"'):
        raise NotationError(f"text stands in quotes (got {word!r})")
    return name, str(ast.literal_eval(value))


def call(word: str) -> v.Call:
    """Read a call as CALL:TOOL."""
    call_id, colon, name = word.partition(":")
    if not (call_id and colon and name):
        raise NotationError(f"an outcome brings CALL:TOOL, +CONTEXT, [BATCH], 'text' or concludes (got {word!r})")
    return v.Call(call_id, name)


def plain(value: str) -> object:
    """Read the value of a condition."""
    if value in ("True", "False"):
        return value == "True"
    return int(value) if re.fullmatch("-?[0-9]+", value) else value
