"""
Tell what a candidate must declare to be given a schedule: the capabilities that its commands and outcomes belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from turnproof_model import vocabulary as v

_OPERATIONS: Final[Mapping[type, str]] = {
    v.Batch: "batch",
    v.Arm: "arm",
    v.Dispose: "dispose",
    v.Remove: "inbox.remove",
    v.Replace: "inbox.replace",
    v.Prepend: "inbox.prepend",
    v.Reference: "reference",
    v.Goal: "goal",
    v.Resume: "resume",
}
_GATES: Final[Mapping[str, str]] = {"flush": "flush", "step": "step-gate", "request-error": "request-error"}
_TOOLS: Final[Mapping[str, str]] = {"par": "tools.parallel", "exc": "tools.exclusive"}


def needed(commands: Iterable[v.Command]) -> tuple[str, ...]:
    """List the capabilities that a schedule depends on, each once, in the order in which they are met."""
    return tuple(dict.fromkeys(name for command in commands for name in _of_command(command)))


def _of_command(command: v.Command) -> Iterator[str]:
    if type(command) in _OPERATIONS:
        yield _OPERATIONS[type(command)]
    match command:
        case v.Batch(ops):
            yield from needed(ops)
        case v.Arm(_, ops, where, _, defer):
            if where:
                yield "arm.where"
            if defer:
                yield "arm.defer"
            yield from needed(ops)
        case v.Cancel(_, True):
            yield "keepInbox"
        case v.Resume(mode) if mode in ("fork", "compact"):
            yield mode
        case v.Release(outcome, _, kind):
            yield from _of_gates((kind,) if kind else ())
            yield from _of_outcome(outcome)
        case v.Reset(gates, on_abort):
            if gates is not None:
                yield "gates.select"
            if on_abort:
                yield "onAbort.select"
            yield from _of_gates((*(gates or ()), *on_abort))
        case _:
            pass


def _of_gates(kinds: Iterable[v.GateKind]) -> Iterator[str]:
    yield from (_GATES[kind] for kind in kinds if kind in _GATES)


def _of_outcome(outcome: v.Outcome) -> Iterator[str]:
    match outcome:
        case v.Tools(calls) | v.MaxTokens(_, calls):
            yield from (_TOOLS[call.name] for call in calls if call.name in _TOOLS)
        case v.Partial():
            yield "model.partial"
        case v.Allow(content, contexts):
            if content is not None:
                yield "prompt.content"
            if contexts:
                yield "prompt.contexts"
        case v.Block(contexts) if contexts:
            yield "prompt.contexts"
        case v.Result(contexts, concludes) | v.Error(_, contexts, concludes):
            if contexts:
                yield "tool.contexts"
            if concludes:
                yield "tool.concludes"
        case _:
            pass
