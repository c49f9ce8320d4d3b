"""
Hold where a search for differences stands, and list the moves that may be tried from there.

The alphabet is small on purpose: every way to send, every decision, replies with and without tools, and the few ways to
interfere: cancel, disposal, crash, two sends in one stack. A move that means nothing on one side is dropped by whoever
makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from turnproof.contractdiff_families import FAMILIES, Family
from turnproof.contractdiff_play import ASKS, Decision, Move
from turnproof.contractdiff_views import Story, committed, sends
from turnproof.making import LETTERS, PLUGIN
from turnproof_model import vocabulary as v
from turnproof_model.machine import Machine


@frozen
class Bounds:
    """Hold how far a search goes: moves of a scenario, messages sent in it, moves that interfere (all counts)."""

    moves: int = 5
    messages: int = 2
    interferences: int = 2


@frozen
class Node:
    """
    Hold a scenario as far as it goes.

    Attributes:
        machines: both, after the last move.
        stories: both, up to the last move.
        wholes: both, up to their rest.
        live: the families that have seen no difference yet.
    """

    machines: tuple[Machine[Any], Machine[Any]]
    stories: tuple[Story, Story]
    wholes: tuple[Story, Story]
    moves: tuple[Move, ...] = ()
    live: tuple[Family, ...] = FAMILIES

    @property
    def sent(self) -> tuple[str, ...]:
        """The ids of what was sent, each once."""
        return tuple(dict.fromkeys(send.message.id for move in self.moves for send in sends_of(move)))

    @property
    def key(self) -> str:
        """What the future depends on."""
        titles = [family.title for family in self.live]
        return repr((titles, self.sent, *(machine.fingerprint() for machine in self.machines)))

    @property
    def out_of_step(self) -> bool:
        """Whether the two wait for different things or have logged different messages: the rest is of that cause."""
        one, other = (
            ([_meaning(gate.kind) for gate in story[-1].observation.gates], set(committed(story)))
            for story in self.stories
        )
        return one != other


def _meaning(kind: v.GateKind) -> str:
    return "decision" if kind in ASKS.values() else kind


def sends_of(move: Move) -> Iterator[v.Send]:
    """Go through the sends of a move."""
    return iter(()) if isinstance(move, Decision) else sends(move)


def interferes(move: Move) -> bool:
    """Tell whether a move is anything but sending and going on."""
    if isinstance(move, Decision):
        return move.verdict != "enter"
    return not isinstance(move, (v.Send, v.Release))


def parts(scenario: tuple[Move, ...]) -> Iterator[tuple[Move, ...]]:
    """Leave out one move, or all but one operation of a stack; a move that only goes on says when others come."""
    for number, move in enumerate(scenario):
        if isinstance(move, v.Release) or move == Decision("enter"):
            continue
        smaller: list[tuple[Move, ...]] = [()]
        if isinstance(move, v.Batch):
            smaller.extend((op,) for op in move.ops)
        yield from ((*scenario[:number], *instead, *scenario[number + 1 :]) for instead in smaller)


# ------------------------------------------------------------------------------------------------ what may be tried
def moves(node: Node, bounds: Bounds) -> Iterator[Move]:
    """List the moves that may be tried next."""
    left = bounds.messages - len(node.sent)
    names = LETTERS[len(node.sent) :]
    if left:
        message = v.Message(names[0], names[0])
        yield from (v.followup(message), v.steer(message))
        yield v.inject(v.Message(names[0], names[0], PLUGIN))
        yield v.Send(message, "next-turn", wakeup=False)
    yield from _again(node)
    yield from _releases()
    if sum(map(interferes, node.moves)) < bounds.interferences:
        yield from _interferences(left, names)


def _again(node: Node) -> Iterator[Move]:
    """Send what waits on both sides a second time."""
    one, other = (story[-1].observation.inbox for story in node.stories)
    if one and other and one.next_turn and one.next_turn == other.next_turn:
        yield v.followup(v.Message(one.next_turn[0], one.next_turn[0]))


def _releases() -> Iterator[Move]:
    yield from (Decision("enter"), Decision("refuse"), Decision("throw"))
    replies = (v.Text(), v.Tools((v.Call("c1", "exc"),)), v.Error())
    yield from (v.Release(outcome, kind="model") for outcome in replies)
    yield from (v.Release(outcome, kind="tool") for outcome in (v.Result(), v.Result(concludes=True)))
    yield v.Release(v.Retry(), kind="request-error")
    yield v.Release(v.Continue(), kind="turn-stopping")


def _interferences(left: int, names: str) -> Iterator[Move]:
    yield from (v.Cancel(), v.Cancel(keep_inbox=True))
    a, b = (v.Message(name, name) for name in names[:2])
    if left:
        yield from (v.Batch((v.Cancel(), send(a))) for send in (v.followup, v.steer))
    if left > 1:
        yield v.Batch((v.steer(a), v.steer(b)))
    yield from (v.Dispose(), v.Resume("crash"))
