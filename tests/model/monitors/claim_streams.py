"""
Write streams for the monitors of contract ``claim``: a scenario that the rules play, and one edit that breaks them.

``stream("followup a; enter; text")`` is what a lawful agent shows (scenarios and tokens are those of
``claim_notation``). Each edit gives a new stream: ``without``, ``change``, ``put`` and ``swap`` work on events by their
tokens, the first one of that token unless ``nth`` says otherwise; ``show`` changes the observation of one request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs
from attrs import frozen
from claim_notation import Lives, line, parse

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.claim import BOOK
from turnproof_model.machine import Machine
from turnproof_model.monitors.base import DRIVEN, Report, Sight
from turnproof_model.monitors.watch import Watch
from turnproof_model.observation import Implementation, InboxView, Observation, Profile
from turnproof_model.surroundings import Setting

CAPABILITIES = (
    "batch arm arm.defer arm.where gates.select onAbort.select inbox whenIdle keepInbox dispose resume fork flush"
    " request-error model.partial tools.parallel tools.exclusive tool.contexts tool.concludes inbox.remove"
    " inbox.replace inbox.prepend goal reference"
)
SEES: frozenset[Sight] = DRIVEN | frozenset({"lists", "idle"})


def profile(capabilities: str = CAPABILITIES) -> Profile:
    """Make the profile of a candidate with these capabilities."""
    return Profile(Implementation("stream", "1"), "claim", capabilities=dict.fromkeys(capabilities.split(), True))


@frozen
class Stream:
    """Hold requests with their observations, in order."""

    turns: tuple[tuple[v.Command, Observation], ...]

    # -------------------------------------------------------------------------------------------- edits
    def without(self, *tokens: str, nth: int = 1) -> Stream:
        """Leave events out, one of each token."""
        told = self
        for wanted in tokens:
            told = told._edit(wanted, nth, lambda _: [])
        return told

    def change(self, wanted: str, into: str, nth: int = 1) -> Stream:
        """Put other events, parted by spaces, in an event's place."""
        return self._edit(wanted, nth, lambda _: events(into))

    def put(self, new: str, *, after: str = "", before: str = "", nth: int = 1) -> Stream:
        """Put events behind another one, or in front of it."""
        if after:
            return self._edit(after, nth, lambda old: [old, *events(new)])
        return self._edit(before, nth, lambda old: [*events(new), old])

    def swap(self, one: str, other: str) -> Stream:
        """Let two events of one request change places."""
        index, place = self._find(one, 1)
        told = list(self.turns[index][1].events)
        there = next(n for n, event in enumerate(told) if line((event,)) == other)
        told[place], told[there] = told[there], told[place]
        return self._with(index, events=tuple(told))

    def show(self, *, at: int = -1, turn: str | None = None, step: str | None = None, **fields: Any) -> Stream:
        """Change what the observation of one request shows: the lists as ids, other fields by name."""
        index = at % len(self.turns)
        inbox = self.turns[index][1].inbox or InboxView()
        if turn is not None:
            inbox = attrs.evolve(inbox, next_turn=tuple(turn.split()))
        if step is not None:
            inbox = attrs.evolve(inbox, next_step=tuple(step.split()))
        return self._with(index, inbox=inbox, **fields)

    def ask(self, command: v.Command, *, at: int) -> Stream:
        """Put another command in the place of the one that was asked."""
        turns = list(self.turns)
        turns[at] = (command, turns[at][1])
        return Stream(tuple(turns))

    def then(self, command: v.Command, text: str = "", **fields: Any) -> Stream:
        """Go on with a request whose observation is the last one with these events and fields."""
        last = self.turns[-1][1]
        return Stream((*self.turns, (command, attrs.evolve(last, events=tuple(events(text)), **fields))))

    @property
    def tokens(self) -> list[str]:
        """The events of all requests, as tokens."""
        return [line((event,)) for _, observation in self.turns for event in observation.events]

    def _find(self, wanted: str, nth: int) -> tuple[int, int]:
        left = nth
        for index, (_, observation) in enumerate(self.turns):
            for place, event in enumerate(observation.events):
                left -= line((event,)) == wanted
                if not left:
                    return index, place
        raise AssertionError(f"{wanted!r} isn't {nth} times in: {' '.join(self.tokens)}")

    def _edit(self, wanted: str, nth: int, edit: Callable[[e.Event], list[e.Event]]) -> Stream:
        index, place = self._find(wanted, nth)
        told = self.turns[index][1].events
        return self._with(index, events=(*told[:place], *edit(told[place]), *told[place + 1 :]))

    def _with(self, index: int, **fields: Any) -> Stream:
        turns = list(self.turns)
        turns[index] = (turns[index][0], attrs.evolve(turns[index][1], **fields))
        return Stream(tuple(turns))


def stream(scenario: str, *, can: str = "reference", **lives: str) -> Stream:
    """Play a scenario on a lawful agent that begins with a reset; other keywords name freedoms."""
    by = {name.replace("_", "-"): value for name, value in lives.items()}
    machine = Machine(BOOK, Setting(dict.fromkeys(can.split(), True)), Lives(by))
    commands = parse(scenario)
    begins = [] if isinstance(commands[0], v.Reset) else [v.Reset()]
    return Stream(tuple((command, machine.ask(command)) for command in (*begins, *commands)))


# ------------------------------------------------------------------------------------------------ events of tokens
SPLICE = re.compile(r"(next-turn|next-step)\[(\d+)\](?:-(\d+))?(?:\+([^!]+))?(!?)")
CALL = re.compile(r"([a-z-]+)\((.*)\)")


def events(text: str) -> list[e.Event]:
    """Make the events of tokens parted by spaces."""
    return [_event(token) for token in text.split()]


def _event(token: str) -> e.Event:
    if (spliced := SPLICE.fullmatch(token)) is not None:
        target, start, removed, inserted, mark = spliced.groups()
        names = tuple((inserted or "").split(",")) if inserted else ()
        outcome = "canceled" if mark else None
        return e.Spliced(target, int(start), int(removed or 0), names, outcome)  # type: ignore[arg-type]
    if token in ("idle", "running"):
        return e.StatusChanged(token)  # type: ignore[arg-type]
    if token[0] in "?!":
        kind, _, gate = token[1:].partition("@")
        return (e.GateOpened if token[0] == "?" else e.GateAborted)(gate, kind)
    if token.startswith("dispose"):
        return e.Disposed() if token.endswith("d") and "-" not in token else e.DisposeResolved()
    if token.startswith("plugin:"):
        return e.PluginEvent(token.removeprefix("plugin:"), {"kind": "session"})
    named = CALL.fullmatch(token)
    assert named is not None, f"no event is written {token!r}"
    return _named(named[1], named[2])


def _named(word: str, inside: str) -> e.Event:
    parts = inside.split(",")
    match word:
        case "turn":
            return e.TurnStart(int(inside))
        case "end":
            reason, _, cause = parts[1].partition(":")
            return e.TurnEnd(int(parts[0]), reason, cause or None)  # type: ignore[arg-type]
        case "step" | "step-end" | "error":
            made: Any = {"step": e.StepStart, "step-end": e.StepEnd, "error": e.AgentError}[word]
            return made(*(int(number) for number in inside.split(".")))  # type: ignore[no-any-return]
        case "user":
            name, _, rest = inside.partition("=")
            text, _, source = rest.partition("@")
            return e.UserMessage(name, source or None, text or None)
        case "assistant":
            place, _, calls = inside.partition(":")
            turn, step = (int(number) for number in place.split("."))
            return e.AssistantMessage(turn, step, tuple(calls.split(",")) if calls else ())
        case "call":
            return e.ToolCall(inside)
        case "result":
            name, _, code = inside.partition(":")
            return e.ToolResult(name, bool(code), code if code.isupper() else None)
        case "inserted" | "discarded":
            return (e.Inserted if word == "inserted" else e.Discarded)(inside)
        case "claimed":
            return e.Claimed(parts[0], int(parts[1]))
        case "request":
            return e.RequestMade(tuple(_seen(part) for part in parts if part))
        case "refused":
            return e.OpThrew(inside)
    raise AssertionError(f"no event is written {word}({inside})")


def _seen(part: str) -> v.Seen:
    if part[0] == ">":
        return v.Seen("assistant", tool_calls=tuple(call for call in part[1:].split(".") if call))
    if part[0] == "<":
        return v.Seen("user", tool_result=part[1:].rstrip("!"), is_error=part.endswith("!"))
    name, _, text = part.partition("=")
    return v.Seen("user", name, text or None)


# ------------------------------------------------------------------------------------------------ judging
def judge(told: Stream, sees: frozenset[Sight] = SEES, capabilities: str = CAPABILITIES) -> Report:
    """Run all monitors over a stream."""
    watch = Watch(profile(capabilities), sees)
    for command, observation in told.turns:
        watch.feed(command, observation)
    return watch.finish()


def broken(told: Stream) -> set[str]:
    """Name the rules of the contract that the stream breaks."""
    return {rule for rule in judge(told).broken() if rule.startswith("C-")}


def sentences(told: Stream, rule: str) -> Iterator[str]:
    """Show what is said about the violations of a rule."""
    return (violation.message for violation in judge(told).violations if violation.rule == rule)


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
    assert report.violations == []
    assert report.exercised[rule], f"{rule} isn't exercised"
    assert bad
    for told in bad:
        found = broken(told)
        assert rule in found, f"{rule} isn't caught, but {sorted(found)} is"
        assert found <= {rule, *also.split()}, f"{sorted(found)} is caught"
