"""
Draw random commands for the machine of contract ``claim``, from a seed and from what is open now.

Ids are drawn from a small pool, so that duplicates, edits and re-entrant commands meet what is pending.
"""

from __future__ import annotations

from random import Random

from attrs import define
from claim_notation import person, plugin

from turnproof_model import vocabulary as v
from turnproof_model.machine import Machine
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser

IDS = "abcdefgh"
TARGETS: tuple[v.Target, ...] = ("next-turn", "next-step")
EVENTS = (
    *("agent/status", "agent/inbox/spliced", "agent/inbox/inserted", "agent/inbox/claimed", "agent/inbox/discarded"),
    *("turn/start", "turn/end", "step/start", "step/end", "user/message", "assistant/message", "tool/call"),
    *("tool/result", "request", "agent/error", "agent/disposed", "gate:pre-step", "gate:model", "gate:tool"),
)


@define
class Whims(Chooser):
    """Live by one drawn value of each freedom, and draw a way on every occasion."""

    random: Random
    settled: dict[str, str]

    def policy(self, policy: Policy) -> str:
        """Draw the value once."""
        return self.settled.setdefault(policy.name, self.random.choice(policy.values))

    def once(self, what: str, options: int) -> int:
        """Draw a way."""
        return self.random.randrange(options)


def reset(random: Random) -> v.Reset:
    """Draw which gates are the runner's, and which of them answer no abort."""
    kinds = v.TURN_GATES["claim"]
    gates = tuple(kind for kind in kinds if kind == "model" or random.random() < 0.7)
    return v.Reset(gates, {kind: "park" for kind in kinds if random.random() < 0.3})


def command(random: Random, machine: Machine[object]) -> v.Command:  # type: ignore[type-var]
    """Draw the next command."""
    kind = random.choices(("release", "operation", "batch", "arm", "resume"), (8, 7, 2, 3, 0.2))[0]
    if kind == "release" and machine.gates:
        return release(random, machine)
    if kind == "batch":
        first = [release(random, machine)] if machine.gates and random.random() < 0.5 else []
        return v.Batch((*first, *(operation(random) for _ in range(random.randint(1, 3)))))
    if kind == "arm":
        defer = random.choice((0, 0, 1, 2))
        return v.Arm(random.choice(EVENTS), (operation(random), operation(random)), defer=defer)
    if kind == "resume":
        return v.Resume(random.choice(("crash", "fork")))
    return operation(random)


def operation(random: Random) -> v.Operation:
    """Draw what a caller may do at any time."""
    name, other = random.choice(IDS), random.choice(IDS)
    drawn: tuple[v.Operation, ...] = (
        *(v.followup(person(name)), v.steer(person(name)), v.inject(plugin(name))),
        *(v.Send(person(name), "next-turn", wakeup=False), v.Reference(person(name), plugin(other))),
        *(v.Remove(name), v.Replace(name, person(other)), v.Prepend(random.choice(TARGETS), plugin(name))),
        *(v.Cancel("user"), v.Cancel("parent", keep_inbox=True), v.Dispose()),
    )
    return random.choices(drawn, (6, 6, 5, 2, 1, 1, 1, 1, 1, 1.5, 0.2))[0]


def release(random: Random, machine: Machine[object]) -> v.Release:  # type: ignore[type-var]
    """Draw an outcome for one of the open gates."""
    gate = random.choice(machine.gates).view
    return v.Release(random.choice(outcomes(random, gate.kind)), gate.id)


def outcomes(random: Random, kind: v.GateKind) -> tuple[v.Outcome, ...]:
    """List what a gate may be released with, the usual ones more than once."""
    contexts = tuple(plugin(name) for name in random.sample(IDS, random.choice((0, 0, 1, 2))))
    names = random.choices(("par", "par", "exc", "lost"), k=random.randint(1, 3))
    calls = tuple(v.Call(f"call-{i}", name) for i, name in enumerate(names))
    lists: dict[v.GateKind, tuple[v.Outcome, ...]] = {
        "pre-step": (v.Enter(), v.Enter(), v.Enter(), v.Enter(contexts), v.Reject(), v.Throw()),
        "model": (v.Text(), v.Tools(calls), v.Tools(calls), v.MaxTokens(), v.Partial("so "), v.Error()),
        "tool": (v.Result(contexts), v.Result(contexts), v.Result(contexts, concludes=True), v.Error(None, contexts)),
        "request-error": (v.Retry(), v.GiveUp(), v.Throw()),
        "turn-stopping": (v.Continue(), v.Continue(), v.Throw()),
    }
    return lists[kind]
