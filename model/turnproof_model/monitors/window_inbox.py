"""
Fold the inbox of contract ``window``: sends and what becomes of them, the two FIFOs, the outbox.

Context is staged without an event; what the stream leaves open about it makes the outbox *blurred* until the lists
are shown again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure
from turnproof_model.monitors.facts import Entry
from turnproof_model.monitors.view import View, folds
from turnproof_model.monitors.window_facts import Staged, enters, supplied
from turnproof_model.observation import InboxView, Observation

INNER = (e.Enqueue, e.Discard, e.CancelRequested, e.GateAborted, e.ToolResult)
"""Events inside which the place of an operation among others can't be told."""


class WindowInbox(View):
    """
    Show what waits.

    Attributes:
        queued, steering: outstanding entries of each FIFO, in order; outbox: what is staged, in acceptance order.
        blurred: whether the outbox may differ from what it seems, until lists are shown again.
        awaiting: sends that must still publish their enqueue, by id; early: ids whose enqueue came before their send;
            told: how many enqueues of an id no send was seen for, in this request;
            direct: injections that must be appended now.
        entering, supplementary: ids that were or may be sent to a FIFO, and ids of context.
        claiming: the head of the queue where it may have been claimed without its dequeue being out.
        put_back: a prompt that a keeping cancel may have returned to the head of the queue, with an enqueue or without.
        dropping: whether a cancel under way may drop what is staged now; fresh: contexts of the latest tool result.
    """

    def reset(self) -> None:
        """Forget everything: a brand-new agent on an empty log."""
        self.entering: set[str] = set()
        self.supplementary: set[str] = set()
        super().reset()

    def new_agent(self) -> None:
        """Forget what dies with an agent: input that waits isn't durable."""
        super().new_agent()
        self.queued: list[Entry] = []
        self.steering: list[Entry] = []
        self.outbox: list[Staged] = []
        self.blurred = False
        self.awaiting: dict[str, list[Issued[Any]]] = {}
        self.direct: list[str] = []
        self.early: list[str] = []
        self.told: Counter[str] = Counter()
        self.claiming: Entry | None = None
        self.put_back: Entry | None = None
        self.dropping = False
        self.cancel_request = -1
        self.fresh: list[Staged] = []

    @abstractmethod
    def window(self) -> bool | None:
        """Tell whether the acceptance window is open at this place of the stream; None where it can't be told."""

    @property
    def waking(self) -> bool:
        """Whether something waking may be queued."""
        return any(entry.waking is not False for entry in self.queued)

    @property
    def placed(self) -> bool:
        """Whether the outbox is what it seems, in the order in which it seems to be."""
        return not self.blurred and not any(item.loose for item in self.outbox)

    # -------------------------------------------------------------------------------------------- sends
    @folds(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        send = issued.op
        self._may_supply(send)
        if enters(send):
            self._await(issued)
            return
        inside = self.window()
        if inside is False:
            self.direct.append(send.message.id)
        elif inside is None or self._perhaps_dropped(issued):
            self.blurred = True
        else:
            self.outbox.append(Staged(send.message.id, "context", self.position, loose=self._unplaced(issued)))

    @folds(v.Reference)
    def _referred(self, issued: Issued[v.Reference]) -> None:
        """Follow a prompt that brings a snapshot along (W-XREF-1)."""
        self._may_supply(issued.op)
        inside = self.window()
        self._await(issued)
        if inside is False:
            return
        if inside and not self._perhaps_dropped(issued):
            self.outbox.append(Staged(issued.op.snapshot.id, "context", self.position, loose=self._unplaced(issued)))
        else:
            self.blurred = True

    def _await(self, issued: Issued[Any]) -> None:
        """Expect the enqueue of a send, unless it was published before its time."""
        item_id = issued.op.message.id
        if item_id in self.early:
            self.early.remove(item_id)
        else:
            self.awaiting.setdefault(item_id, []).append(issued)

    def _unplaced(self, issued: Issued[Any]) -> bool:
        """
        Tell whether the place of an operation among others can't be told.

        Inside an event that a caller's own stack publishes, the rest of that stack may have gone before, as may the
        listeners of an abort behind a cancel; a tool result's contexts may be staged before its listeners, or after.
        """
        return isinstance(issued.inside, INNER) or self.cancel_request == self.index

    def _perhaps_dropped(self, issued: Issued[Any]) -> bool:
        """Tell whether a cancel under way, or a disposal, may drop what is staged now, without an event for it."""
        return (self.dropping and isinstance(issued.inside, INNER)) or self.disposing is not False

    @folds(v.Arm)
    def _armed(self, issued: Issued[v.Arm]) -> None:
        for op in issued.op.ops:
            self._may_supply(op)

    def _may_supply(self, op: v.Operation) -> None:
        """Note which ids may enter a FIFO, and which are supplementary input."""
        if isinstance(op, v.Send):
            (self.entering if enters(op) else self.supplementary).add(op.message.id)
        elif isinstance(op, v.Reference):
            self.entering.add(op.message.id)
            self.supplementary.add(op.snapshot.id)
        elif isinstance(op, v.Release):
            self.supplementary.update(supplied(op))
        elif isinstance(op, v.Arm):
            for inner in op.ops:
                self._may_supply(inner)

    @folds(Unsure)
    def _unsure_outbox(self, item: Unsure[Any]) -> None:
        self.blurred = True
        self._may_supply(item.op)

    @folds(v.Release)
    def _supplied(self, issued: Issued[v.Release]) -> None:
        self._may_supply(issued.op)

    def next_send(self, item_id: str) -> Issued[Any] | None:
        """Find the send that an enqueue of this id belongs to."""
        sends = self.awaiting.get(item_id)
        return sends[0] if sends else None

    def unexplained(self, item_id: str) -> bool:
        """Tell whether no send that may have happened explains an entry of this id."""
        return self.next_send(item_id) is None and not self.perhaps_sent(item_id) and not self.offered(item_id)

    def perhaps_sent(self, item_id: str) -> bool:
        """Tell whether a send of this id may have happened unseen."""
        return bool(self._unseen(item_id))

    def _perhaps_new(self, item_id: str) -> bool:
        """Tell whether a send of this id may still publish its enqueue, of those that may have happened unseen."""
        entering = [op for op in self._unseen(item_id) if isinstance(op, v.Reference) or enters(op)]
        return len(entering) > self.told[item_id]

    def _unseen(self, item_id: str) -> list[v.Send | v.Reference]:
        sends = [item.op for item in self.unsure if isinstance(item.op, v.Send | v.Reference)]
        return [op for op in sends if op.message.id == item_id]

    def offered(self, item_id: str) -> bool:
        """Tell whether an arm that hasn't fired would send this id."""
        return any(arming.offers(item_id) for arming in self.arms)

    # -------------------------------------------------------------------------------------------- FIFOs and outbox
    def fifo(self, placement: str) -> list[Entry]:
        """Name the FIFO of a placement."""
        return self.queued if placement == "queued" else self.steering

    @folds(e.Enqueue)
    def _enqueue(self, event: e.Enqueue) -> None:
        sends = self.awaiting.get(event.id)
        issued = sends.pop(0) if sends else None
        if issued is None and self.put_back is not None and self.returns(event) and not self._perhaps_new(event.id):
            self.queued.insert(0, self.put_back)
            self.put_back = None
            return
        if issued is None:
            self.told[event.id] += 1
        if issued is None and self.offered(event.id):
            self.early.append(event.id)
        entry = Entry(event.id, event.placement, self.position, loose=issued is None and self.returns(event))
        if issued is not None:
            entry.waking, entry.message = getattr(issued.op, "wakeup", True), issued.op.message
            entry.inside = issued.inside
            if isinstance(issued.op, v.Reference) and event.placement == "queued":
                entry.snapshot = issued.op.snapshot
        self.fifo(event.placement).append(entry)
        if event.placement == "steering":
            loose = issued is None or self._unplaced(issued)
            self.outbox.append(Staged(event.id, "steering", self.position, loose))

    def returns(self, event: e.Enqueue | e.Dequeue) -> bool:
        """Tell whether the event speaks of a prompt that was put back at the head (latitude ``claimed-on-keep``)."""
        back = self.put_back
        if back is None or event.placement != "queued" or event.id != back.id or "command" not in self.sees:
            return False
        return isinstance(event, e.Enqueue) or all(entry.id != back.id for entry in self.queued)

    def retire(self, entry_id: str, placement: str) -> Entry:
        """
        Take the earliest outstanding entry of that id out of its FIFO.

        An entry that was never seen is made up; one that stands in the other FIFO is taken from there.
        """
        other = "steering" if placement == "queued" else "queued"
        for name in (placement, other):
            for entry in self.fifo(name):
                if entry.id == entry_id:
                    self.fifo(name).remove(entry)
                    if name == "steering":
                        self._unstage(entry_id, "steering")
                    return entry
        return Entry(entry_id, placement, self.position)

    def _unstage(self, item_id: str, kind: str) -> bool:
        for item in self.outbox:
            if item.id == item_id and item.kind == kind:
                self.outbox.remove(item)
                return True
        return False

    @folds(e.Discard)
    def _discard(self, event: e.Discard) -> None:
        self.dropping = False
        for entry_id in event.ids:
            queued = [entry for entry in self.queued if entry.id == entry_id]
            left = next((entry for entry in queued if entry is not self.claiming), None)
            if left is not None:
                self.queued.remove(left)
            else:
                self.retire(entry_id, "steering")

    @folds(e.ToolResult)
    def _tool_contexts(self, event: e.ToolResult) -> None:
        if event.call_id in self.tools:
            contexts = getattr(self.tools[event.call_id], "additional_contexts", ())
            self.fresh = [Staged(message.id, "context", self.position) for message in contexts]
            self.outbox += self.fresh
        elif None in self.tools:
            self.blurred = True

    @folds(e.ToolCall, e.UserMessage, e.StepEnd, Observation)
    def _stale(self, _: object) -> None:
        self.fresh = []

    def drop_contexts(self) -> None:
        """Drop staged context; whether that of the result being published is staged by then can't be told."""
        self.blurred = self.blurred or bool(self.fresh) or any(item.loose for item in self.outbox)
        self.outbox = [item for item in self.outbox if item.kind == "steering" or item in self.fresh]

    @folds(v.Resume)
    def _ended_by_resume(self, issued: Issued[v.Resume]) -> None:
        if issued.op.mode in ("clean", "compact"):
            self.drop_contexts()

    # -------------------------------------------------------------------------------------------- the end of a request
    @folds(Observation)
    def _lists(self, observation: Observation) -> None:
        """Believe the lists that are shown."""
        self.awaiting, self.early, self.direct, self.dropping = {}, [], [], False
        self.told.clear()
        if observation.inbox is not None:
            self._restage(observation.inbox)
            self.blurred = False

    def _restage(self, inbox: InboxView) -> None:
        if [item.id for item in self.outbox] == list(inbox.next_step):
            for item in self.outbox:
                item.loose = False
            return
        steering = [entry.id for entry in self.steering]
        outbox = []
        for place, item_id in enumerate(inbox.next_step):
            kind: Any = inbox.next_step_kinds[place] if inbox.next_step_kinds else None
            if kind is None:
                kind = "steering" if item_id in steering else "context"
            outbox.append(Staged(item_id, kind, self.position))
        self.outbox = outbox
