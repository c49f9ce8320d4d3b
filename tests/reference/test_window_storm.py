"""Storms: random operations from everywhere at once, and what must hold whatever happens."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import Any

import pytest
from window_plays import DEFAULT_GATES, Play, message

EVENTS = [
    "agent/inbox/enqueue",
    "agent/inbox/dequeue",
    "agent/inbox/discard",
    "agent/status",
    "agent/cancel-requested",
    "agent/settled",
    "agent/error",
    "agent/disposed",
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "steering/message",
    "assistant/message",
    "tool/call",
    "tool/result",
    "request",
    "gate/open",
    "gate/aborted",
    "gate:model",
    "gate:tool",
    "gate:prompt-submit",
]
OUTCOMES: dict[str, list[dict[str, Any]]] = {
    "prompt-submit": [{"kind": "allow"}] * 4 + [{"kind": "block"}, {"kind": "throw"}],
    "model": [{"kind": "text"}] * 3 + [{"kind": "error"}, {"kind": "max-tokens"}, {"kind": "partial", "text": "t"}],
    "tool": [{"kind": "result"}, {"kind": "error"}, {"kind": "result", "concludes": True}],
    "request-error": [{"kind": "retry"}, {"kind": "give-up"}, {"kind": "throw"}],
    "turn-stopping": [{"kind": "continue"}] * 3 + [{"kind": "throw"}],
    "step": [{"kind": "continue"}] * 4 + [{"kind": "throw"}],
    "flush": [{"kind": "ok"}] * 3 + [{"kind": "fail"}],
}


class Storm:
    """Make a random schedule that depends on the seed alone, and collect everything it leads to."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        gates = [kind for kind in ("step", "flush") if self.random.random() < 0.4]
        park = {kind: "park" for kind in (*DEFAULT_GATES, *gates) if self.random.random() < 0.3}
        self.play = Play(*gates, on_abort=park)
        self.events: list[dict[str, Any]] = []

    def fresh(self, *, plugin: bool = False) -> dict[str, Any]:
        self.count += 1
        return message(f"{'i' if plugin else 'm'}{self.count}")

    def operation(self, *, depth: int = 0) -> dict[str, Any]:
        choice = self.random.choices(
            ("followup", "steer", "inject", "quiet", "cancel", "release", "arm", "reference", "dispose"),
            (4, 3, 3, 1, 2, 4, 4 if depth < 2 else 0, 1, 0.15),
        )[0]
        if choice == "quiet":
            params = {"message": self.fresh(), "target": "next-turn", "wakeup": False}
            return {"method": "send", "params": params}
        if choice in {"followup", "steer", "inject"}:
            return {"method": choice, "params": {"message": self.fresh(plugin=choice == "inject")}}
        if choice == "reference":
            return {"method": choice, "params": {"message": self.fresh(), "snapshot": self.fresh(plugin=True)}}
        if choice == "cancel":
            return {"method": choice, "params": {"cause": "user", "keepInbox": self.random.random() < 0.5}}
        if choice == "release":
            kind = self.random.choice([*OUTCOMES])
            return {"method": choice, "params": {"kind": kind, "outcome": self.outcome(kind)}}
        if choice == "arm":
            return {"method": choice, "params": self.arm(depth + 1)}
        return {"method": "dispose", "params": {}}

    def arm(self, depth: int) -> dict[str, Any]:
        ops = [self.operation(depth=depth) for _ in range(self.random.randint(1, 2))]
        defer = self.random.choice((0, 0, 0, 1, 4))
        return {"on": self.random.choice(EVENTS), "nth": self.random.choice((1, 1, 2)), "defer": defer, "ops": ops}

    def outcome(self, kind: str) -> dict[str, Any]:
        outcome = dict(self.random.choice(OUTCOMES[kind]))
        if kind == "model" and self.random.random() < 0.5:
            names = self.random.choices(("par", "exc", "nope"), (4, 2, 1), k=self.random.randint(1, 3))
            self.count += 1
            outcome = {
                "kind": "tools",
                "calls": [{"id": f"t{self.count}.{n}", "name": name} for n, name in enumerate(names)],
            }
        if kind in {"prompt-submit", "tool"} and self.random.random() < 0.3:
            outcome["additionalContexts"] = [self.fresh(plugin=True)]
        return outcome

    def perform(self, method: str, params: dict[str, Any]) -> None:
        self.play.request(method, params)
        self.events += self.play.seen["events"]

    def step(self) -> None:
        open_gates = self.play.seen["gates"]
        if open_gates and self.random.random() < 0.55:
            gate = self.random.choice(open_gates)
            self.perform("release", {"gate": gate["id"], "outcome": self.outcome(gate["kind"])})
        elif self.random.random() < 0.2:
            self.perform("batch", {"ops": [self.operation() for _ in range(self.random.randint(2, 4))]})
        else:
            operation = self.operation()
            if operation["method"] != "release":
                self.perform(operation["method"], operation["params"])

    def calm(self) -> None:
        """Let the agent come to rest: release whatever waits until nothing does."""
        while self.play.seen["gates"]:
            gate = self.play.seen["gates"][0]
            outcome = OUTCOMES[gate["kind"]][0]
            self.perform("release", {"gate": gate["id"], "outcome": outcome})


def storm(seed: int) -> Storm:
    """Run the whole storm of a seed."""
    weather = Storm(seed)
    for _ in range(weather.random.randint(5, 40)):
        weather.step()
    weather.calm()
    return weather


finished = cache(storm)


@pytest.mark.parametrize("seed", range(150))
def test_every_fifo_entry_leaves_once_or_waits_visibly(seed: int) -> None:
    """
    W-FIFO-2: entries are dequeued, discarded or pending, whoever sent them from wherever.
    """
    weather = finished(seed)
    entered: Counter[tuple[str, str]] = Counter()
    for event in weather.events:
        if event["type"] == "agent/inbox/enqueue":
            entered[event["id"], event["placement"]] += 1
        elif event["type"] == "agent/inbox/dequeue":
            entered[event["id"], event["placement"]] -= 1
        elif event["type"] == "agent/inbox/discard":
            entered.subtract(_placed(entered, event["ids"]))
        assert min(entered.values(), default=0) >= 0

    inbox = weather.play.seen["inbox"]
    kinds = inbox.get("nextStepKinds", [])
    waiting = Counter((name, "queued") for name in inbox["nextTurn"])
    steering = [name for name, kind in zip(inbox["nextStep"], kinds, strict=True) if kind == "steering"]
    assert +entered == waiting + Counter((name, "steering") for name in steering)


def _placed(entered: Counter[tuple[str, str]], ids: list[str]) -> list[tuple[str, str]]:
    """Answer the entries that a discard takes: every id of a storm is used once."""
    return [next(key for key, count in entered.items() if key[0] == name and count) for name in ids]


@pytest.mark.parametrize("seed", range(150))
def test_turns_and_steps_are_balanced_and_numbered(seed: int) -> None:
    """
    W-TURN-1, W-TURN-2, W-STEP-1: turns rise by one, steps count from one, nothing of them lies outside.
    """
    turns, turn, step, last_step = 0, None, None, 0
    for event in finished(seed).events:
        kind = event["type"]
        if kind == "turn/start":
            assert turn is None
            assert event["turn"] == turns + 1
            turn, turns, last_step = event["turn"], turns + 1, 0
        elif kind == "turn/end":
            assert (turn, step) == (event["turn"], None)
            turn = None
        elif kind == "step/start":
            assert (event["turn"], event["step"], step) == (turn, last_step + 1, None)
            step = last_step = event["step"]
        elif kind == "step/end":
            assert (event["turn"], event["step"]) == (turn, step)
            step = None
        elif kind in {"assistant/message", "tool/call", "tool/result"}:
            assert step is not None
        elif kind == "steering/message":
            assert event["turn"] == turn
    assert turn is None


@pytest.mark.parametrize("seed", range(150))
def test_every_batch_is_closed_in_call_order_with_nothing_between(seed: int) -> None:
    """
    W-STEP-3: between an answer with calls and their last result there are only those calls and results.
    """
    owed: list[str] = []
    started: list[str] = []
    for event in finished(seed).events:
        if event["kind"] != "session":
            continue
        if event["type"] == "tool/call":
            started.append(event["callId"])
            assert event["callId"] in owed
        elif event["type"] == "tool/result":
            assert event["callId"] == owed.pop(0)
            assert event["callId"] in started
        else:
            assert owed == []
            owed, started = list(event.get("toolCalls", [])), []
    assert owed == []


@pytest.mark.parametrize("seed", range(150))
def test_every_request_shows_the_log_as_it_is(seed: int) -> None:
    """
    W-REQ-1: a request shows exactly the messages of the log, in log order.
    """
    log: list[str] = []
    for event in finished(seed).events:
        kind = event["type"]
        if kind in {"user/message", "steering/message"}:
            log.append(event["id"])
        elif kind == "assistant/message":
            log.append(",".join(event["toolCalls"]))
        elif kind == "tool/result":
            log.append(event["callId"])
        elif kind == "request":
            assert log == [
                ",".join(entry["toolCalls"]) if entry["role"] == "assistant" else entry.get("id") or entry["toolResult"]
                for entry in event["messages"]
            ]


@pytest.mark.parametrize("seed", range(150))
def test_when_nothing_is_gated_any_more_the_agent_rests(seed: int) -> None:
    """
    W-WAKE-4, W-STAT-1: with every gate released the agent is idle, and status events have alternated.
    """
    weather = finished(seed)
    statuses = [event["status"] for event in weather.events if event["type"] == "agent/status"]
    assert statuses == ["running", "idle"] * (len(statuses) // 2)
    assert weather.play.seen["status"] == "idle"
    assert weather.play.seen["whenIdle"] is True
    assert not weather.play.seen["acceptsNextStep"]


@pytest.mark.parametrize("seed", range(150))
def test_only_what_the_protocol_or_a_disposal_forbids_is_refused(seed: int) -> None:
    """
    W-DIS-2: no operation fails for a reason of its own, and nothing goes unhandled.
    """
    for event in finished(seed).events:
        assert event["type"] != "unhandled-rejection"
        if event["type"] == "op-threw":
            assert "must be the kind of an open gate" in event["error"] or "must not be disposed" in event["error"]


def test_the_same_storm_ends_the_same_way() -> None:
    assert [storm(seed).events for seed in range(20)] == [storm(seed).events for seed in range(20)]
