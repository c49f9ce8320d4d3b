"""
Probe what is not declared: its operations answer an error or a refusal, and never succeed silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from turnproof.probes.bench import Bench, NotApplicable, ProbeSpec, Probing, message, quiet
from turnproof_model import vocabulary as v
from turnproof_model.wire import to_wire

Attempt: TypeAlias = tuple[v.GateKind | None, v.Command]
"""An operation, and the gate at which it makes sense (``None``: at rest)."""

CONTEXT: Final = message("ctx", "plugin")

ATTEMPTS: Final[Mapping[str, Attempt]] = {
    "batch": (None, v.Batch((quiet("q"),))),
    "arm": (None, v.Arm("agent/status", (quiet("q"),))),
    "arm.defer": (None, v.Arm("agent/status", (quiet("q"),), defer=1)),
    "arm.where": (None, v.Arm("agent/status", (quiet("q"),), where={"status": "running"})),
    "gates.select": (None, v.Reset(gates=("model",))),
    "onAbort.select": (None, v.Reset(on_abort={"model": "park"})),
    "keepInbox": ("model", v.Cancel(keep_inbox=True)),
    "dispose": (None, v.Dispose()),
    "resume": (None, v.Resume("crash")),
    "fork": (None, v.Resume("fork")),
    "compact": (None, v.Resume("compact")),
    "flush": (None, v.Reset(gates=("flush",))),
    "step-gate": (None, v.Reset(gates=("step",))),
    "request-error": (None, v.Reset(gates=("request-error",))),
    "model.partial": ("model", v.Release(v.Partial("one"), kind="model")),
    "tool.contexts": ("tool", v.Release(v.Result((CONTEXT,)), kind="tool")),
    "tool.concludes": ("tool", v.Release(v.Result(concludes=True), kind="tool")),
    "prompt.content": ("prompt-submit", v.Release(v.Allow("other"), kind="prompt-submit")),
    "prompt.contexts": (
        "prompt-submit",
        v.Release(v.Allow(additional_contexts=(CONTEXT,)), kind="prompt-submit"),
    ),
    "inbox.remove": (None, v.Remove("pending")),
    "inbox.replace": (None, v.Replace("pending", message("other"))),
    "inbox.prepend": (None, v.Prepend("next-turn", message("head"))),
    "goal": (None, v.Goal()),
    "reference": (None, v.Reference(message("asked"), CONTEXT)),
}
"""An operation of each capability that has one; the others only say what is seen."""


def _attempting(capability: str) -> Probing:
    gate, command = ATTEMPTS[capability]
    wire: Mapping[str, Any] = to_wire(command)

    def attempt(bench: Bench) -> None:
        if bench.profile.has(capability):
            raise NotApplicable(f"'{capability}' is declared")
        bench.reset()
        if gate is None:
            bench.do(quiet("pending"))
        elif gate in bench.default_kinds:
            bench.reach(gate)
        else:
            raise NotApplicable(f"contract '{bench.profile.contract}' has no gate of kind '{gate}'")
        bench.denied(wire["method"], wire["params"])

    return attempt


PROBES: Final = tuple(
    ProbeSpec(f"undeclared/{capability}", f"{capability}: not declared, so not performed", _attempting(capability))
    for capability in ATTEMPTS
)
