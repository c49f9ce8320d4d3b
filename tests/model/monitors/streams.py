"""
Write streams for the monitors of contract ``window``: a scenario that the rules play, and one edit that breaks them.

``stream("followup a; allow; text")`` is what a lawful agent shows (the language of scenarios and tokens is that of
``window_notation``). Each edit gives a new stream: ``without``, ``change``, ``put``, ``swap`` work on events by their
tokens, the first one of that token unless ``nth`` says otherwise; ``show`` changes the observation of one request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
from attrs import frozen
from window_notation import Play, _command, play, split, token

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import DRIVEN, Report, Sight
from turnproof_model.monitors.watch import Watch
from turnproof_model.observation import Implementation, InboxView, Observation, Profile
from turnproof_model.surroundings import Setting

CAPABILITIES = (
    "batch arm arm.defer arm.where gates.select onAbort.select inbox acceptsNextStep whenIdle keepInbox dispose resume"
    " fork compact flush step-gate request-error model.partial tools.parallel tools.exclusive tool.contexts"
    " tool.concludes prompt.content prompt.contexts sessionReentry goal reference"
)
SETTING = Setting({"reference": True, "sessionReentry": True, "goal": True})
PROBES: frozenset[Sight] = frozenset({"lists", "window", "idle"})


def profile(capabilities: str = CAPABILITIES) -> Profile:
    """Make the profile of a candidate with these capabilities."""
    return Profile(Implementation("stream", "1"), "window", capabilities=dict.fromkeys(capabilities.split(), True))


@frozen
class Stream:
    """Hold requests with their observations, in order."""

    turns: tuple[tuple[v.Command, Observation], ...]

    # -------------------------------------------------------------------------------------------- edits
    def without(self, wanted: str, nth: int = 1) -> Stream:
        """Leave an event out."""
        return self._edit(wanted, nth, lambda _: [])

    def change(self, wanted: str, into: str, nth: int = 1) -> Stream:
        """Put another event in an event's place."""
        return self._edit(wanted, nth, lambda old: [parse(into, old)])

    def put(self, new: str, *, after: str = "", before: str = "", nth: int = 1) -> Stream:
        """Put an event behind another one, or in front of it."""
        if after:
            return self._edit(after, nth, lambda old: [old, parse(new, old)])
        return self._edit(before, nth, lambda old: [parse(new, old), old])

    def swap(self, one: str, other: str, nth: int = 1) -> Stream:
        """Let two events of one request change places."""
        index, place = self._find(one, nth)
        events = list(self.turns[index][1].events)
        there = next(n for n, event in enumerate(events) if token(event) == other)
        events[place], events[there] = events[there], events[place]
        return self._with(index, events=tuple(events))

    def move(self, wanted: str, *, after: str, nth: int = 1) -> Stream:
        """Move an event behind another one, perhaps of another request."""
        index, place = self._find(wanted, nth)
        event = self.turns[index][1].events[place]
        return self.without(wanted, nth)._edit(after, 1, lambda old: [old, event])

    def show(self, *, at: int = -1, queue: str | None = None, staged: str | None = None, **fields: Any) -> Stream:
        """Change what the observation of one request shows: the lists as ids, other fields by name."""
        index = at % len(self.turns)
        inbox = self.turns[index][1].inbox
        assert inbox is not None
        if queue is not None:
            inbox = attrs.evolve(inbox, next_turn=tuple(queue.split()))
        if staged is not None:
            inbox = InboxView(inbox.next_turn, tuple(staged.split()))
        return self._with(index, inbox=inbox, **fields)

    def ask(self, command: v.Command, *, at: int) -> Stream:
        """Put another command in the place of the one that was asked."""
        turns = list(self.turns)
        turns[at] = (command, turns[at][1])
        return Stream(tuple(turns))

    def then(self, command: v.Command, *events: str, **fields: Any) -> Stream:
        """Go on with a request whose observation is the last one with these events and fields."""
        last = self.turns[-1][1]
        parsed = tuple(parse(text, e.TurnStart(1)) for text in events)
        return Stream((*self.turns, (command, attrs.evolve(last, events=parsed, **fields))))

    def _find(self, wanted: str, nth: int) -> tuple[int, int]:
        left = nth
        for index, (_, observation) in enumerate(self.turns):
            for place, event in enumerate(observation.events):
                if token(event) == wanted:
                    left -= 1
                    if not left:
                        return index, place
        shown = " · ".join(token(event) for _, observation in self.turns for event in observation.events)
        raise AssertionError(f"{wanted!r} isn't {nth} times in: {shown}")

    def _edit(self, wanted: str, nth: int, edit: Callable[[e.Event], list[e.Event]]) -> Stream:
        index, place = self._find(wanted, nth)
        events = self.turns[index][1].events
        return self._with(index, events=(*events[:place], *edit(events[place]), *events[place + 1 :]))

    def _with(self, index: int, **fields: Any) -> Stream:
        turns = list(self.turns)
        turns[index] = (turns[index][0], attrs.evolve(turns[index][1], **fields))
        return Stream(tuple(turns))


def stream(scenario: str, setting: Setting = SETTING, picks: tuple[int, ...] = (), **by: str) -> Stream:
    """Play a scenario on a lawful agent that begins with a reset; keyword arguments name freedoms."""
    return Stream(tuple(_recorded(play("", setting, picks, **by), scenario)))


def _recorded(run: Play, scenario: str) -> Iterator[tuple[v.Command, Observation]]:
    parts = split(scenario)
    for part in parts if parts[0].startswith("reset") else ("reset", *parts):
        command = _command(part, run.machine)
        yield command, run.machine.ask(command)


# ------------------------------------------------------------------------------------------------ events of tokens
def parse(text: str, near: e.Event) -> e.Event:
    """Make the event of a token; turn and step that the token leaves out are those of a neighbour, else 1."""
    turn, step = getattr(near, "turn", 1), getattr(near, "step", 1)
    word, *rest = text.split()
    match word, rest:
        case "turn", [number]:
            return e.TurnStart(int(number), "message")
        case "turn", [number, "retry"]:
            return e.TurnStart(int(number), "retry")
        case "turn", [number, reason]:
            return e.TurnEnd(int(number), reason)  # type: ignore[arg-type]
        case (("step" | "step-end"), [place]):
            made = e.StepStart if word == "step" else e.StepEnd
            return made(*(int(part) for part in place.split(".")))
        case "user", [name]:
            return e.UserMessage(name)
        case "user", [name, "as", content]:
            return e.UserMessage(name, None, content)
        case "user", [name, "from", source]:
            return e.UserMessage(name, source)
        case "steering", [name]:
            return e.SteeringMessage(turn, name)
        case "assistant", calls:
            return e.AssistantMessage(turn, step, tuple(calls))
        case "call", [name]:
            return e.ToolCall(name)
        case "result", [name, *code]:
            return e.ToolResult(name, bool(code), *(code if code != ["error"] else ()))
        case "request", names:
            return e.RequestMade(tuple(_seen(name) for name in names))
    return _live(word, rest, turn)


def _seen(name: str) -> v.Seen:
    if name == "A":
        return v.Seen("assistant")
    if name.startswith("R:"):
        return v.Seen("user", tool_result=name[2:])
    name, _, text = name.partition("=")
    return v.Seen("user", name, text or None)


def _live(word: str, rest: list[str], turn: int) -> e.Event:
    match word, rest:
        case (("idle" | "running"), []):
            return e.StatusChanged(word)
        case "drop", names:
            return e.Discard(tuple(names))
        case "cancel", [cause]:
            return e.CancelRequested(cause)  # type: ignore[arg-type]
        case "settled", [number, reason]:
            return e.Settled(int(number), reason)  # type: ignore[arg-type]
        case "error", []:
            return e.AgentError(turn)
        case "gate", [kind, name]:
            return e.GateOpened(name, kind)
        case "disposed", []:
            return e.Disposed()
        case "dispose/resolved", []:
            return e.DisposeResolved()
        case "plugin", [name]:
            return e.PluginEvent(name)
        case _, [placement] if word[0] in "+-":
            return (e.Enqueue if word[0] == "+" else e.Dequeue)(word[1:], placement)  # type: ignore[arg-type]
    raise AssertionError(f"no event is written {word!r} with {rest}")


# ------------------------------------------------------------------------------------------------ judging
def judge(told: Stream, sees: frozenset[Sight] = DRIVEN | PROBES) -> Report:
    """Run all monitors of the contract over a stream."""
    watch = Watch(profile(), sees)
    for command, observation in told.turns:
        watch.feed(command, observation)
    return watch.finish()


def broken(told: Stream, sees: frozenset[Sight] = DRIVEN | PROBES) -> set[str]:
    """Name the rules of the contract that the stream breaks; those of ``core`` have their own tests."""
    return {rule for rule in judge(told, sees).broken() if rule.startswith("W-")}


def assert_caught(rule: str, good: Stream, *bad: Stream, also: str = "") -> None:
    """
    Hold a monitor to its foil.

    Args:
        rule: the one that every bad stream breaks.
        good: a stream that exercises the rule and breaks none.
        bad: streams that break it.
        also: other rules that the bad streams rightly break.
    """
    report = judge(good)
    assert [violation for violation in report.violations if violation.rule.startswith("W-")] == []
    assert report.exercised[rule], f"{rule} isn't exercised"
    for told in bad:
        found = broken(told)
        assert rule in found, f"{rule} isn't caught, but {sorted(found)} is"
        assert found <= {rule, *also.split()}, f"{sorted(found)} is caught"
