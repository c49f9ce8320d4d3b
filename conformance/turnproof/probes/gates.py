"""
Probe the gates: which open, how they are shown and named, and how each is settled by a release or by an abort.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from turnproof.probes.bench import Bench, demand, message, probe
from turnproof_model import vocabulary as v
from turnproof_model.events import Event, GateAborted, GateOpened
from turnproof_model.observation import GateView
from turnproof_model.wire import camel

DETAILS: Final[Mapping[v.GateKind, tuple[str, ...]]] = {
    "prompt-submit": ("message",),
    "pre-step": ("claimed", "turn", "step"),
    "step": ("turn", "step"),
    "request-error": ("turn", "step"),
    "turn-stopping": ("turn",),
    "tool": ("call_id", "name"),
}
"""What a gate of each kind shows beside its id."""


def opened(events: Iterable[Event]) -> list[GateOpened]:
    """List the gates that opened."""
    return [event for event in events if isinstance(event, GateOpened)]


@probe("gates/default", "a reset that names no kinds gates the contract's own, each shown with its details")
def default_gates(bench: Bench) -> None:
    """Reach a gate of each default kind; no other kind may open on the way."""
    for kind in bench.default_kinds:
        bench.reset()
        gate = bench.reach(kind)
        missing = [camel(name) for name in DETAILS.get(kind, ()) if getattr(gate, name) is None]
        demand(not missing, f"a gate of kind '{kind}' must show {', '.join(missing)} (it does not)")
        shown = {"message": "p", "claimed": ("p",), "call_id": "c1", "name": "par"}
        for name in DETAILS.get(kind, ()):
            expected, got = shown.get(name), getattr(gate, name)
            demand(expected is None or got == expected, f"{camel(name)} of '{gate.id}' must be {expected} (got {got})")
        bench.run_out(bench.do(v.Inspect()))
        kinds = {event.gate_kind for event in opened(bench.trail)}
        extra = sorted(kinds - set(bench.default_kinds))
        demand(not extra, f"only the default kinds must be gated (so was {', '.join(extra)})")


@probe("gates/ids", "gates are numbered in opening order, announced by gate/open, and listed until they are settled")
def gate_ids(bench: Bench) -> None:
    """Follow every gate of a turn with tools."""
    bench.reset()
    seen = bench.send("p")
    known: dict[str, str] = {}
    batch: v.Outcome | None = v.Tools((v.Call("c1", "par"), v.Call("c2", "exc")))
    while True:
        for event in opened(seen.events):
            expected = f"g{len(known) + 1}"
            demand(event.gate == expected, f"the next gate must be '{expected}' (got '{event.gate}')")
            known[event.gate] = event.gate_kind
        for gate in seen.gates:
            demand(known.get(gate.id) == gate.kind, f"gate '{gate.id}' must be announced by gate/open (it was not)")
        if not seen.gates:
            return
        settled = seen.gates[0]
        chosen, batch = (batch, None) if settled.kind == "model" else (None, batch)
        seen = bench.release(settled, chosen)
        demand(
            settled.id not in {gate.id for gate in seen.gates}, f"a settled gate must leave the list ('{settled.id}')"
        )


@probe("gates/select", "a reset gates exactly the kinds that it names", "gates.select")
def select(bench: Bench) -> None:
    """Gate nothing, then one kind after the other; what isn't gated takes its default outcome."""
    bench.reset(gates=())
    seen = bench.send("p")
    demand(not opened(seen.events), "a reset with gates [] must gate nothing (a gate opened)")
    demand(seen.status == "idle", f"a turn without gates must end by itself (status is '{seen.status}')")
    for kind in (bench.first, "model", "turn-stopping"):
        bench.reset(gates=(kind,))
        kinds = {event.gate_kind for event in opened(bench.turn("p"))}
        demand(kinds == {kind}, f"a reset with gates ['{kind}'] must gate that kind (gated were {sorted(kinds)})")


def two_tools(bench: Bench) -> tuple[GateView, GateView]:
    """Open two gates of tools that run side by side."""
    bench.reset()
    seen = bench.release(bench.reach("model"), v.Tools((v.Call("c1", "par"), v.Call("c2", "par"))))
    gates = [gate for gate in seen.gates if gate.kind == "tool"]
    demand(len(gates) == 2, f"two calls of a parallel tool must open two gates ({len(gates)} opened)")
    return gates[0], gates[1]


@probe("release/id", "release settles the gate it names", "tools.parallel")
def release_by_id(bench: Bench) -> None:
    """Settle the younger of two."""
    first, second = two_tools(bench)
    left = {gate.id for gate in bench.release(second).gates}
    demand(second.id not in left, f"release must settle the gate it names ('{second.id}' is still open)")
    demand(first.id in left, f"release must settle no other gate ('{first.id}' is gone)")


@probe("release/kind", "release by kind settles the oldest open gate of that kind")
def release_by_kind(bench: Bench) -> None:
    """Settle the older of two, or, without parallel tools, the only one."""
    if bench.profile.has("tools.parallel"):
        first, second = two_tools(bench)
    else:
        bench.reset()
        first = second = bench.reach("tool")
    left = {gate.id for gate in bench.do(v.Release(v.Result(), kind="tool")).gates}
    demand(first.id not in left, f"release by kind must settle the oldest gate ('{first.id}' is still open)")
    demand(second is first or second.id in left, f"release by kind must settle one gate ('{second.id}' is gone too)")


def aborted(events: Iterable[Event]) -> set[str]:
    """List the gates that settled by themselves."""
    return {event.gate for event in events if isinstance(event, GateAborted)}


@probe("onAbort/settle", "a cooperative gate settles by itself on an abort, announced by gate/aborted")
def abort_settles(bench: Bench) -> None:
    """Cancel at each kind of gate."""
    for kind in bench.default_kinds:
        bench.reset()
        gate = bench.reach(kind)
        seen = bench.do(v.Cancel())
        demand(gate.id in aborted(seen.events), f"a cancel at '{kind}' must be followed by gate/aborted (it was not)")
        demand(
            gate.id not in {left.id for left in seen.gates}, f"an aborted '{kind}' must leave the list (it is there)"
        )
        bench.send("next")


@probe("onAbort/park", "an uncooperative gate stays open through an abort until it is released", "onAbort.select")
def abort_parks(bench: Bench) -> None:
    """Cancel at each kind of gate, then let it answer late."""
    for kind in bench.default_kinds:
        bench.reset(on_abort={kind: "park"})
        gate = bench.reach(kind)
        bench.do(v.steer(message("s")))
        seen = bench.do(v.Cancel())
        left = {open_.id: open_ for open_ in seen.gates}
        demand(gate.id in left, f"a parked '{kind}' must stay in the list through an abort (it is gone)")
        demand(left[gate.id].aborted, f"a parked '{kind}' must show that it was aborted (it does not)")
        demand(gate.id not in aborted(seen.events), f"a parked '{kind}' must not publish gate/aborted (it did)")
        after = bench.release(gate)
        demand(gate.id not in {open_.id for open_ in after.gates}, f"a parked '{kind}' must leave when it is released")
