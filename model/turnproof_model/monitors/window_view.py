"""
Fold what contract ``window`` adds: the two FIFOs, the outbox, the admission, the acceptance window.
"""

from __future__ import annotations

from typing import Any

from attrs import define

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued
from turnproof_model.monitors.facts import Cancelled, Entry, Gate
from turnproof_model.monitors.view import View, folds


@define(eq=False)
class Admission:
    """Be one admission: the claimed prompt, and what its hook decided as far as it is known."""

    entry: Entry
    position: int
    decision: v.Outcome | None = None
    cancelled: Cancelled | None = None


class WindowView(View):
    """
    Show where the stream of a ``window`` candidate stands.

    Attributes:
        queued, steering: outstanding entries of each FIFO, in order.
        admission: the prompt that was claimed and whose turn isn't open yet.
        bound: the steering entry that was dequeued and isn't committed yet.
    """

    def new_agent(self) -> None:
        """Forget what dies with an agent: input that waits isn't durable."""
        super().new_agent()
        self.queued: list[Entry] = []
        self.steering: list[Entry] = []
        self.admission: Admission | None = None
        self.bound: Entry | None = None
        self.sends: dict[str, list[Issued[v.Send]]] = {}

    def fifo(self, placement: str) -> list[Entry]:
        """Name the FIFO of a placement."""
        return self.queued if placement == "queued" else self.steering

    @folds(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        self.sends.setdefault(issued.op.message.id, []).append(issued)

    @folds(e.Enqueue)
    def _enqueue(self, event: e.Enqueue) -> None:
        sends = self.sends.get(event.id)
        issued: Any = sends.pop(0) if sends else None
        entry = Entry(event.id, event.placement, self.position)
        if issued is not None:
            entry.waking, entry.message, entry.inside = issued.op.wakeup, issued.op.message, issued.inside
        self.fifo(event.placement).append(entry)

    @folds(e.Dequeue)
    def _dequeue(self, event: e.Dequeue) -> None:
        entry = self.retire(event.id, event.placement)
        if event.placement == "queued":
            self.admission = Admission(entry, self.position)
        else:
            self.bound = entry

    def retire(self, entry_id: str, placement: str) -> Entry:
        """Take the earliest outstanding entry of that id out of its FIFO; make one up if there is none."""
        fifo = self.fifo(placement)
        found = next((entry for entry in fifo if entry.id == entry_id), None)
        if found is None:
            return Entry(entry_id, placement, self.position)
        fifo.remove(found)
        return found

    @folds(e.Discard)
    def _discard(self, event: e.Discard) -> None:
        for entry_id in event.ids:
            placement = "queued" if any(entry.id == entry_id for entry in self.queued) else "steering"
            self.retire(entry_id, placement)

    @folds(e.TurnStart)
    def _opened(self, _: e.TurnStart) -> None:
        self.admission = None

    @folds(e.SteeringMessage)
    def _steered(self, _: e.SteeringMessage) -> None:
        self.bound = None

    def released(self, gate: Gate) -> None:
        """Note the decision of an admission."""
        if gate.kind == "prompt-submit" and self.admission is not None:
            self.admission.decision = gate.outcome

    def noted(self, cancelled: Cancelled) -> None:
        """Attach a published cancel to the admission or the turn that it aborts."""
        super().noted(cancelled)
        if self.admission is not None:
            self.admission.cancelled = cancelled
