"""
Keep the ledger of the two FIFOs: every entry is published, leaves once, in order, and what is claimed is committed.

Rules: W-FIFO-1 to -8.
"""

from __future__ import annotations

from collections import Counter

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Finish, Issued, after, before
from turnproof_model.monitors.window_monitor import WindowMonitor, ids, in_order
from turnproof_model.observation import Observation


class OneEnqueue(WindowMonitor):
    """Every send that enters a FIFO publishes one enqueue, and nothing else does."""

    rule = "W-FIFO-1"
    needs = frozenset({"command", "inbox"})

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        if self.view.next_send(event.id) is not None:
            self.exercised()
        elif self.view.unexplained(event.id) and not self.view.returns(event):
            self.violated(f"{event.id!r} was published as enqueued once more than it was sent")

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        if self.view.disposing is not False:
            return
        for item_id, sends in self.view.awaiting.items():
            for _send in sends:
                self.violated(f"{item_id!r} was sent and no enqueue was published for it")


class OneExit(WindowMonitor):
    """Every entry leaves once, by a dequeue or in a discard, and until then it is pending."""

    rule = "W-FIFO-2"
    needs = frozenset({"inbox"})

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        view = self.view
        outstanding = any(entry.id == event.id for entry in (*view.queued, *view.steering))
        returned = view.put_back is not None and view.put_back.id == event.id
        self.expect(outstanding or returned, f"{event.id!r} was dequeued without being outstanding")

    @before(e.Discard)
    def _dropped(self, event: e.Discard) -> None:
        view = self.view
        left = Counter(ids((*view.queued, *view.steering, *((view.put_back,) if view.put_back else ()))))
        for item_id, count in Counter(event.ids).items():
            self.expect(
                count <= left[item_id], f"{item_id!r} was discarded {count} times with {left[item_id]} outstanding"
            )

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        shown, view = observation.inbox, self.view
        if shown is None:
            return
        queued = ids(view.queued)
        if list(shown.next_turn) != queued and not self._returned(list(shown.next_turn)):
            self.violated(f"the queue is shown as {list(shown.next_turn)}, while {queued} entered and didn't leave")
        steering = ids(view.steering)
        listed = (
            [item for item, kind in zip(shown.next_step, shown.next_step_kinds, strict=False) if kind == "steering"]
            if shown.next_step_kinds
            else [item for item in shown.next_step if item in steering]
        )
        if listed != steering and Counter(listed) != Counter(steering):
            self.violated(f"staged steering is shown as {listed}, while {steering} entered and didn't leave")

    def _returned(self, shown: list[str]) -> bool:
        back = self.view.put_back
        return back is not None and shown == [back.id, *ids(self.view.queued)]


class InOrder(WindowMonitor):
    """Dequeues follow entries in order; a discard lists what is left in order, and not what was claimed before it."""

    rule = "W-FIFO-3"
    needs = frozenset({"inbox"})

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        view = self.view
        fifo = ids(view.fifo(event.placement))
        returned = view.put_back is not None and view.put_back.id == event.id
        if event.id not in fifo or returned or any(entry.loose for entry in view.fifo(event.placement)):
            return
        head = view.claiming.id if view.claiming is not None and event.placement == "queued" else fifo[0]
        self.expect(
            event.id in (head, fifo[0]), f"{event.id!r} was dequeued while {fifo[0]!r} is ahead of it in its FIFO"
        )

    @before(e.Discard)
    def _dropped(self, event: e.Discard) -> None:
        view = self.view
        for name in ("queued", "steering"):
            fifo = ids(view.fifo(name))
            listed = [item for item in event.ids if item in fifo]
            if len(fifo) > 1 and not set(listed) & set(ids(view.queued)) & set(ids(view.steering)):
                self.expect(in_order(listed, fifo), f"the discard lists {listed}, which entered in the order {fifo}")
        claimed = view.claiming
        if claimed is not None and view.open_gates("prompt-submit"):
            pending = ids((*view.queued, *view.steering)).count(claimed.id) - 1
            self.expect(
                event.ids.count(claimed.id) <= pending, f"the discard lists {claimed.id!r}, which was claimed before it"
            )


class PlacementKept(WindowMonitor):
    """A dequeue carries the placement of acceptance."""

    rule = "W-FIFO-4"
    needs = frozenset({"inbox"})

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        view = self.view
        here = event.id in ids(view.fifo(event.placement))
        there = event.id in ids(view.steering if event.placement == "queued" else view.queued)
        if here or there:
            other = "steering" if event.placement == "queued" else "queued"
            self.expect(here, f"{event.id!r} was dequeued as {event.placement}, but it entered as {other}")


class ContextStaysOut(WindowMonitor):
    """Injected context never appears in enqueue, dequeue or discard."""

    rule = "W-FIFO-5"
    needs = frozenset({"command", "inbox"})

    @before(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        send = issued.op
        if send.target == "next-step" and not send.wakeup:
            self.exercised()

    @before(e.Enqueue, e.Dequeue, e.Discard)
    def _published(self, event: e.Enqueue | e.Dequeue | e.Discard) -> None:
        view = self.view
        for item_id in event.ids if isinstance(event, e.Discard) else (event.id,):
            if item_id in view.supplementary and item_id not in view.entering:
                self.violated(f"{event.type} names {item_id!r}, which is context and in neither FIFO")


class Committed(WindowMonitor):
    """A dequeued item is committed once: steering at once, a prompt in the turn it opens, unless it was refused."""

    rule = "W-FIFO-6"
    needs = frozenset({"inbox", "log"})

    @before(e.Event)
    def _next_durable(self, event: e.Event) -> None:
        bound = self.view.bound
        if bound is None or not (event.kind == "session" or type(event) is e.Dequeue):
            return
        if type(event) is e.PluginEvent:
            return
        if not (type(event) is e.SteeringMessage and event.id == bound.id):
            self.violated(f"{bound.id!r} was dequeued as steering, but {event.type} came before its steering/message")

    @before(e.SteeringMessage)
    def _steered(self, event: e.SteeringMessage) -> None:
        bound = self.view.bound
        self.expect(
            bound is not None and bound.id == event.id, f"steering/message {event.id!r} wasn't dequeued just before"
        )

    @before(e.UserMessage)
    def _appended(self, event: e.UserMessage) -> None:
        view = self.view
        if event.id not in view.entering or event.id in view.supplementary:
            return
        claimed = event.id in ids(view.claimed)
        self.expect(claimed and view.turn is not None, f"{event.id!r} was written without having been claimed for it")

    @before(e.StepStart, e.TurnEnd)
    def _opened(self, _: e.Event) -> None:
        """A prompt must be written by the time its turn has opened; a failing hook of the first step may be first."""
        opening = self.view.opening
        if opening is None or opening.prompt is None or opening.prompt not in self.view.claimed:
            return
        perhaps = not opening.known and opening.prompt.id in opening.written
        if self.view.disposing is not None and not perhaps:  # else context of its id may have been dropped, or written
            self.violated(f"{opening.prompt.id!r} was claimed for this turn and isn't in it")

    @before(e.Dequeue, e.StatusChanged)
    def _vanished(self, event: e.Dequeue | e.StatusChanged) -> None:
        ends = event.placement == "queued" if isinstance(event, e.Dequeue) else event.status == "idle"
        admission = self.view.admission
        if not ends or admission is None or self.view.turn is not None or self.view.disposing is not False:
            return
        if isinstance(admission.decision, v.Allow) and admission.cancelled is None:
            self.violated(f"{admission.entry.id!r} was admitted, but no turn was opened for it")


class PendingAtTheEnd(WindowMonitor):
    """At the end everything outstanding is visibly pending."""

    rule = "W-FIFO-7"
    needs = frozenset({"inbox", "lists"})

    @before(Finish)
    def _finished(self, _: Finish) -> None:
        view = self.view
        if view.shown is None or view.shown.inbox is None:
            return
        shown = Counter((*view.shown.inbox.next_turn, *view.shown.inbox.next_step))
        outstanding = Counter(ids((*view.queued, *view.steering)))
        if outstanding:
            self.expect(
                outstanding <= shown, f"{sorted((outstanding - shown).elements())} never left and isn't pending"
            )


class ShownInOrder(WindowMonitor):
    """What is pending is shown in the order of its acceptance."""

    rule = "W-FIFO-7"
    needs = frozenset({"command", "inbox", "lists"})

    @before(Observation)
    def _shown(self, observation: Observation) -> None:
        view, inbox = self.view, observation.inbox
        if inbox is None or view.blurred or view.disposing is not False or view.unsure:
            return
        if len(inbox.next_turn) > 1:
            self._in_order(ids(view.queued), inbox.next_turn)
        if len(inbox.next_step) > 1:
            self._in_order([item.id for item in view.outbox if not item.loose], inbox.next_step)

    def _in_order(self, accepted: list[str], shown: tuple[str, ...]) -> None:
        seen = [one for one in accepted if one in shown]
        if len(seen) > 1:
            self.expect(in_order(seen, shown), f"{seen} was accepted in this order, and {list(shown)} is shown")


class DiscardHasCause(WindowMonitor):
    """A discard needs a cancel without keepInbox or a disposal, lists queued before steering, and is never empty."""

    rule = "W-FIFO-8"
    needs = frozenset({"command", "inbox", "live"})

    def _start(self) -> None:
        self.due = 0

    @after(e.CancelRequested)
    def _cancelled(self, _: e.CancelRequested) -> None:
        if self.view.last_cancel is None or self.view.last_cancel.keep is not True:
            self.due += 1

    @before(e.Discard)
    def _dropped(self, event: e.Discard) -> None:
        view = self.view
        caused = self.due > 0 or view.disposing is not False
        self.due = max(0, self.due - 1)
        if not caused:
            self.violated("discard without a cancel that drops or a disposal")
        elif not event.ids:
            self.violated("discard lists nothing")
        else:
            self._order(event)

    def _order(self, event: e.Discard) -> None:
        queued, steering = set(ids(self.view.queued)), set(ids(self.view.steering))
        kinds = [item in queued for item in event.ids if (item in queued) != (item in steering)]
        self.expect(
            kinds == sorted(kinds, reverse=True), f"the discard {list(event.ids)} doesn't list queued before steering"
        )

    @before(e.StepEnd, e.TurnEnd, e.StatusChanged, Observation)
    def _over(self, _: object) -> None:
        self.due = 0


MONITORS: tuple[type[WindowMonitor], ...] = (
    *(OneEnqueue, OneExit, InOrder, PlacementKept, ContextStaysOut, Committed, PendingAtTheEnd, ShownInOrder),
    DiscardHasCause,
)
"""The monitors of this family, in the order of their rules."""
