"""
A small language for schedules against the `window` reference agent.

`Play` keeps one agent behind the driver. Calling it with a line of operations, separated by semicolons, answers what
happened, one short string an event:

    >>> play = Play()
    >>> play("followup a")
    ['enqueue a queued', 'status running', 'open g1 prompt-submit', 'dequeue a queued']

Operations: `followup a`, `steer a`, `inject a`, `quiet a` (next turn, not waking), `cancel`, `cancel parent`, `keep`
(cancel that keeps the inbox), `dispose`, `inspect`, `resume MODE`, and outcomes for the oldest gate of their kind:
`allow`, `block`, `text`, `max`, `error`, `partial`, `calls par:1 exc:2`, `result`, `fail`, `concluded`, `retry`,
`give-up`, `continue`, `step`, `saved`, `unsaved`; `throw KIND` raises at any gate. Operations joined by ` & ` are one
batch. `on EVENT do OP & OP` leaves an arm behind.
"""

from __future__ import annotations

from typing import Any

from turnproof_reference.driver import Driver

OUTCOMES: dict[str, tuple[str, dict[str, Any]]] = {
    "allow": ("prompt-submit", {"kind": "allow"}),
    "block": ("prompt-submit", {"kind": "block"}),
    "text": ("model", {"kind": "text"}),
    "max": ("model", {"kind": "max-tokens"}),
    "error": ("model", {"kind": "error"}),
    "partial": ("model", {"kind": "partial", "text": "so far"}),
    "result": ("tool", {"kind": "result"}),
    "fail": ("tool", {"kind": "error"}),
    "concluded": ("tool", {"kind": "result", "concludes": True}),
    "retry": ("request-error", {"kind": "retry"}),
    "give-up": ("request-error", {"kind": "give-up"}),
    "continue": ("turn-stopping", {"kind": "continue"}),
    "step": ("step", {"kind": "continue"}),
    "saved": ("flush", {"kind": "ok"}),
    "unsaved": ("flush", {"kind": "fail"}),
}
DEFAULT_GATES = ("prompt-submit", "model", "tool", "turn-stopping", "request-error")


def message(name: str) -> dict[str, Any]:
    """Answer a message from a person, or from a plugin if its name begins with `i` or `c`."""
    kind = "plugin" if name[0] in "ic" else "user"
    return {"id": name, "text": name, "source": {"kind": kind}}


class Play:
    """Drive one agent through lines of operations."""

    def __init__(self, *gates: str, fault: str | None = None, on_abort: dict[str, str] | None = None) -> None:
        self.driver = Driver("window", fault=fault)
        self.seen: dict[str, Any] = {}
        self.request("reset", {"gates": [*DEFAULT_GATES, *gates], "onAbort": on_abort or {}})

    def __call__(self, line: str) -> list[str]:
        """Perform the operations, each settled before the next; answer all events."""
        return [shown for part in line.split(";") for shown in self.request(*_operation(part.strip()))]

    def request(self, method: str, params: dict[str, Any]) -> list[str]:
        """Perform one request; answer its events."""
        self.driver.perform(method, params)
        self.seen = self.driver.observe()
        return [show(event) for event in self.seen["events"]]

    @property
    def inbox(self) -> tuple[list[str], list[str]]:
        """Answer the ids of queued and of staged messages."""
        return self.seen["inbox"]["nextTurn"], self.seen["inbox"]["nextStep"]

    @property
    def gates(self) -> list[str]:
        """Answer the open gates, with `!` behind those that ignore an abort."""
        return [f"{gate['kind']}{'!' if gate.get('aborted') else ''}" for gate in self.seen["gates"]]


def started(*gates: str, **options: dict[str, str]) -> Play:
    """Answer a play whose first prompt waits for the model."""
    play = Play(*gates, **options)
    play("followup a; allow")
    return play


def _operation(text: str) -> tuple[str, dict[str, Any]]:
    if text.startswith("on "):
        event, _, ops = text.removeprefix("on ").partition(" do ")
        return "arm", {"on": event, "ops": [_as_dict(op) for op in ops.split("&")]}
    if "&" in text:
        return "batch", {"ops": [_as_dict(op) for op in text.split("&")]}
    word, *rest = text.split()
    if word in {"followup", "steer", "inject"}:
        return word, {"message": message(rest[0])}
    if word == "quiet":
        return "send", {"message": message(rest[0]), "target": "next-turn", "wakeup": False}
    if word in {"cancel", "keep"}:
        return "cancel", {"cause": rest[0] if rest else "user", "keepInbox": word == "keep"}
    if word in {"dispose", "inspect", "goal"}:
        return word, {}
    if word == "resume":
        return word, {"mode": rest[0]}
    return "release", _release(word, rest)


def _release(word: str, rest: list[str]) -> dict[str, Any]:
    if word == "throw":
        return {"kind": rest[0], "outcome": {"kind": "throw"}}
    if word == "calls":
        calls = [{"id": call, "name": call.partition(":")[0]} for call in rest]
        return {"kind": "model", "outcome": {"kind": "tools", "calls": calls}}
    kind, outcome = OUTCOMES[word]
    if rest:
        outcome = {**outcome, "additionalContexts": [message(name) for name in rest]}
    return {"kind": kind, "outcome": outcome}


def _as_dict(text: str) -> dict[str, Any]:
    method, params = _operation(text.strip())
    return {"method": method, "params": params}


def show(event: dict[str, Any]) -> str:
    """Answer an event in a few words."""
    kind = event["type"].removeprefix("agent/").removeprefix("inbox/")
    if kind == "request":
        return f"request {' '.join(_entry(entry) for entry in event['messages'])}"
    if kind in {"gate/open", "gate/aborted"}:
        return f"{kind.removeprefix('gate/')} {event['gate']} {event['gateKind']}"
    if kind == "assistant/message":
        words = [kind, *event["toolCalls"], *(["interrupted"] if event.get("interrupted") else [])]
    elif kind == "tool/result":
        words = [kind, event["callId"], *([event["code"]] if "code" in event else ["error"] * event["isError"])]
    else:
        left_out = {"kind", "type", "source", "step" if kind == "error" else ""}
        words = [kind, *(_word(value) for field, value in event.items() if field not in left_out)]
    return " ".join(words)


def _word(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def _entry(entry: dict[str, Any]) -> str:
    if entry["role"] == "assistant":
        return f"<{','.join(entry['toolCalls'])}>"
    return str(entry.get("id") or entry.get("toolResult"))
