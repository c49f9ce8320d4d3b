"""
List what can happen to an agent: commands with finitely many choices, outcomes of gates, the move of the loop.

Each action is told twice from one template: with unknown messages for the readings with terms, and with real ones for
replays. What the rules treat alike is listed once: a cancel by a parent is a cancel by the user, a hook that throws
at ``prompt-submit`` blocks, one that throws at ``request-error`` gives up, and a tool's error concludes nothing. An
outcome brings along at most one context. Texts, ids of calls and replaced contents are no state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, Protocol

from attrs import evolve, field, frozen

from turnproof_model.readings.execute import Impossible, choose
from turnproof_model.readings.pieces import TAGS, AnyMessage, Id, message
from turnproof_model.readings.queues import CLAIMED
from turnproof_model.readings.reading import TermReading, range_of
from turnproof_model.vocabulary import (
    Allow,
    Block,
    Call,
    Cancel,
    Continue,
    Contract,
    Dispose,
    Enter,
    Error,
    Fail,
    GateKind,
    GiveUp,
    MaxTokens,
    Message,
    Ok,
    Operation,
    Outcome,
    Partial,
    Prepend,
    Reference,
    Reject,
    Remove,
    Replace,
    Result,
    Retry,
    Send,
    Source,
    Target,
    Text,
    Throw,
    Tools,
)

CONTEXT = Message("context", "", Source("hook"))
"""Stands for a message that an outcome brings along."""


class World(Protocol):
    """Offer what a template needs to become an operation: new messages, and the ids of pending ones."""

    def new(self) -> Any:
        """Make a message that nobody has sent."""

    def snapshot(self) -> Any:
        """Make a message that stands for another session."""

    def pending(self, target: Target, position: int) -> Any:
        """Tell the id of a pending message."""


@frozen(eq=False)
class Template:
    """Be a command with its choices made: its label, what it costs of which bounds, and how it is made."""

    label: str
    cost: Mapping[str, int]
    make: Callable[[World], Operation]


@frozen
class Choice:
    """Be one outcome of a gate: its label, what it costs, and its value with ``CONTEXT`` and ``CLAIMED`` in it."""

    label: str
    outcome: Outcome
    cost: Mapping[str, int] = field(factory=dict, hash=False)


# ------------------------------------------------------------------------------------------------ commands
def _send(target: Target, *, wakeup: bool) -> Callable[[World], Operation]:
    return lambda world: Send(world.new(), target, wakeup=wakeup)


_MESSAGE = {"messages": 1}

SENDS: tuple[Template, ...] = (
    Template("followup", _MESSAGE, _send("next-turn", wakeup=True)),
    Template("queue", _MESSAGE, _send("next-turn", wakeup=False)),
    Template("steer", _MESSAGE, _send("next-step", wakeup=True)),
    Template("inject", _MESSAGE, _send("next-step", wakeup=False)),
)
"""The four ways to send a message."""

ENDS: tuple[Template, ...] = (
    Template("cancel", {"cancels": 1}, lambda _: Cancel()),
    Template("cancel-keep", {"cancels": 1}, lambda _: Cancel(keep_inbox=True)),
    Template("dispose", {"disposals": 1}, lambda _: Dispose()),
)
"""Cancels and disposal."""

REFER = Template("refer", {"references": 1, "messages": 2}, lambda world: Reference(world.new(), world.snapshot()))
"""A prompt with a snapshot of another session, which makes two messages."""

LISTS: tuple[Target, ...] = ("next-turn", "next-step")


def _edits(messages: int) -> Iterator[Template]:
    """List the edits of the inbox of ``claim`` that reach one of so many pending messages."""
    for target in LISTS:
        yield Template(f"prepend {target}", {"edits": 1, **_MESSAGE}, _prepend(target))
        for i in range(messages):
            yield Template(f"remove {target} {i}", {"edits": 1}, _remove(target, i))
            yield Template(f"replace {target} {i}", {"edits": 1, **_MESSAGE}, _replace(target, i))


def _prepend(target: Target) -> Callable[[World], Operation]:
    return lambda world: Prepend(target, world.new())


def _remove(target: Target, position: int) -> Callable[[World], Operation]:
    return lambda world: Remove(world.pending(target, position))


def _replace(target: Target, position: int) -> Callable[[World], Operation]:
    return lambda world: Replace(world.pending(target, position), world.new())


def templates(contract: Contract, bounds: Mapping[str, int]) -> tuple[Template, ...]:
    """
    List the commands that some bound allows.

    Args:
        contract: ``window`` or ``claim``.
        bounds: how many there may be of what: ``messages``, ``cancels``, ``disposals``, ``edits`` (``claim``),
            ``references`` (``window``).
    """
    more = tuple(_edits(bounds.get("messages", 0))) if contract == "claim" else (REFER,)
    return tuple(t for t in (*SENDS, *ENDS, *more) if all(bounds.get(name, 0) >= n for name, n in t.cost.items()))


# ------------------------------------------------------------------------------------------------ outcomes
def _with_context(label: str, outcome: Any) -> tuple[Choice, Choice]:
    brings = evolve(outcome, additional_contexts=(CONTEXT,))
    return Choice(label, outcome), Choice(f"{label} + context", brings, _MESSAGE)


def calls(names: tuple[str, ...]) -> tuple[Call, ...]:
    """Name the calls of a batch; an id is the call's position."""
    return tuple(Call(f"call-{i}", name) for i, name in enumerate(names))


def _model_outcomes(tools: int) -> Iterator[Choice]:
    yield Choice("text", Text())
    for count in range(1, tools + 1):
        for names in product(("par", "exc", "unknown"), repeat=count):
            yield Choice(f"tools {' '.join(names)}", Tools(calls(names)))
    yield Choice("max-tokens", MaxTokens())
    yield Choice("error", Error())
    yield Choice("partial", Partial("…"))


def outcomes(kind: GateKind, bounds: Mapping[str, int]) -> tuple[Choice, ...]:
    """
    List the outcomes of a gate that the rules tell apart.

    Args:
        kind: of the gate.
        bounds: ``tools`` is the most calls of one assistant message.
    """
    match kind:
        case "prompt-submit":
            return (*_with_context("allow", Allow()), Choice("block", Block()))
        case "pre-step":
            return (
                Choice("enter", Enter()),
                Choice("enter nothing", Enter(())),
                Choice("enter batch + context", Enter((CLAIMED, CONTEXT)), _MESSAGE),
                Choice("enter context", Enter((CONTEXT,)), _MESSAGE),
                Choice("reject", Reject()),
                Choice("throw", Throw()),
            )
        case "model":
            return tuple(_model_outcomes(bounds.get("tools", 0)))
        case "tool":
            return (
                *_with_context("result", Result()),
                *_with_context("result concluding", Result(concludes=True)),
                *_with_context("error", Error()),
            )
        case "request-error":
            return (Choice("give-up", GiveUp()), Choice("retry", Retry()))
        case "flush":
            return (Choice("ok", Ok()), Choice("fail", Fail()))
        case _:
            return (Choice("continue", Continue()), Choice("throw", Throw()))


def merged(kind: GateKind) -> Mapping[str, Outcome]:
    """Name the outcomes that stand for another one, by the label of that one; a test shows that rules agree."""
    same: Mapping[str, Mapping[str, Outcome]] = {
        "prompt-submit": {"block": Throw()},
        "request-error": {"give-up": Throw()},
        "tool": {"error": Error(concludes=True)},
    }
    return same.get(kind, {})


# ------------------------------------------------------------------------------------------------ with terms
@frozen(eq=False)
class Unknown:
    """Be the world of templates where messages aren't known; ``s``: the state whose lists are looked at."""

    m: TermReading
    s: Any

    def new(self) -> AnyMessage:
        """Make a message; it may bear a tag, if there are any."""
        tag = _tag(self.m)
        return message(tag) if tag else message()

    def snapshot(self) -> AnyMessage:
        """Make a message that bears no tag: a snapshot that travels with a prompt is followed by nobody."""
        _tag(self.m, none=True)
        return message()

    def pending(self, target: Target, position: int) -> Id:
        """
        Tell the id of a pending message.

        Raises:
            Impossible: nothing is there.
        """
        queue = self.s.next_turn if target == "next-turn" else self.s.next_step
        found: Id | None = queue.id_at(position)
        if found is None:
            raise Impossible
        return found


def perform(template: Template) -> Callable[[TermReading, Any], None]:
    """Make the performance of a command on terms."""

    def command(m: TermReading, s: Any) -> None:
        if s.disposals >= m.bounds.get("disposals", 0) if "disposals" in template.cost else False:
            raise Impossible  # one that is under way was spent, too
        m.perform(template.make(Unknown(m, s)))

    return command


def _tag(m: TermReading, *, none: bool = False) -> str:
    """Choose which tag a new message bears, if any (``none``: it can't); each is borne once."""
    left = tuple(tag for tag in TAGS if m.spent.get(tag, 0) < m.bounds.get(tag, 0))
    if not left:
        return ""
    m.asked += 1
    tag = choose(f"tag {m.asked}", ("",) if none else ("", *left))
    if tag:
        m.spend({tag: 1})
    return tag


def _tagged(m: TermReading, outcome: Any) -> Any:
    """Let the message that an outcome brings along bear a tag."""
    name = "messages" if isinstance(outcome, Enter) else "additional_contexts"
    brought = getattr(outcome, name, None) or ()
    if CONTEXT not in brought:
        return outcome
    tag = _tag(m)
    borne = evolve(CONTEXT, id=tag) if tag else CONTEXT
    return evolve(outcome, **{name: tuple(borne if one == CONTEXT else one for one in brought)})


def release(m: TermReading, bounds: Mapping[str, int]) -> None:
    """
    Settle an open gate with one of its outcomes.

    Raises:
        Impossible: none is open.
    """
    gates = m.gates
    if not gates:
        raise Impossible
    gate = gates[choose("gate", range_of(len(gates)))] if len(gates) > 1 else gates[0]
    choices = outcomes(gate.kind, bounds)
    chosen = choices[choose(f"outcome of {gate.kind}", range_of(len(choices)))]
    m.spend(chosen.cost)
    m.settle(gate, _tagged(m, chosen.outcome), by_abort=False)
