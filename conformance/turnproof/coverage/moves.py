"""
Offer what a caller may do in a situation, each under its label (``labels``).

A *move* is one command. Plain moves are tried in every situation: sends, edits, cancels, disposal, the outcomes of open
gates that the rules tell apart. *Variants* (a cause, a source, an id that is known, a resume) are tried once in every
place. A label says what the rules can tell of a command; messages, ids and texts are made when it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from turnproof.coverage.labels import LISTS, RELEASE, gate_label
from turnproof.making import PLUGIN, Maker
from turnproof_model import vocabulary as v
from turnproof_model.goals import goal_text
from turnproof_model.history import COMPACTION
from turnproof_model.observation import GateView, Profile

Make: TypeAlias = Callable[[Maker], v.Command]
"""Make the command of a label, its messages among it."""

DEFAULTS: Mapping[str, str] = {
    "prompt-submit": "allow",
    "pre-step": "enter",
    "step": "continue",
    "model": "text",
    "tool": "result",
    "request-error": "give-up",
    "turn-stopping": "continue",
    "flush": "ok",
}
"""The label of the default outcome of each gate."""

_NEEDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cancel keep", ("keepInbox",)),
    ("cancel parent keep", ("keepInbox",)),
    ("dispose", ("dispose",)),
    ("remove", ("inbox.remove",)),
    ("replace", ("inbox.replace",)),
    ("prepend", ("inbox.prepend",)),
    ("reference", ("reference",)),
    ("goal", ("goal",)),
    ("resume fork", ("resume", "fork")),
    ("resume compact", ("resume", "compact")),
    ("resume", ("resume",)),
    ("model partial", ("model.partial",)),
    ("prompt-submit allow changed", ("prompt.content",)),
    ("prompt-submit allow +", ("prompt.contexts",)),
    ("prompt-submit block +", ("prompt.contexts",)),
    ("request-error", ("request-error",)),
    ("step ", ("step-gate",)),
    ("flush ", ("flush",)),
)
"""The capabilities that a label depends on, by how it begins."""


def allowed(label: str, profile: Profile) -> bool:
    """Tell whether a candidate's capabilities allow a move."""
    for beginning, needed in _NEEDS:
        if label.startswith(beginning) and not all(map(profile.has, needed)):
            return False
    words = label.split()
    if words[0] == "model" and "tools" in words:
        return not ("p" in words and not profile.has("tools.parallel")) and not (
            "x" in words and not profile.has("tools.exclusive")
        )
    if words[0] == "tool":
        return ("concluding" not in words or profile.has("tool.concludes")) and (
            "+" not in words or profile.has("tool.contexts")
        )
    return True


# ------------------------------------------------------------------------------------------------ plain moves
def plain(machine: Any) -> Iterator[tuple[str, Make]]:
    """List the plain moves of a situation."""
    yield from SENDS.items()
    yield from CANCELS.items()
    yield "dispose" if machine.s.life == "live" else "dispose again", lambda _: v.Dispose()
    if machine.book.contract == "claim":
        yield from _edits(machine)
    for gate in machine.gates:
        yield from _releases(machine, gate.view, PLAIN_OUTCOMES)


SENDS: Mapping[str, Make] = {
    "followup": lambda make: v.followup(make.message()),
    "steer": lambda make: v.steer(make.message()),
    "inject": lambda make: v.inject(make.message(PLUGIN)),
    "queue": lambda make: v.Send(make.message(), "next-turn", wakeup=False),
}
"""The four ways to send."""

CANCELS: Mapping[str, Make] = {
    "cancel": lambda _: v.Cancel(),
    "cancel keep": lambda _: v.Cancel(keep_inbox=True),
}
"""The two ways to cancel."""


def _edits(machine: Any) -> Iterator[tuple[str, Make]]:
    for target, name in LISTS:
        yield f"prepend {target}", lambda make, t=target: v.Prepend(t, make.message())  # type: ignore[misc]  # bound per list
        for i, item in enumerate(getattr(machine.s, name).each(), 1):
            yield f"remove {target} {i}", lambda _, m=item.id: v.Remove(m)  # type: ignore[misc]  # bound per item
            yield f"replace {target} {i}", lambda make, m=item.id: v.Replace(m, make.message())  # type: ignore[misc]


def _releases(machine: Any, gate: GateView, offered: Mapping[str, Outcomes]) -> Iterator[tuple[str, Make]]:
    prefix = gate_label(machine, gate)
    for name, outcome in offered.get(gate.kind, {}).items():
        if (name.startswith("partial") and machine.streamed) or (name.startswith("enter all") and not gate.claimed):
            continue
        yield (
            f"{prefix} {name}",
            lambda make, o=outcome: v.Release(o(make, gate), gate=gate.id),  # type: ignore[misc]  # bound per outcome
        )


# ------------------------------------------------------------------------------------------------ outcomes
MakeOutcome: TypeAlias = Callable[[Maker, GateView], v.Outcome]
Outcomes: TypeAlias = Mapping[str, MakeOutcome]


def _just(outcome: v.Outcome) -> MakeOutcome:
    return lambda _make, _gate: outcome


def _tools(modes: str) -> tuple[str, MakeOutcome]:
    names = {"p": "par", "x": "exc", "u": "nope"}
    return f"tools {modes}", lambda make, _: v.Tools(tuple(make.call(names[mode]) for mode in modes.split()))


def _contexts(count: int) -> Callable[[Maker], tuple[v.Message, ...]]:
    return lambda make: tuple(make.context() for _ in range(count))


_ONE, _TWO = _contexts(1), _contexts(2)

PLAIN_OUTCOMES: Mapping[str, Outcomes] = {
    "prompt-submit": {
        "allow": _just(v.Allow()),
        "allow + 1": lambda make, _: v.Allow(None, _ONE(make)),
        "block": _just(v.Block()),
    },
    "pre-step": {
        "enter": _just(v.Enter()),
        "enter nothing": _just(v.Enter(())),
        "enter all + 1": lambda make, gate: v.Enter((*(gate.claimed or ()), *_ONE(make))),
        "enter only new": lambda make, _: v.Enter(_ONE(make)),
        "reject": _just(v.Reject()),
        "throw": _just(v.Throw()),
    },
    "step": {"continue": _just(v.Continue()), "throw": _just(v.Throw())},
    "model": {
        "text": _just(v.Text()),
        **dict(map(_tools, ("p", "x", "u", "p p", "p x", "x x", "u x"))),
        "max-tokens": _just(v.MaxTokens()),
        "error": _just(v.Error()),
        "partial": _just(v.Partial("p")),
    },
    "tool": {
        "result": _just(v.Result()),
        "result + 1": lambda make, _: v.Result(_ONE(make)),
        "result concluding": _just(v.Result(concludes=True)),
        "error": _just(v.Error()),
    },
    "request-error": {"give-up": _just(v.GiveUp()), "retry": _just(v.Retry())},
    "turn-stopping": {"continue": _just(v.Continue()), "throw": _just(v.Throw())},
    "flush": {"ok": _just(v.Ok()), "fail": _just(v.Fail())},
}
"""The outcomes that the rules tell apart, by gate."""

VARIANT_OUTCOMES: Mapping[str, Outcomes] = {
    "prompt-submit": {
        "allow changed": _just(v.Allow("changed")),
        "allow changed + 1": lambda make, _: v.Allow("changed", _ONE(make)),
        "allow + 2": lambda make, _: v.Allow(None, _TWO(make)),
        "block + 1": lambda make, _: v.Block(_ONE(make)),
        "throw": _just(v.Throw()),
    },
    "pre-step": {
        "enter all": lambda _, gate: v.Enter(gate.claimed or ()),
        "enter all + 2": lambda make, gate: v.Enter((*(gate.claimed or ()), *_TWO(make))),
        "enter some": lambda _, gate: v.Enter((gate.claimed or ())[1:]),
        "enter other order": lambda _, gate: v.Enter(tuple(reversed(gate.claimed or ()))),
    },
    "model": {
        "max-tokens with calls": lambda make, _: v.MaxTokens(calls=(make.call("exc"),)),
        **dict(map(_tools, ("x p", "x u", "p u", "p p p"))),
    },
    "tool": {
        "result + 2": lambda make, _: v.Result(_TWO(make)),
        "result concluding + 1": lambda make, _: v.Result(_ONE(make), concludes=True),
        "error + 1": lambda make, _: v.Error(None, _ONE(make)),
        "error concluding": _just(v.Error(concludes=True)),
    },
    "request-error": {"throw": _just(v.Throw())},
}
"""Outcomes that the rules treat like another, or that bring more along."""


# ------------------------------------------------------------------------------------------------ variants
def variants(machine: Any) -> Iterator[tuple[str, Make]]:
    """List the variants that a place offers; some need a known or pending id, and aren't listed without."""
    yield from VARIANTS.items()
    inbox = machine.book.inbox(machine.s)
    waiting = inbox.next_turn + inbox.next_step
    if waiting:
        yield from _with_known("pending id", machine.message(waiting[0]), machine.book.contract)
    known = _known(machine, waiting)
    if known is not None:
        yield from _with_known("known id", known, machine.book.contract)
    if machine.book.contract == "claim":
        yield "remove unknown", lambda make: v.Remove(make.message().id)
        yield "replace unknown", lambda make: v.Replace(make.message().id, make.message())
        if waiting:
            yield "replace by itself", lambda _: v.Replace(waiting[0], v.Message(waiting[0], "changed"))
    for gate in machine.gates:
        for label, make in _releases(machine, gate.view, VARIANT_OUTCOMES):
            if label.endswith(("enter some", "enter other order")) and len(gate.view.claimed or ()) < 2:
                continue
            yield label, make


def _known(machine: Any, waiting: Sequence[str]) -> v.Message | None:
    """Find the message that was made last and isn't pending; nobody sends a summary, which the driver makes."""
    for name, message in reversed(machine.history.known.items()):
        if name not in waiting and message.source != COMPACTION:
            return message  # type: ignore[no-any-return]  # machines are untyped here
    return None


def _with_known(which: str, message: v.Message, contract: v.Contract) -> Iterator[tuple[str, Make]]:
    yield f"followup {which}", lambda _: v.followup(message)
    yield f"inject {which}", lambda _: v.inject(message)
    if contract == "claim":
        yield f"prepend next-turn {which}", lambda _: v.Prepend("next-turn", message)


def _goal_change(make: Maker) -> v.Command:
    change = {"objective": "ship"}
    return v.inject(make.message(v.Source("goal", {"round": 0, "change": change}), goal_text(change)))


VARIANTS: Mapping[str, Make] = {
    "send next-turn": lambda make: v.Send(make.message()),
    "send next-step": lambda make: v.Send(make.message(), "next-step"),
    "send next-step quiet": lambda make: v.Send(make.message(PLUGIN), "next-step", wakeup=False),
    "followup from plugin": lambda make: v.followup(make.message(PLUGIN)),
    "steer from plugin": lambda make: v.steer(make.message(PLUGIN)),
    "inject from user": lambda make: v.inject(make.message()),
    "cancel parent": lambda _: v.Cancel("parent"),
    "cancel parent keep": lambda _: v.Cancel("parent", keep_inbox=True),
    "reference": lambda make: v.Reference(make.message(), make.message(v.Source("session", {"session": "s0"}))),
    "goal change": _goal_change,
    "goal round": lambda make: v.followup(make.message(v.Source("goal", {"round": 1}))),
    "goal": lambda _: v.Goal(),
    "inspect": lambda _: v.Inspect(),
    **{f"resume {mode}": lambda _, m=mode: v.Resume(m) for mode in ("crash", "clean", "fork", "compact")},  # type: ignore[misc]
}
"""Variants that any place offers."""


# ------------------------------------------------------------------------------------------------ operations
OPERATIONS: Mapping[str, Make] = {
    "followup": SENDS["followup"],
    "steer": SENDS["steer"],
    "inject": SENDS["inject"],
    **CANCELS,
    "dispose": lambda _: v.Dispose(),
}
"""What is done inside an event, or beside another operation in one stack."""


def operation(name: str, kind: v.GateKind | None, make: Maker) -> v.Operation | None:
    """Make an operation by its label; ``kind``: of the gate that a release means, ``None`` if there is none."""
    if name != RELEASE:
        return OPERATIONS[name](make)  # type: ignore[return-value]  # the table holds operations only
    return None if kind is None else v.Release(v.DEFAULT_OUTCOME[kind], kind=kind)
