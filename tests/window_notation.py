"""
Write scenarios of contract ``window`` as one line each, and show what happened as one line of short tokens.

Operations are parted by ``;``: ``followup a; allow; text; stop``. ``[a; b]`` is one synchronous stack;
``on EVENT field=value #nth +defer { a; b }`` arms operations inside an event. An id stands for a message of that text.
``+h`` adds the context ``h``. A tool gate is named by its call: ``done x``, or ``done`` for the oldest.

Tokens: ``+a queued`` ``-a steering`` ``drop a b`` are enqueue, dequeue, discard; ``a`` in ``user a``, ``steering a``
is committed; ``request a i R:x A`` shows the history, ``A`` what the assistant said and ``R:x`` a tool's result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.machine import Machine
from turnproof_model.observation import Observation
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser, Setting
from turnproof_model.window import BOOK, WindowState

PLUGIN = v.Source("plugin")
BARE = Setting({"reference": True})
REENTRANT = Setting({"reference": True, "sessionReentry": True})
WORDS: Mapping[v.GateKind, str] = {
    "prompt-submit": "allow block",
    "step": "hook",
    "model": "text tools max-tokens partial error",
    "tool": "done fail",
    "request-error": "retry give-up",
    "turn-stopping": "stop",
    "flush": "saved unsaved",
}
GATE_OF: Mapping[str, v.GateKind] = {word: kind for kind, words in WORDS.items() for word in words.split()}


def person(message_id: str) -> v.Message:
    """Make the prompt or steering of that id."""
    return v.Message(message_id, message_id)


def plugin(message_id: str) -> v.Message:
    """Make the supplementary input of that id."""
    return v.Message(message_id, message_id, PLUGIN)


@define
class Lives(Chooser):
    """Live by the named values of some freedoms, and by the observed ones of the others."""

    by: Mapping[str, str] = field(factory=dict)
    picks: list[int] = field(factory=list)

    def policy(self, policy: Policy) -> str:
        """Look the value up."""
        return self.by.get(policy.name, policy.default)

    def once(self, what: str, options: int) -> int:
        """Take the next pick that the test names, else the first way."""
        return self.picks.pop(0) if self.picks else 0


@define
class Play:
    """Hold a machine with all that it has answered."""

    machine: Machine[WindowState]
    answers: list[Observation] = field(factory=list)
    cited: set[str] = field(factory=set)

    def __call__(self, scenario: str) -> str:
        """Play on, and show the events of the last operation."""
        for part in split(scenario):
            self.answers.append(self.machine.ask(_command(part, self.machine)))
            self.cited.update(self.machine.cited, *(demand.rules for demand in self.machine.demands))
        return self.last

    @property
    def now(self) -> Observation:
        """The last observation."""
        return self.answers[-1]

    @property
    def last(self) -> str:
        """The events of the last operation, without gate openings."""
        return show(self.now.events)

    @property
    def all(self) -> str:
        """All events so far, without gate openings."""
        return show(event for answer in self.answers for event in answer.events)

    @property
    def gates(self) -> str:
        """The kinds of the open gates; ``!`` marks an abort that waits for a release."""
        return " ".join(gate.kind + "!" * gate.aborted for gate in self.now.gates)

    @property
    def pending(self) -> tuple[str, str]:
        """The queued and the staged ids."""
        inbox = self.now.inbox
        assert inbox is not None
        return " ".join(inbox.next_turn), " ".join(inbox.next_step)


def play(scenario: str = "", setting: Setting = BARE, picks: tuple[int, ...] = (), **by: str) -> Play:
    """Play a scenario on a new agent; keyword arguments name freedoms with ``_`` for ``-``."""
    chooser = Lives({name.replace("_", "-"): value for name, value in by.items()}, list(picks))
    run = Play(Machine(BOOK, setting, chooser))
    if scenario:
        run(scenario)
    return run


# ------------------------------------------------------------------------------------------------ scenarios
def split(text: str) -> list[str]:
    """Part operations by the ``;`` outside brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "[{") - (char in "]}")
        if char == ";" and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _command(text: str, machine: Machine[Any]) -> v.Command:
    if text.startswith("["):
        return v.Batch(tuple(_operation(part, machine) for part in split(text[1:-1])))
    word, *rest = text.split()
    match word:
        case "reset":
            names: Any = [name.rstrip("!") for name in rest]
            return v.Reset(tuple(names) or None, {name[:-1]: "park" for name in rest if name.endswith("!")})  # type: ignore[misc]
        case "inspect":
            return v.Inspect()
        case "goal":
            return v.Goal()
        case "resume":
            mode: Any = rest[0]
            return v.Resume(mode)
    return _operation(text, machine)


def _operation(text: str, machine: Machine[Any]) -> v.Operation:
    word, *rest = text.split()
    match word:
        case "on":
            return _arm(text, machine)
        case "followup" | "steer":
            return {"followup": v.followup, "steer": v.steer}[word](person(rest[0]))
        case "inject":
            return v.inject(plugin(rest[0]))
        case "quiet":
            return v.Send(person(rest[0]), "next-turn", wakeup=False)
        case "reference":
            return v.Reference(person(rest[0]), plugin(rest[1]))
        case "cancel":
            return v.Cancel("parent" if "parent" in rest else "user", keep_inbox="keep" in rest)
        case "dispose":
            return v.Dispose()
    return _release(word, rest, machine)


def _arm(text: str, machine: Machine[Any]) -> v.Arm:
    found = re.fullmatch(r"on (\S+)([^{#+]*)(?:#(\d+))?\s*(?:\+(\d+))?\s*\{(.*)\}", text)
    assert found, text
    where = dict(pair.split("=") for pair in found[2].split())
    ops = tuple(_operation(part, machine) for part in split(found[5]))
    return v.Arm(found[1], ops, where, int(found[3] or 1), int(found[4] or 0))


def _release(word: str, rest: list[str], machine: Machine[Any]) -> v.Release:
    if word == "throw":
        kind: Any = rest[0]
        return v.Release(v.Throw(), kind=kind)
    names = [name for name in rest if name[0] != "+" and name != "concludes"]
    outcome = _outcome(word, names, rest)
    if GATE_OF[word] == "tool" and names:
        gate = next(gate.view.id for gate in machine.gates if gate.view.call_id == names[0])
        return v.Release(outcome, gate=gate)
    return v.Release(outcome, kind=GATE_OF[word])


def _outcome(word: str, names: list[str], rest: list[str]) -> v.Outcome:
    contexts = tuple(plugin(name[1:]) for name in rest if name[0] == "+")
    calls = tuple(v.Call(*name.split(":")) for name in names if ":" in name)
    outcomes: dict[str, v.Outcome] = {
        "allow": v.Allow(" ".join(names) or None, contexts),
        "block": v.Block(contexts),
        "hook": v.Continue(),
        "stop": v.Continue(),
        "retry": v.Retry(),
        "give-up": v.GiveUp(),
        "saved": v.Ok(),
        "unsaved": v.Fail(),
        "text": v.Text(),
        "tools": v.Tools(calls),
        "max-tokens": v.MaxTokens(calls=calls),
        "partial": v.Partial(" ".join(names)),
        "error": v.Error(),
        "done": v.Result(contexts, "concludes" in rest),
        "fail": v.Error(None, contexts, "concludes" in rest),
    }
    return outcomes[word]


# ------------------------------------------------------------------------------------------------ tokens
def show(events: Iterator[e.Event] | tuple[e.Event, ...], *, gates: bool = False) -> str:
    """Show events as one line; gate openings only where asked for."""
    return " · ".join(token(event) for event in events if gates or not isinstance(event, e.GateOpened))


def token(event: e.Event) -> str:
    """Show one event."""
    match event:
        case e.TurnStart():
            return f"turn {event.turn}" + (" retry" if event.trigger == "retry" else "")
        case e.TurnEnd():
            return f"turn {event.turn} {event.reason}"
        case e.StepStart():
            return f"step {event.turn}.{event.step}"
        case e.StepEnd():
            return f"step-end {event.turn}.{event.step}"
        case e.UserMessage():
            return f"user {event.id}" + (f" as {event.text!r}" if event.replaced else "")
        case e.SteeringMessage():
            return f"steering {event.id}"
        case e.AssistantMessage():
            said = "interrupted " + repr(event.text) if event.interrupted else " ".join(event.tool_calls)
            return f"assistant {said}".rstrip()
        case e.ToolCall():
            return f"call {event.call_id}"
        case e.ToolResult():
            return f"result {event.call_id}" + (f" {event.code or 'error'}" if event.is_error else "")
        case e.RequestMade():
            return "request " + " ".join(_seen(seen) for seen in event.messages)
        case e.GateOpened():
            return f"gate {event.gate_kind}"
        case e.GateAborted():
            return f"aborted {event.gate_kind}"
        case e.OpThrew():
            return f"threw {event.method}"
    return _live(event)


def _seen(seen: v.Seen) -> str:
    return seen.id or (f"R:{seen.tool_result}" if seen.tool_result else "A")


def _live(event: e.Event) -> str:
    match event:
        case e.StatusChanged():
            return event.status
        case e.AgentError():
            return f"error {event.turn}.{event.step}"
        case e.Enqueue():
            return f"+{event.id} {event.placement}"
        case e.Dequeue():
            return f"-{event.id} {event.placement}"
        case e.Discard():
            return "drop " + " ".join(event.ids)
        case e.CancelRequested():
            return f"cancel {event.cause}"
        case e.Settled():
            return f"settled {event.turn} {event.reason}"
    return event.type.removeprefix("agent/")
