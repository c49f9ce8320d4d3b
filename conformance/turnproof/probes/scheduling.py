"""
Probe the runner's reach into the agent's time: operations in one stack, inside events, and some breaks later.

Places are marked by an operation that every driver refuses: its ``op-threw`` stands where it was performed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from turnproof.probes.bench import (
    UNKNOWN_GATE,
    Bench,
    demand,
    mentions,
    opens,
    position,
    probe,
    quiet,
    threw,
)
from turnproof_model import vocabulary as v
from turnproof_model.events import Event, GateOpened, RequestMade, StatusChanged, TurnStart

MARK = (UNKNOWN_GATE,)


def marks(events: Iterable[Event]) -> int:
    """Count the marks."""
    return sum(map(threw, events))


@probe("batch/one-stack", "the operations of a batch are performed in one stack, before the agent goes on", "batch")
def one_stack(bench: Bench) -> None:
    """Release a gate and leave a mark: the mark precedes everything that the release sets off."""
    bench.reset()
    gate = bench.reach(bench.first)
    seen = bench.do(v.Batch((v.Release(v.DEFAULT_OUTCOME[gate.kind], gate=gate.id), UNKNOWN_GATE)))
    mark = position(seen.events, threw, "the op-threw of the refused operation")
    opening = position(seen.events, lambda event: isinstance(event, GateOpened), "the next gate/open")
    demand(mark == 0, f"the second operation must be performed before the agent goes on (events {mark} before it)")
    demand(opening > mark, "the agent must go on after the batch (it did not)")


@probe("batch/refusals", "what is refused inside a batch is an op-threw event, and the rest is performed", "batch")
def refusal_in_batch(bench: Bench) -> None:
    """Put a refused operation before a good one."""
    bench.reset()
    seen = bench.do(v.Batch((UNKNOWN_GATE, quiet("q"))))
    demand(marks(seen.events) == 1, f"one refusal must leave one op-threw ({marks(seen.events)} are there)")
    position(seen.events, lambda event: mentions(event, "q"), "the operation behind the refused one")


@probe("arm/inside", "armed operations are performed inside the event, whatever its kind", "arm")
def arm_inside(bench: Bench) -> None:
    """Leave a mark inside a live event, a durable one, a request and the opening of a gate: it follows at once."""
    places: Mapping[str, Callable[[Event], bool]] = {
        "agent/status": lambda event: isinstance(event, StatusChanged),
        "turn/start": lambda event: isinstance(event, TurnStart),
        "request": lambda event: isinstance(event, RequestMade),
        "gate:model": opens("model"),
    }
    for on, matches in places.items():
        bench.reset()
        bench.do(v.Arm(on, MARK))
        bench.reach("model")
        place = position(bench.trail, matches, f"'{on}'")
        demand(
            any(map(threw, bench.trail[place + 1 : place + 2])), f"an arm on '{on}' must fire inside it (it did not)"
        )


@probe("arm/once", "an arm fires once", "arm")
def arm_once(bench: Bench) -> None:
    """Run two turns that both reach the event."""
    bench.reset()
    bench.do(v.Arm("gate:model", MARK))
    counts = [marks(bench.turn("a")), marks(bench.turn("b"))]
    demand(counts == [1, 0], f"an arm must fire in the first turn and not in the second (it fired {counts} times)")


@probe("arm/nth", "an arm with nth waits for that matching event", "arm")
def arm_nth(bench: Bench) -> None:
    """Wait for the second of three."""
    bench.reset()
    bench.do(v.Arm("gate:model", MARK, nth=2))
    counts = [marks(bench.turn(name)) for name in "abc"]
    demand(counts == [0, 1, 0], f"nth 2 must fire in the second of three turns (it fired {counts} times)")


@probe("arm/where", "an arm with where waits for an event whose fields are equal", "arm", "arm.where")
def arm_where(bench: Bench) -> None:
    """Wait for the opening of a model gate among other openings."""
    bench.reset()
    bench.do(v.Arm("gate/open", MARK, where={"gateKind": "model"}))
    events = bench.turn("a")
    place = position(events, opens("model"), "the opening of the model gate")
    demand(
        marks(events) == 1 and any(map(threw, events[place + 1 : place + 2])),
        "where must single out the opening of the model gate",
    )


def order(events: Iterable[Event], *names: str) -> list[str]:
    """Tell in which order messages are first mentioned."""
    listed = list(events)
    place = {name: position(listed, partial(mentions, name=name), f"message '{name}'") for name in names}
    return sorted(names, key=place.__getitem__)


@probe(
    "arm/defer",
    "deferred operations are performed after the stack, others inside it",
    "arm",
    "arm.defer",
    "batch",
)
def arm_defer(bench: Bench) -> None:
    """Arm on the mark of a batch: what is deferred comes behind the rest of the batch."""
    for defer, expected in ((1, ["rest", "armed"]), (0, ["armed", "rest"])):
        bench.reset()
        bench.do(v.Arm("op-threw", (quiet("armed"),), defer=defer))
        seen = bench.do(v.Batch((UNKNOWN_GATE, quiet("rest"))))
        got = order(seen.events, "rest", "armed")
        demand(got == expected, f"with defer {defer} the order must be {expected} (got {got})")


@probe("arm/defer-order", "operations deferred by more scheduler breaks come later", "arm", "arm.defer")
def arm_defer_order(bench: Bench) -> None:
    """Arm two on the same event, the longer deferral first."""
    bench.reset()
    bench.do(v.Arm(f"gate:{bench.first}", (quiet("slow"),), defer=3))
    bench.do(v.Arm(f"gate:{bench.first}", (quiet("quick"),), defer=1))
    got = order(bench.send("p").events, "slow", "quick")
    demand(got == ["quick", "slow"], f"defer 1 must come before defer 3 (got {got})")


@probe("arm/nested", "an arm can be armed inside an event", "arm")
def arm_nested(bench: Bench) -> None:
    """Arm on the model gate from inside the gate before it."""
    bench.reset()
    bench.do(v.Arm(f"gate:{bench.first}", (v.Arm("gate:model", MARK),)))
    events = bench.turn("p")
    place = position(events, opens("model"), "the opening of the model gate")
    demand(any(map(threw, events[place + 1 : place + 2])), "an arm set inside an event must fire (it did not)")


@probe("arm/dies", "an arm dies with its agent", "arm")
def arm_dies(bench: Bench) -> None:
    """Reset before the event comes."""
    bench.reset()
    bench.do(v.Arm(f"gate:{bench.first}", MARK))
    bench.reset()
    demand(marks(bench.turn("p")) == 0, "an arm must not outlive a reset (it fired)")
