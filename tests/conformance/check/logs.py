"""
Write session logs in a few words, and check them.

``log("claim", "+a turn a step user:a say turn.")`` is a session log of contract ``claim`` with sequence numbers. A word
is one line: ``turn`` and ``turn.`` open and close the next turn (``turn.error`` for a reason), ``step`` and ``step.`` a
step, ``+a`` puts ``a`` into next-turn and ``a`` claims its head (``>a`` and ``>`` are those of next-step),
``user:a`` and ``steer:a`` commit, ``say`` is an answer, ``say:c1,c2`` one with calls, ``call:c1`` and ``result:c1``
(``result:c1!`` an error) are of tools, ``chunk`` and ``plugin`` are lines that no rule speaks of.
"""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

from attrs import define, field

from turnproof.check.checking import check_lines
from turnproof.check.lines import Lines
from turnproof.check.results import FileResult
from turnproof_model.trace import TraceContract

Line = dict[str, Any]


@define
class Writer:
    """Know which turn and step are next."""

    contract: str
    turn: int = 0
    step: int = 0
    pending: dict[str, int] = field(factory=lambda: {"next-turn": 0, "next-step": 0})

    def line(self, word: str) -> Line:
        """Write one line."""
        kind, _, rest = word.partition(":")
        place = {"turn": self.turn, "step": self.step}
        match kind:
            case "turn":
                self.turn, self.step = self.turn + 1, 0
                trigger = {"trigger": {"kind": "message"}} if self.contract == "window" else {}
                return _line("turn/start", turn=self.turn, **trigger)
            case "step":
                self.step += 1
                return _line("step/start", turn=self.turn, step=self.step)
            case "step.":
                return _line("step/end", **place)
            case "user":
                return _line("user/message", **message(rest))
            case "steer":
                return _line("steering/message", turn=self.turn, message=message(rest))
            case "say":
                calls = [{"type": "tool-call", "id": call, "name": "par"} for call in rest.split(",") if call]
                return _line("assistant/message", **place, message={"role": "assistant", "content": calls})
            case "call":
                return _line("tool/call", **place, callId=rest)
            case "result":
                block = {"toolCallId": rest.rstrip("!"), "isError": rest.endswith("!"), "content": []}
                return _line("tool/result", **place, message={"content": [{"type": "tool-result", **block}]})
            case "chunk":
                return _line("assistant/chunk", **place, chunk={"type": "text-delta", "text": "é"})
            case "plugin":
                return _line("todo/write", todos=[])
        if kind.startswith("turn."):
            return _line("turn/end", turn=self.turn, reason={"kind": kind.removeprefix("turn.") or "completed"})
        return self._splice(word)

    def _splice(self, word: str) -> Line:
        target = "next-step" if word.startswith(">") else "next-turn"
        name = word.removeprefix(">")
        if name.startswith("+"):
            start = self.pending[target]
            self.pending[target] += 1
            return _line("agent/inbox/spliced", target=target, start=start, inserted=[message(name[1:])])
        count = 1 if target == "next-turn" else self.pending[target]
        self.pending[target] -= count
        return _line("agent/inbox/spliced", target=target, start=0, removedCount=count, inserted=[])


def message(name: str) -> Line:
    """Write a message whose text is its id."""
    return {"id": name, "role": "user", "content": [{"type": "text", "text": name}], "source": {"kind": "user"}}


def _line(kind: str, **data: Any) -> Line:
    return {"type": kind, "data": data}


def log(contract: str, words: str, /, *, numbered: bool = True, **header: Any) -> list[Line]:
    """Write a log; ``numbered`` gives each line its sequence number."""
    writer = Writer(contract)
    lines = [writer.line(word) for word in words.split()]
    if numbered:
        lines = [{"type": line["type"], "seq": seq, "data": line["data"]} for seq, line in enumerate(lines)]
    return [{"type": "session", "version": 0, "id": "s", **header}, *lines]


def text(lines: list[Line]) -> bytes:
    """Write lines as JSON Lines."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def checked(lines: list[Line] | bytes, contract: TraceContract | None = None) -> FileResult:
    """Check lines."""
    content = lines if isinstance(lines, bytes) else text(lines)
    return check_lines("log", Lines(BytesIO(content)), contract=contract)


def broken(result: FileResult) -> dict[str, int]:
    """Name the broken rules, each with the line at which it broke first."""
    found: dict[str, int] = {}
    for violation in result.violations:
        found.setdefault(violation.rule, violation.line)
    return found


def rule(result: FileResult, name: str) -> str:
    """Give the verdict on one rule."""
    return next(item.verdict for item in result.rules if item.id == name)


TURN = "+a turn a step user:a say step. turn. "
"""A turn of contract ``claim``: nine words."""

TOOLS = "+a turn a step user:a say:c1,c2 call:c1 result:c1 call:c2 result:c2 step. step say step. turn. "
"""One with a batch of tools."""

WINDOW_TURN = "turn user:a step say step. turn. "
"""A turn of contract ``window``."""
