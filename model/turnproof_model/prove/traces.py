"""
Find the shortest schedule on which changed rules behave differently from the rules as they are.

Both are read concretely, side by side, breadth first: the schedule replays on real messages, and its last command is
the first whose observation differs. Observers that read along say which rules break on it.
Commands are sends, cancels, disposal, edits, and outcomes of the oldest gate of each kind, each alone, in one stack
with a cancel, or with a cancel by a listener of some event. Gates are those of a turn or all, and hear of an abort by
settling or not before they are released; the first of these surroundings in which the change shows is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from attrs import define, field, frozen

from turnproof_model.contracts import rule_book
from turnproof_model.machine import Machine
from turnproof_model.observation import Observation
from turnproof_model.readings.loading import Change, load_rules
from turnproof_model.readings.observers import observer_of
from turnproof_model.readings.sight import ConcreteSight, Watching
from turnproof_model.surroundings import Chooser, MisuseError, Setting
from turnproof_model.vocabulary import (
    OPTIONAL_GATES,
    TURN_GATES,
    AbortStyle,
    Allow,
    Arm,
    Batch,
    Block,
    Call,
    Cancel,
    Command,
    Continue,
    Contract,
    Dispose,
    Enter,
    Error,
    GateKind,
    GiveUp,
    MaxTokens,
    Message,
    Ok,
    Operation,
    Outcome,
    Prepend,
    Reject,
    Release,
    Remove,
    Reset,
    Result,
    Retry,
    Send,
    Source,
    Text,
    Tools,
    followup,
    inject,
    steer,
)

HOOK = Source("hook")

_SETTING = Setting(capabilities={"sessionReentry": False})

EVENTS: Mapping[Contract, tuple[str, ...]] = {
    "window": ("steering/message", "agent/error"),
    "claim": ("agent/status", "agent/inbox/claimed", "step/start", "tool/call"),
}
"""The events inside which a listener may cancel."""


@frozen(eq=False)
class Trace:
    """
    Be a schedule on which changed rules differ.

    ``commands``: after the reset ``begins``. ``expected``, ``found``: what the rules and the changed rules answer last.
    """

    begins: Reset
    commands: tuple[Command, ...]
    expected: Observation | None
    found: Observation | None


@define(eq=False)
class _Watched(Watching, Machine[Any]):
    """Run with observers that read along."""

    sights: list[ConcreteSight] = field(factory=list, kw_only=True)
    depth: int = field(default=0, kw_only=True)

    def settle(self) -> None:
        super().settle()
        self.demand()


def broken(contract: Contract, change: Change, trace: Trace) -> tuple[str, ...]:
    """Name the rules that changed rules break on a schedule, with any two of its messages followed."""
    observer, messages = observer_of(contract), [f"m{number}" for number in range(len(trace.commands))]
    sights = [ConcreteSight(observer, {"A": a, "B": b}) for a, b in combinations(messages, 2)]
    machine = _Watched(load_rules(contract, changes=(change,)), _SETTING, sights=sights or [ConcreteSight(observer)])
    try:
        for command in (trace.begins, *trace.commands):
            machine.ask(command)
    except Exception:  # noqa: BLE001, S110  # changed rules may break in any way: what was seen until then counts
        pass
    return tuple(dict.fromkeys(rule for sight in machine.sights for rule in sight.broken))


@define(eq=False)
class _Pair:
    """Hold both machines after the same commands; ``messages`` counts what was sent."""

    right: Machine[Any]
    wrong: Machine[Any]
    commands: tuple[Command, ...] = ()
    messages: int = 0

    def key(self) -> object:
        """Tell this pair from another, as far as what comes next is concerned; histories are left aside."""
        return repr([(one.s, one.gates) for one in (self.right, self.wrong)])


def shortest(contract: Contract, change: Change, *, depth: int = 10, most: int = 10_000) -> Trace | None:
    """
    Find a shortest schedule on which a change shows.

    Args:
        contract: ``window`` or ``claim``.
        change: made to the rules.
        depth: the most commands.
        most: the most schedules that are looked at in each of the surroundings.
    """
    turn = TURN_GATES[contract]
    awaited = {phase.awaits for phase in rule_book(contract).phases.values()}
    every = (*turn, *(kind for kind in OPTIONAL_GATES[contract] if kind in awaited))
    ways: tuple[tuple[tuple[GateKind, ...], AbortStyle], ...] = ((turn, "settle"), (turn, "park"), (every, "settle"))
    for kinds, style in ways:
        found = _search(contract, change, Reset(kinds, dict.fromkeys(kinds, style)), depth, most)
        if found is not None:
            return found
    return None


def _search(contract: Contract, change: Change, begins: Reset, depth: int, most: int) -> Trace | None:
    books = (rule_book(contract), load_rules(contract, changes=(change,)))
    right, wrong = (Machine(book, _SETTING) for book in books)
    right.ask(begins)
    wrong.ask(begins)
    layer, seen, looked = [_Pair(right, wrong)], set[object](), 0
    for _ in range(depth):
        following: list[_Pair] = []
        for pair in layer:
            for command in _commands(contract, pair):
                looked += 1
                if looked > most:
                    return None
                after, trace = _ask(begins, pair, command)
                if trace is not None:
                    return trace
                if after is not None and (key := after.key()) not in seen:
                    seen.add(key)
                    following.append(after)
        layer = following
    return None


def _ask(begins: Reset, pair: _Pair, command: Command) -> tuple[_Pair | None, Trace | None]:
    right, wrong = pair.right.copy(Chooser()), pair.wrong.copy(Chooser())
    try:
        expected = right.ask(command)
    except MisuseError:
        return None, None
    commands = (*pair.commands, command)
    try:
        found: Observation | None = wrong.ask(command)
    except Exception:  # noqa: BLE001  # changed rules may break in any way: that shows the change
        found = None
    if found != expected:
        return None, Trace(begins, commands, expected, found)
    return _Pair(right, wrong, commands, pair.messages + 1), None


def _commands(contract: Contract, pair: _Pair) -> Iterator[Command]:
    """List the commands worth trying after a pair of machines."""
    name = f"m{len(pair.commands)}"
    message = Message(name, name)
    sends: tuple[Operation, ...] = (followup(message), Send(message, wakeup=False), steer(message), inject(message))
    ends: tuple[Operation, ...] = (Cancel(), Cancel("parent", keep_inbox=True), Dispose())
    edits = tuple(_edits(pair, message)) if contract == "claim" else ()
    kinds = dict.fromkeys(gate.view.kind for gate in pair.right.gates)
    releases: tuple[Operation, ...] = tuple(
        Release(outcome, kind=kind) for kind in kinds for outcome in _OUTCOMES[kind](name)
    )
    yield from (*releases, *sends, *ends, *edits)
    for release in releases:
        yield Batch((release, Cancel()))
        for event in EVENTS[contract]:
            yield Batch((Arm(event, (Cancel(),)), release))
    for send in sends:
        yield Batch((Cancel(), send))
    if contract == "claim":
        yield Batch((Arm("agent/status", (Cancel(),)), sends[0]))


def _edits(pair: _Pair, message: Message) -> Iterator[Operation]:
    yield Prepend("next-turn", message)
    inbox = pair.right.observation().inbox
    for pending in (*inbox.next_turn, *inbox.next_step) if inbox is not None else ():
        yield Remove(pending)
        yield followup(Message(pending, pending))


def _model(name: str) -> Sequence[Outcome]:
    return (Text(), Tools((Call(f"{name}-a", "par"), Call(f"{name}-b", "par"))), MaxTokens(), Error())


def _context(name: str) -> tuple[Message, ...]:
    return (Message(f"{name}-c", "context", HOOK),)


_OUTCOMES: Mapping[GateKind, Any] = {
    "prompt-submit": lambda name: (Allow(), Allow(additional_contexts=_context(name)), Block()),
    "pre-step": lambda _: (Enter(), Enter(()), Reject()),
    "step": lambda _: (Continue(),),
    "model": _model,
    "tool": lambda name: (Result(additional_contexts=_context(name)), Result(concludes=True)),
    "request-error": lambda _: (Retry(), GiveUp()),
    "turn-stopping": lambda _: (Continue(),),
    "flush": lambda _: (Ok(),),
}
"""The outcomes tried at each kind of gate, by the name of the command that brings them."""
