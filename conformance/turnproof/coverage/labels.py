"""
Tell the label of any command: what the rules can tell of it, without messages, ids and texts.

Two commands with one label are alike in any situation; a command that a label was made for bears it (``moves``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from turnproof_model import vocabulary as v
from turnproof_model.observation import GateView

LISTS: tuple[tuple[v.Target, str], ...] = (("next-turn", "next_turn"), ("next-step", "next_step"))

RELEASE = "release"
"""The label of settling the oldest gate with its default outcome, as an operation."""


def label(command: v.Command, machine: Any) -> str:
    """
    Tell the label of a command.

    Args:
        command: as it is given.
        machine: as it is before the command.
    """
    named = _LABELS.get(type(command))
    return command.method if named is None else named(command, machine)


@cache
def sort_of(name: str) -> str:
    """Leave out of a label which gate or item it means, how many it brings along, and which tools are called."""
    words = [word for word in name.split() if word not in ("p", "x", "u", "+") and not word.isdecimal()]
    return " ".join(words)


def _canceled(command: v.Cancel, _: Any) -> str:
    return f"cancel{'' if command.cause == 'user' else ' parent'}{' keep' if command.keep_inbox else ''}"


def _disposed(_: v.Dispose, machine: Any) -> str:
    return "dispose" if machine.s.life == "live" else "dispose again"


def _prepended(command: v.Prepend, machine: Any) -> str:
    return f"prepend {command.target}{_which(command.message, machine)}"


def _removed(command: v.Remove, machine: Any) -> str:
    return f"remove {_where(command.id, machine)}"


def _replaced(command: v.Replace, machine: Any) -> str:
    where, message = _where(command.id, machine), command.message
    itself = message.id == command.id and where != "unknown"
    return "replace by itself" if itself else f"replace {where}{_which(message, machine)}"


def _resumed(command: v.Resume, _: Any) -> str:
    return f"resume {command.mode}"


def _stacked(command: v.Batch, machine: Any) -> str:
    return "; ".join([operation_label(op, machine) for op in command.ops])


def _sent(command: v.Send, machine: Any) -> str:
    message, kind = command.message, command.message.source.kind
    quiet = "" if command.wakeup else " quiet"
    name = command.preset or ("queue" if quiet and command.target == "next-turn" else f"send {command.target}{quiet}")
    if kind == "goal":
        return "goal change" if command.preset == "inject" else "goal round"
    usual = "plugin" if command.target == "next-step" and quiet else "user"
    source = "" if kind == usual else f" from {'user' if kind == 'user' else 'plugin'}"
    return f"{name}{_which(message, machine) or source}"


def _which(message: v.Message, machine: Any) -> str:
    if message.id not in machine.history.known:
        return ""
    inbox = machine.book.inbox(machine.s)
    return " pending id" if message.id in inbox.next_turn + inbox.next_step else " known id"


def _where(message_id: str, machine: Any) -> str:
    for target, name in LISTS:
        position = getattr(machine.s, name).index(message_id)
        if position >= 0:
            return f"{target} {position + 1}"
    return "unknown"


def _released(command: v.Release, machine: Any) -> str:
    gate = machine.find_gate(command)
    if gate is None:
        return f"{command.kind} {_outcome(command.outcome, None, machine)}"
    return f"{gate_label(machine, gate.view)} {_outcome(command.outcome, gate.view, machine)}"


_LABELS: Mapping[type[Any], Callable[[Any, Any], str]] = {
    v.Send: _sent,
    v.Cancel: _canceled,
    v.Dispose: _disposed,
    v.Release: _released,
    v.Prepend: _prepended,
    v.Remove: _removed,
    v.Replace: _replaced,
    v.Resume: _resumed,
    v.Batch: _stacked,
}
"""How the commands are named whose method alone doesn't tell them apart."""


def _outcome(outcome: v.Outcome, gate: GateView | None, machine: Any) -> str:
    kind = type(outcome)
    if kind in _BARE:
        return outcome.kind
    if isinstance(outcome, v.Enter):
        return "enter" if outcome.messages is None else f"enter {_entered(outcome.messages, _claimed(gate))}"
    if isinstance(outcome, v.Tools):
        return "tools " + " ".join([_MODES[machine.tool_mode(call.name)] for call in outcome.calls])
    more = _more(outcome)
    brought = len(getattr(outcome, "additional_contexts", ()))
    return f"{outcome.kind}{more}{f' + {brought}' if brought else ''}"


_BARE = frozenset({v.Text, v.Partial, v.Throw, v.Reject, v.Retry, v.GiveUp, v.Continue, v.Ok, v.Fail})
"""The outcomes of which the rules tell no more than their kind."""


def _more(outcome: v.Outcome) -> str:
    match outcome:
        case v.Allow(content) if content is not None:
            return " changed"
        case v.MaxTokens(_, calls) if calls:
            return " with calls"
        case v.Result(concludes=True) | v.Error(concludes=True):
            return " concluding"
        case _:
            return ""


def _claimed(gate: GateView | None) -> Sequence[str]:
    return (gate.claimed if gate else None) or ()


_MODES = {"parallel": "p", "exclusive": "x", "unknown": "u"}


def _entered(messages: Sequence[v.Message | str], claimed: Sequence[str]) -> str:
    named = [message if isinstance(message, str) else message.id for message in messages]
    kept = [name for name in named if name in claimed]
    new = f" + {len(named) - len(kept)}" if len(named) > len(kept) else ""
    if not kept:
        return "only new" if new else "nothing"
    if sorted(kept) != sorted(claimed):
        return f"some{new}"
    return f"{'all' if kept == list(claimed) else 'other order'}{new}"


def operation_label(op: v.Operation, machine: Any) -> str:
    """Tell the label of an operation in a stack or an event."""
    if isinstance(op, v.Release):
        gate = machine.find_gate(op)
        kind = op.kind if gate is None else gate.view.kind
        return RELEASE if kind and op.outcome == v.DEFAULT_OUTCOME[kind] else f"{RELEASE} {op.outcome.kind}"
    return label(op, machine)


def gate_label(machine: Any, gate: GateView) -> str:
    """Name an open gate by its kind, and by its position among several."""
    kinds = [open_gate.view.id for open_gate in machine.gates if open_gate.view.kind == gate.kind]
    return gate.kind if len(kinds) == 1 else f"{gate.kind} {kinds.index(gate.id) + 1}"
