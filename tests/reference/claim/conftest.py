"""
A small language for schedules, so that a test is mostly scenario.

    stage.play("followup a; inject i; enter; tools c1=par c2=exc; result; cancel keep")

Each word is one operation of the driver protocol or one outcome of the oldest gate that takes it; `[x; y]` performs
its operations in one stack. What happened is told in words too: `turn 1`, `user a`, `call c1`, `end 1 completed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from turnproof_reference.driver import Driver

Word = Callable[..., tuple[str, dict[str, Any]]]
MODEL = ("model", "tool")
ALL = ("pre-step", "model", "tool", "turn-stopping", "request-error")


def message(message_id: str) -> dict[str, Any]:
    """`a` is a person's, `a:plugin` somebody else's."""
    message_id, _, kind = message_id.partition(":")
    return {"id": message_id, "text": f"text of {message_id}", "source": {"kind": kind or "user"}}


def delivery(method: str) -> Word:
    return lambda message_id: (method, {"message": message(message_id)})


def outcome(kind: str, name: str, **fields: Any) -> Word:
    return lambda: ("release", {"kind": kind, "outcome": {"kind": name, **fields}})


def park(message_id: str) -> tuple[str, dict[str, Any]]:
    return "send", {"message": message(message_id), "target": "next-turn", "wakeup": False}


def cancel(*words: str) -> tuple[str, dict[str, Any]]:
    return "cancel", {"cause": "parent" if "parent" in words else "user", "keepInbox": "keep" in words}


def enter(*entered: str) -> tuple[str, dict[str, Any]]:
    batch = [] if entered == ("nothing",) else [message(each[1:]) if each[0] == "+" else each for each in entered]
    return "release", {"kind": "pre-step", "outcome": {"kind": "enter", **({"messages": batch} if entered else {})}}


def calls(texts: tuple[str, ...]) -> list[dict[str, str]]:
    return [dict(zip(("id", "name"), text.split("="), strict=True)) for text in texts]


def result(*words: str, kind: str = "result") -> tuple[str, dict[str, Any]]:
    contexts = [message(word) for word in words if word != "concludes"]
    fields = {"kind": kind, "additionalContexts": contexts, "concludes": "concludes" in words}
    return "release", {"kind": "tool", "outcome": fields}


WORDS: dict[str, Word] = {
    **{method: delivery(method) for method in ("followup", "steer", "inject")},
    "park": park,
    "cancel": cancel,
    "remove": lambda message_id: ("remove", {"id": message_id}),
    "replace": lambda old, new: ("replace", {"id": old, "message": message(new)}),
    "prepend": lambda target, new: ("prepend", {"target": target, "message": message(new)}),
    "reference": lambda prompt, shot: ("reference", {"message": message(prompt), "snapshot": message(shot)}),
    "dispose": lambda: ("dispose", {}),
    "resume": lambda mode="crash": ("resume", {"mode": mode}),
    "inspect": lambda: ("inspect", {}),
    "goal": lambda: ("goal", {}),
    "enter": enter,
    "reject": outcome("pre-step", "reject"),
    "text": lambda text="reply": ("release", {"kind": "model", "outcome": {"kind": "text", "text": text}}),
    "tools": lambda *texts: ("release", {"kind": "model", "outcome": {"kind": "tools", "calls": calls(texts)}}),
    "ceiling": lambda *texts: ("release", {"kind": "model", "outcome": {"kind": "max-tokens", "calls": calls(texts)}}),
    "partial": lambda text: ("release", {"kind": "model", "outcome": {"kind": "partial", "text": text}}),
    "fail": outcome("model", "error"),
    "result": result,
    "toolfails": lambda *words: result(*words, kind="error"),
    "retry": outcome("request-error", "retry"),
    "giveup": outcome("request-error", "give-up"),
    "stop": outcome("turn-stopping", "continue"),
    "throw": lambda kind: ("release", {"kind": kind, "outcome": {"kind": "throw"}}),
    "saved": outcome("flush", "ok"),
    "unsaved": outcome("flush", "fail"),
}


def operations(script: str) -> list[tuple[str, dict[str, Any]]]:
    """Read a script; the operations between brackets become one batch."""
    found: list[tuple[str, dict[str, Any]]] = []
    for stacked, single in re.findall(r"\[(.*?)\]|([^;\[\]]+)", script):
        if stacked:
            found.append(("batch", {"ops": stack(stacked)}))
        elif single.strip():
            name, *arguments = single.split()
            found.append(WORDS[name](*arguments))
    return found


def stack(script: str) -> list[dict[str, Any]]:
    return [{"method": method, "params": params} for method, params in operations(script)]


def _splice(event: Mapping[str, Any]) -> str:
    end = event["start"] + event["removedCount"]
    mark = "!" if event.get("outcome") else ""
    return f"{event['target']}[{event['start']}:{end}]=({' '.join(event['inserted'])}){mark}"


def _shown(item: Mapping[str, Any]) -> str:
    return item.get("id") or item.get("toolResult") or "answer"


TELL: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "agent/inbox/spliced": _splice,
    "agent/inbox/inserted": lambda event: f"inserted {event['id']}",
    "agent/inbox/claimed": lambda event: f"claimed {event['id']}",
    "agent/inbox/discarded": lambda event: f"discarded {event['id']}",
    "agent/status": lambda event: event["status"],
    "agent/error": lambda event: f"error {event['turn']}.{event['step']}",
    "agent/disposed": lambda _event: "disposed",
    "turn/start": lambda event: f"turn {event['turn']}",
    "turn/end": lambda event: " by ".join(
        [f"end {event['turn']} {event['reason']}", *filter(None, [event.get("cause")])]
    ),
    "step/start": lambda event: f"step {event['turn']}.{event['step']}",
    "step/end": lambda event: f"close {event['turn']}.{event['step']}",
    "user/message": lambda event: f"user {event['id']}",
    "assistant/message": lambda event: " ".join(
        ["interrupted" if event.get("interrupted") else "answer", *event["toolCalls"]]
    ),
    "tool/call": lambda event: f"call {event['callId']}",
    "tool/result": lambda event: (
        f"result {event['callId']} {event.get('code') or ('error' if event['isError'] else 'ok')}"
    ),
    "request": lambda event: " ".join(["request", *map(_shown, event["messages"])]),
    "gate/open": lambda event: f"open {event['gateKind']}",
    "gate/aborted": lambda event: f"aborted {event['gateKind']}",
    "op-threw": lambda event: f"refused {event['method']}",
    "dispose/resolved": lambda _event: "gone",
}


class Stage:
    """Let one agent play; `seen` is what the last operation brought, `told` everything so far in words."""

    def __init__(self, gates: tuple[str, ...] = MODEL, fault: str | None = None, **on_abort: str) -> None:
        self.driver = Driver("claim", fault=fault)
        self.told: list[str] = []
        self.seen: dict[str, Any] = {}
        kinds = {kind.replace("_", "-"): reaction for kind, reaction in on_abort.items()}
        self.perform("reset", {"gates": list(gates), "onAbort": kinds})

    def perform(self, method: str, params: dict[str, Any]) -> list[str]:
        self.driver.perform(method, params)
        self.seen = self.driver.observe()
        words = [TELL[event["type"]](event) for event in self.seen["events"]]
        self.told += words
        return words

    def play(self, script: str) -> list[str]:
        """Perform all operations; answer what the last one brought."""
        words: list[str] = []
        for method, params in operations(script):
            words = self.perform(method, params)
        return words

    def on(self, event: str, script: str, nth: int = 1, **where: Any) -> None:
        """Perform a script inside an event, once."""
        self.perform("arm", {"on": event, "where": where, "nth": nth, "ops": stack(script)})

    @property
    def waiting(self) -> tuple[list[str], list[str]]:
        """The next-turn and the next-step list."""
        return self.seen["inbox"]["nextTurn"], self.seen["inbox"]["nextStep"]

    @property
    def gates(self) -> list[str]:
        return [gate["kind"] + ("!" if gate.get("aborted") else "") for gate in self.seen["gates"]]

    def tells(self, *starts: str) -> list[str]:
        """All words so far that begin with one of these."""
        return [word for word in self.told if word.startswith(starts)]


@pytest.fixture
def stage() -> Iterator[Callable[..., Stage]]:
    """Answer the maker of stages; they are cleared when the test is over."""
    made: list[Stage] = []

    def make(*arguments: Any, **options: Any) -> Stage:
        made.append(Stage(*arguments, **options))
        return made[-1]

    yield make
    for each in made:
        each.driver.close()


@pytest.fixture
def all_gates() -> tuple[str, ...]:
    return ALL
