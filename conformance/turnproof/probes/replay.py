"""
Probe that a driver replays: the same requests give the same observations, whatever went before and in any process.
"""

from __future__ import annotations

from typing import Any

from attrs import fields

from turnproof.probes.bench import (
    MOST_RELEASES,
    UNKNOWN_GATE,
    Bench,
    NotApplicable,
    ProbeFailed,
    demand,
    message,
    probe,
    quiet,
)
from turnproof_model import vocabulary as v
from turnproof_model.observation import Observation
from turnproof_model.wire import shorten


def tour(bench: Bench) -> list[Observation]:
    """Do a little of everything from a reset on, always in the same way."""
    has = bench.profile.has
    seen = [bench.reset(), bench.send("a")]
    calls = (v.Call("c1", "par"), v.Call("c2", "par"), v.Call("c3", "exc"), v.Call("c4", "no-such-tool"))

    def go_on(model: v.Outcome | None = None) -> None:
        for _ in range(MOST_RELEASES):
            if not seen[-1].gates:
                return
            gate = seen[-1].gates[0]
            chosen, model = (model, None) if gate.kind == "model" else (None, model)
            seen.append(bench.release(gate, chosen))
        raise ProbeFailed(f"turns must end by default outcomes ({MOST_RELEASES} gates were settled)")

    go_on(v.Tools(calls))
    ops = (quiet("q"), v.inject(message("i", "plugin")), v.steer(message("s")), UNKNOWN_GATE)
    seen += [bench.do(v.Batch(ops))] if has("batch") else [bench.do(v.steer(message("s")))]
    if has("arm"):
        seen.append(bench.do(v.Arm("gate:model", (v.Cancel(), v.followup(message("b"))))))
    go_on()
    seen += [bench.send("c"), bench.do(v.Cancel())]
    go_on()
    if has("dispose"):
        seen += [bench.send("d"), bench.do(v.Dispose())]
    return seen


def compare(first: list[Observation], second: list[Observation], demanded: str) -> None:
    """
    Demand that two tours are the same.

    Raises:
        ProbeFailed: they part; the message shows where.
    """
    for number, (one, other) in enumerate(zip(first, second, strict=False), 1):
        if one != other:
            name = next(a.name for a in fields(Observation) if getattr(one, a.name) != getattr(other, a.name))
            shown = f"{shorten(getattr(one, name))}, then {shorten(getattr(other, name))}"
            raise ProbeFailed(f"{demanded} (observation {number} differs in {name}: {shown})")
    demand(len(first) == len(second), f"{demanded} ({len(first)} observations, then {len(second)})")


@probe("reset/no-leak", "nothing of a dropped agent is ever seen again")
def no_leak(bench: Bench) -> None:
    """Drop agents at each kind of gate, with cancels unheard and scripts unfired; the next must not notice."""
    bench.start()
    expected = tour(bench)
    for kind in bench.default_kinds:
        park: dict[str, Any] = {"on_abort": {kind: "park"}} if bench.profile.has("onAbort.select") else {}
        bench.reset(**park)
        bench.reach(kind)
        bench.do(v.steer(message("pending")))
        if bench.profile.has("arm"):
            bench.do(v.Arm("agent/status", (v.followup(message("leaked")),), where={}, nth=3))
        bench.do(v.Cancel())
        compare(expected, tour(bench), f"an agent after one that was dropped at '{kind}' must be like the first")


@probe("determinism/same-process", "the same requests give the same observations again")
def same_process(bench: Bench) -> None:
    """Take the tour twice."""
    compare(tour(bench), tour(bench), "the same requests must give the same observations")


@probe("determinism/fresh-process", "the same requests give the same observations in a fresh process")
def fresh_process(bench: Bench) -> None:
    """Take the tour in two drivers."""
    first = tour(bench)
    bench.start()
    compare(first, tour(bench), "the same requests must give the same observations in a fresh process")


@probe("shutdown", "shutdown is answered by {}, and the process ends with status 0 having written nothing else")
def shutdown(bench: Bench) -> None:
    """Shut a driver down that has lived a little."""
    tour(bench)
    bench.lost()
    if bench.client.shutdown() is None:
        raise NotApplicable("the driver runs in this process; shutdown was answered by {}")
