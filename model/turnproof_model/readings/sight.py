"""
Let an observer read along concretely: real events, real messages, ghosts as plain values.

A ``ConcreteSight`` follows one choice of the messages A and B; what it finds broken is listed by rule. ``Watching``
makes a machine show its sights what observers see. Between two moves ``holds`` may be asked of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from attrs import define, field

from turnproof_model import events as e
from turnproof_model.algebra import Queue, contexts_of
from turnproof_model.policies import Policy
from turnproof_model.readings.observers import Frame, Observer
from turnproof_model.readings.terms import Number, Truth
from turnproof_model.rulebook import Refused
from turnproof_model.vocabulary import Arm, GateKind, Partial, Release

if TYPE_CHECKING:
    from turnproof_model.machine import Machine

    _Base = Machine[Any]
else:
    _Base = object


class Word(str):
    """Be a word of the state that tells whether it is one of several."""

    __slots__ = ()

    def among(self, *words: str) -> bool:
        """Tell whether it is one of these."""
        return self in words


class _Listed:
    """Be a queue that counts its items by mark."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many items have a mark, by its name."""
        return {"late": sum(item.late for item in self._queue.items)}


class _View:
    """Be the state of a machine as observers look at it."""

    def __init__(self, s: Any) -> None:
        self._s = s

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._s, name)
        if isinstance(value, str):
            return Word(value)
        return _Listed(value) if isinstance(value, Queue) and name in {"next_turn", "next_step"} else value


def _usual(policy: Policy) -> str:
    return policy.default


@define(eq=False)
class ConcreteSight:
    """
    Answer what observers ask, on real messages, and note the rules that are broken.

    ``tags``: the ids of the messages A and B, those that there are. ``freedom``: tells which way a freedom goes.
    ``s``: a view of the machine's state. ``broken``: rules in the order in which they broke, each as often as it did.
    ``looked``: the rules of which something was demanded.
    """

    observer: Observer
    tags: dict[str, str] = field(factory=dict)
    freedom: Callable[[Policy], str] = _usual
    s: Any = None
    g: Any = field(init=False)
    frames: list[Frame] = field(factory=list)
    brought: tuple[tuple[Number, Number, Number], Truth] = ((0, -1, -1), False)
    repairing: bool = False
    broken: list[str] = field(factory=list)
    looked: set[str] = field(factory=set)
    named: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        self.g = SimpleNamespace(**self.observer.ghosts)

    def copy(self) -> ConcreteSight:
        """Make an independent sight with the same ghosts and nothing broken; no command may be under way."""
        twin = ConcreteSight(self.observer, dict(self.tags), self.freedom, brought=self.brought, named=self.named)
        twin.g = SimpleNamespace(**vars(self.g))
        return twin

    def look(self, s: Any) -> None:
        """Look at a machine's state from here on."""
        self.s = _View(s)

    # -------------------------------------------------------------------------------------------- told
    def see(self, event: e.Event) -> None:
        """Show an event to the observer."""
        if isinstance(event, e.AssistantMessage):
            self.named = event.tool_calls
        self.observer.see(self, event)

    def repair(self, event: e.Event) -> None:
        """Show an event that crash repair adds."""
        self.repairing = True
        self.see(event)
        self.repairing = False

    def holds(self) -> None:
        """Demand what holds between two moves."""
        self.observer.holds(self)

    # -------------------------------------------------------------------------------------------- asked
    def check(self, rule: str, condition: Truth) -> None:
        """Demand something here."""
        self.looked.add(rule)
        if not condition:
            self.broken.append(rule)

    def bears(self, name: Any, tag: str) -> bool:
        """Tell whether an id is that of a tagged message, or one of several ids is."""
        if isinstance(name, str):
            return self.tags.get(tag) == name
        return self.place(name, tag) >= 0

    def many(self, ids: Any) -> bool:
        """Tell whether these are several ids at once."""
        return isinstance(ids, tuple)

    def size(self, ids: Any) -> int:
        """Tell how many ids these are."""
        return len(ids)

    def place(self, ids: Any, tag: str) -> int:
        """Tell where among ids that of a tagged message is, or -1."""
        mine = self.tags.get(tag)
        return next((i for i, one in enumerate(ids) if one == mine), -1)

    def laid(self, contexts: Any) -> tuple[int, int, int]:
        """Tell how many contexts an outcome brings along, and where A and B are among them, or -1."""
        ids = tuple(message.id for message in contexts)
        return len(ids), self.place(ids, "A"), self.place(ids, "B")

    def decided(self, s: Any, outcome: Any) -> tuple[bool, tuple[int, int, int]]:
        """Tell whether a pre-step lets the claimed batch in, all of it in front, and what besides."""
        claimed = s.claimed.items
        entered = tuple(item.message for item in claimed) if outcome.messages is None else tuple(outcome.messages)
        ids = [message.id for message in entered]
        whole = ids[: len(claimed)] == [item.id for item in claimed]
        attached = tuple(one for item in claimed if item.id in ids for one in item.attached)
        return whole, self.laid((*(entered[len(claimed) :] if whole else entered), *attached))

    def call_number(self, call_id: str) -> int:
        """Tell the place of a call in its batch."""
        return self.named.index(call_id) if call_id in self.named else -1

    def call_count(self, call_id: str) -> int:  # noqa: ARG002  # each call has an event of its own
        """Tell how many calls an event speaks of at once."""
        return 1

    def calls(self, named: Any) -> int:
        """Tell how many calls an assistant message makes."""
        return len(named)

    def cause(self, op: Any) -> str:
        """Tell who cancels."""
        return str(op.cause)

    def choose(self, policy: Policy) -> str:
        """Tell which way a freedom goes."""
        return self.freedom(policy)


class Watching(_Base):
    """
    Make a machine show ``sights`` what observers see; ``depth`` counts the publications under way.

    It goes in front of the machine in the list of bases.
    """

    sights: list[ConcreteSight]
    depth: int

    def _tell(self, hook: str, *told: Any) -> None:
        for sight in self.sights:
            sight.look(self.s)
            getattr(sight.observer, hook)(sight, *told)

    def demand(self) -> None:
        """Demand what holds between two moves."""
        self._tell("holds")

    def publish(self, event: e.Event, *rules: str) -> None:
        """Show an event, then let listeners have it."""
        if isinstance(event, e.ToolResult):
            slots = (slot for slot in self.s.batch.slots if slot.call.id == event.call_id)
            outcome = next((slot.outcome for slot in slots if not slot.settled_by_abort), None)
            self._tell("returns", contexts_of(outcome), getattr(outcome, "concludes", False))
        for sight in self.sights:
            sight.look(self.s)
            sight.see(event)
        self.depth += 1
        super().publish(event, *rules)
        self.depth -= 1
        if isinstance(event, e.ToolResult):
            self._tell("returned")

    def repair(self, event: e.Event) -> None:
        """Show what crash repair adds."""
        for sight in self.sights:
            sight.look(self.s)
            sight.repair(event)
        super().repair(event)

    def reply(self, answer: bool) -> None:
        """Show an answer."""
        self._tell("replied", answer)
        super().reply(answer)

    def perform(self, op: Any) -> None:
        """
        Show a command as it begins and as it returns.

        Raises:
            Refused: the agent refuses it.
        """
        if isinstance(op, (Arm, Release)):
            super().perform(op)
            return
        self._tell("issued", op)
        try:
            super().perform(op)
        except Refused:
            self._tell("done", op, True)
            raise
        self._tell("done", op, False)

    def open(self, kind: GateKind, *, slot: int = -1, **more: Any) -> None:
        """Open a gate; one that nobody asks for is shown, too, for it is asked and settles at once."""
        if not self.asks(kind):
            for sight in self.sights:
                sight.look(self.s)
                sight.see(e.GateOpened(kind, kind))
        super().open(kind, slot=slot, **more)

    def run_in_stack(self, *stops: str) -> None:
        """Let the loop run in the caller's stack; what it does is no part of the command."""
        hidden = [sight.frames for sight in self.sights]
        for sight in self.sights:
            sight.frames = []
        super().run_in_stack(*stops)
        for sight, frames in zip(self.sights, hidden, strict=True):
            sight.frames = frames

    def _move(self) -> None:
        kind: GateKind | None = self.book.phases[self.s.at].awaits
        if kind is not None and not isinstance(self.s.outcome, Partial):
            self._tell("takes", kind, self.s.outcome)
        for sight in self.sights:
            if self.s.at in sight.observer.leaves:
                sight.look(self.s)
                sight.observer.moves(sight, self.s.at)
        super()._move()

    def _resume(self, command: Any) -> None:
        super()._resume(command)
        self._tell("resumed")
