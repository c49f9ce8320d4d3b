"""
Judge what a cancel drops, keeps and publishes.

Rules: W-CAN-2 to -4.
"""

from __future__ import annotations

from collections import Counter

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.facts import Entry
from turnproof_model.monitors.window_facts import supplied
from turnproof_model.monitors.window_monitor import WindowMonitor, ids, in_order
from turnproof_model.observation import Observation


class Drops(WindowMonitor):
    """A cancel without keepInbox drops all that is pending, in one discard, and staged context silently."""

    rule = "W-CAN-2"
    needs = frozenset({"command", "inbox", "log", "live"})

    def _start(self) -> None:
        self.doomed: list[Entry] = []
        self.context: set[str] = set()

    @before(e.CancelRequested)
    def _cancelled(self, event: e.CancelRequested) -> None:
        view = self.view
        if view.cancelled(event.cause).keep is not False or view.disposing is not False:
            return
        spared = view.claiming
        self.doomed = [entry for entry in (*view.queued, *view.steering) if entry is not spared]
        dropped = [
            item.id for item in view.outbox if item.kind == "context" and not item.loose and item not in view.fresh
        ]
        opening = view.opening
        either = {*ids(view.claimed), *(opening.written if opening is not None else ())}  # one of two is written
        self.context = set() if view.blurred or view.releasing else set(dropped) - either
        if self.doomed or self.context:
            self.exercised()

    @after(e.Discard)
    def _discarded(self, event: e.Discard) -> None:
        left = [entry.id for entry in self.doomed if self._pending(entry)]
        self.doomed = []
        if left:
            self.violated(f"the discard {list(event.ids)} leaves out {left}, pending when it was cancelled")

    @before(e.Dequeue, e.StepEnd, e.TurnEnd, e.StatusChanged, Observation)
    def _over(self, _: object) -> None:
        left = [entry.id for entry in self.doomed if self._pending(entry)]
        self.doomed = []
        if left:
            self.violated(f"{left} was pending when a cancel without keepInbox came, and wasn't discarded")

    def _pending(self, entry: Entry) -> bool:
        return any(entry is other for other in self.view.fifo(entry.list))

    @before(v.Send, v.Reference)
    def _again(self, issued: Issued[v.Send | v.Reference]) -> None:
        self.context.discard(issued.op.message.id)

    @before(v.Release)
    def _supplied(self, issued: Issued[v.Release]) -> None:
        self.context.difference_update(supplied(issued.op))

    @before(Unsure)
    def _perhaps_again(self, _: Unsure[v.Operation]) -> None:
        self.context.clear()

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        if event.id in self.context and not self.view.expected(event.id):
            self.violated(f"context {event.id!r} was written although a cancel had dropped it")


class Keeps(WindowMonitor):
    """A cancel with keepInbox discards nothing: what was pending stays, in order."""

    rule = "W-CAN-3"
    needs = frozenset({"command", "inbox", "live"})

    def _start(self) -> None:
        self.kept: list[str] = []
        self.keeping = False

    @after(e.CancelRequested)
    def _cancelled(self, _: e.CancelRequested) -> None:
        view = self.view
        keep = None if view.last_cancel is None else view.last_cancel.keep
        self.keeping = keep is True
        self.kept = [item.id for item in view.outbox if not item.loose] if keep is True and not view.blurred else []
        if keep is True and (view.queued or view.outbox):
            self.exercised()

    @before(e.Discard)
    def _discarded(self, event: e.Discard) -> None:
        if self.keeping and self.view.disposing is False:
            self.violated(f"{list(event.ids)} was discarded by a cancel that keeps the inbox")
        self.kept = []

    @before(e.UserMessage, e.Dequeue)
    def _left(self, event: e.UserMessage | e.Dequeue) -> None:
        if event.id in self.kept and self.view.leaving(event) is not None:
            self.kept.remove(event.id)

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        kept, self.kept, self.keeping = self.kept, [], False
        shown = None if observation.inbox is None else list(observation.inbox.next_step)
        if shown is None or self.view.disposing is not False or self.view.blurred:
            return
        if not in_order(kept, shown):
            self.violated(f"{kept} was staged when a keeping cancel came, but {shown} is staged after it")


class DoesSomething(WindowMonitor):
    """A cancel is published before what it drops, and only if it does something."""

    rule = "W-CAN-4"
    needs = frozenset({"command", "inbox", "log", "live"})

    def _start(self) -> None:
        self.idle = self.stale = False
        self.inside: list[str] = []
        self.dropping: e.CancelRequested | None = None
        self.published = -1

    @before(v.Cancel)
    def _called(self, issued: Issued[v.Cancel]) -> None:
        view = self.view
        self.idle = (
            issued.origin == "request" and view.effect(keep=issued.op.keep_inbox) is False and view.disposing is False
        )

    @before(e.CancelRequested)
    def _published(self, event: e.CancelRequested) -> None:
        view = self.view
        cancelled = view.cancelled(event.cause)
        self.dropping, self.inside, self.published = (None if cancelled.keep is not False else event), [], view.index
        if view.disposing is not False:
            return
        if view.effect(keep=cancelled.keep) is False:
            self.violated("cancel-requested was published, but there was nothing to abort or drop")
            self.idle = False
        else:
            self.exercised()

    @before(e.TurnEnd)
    def _aborted(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if self.stale and event.reason == "aborted" and turn is not None and not turn.cancels:
            self.violated(f"turn {event.turn} was aborted by a cancel that had nothing to do when it came")
        self.stale = False

    @after(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        entry = self.view.fifo(event.placement)[-1]
        if entry.inside is not None and entry.inside is self.dropping:
            self.inside.append(event.id)

    @before(e.Discard)
    def _dropped(self, event: e.Discard) -> None:
        view = self.view
        if view.due_cancels and self.published != view.index and view.disposing is False and not view.unsure:
            self.violated(f"{list(event.ids)} was discarded before its cancel was published")
        left = [item for item in self.inside if item not in event.ids]
        self.inside = []
        if left:
            self.violated(f"{left}, sent inside cancel-requested, outlived that cancel: it is dropped with the rest")

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        if self.idle:
            self.exercised()
            self.stale = True
        if self.inside and self.view.disposing is False:
            self.violated(f"{self.inside}, sent inside cancel-requested, wasn't dropped by that cancel")
        self.idle, self.inside = False, []


class AnnouncedOnce(WindowMonitor):
    """A cancel is published once at most, with its cause."""

    rule = "W-CAN-4"
    needs = frozenset({"command", "live"})

    def _start(self) -> None:
        self.called: Counter[str] = Counter()
        """How many cancels of this request were called, by cause."""
        self.perhaps: Counter[str] = Counter()
        """How many may have been called, in this request or an earlier one, and weren't published yet."""
        self.published: dict[str, list[int]] = {}
        """Where cancels of this request were published, by cause."""

    @before(v.Cancel)
    def _called(self, issued: Issued[v.Cancel]) -> None:
        self.called[issued.op.cause] += 1

    @before(Unsure)
    def _perhaps_called(self, unsure: Unsure[v.Operation]) -> None:
        if isinstance(unsure.op, v.Cancel):
            self.perhaps[unsure.op.cause] += 1

    @before(e.CancelRequested)
    def _published(self, event: e.CancelRequested) -> None:
        self.published.setdefault(event.cause, []).append(self.view.place)

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        for cause, places in self.published.items():
            beyond = len(places) - self.called[cause]
            self.expect(
                beyond <= self.perhaps[cause],
                f"cancel-requested by {cause} was published {len(places)} times for {self.called[cause]} cancels",
                *places,
            )
            self.perhaps[cause] -= max(0, beyond)
        self.called.clear()
        self.published.clear()


MONITORS: tuple[type[WindowMonitor], ...] = (Drops, Keeps, DoesSomething, AnnouncedOnce)
"""The monitors of this family, in the order of their rules."""
