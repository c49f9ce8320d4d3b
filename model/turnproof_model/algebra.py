"""
Queues and tool batches as values: the only data of the machines that grows.

Rules touch queues only through the operations here, which are total (an impossible request answers the empty case)
and free of loops on the caller's side. That is what lets other readings put packed integers or z3 terms in the place
of these tuples without a change in the rules: never ``len``, iteration or indexing on a queue outside this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Literal

from attrs import evolve, frozen

from turnproof_model.vocabulary import Call, Enter, Error, Message, Outcome, Result


@frozen
class Item:
    """
    Hold one pending message with what its acceptance fixed.

    ``waking``: asks the model to run. ``steering``: joined as steering (window outbox). ``late``: a waking send
    that must restart the driver (claim). ``attached``: snapshots that travel with this prompt's own admission
    (W-XREF-1, C-XREF-1).
    """

    message: Message
    waking: bool = False
    steering: bool = False
    late: bool = False
    attached: tuple[Message, ...] = ()

    @property
    def id(self) -> str:
        """The caller's id."""
        return self.message.id

    def renewed(self, message: Message) -> Item:
        """Put another message in its place: that inherits whether it wakes and is late, but no snapshots."""
        return evolve(self, message=message, attached=())


@frozen
class Queue:
    """Hold pending items, head first."""

    items: tuple[Item, ...] = ()

    def push(self, item: Item) -> Queue:
        """Append at the tail."""
        return Queue((*self.items, item))

    def unshift(self, item: Item) -> Queue:
        """Put in front of the head."""
        return Queue((item, *self.items))

    def pop(self) -> tuple[Item, Queue]:
        """Take the head; call only on a queue that is not empty."""
        return self.items[0], Queue(self.items[1:])

    def join(self, other: Queue) -> Queue:
        """Append all of another queue."""
        return Queue(self.items + other.items)

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Queue:
        """Lay out supplementary input in order."""
        return cls(tuple(Item(message) for message in messages))

    @property
    def empty(self) -> bool:
        """Whether nothing is pending."""
        return not self.items

    @property
    def occupied(self) -> bool:
        """Whether something is pending."""
        return bool(self.items)

    @property
    def only_context(self) -> bool:
        """Whether something is pending, and none of it is steering."""
        return bool(self.items) and not any(item.steering for item in self.items)

    @property
    def size(self) -> int:
        """How many items are pending."""
        return len(self.items)

    @property
    def has_waking(self) -> bool:
        """Whether a waking item is pending."""
        return any(item.waking for item in self.items)

    @property
    def has_steering(self) -> bool:
        """Whether steering is pending."""
        return any(item.steering for item in self.items)

    @property
    def has_context(self) -> bool:
        """Whether something is pending that is no steering."""
        return any(not item.steering for item in self.items)

    @property
    def has_late(self) -> bool:
        """Whether a late waking item is pending."""
        return any(item.late for item in self.items)

    def steering(self) -> Queue:
        """Keep the steering items only, in order."""
        return Queue(tuple(item for item in self.items if item.steering))

    def punctual(self) -> Queue:
        """Take lateness from every item."""
        return Queue(tuple(evolve(item, late=False) if item.late else item for item in self.items))

    def restored(self) -> Queue:
        """Keep what a log tells of the items: neither lateness nor snapshots."""
        return Queue(tuple(evolve(item, late=False, attached=()) for item in self.items))

    def head(self) -> Queue:
        """Keep the first item only, if there is one."""
        return Queue(self.items[:1])

    def tail(self) -> Queue:
        """Drop the first item, if there is one."""
        return Queue(self.items[1:])

    def has(self, message_id: str) -> bool:
        """Whether an item of that id is pending."""
        return any(item.id == message_id for item in self.items)

    def index(self, message_id: str) -> int:
        """Find the position of the first item of that id, or -1."""
        return next((i for i, item in enumerate(self.items) if item.id == message_id), -1)

    def get(self, message_id: str) -> Item | None:
        """Find the first item of that id."""
        return next((item for item in self.items if item.id == message_id), None)

    def without(self, message_id: str) -> Queue:
        """Drop the first item of that id."""
        i = self.index(message_id)
        return self if i < 0 else Queue(self.items[:i] + self.items[i + 1 :])

    def swap(self, message_id: str, item: Item) -> Queue:
        """Put another item in the place of the first one of that id."""
        i = self.index(message_id)
        return self if i < 0 else Queue((*self.items[:i], item, *self.items[i + 1 :]))

    @property
    def ids(self) -> tuple[str, ...]:
        """The pending ids in order."""
        return tuple(item.id for item in self.items)

    @property
    def kinds(self) -> tuple[Literal["steering", "context"], ...] | None:
        """What each staged item is, in order; ``None`` when nothing is staged."""
        return tuple("steering" if item.steering else "context" for item in self.items) or None

    def each(self) -> Iterator[Item]:
        """Go through the items in order; for readings and observations, not for rules."""
        return iter(self.items)


EMPTY = Queue()

SlotState = Literal["waiting", "called", "running", "finished", "committed"]
ToolMode = Literal["exclusive", "parallel", "unknown"]


@frozen
class Slot:
    """
    Hold one tool call of a batch: its group, how far it is, and what it returned.

    ``early``: it had returned, uncommitted, when the turn was aborted (claim).
    """

    call: Call
    mode: ToolMode
    group: int
    state: SlotState = "waiting"
    outcome: Outcome | None = None
    settled_by_abort: bool = False
    early: bool = False


@frozen
class ToolBatch:
    """
    Hold the calls of one assistant message in call order.

    Consecutive parallel calls form a group, any other call is a group of its own; a group starts when all calls
    before it are committed. Three moves in this order drive it: start, else commit, else wait. Where a call may be
    logged and its tool be asked later, starting has two moves: call, then start.
    """

    slots: tuple[Slot, ...] = ()

    @classmethod
    def of(cls, calls: tuple[Call, ...], modes: Mapping[str, ToolMode]) -> ToolBatch:
        """Lay out a batch; a name that ``modes`` lacks is unknown to the agent."""
        slots: list[Slot] = []
        group = -1
        before: ToolMode | None = None
        for call in calls:
            mode = modes.get(call.name, "unknown")
            if mode != "parallel" or before != "parallel":
                group += 1
            before = mode
            slots.append(Slot(call, mode, group))
        return cls(tuple(slots))

    @property
    def empty(self) -> bool:
        """Whether there is no call in it."""
        return not self.slots

    def at(self, i: int) -> Slot:
        """Look at a call by its position; only one that another operation has named."""
        return self.slots[i]

    def startable(self) -> int:
        """Find the next call that may start now, or -1."""
        for i, slot in enumerate(self.slots):
            if slot.state == "waiting":
                return i if all(s.state == "committed" or s.group == slot.group for s in self.slots[:i]) else -1
        return -1

    def dispatchable(self) -> int:
        """Find the first call that is logged and whose tool hasn't been asked, or -1."""
        return next((i for i, slot in enumerate(self.slots) if slot.state == "called"), -1)

    def committable(self, *, together: bool = False) -> int:
        """
        Find the next call in call order whose result can be committed now, or -1.

        ``together``: no result of a group before the whole group has returned.
        """
        for i, slot in enumerate(self.slots):
            if slot.state != "committed":
                return i if slot.state == "finished" and not (together and self._busy(slot.group)) else -1
        return -1

    def _busy(self, group: int) -> bool:
        return any(slot.group == group and slot.state in {"waiting", "called", "running"} for slot in self.slots)

    def next_open(self) -> int:
        """Find the first call that isn't committed, or -1."""
        return next((i for i, slot in enumerate(self.slots) if slot.state != "committed"), -1)

    @property
    def parallel(self) -> bool:
        """Whether a group has more than one call."""
        return any(slot.group == other.group for slot, other in pairwise(self.slots))

    @property
    def running(self) -> bool:
        """Whether a started call hasn't settled."""
        return any(slot.state == "running" for slot in self.slots)

    @property
    def done(self) -> bool:
        """Whether every call is committed."""
        return all(slot.state == "committed" for slot in self.slots)

    @property
    def unanswered(self) -> tuple[tuple[str, bool], ...]:
        """The ids of the calls without a result, each with whether it was started."""
        return tuple((slot.call.id, slot.state != "waiting") for slot in self.slots if slot.state != "committed")

    @property
    def concluded(self) -> bool:
        """Whether a successful result concludes the turn."""
        return any(
            isinstance(slot.outcome, Result) and slot.outcome.concludes and not slot.settled_by_abort
            for slot in self.slots
            if slot.state == "committed"
        )

    @property
    def owed(self) -> bool:
        """Whether the model has yet to answer the results: there are some, and none of them concludes the turn."""
        return bool(self.slots) and not self.concluded

    def call(self, i: int) -> ToolBatch:
        """Mark a call as logged."""
        return self._with(i, evolve(self.slots[i], state="called"))

    def start(self, i: int) -> ToolBatch:
        """Mark a call as started."""
        return self._with(i, evolve(self.slots[i], state="running"))

    def finish(self, i: int, outcome: Outcome | None, *, by_abort: bool = False) -> ToolBatch:
        """Store what a started call returned; ``None`` says that an abort came before the tool was asked."""
        return self._with(i, evolve(self.slots[i], state="finished", outcome=outcome, settled_by_abort=by_abort))

    def sealed(self) -> ToolBatch:
        """Mark what has returned and isn't committed as early."""
        return ToolBatch(tuple(evolve(s, early=True) if s.state == "finished" else s for s in self.slots))

    def commit(self, i: int) -> ToolBatch:
        """Mark a call as committed to the log."""
        return self._with(i, evolve(self.slots[i], state="committed"))

    def _with(self, i: int, slot: Slot) -> ToolBatch:
        return ToolBatch((*self.slots[:i], slot, *self.slots[i + 1 :]))


NO_BATCH = ToolBatch()


def contexts_of(outcome: Outcome | None) -> tuple[Message, ...]:
    """Tell which contexts a tool's outcome brings along."""
    return outcome.additional_contexts if isinstance(outcome, (Result, Error)) else ()


def entered(outcome: Enter, claimed: Queue, known: Callable[[str], Message]) -> Queue:
    """
    Lay out what a pre-step lets in: the claimed batch or exactly what it names, then the snapshots it brings along.

    ``known`` finds the message that an id names. A snapshot comes along where the prompt that it is attached to is let
    in (C-XREF-1).
    """
    batch = claimed
    if outcome.messages is not None:
        batch = Queue.of(known(message) if isinstance(message, str) else message for message in outcome.messages)
    return batch.join(Queue.of(snapshot for item in claimed.items if batch.has(item.id) for snapshot in item.attached))
