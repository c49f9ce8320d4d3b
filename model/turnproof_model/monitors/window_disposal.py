"""
Judge disposal: it ends what runs, discards what waits, and nothing begins after it.

Rules: W-DIS-1, W-DIS-2.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, before
from turnproof_model.monitors.facts import Entry
from turnproof_model.monitors.window_monitor import WindowMonitor


class DisposalEnds(WindowMonitor):
    """A disposal ends the active turn as disposed and discards everything pending."""

    rule = "W-DIS-1"
    needs = frozenset({"command", "inbox", "log"})

    def _start(self) -> None:
        self.doomed: list[Entry] = []

    @before(v.Dispose)
    def _called(self, _: Issued[v.Dispose]) -> None:
        if self.view.disposing is not False:
            return
        self.doomed = [*self.view.queued, *self.view.steering]
        if not self.view.quiescent or self.doomed or self.view.outbox:
            self.exercised()

    @before(e.TurnEnd)
    def _closed(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if turn is not None and turn.disposed is not None and turn.error is None:
            allowed = ("aborted", "disposed") if turn.cancels else ("disposed",)
            if event.reason not in allowed:
                self.violated(f"turn {turn.number} ended as {event.reason} after the disposal: {' or '.join(allowed)}")

    @before(e.DisposeResolved, e.Disposed)
    def _gone(self, event: e.DisposeResolved | e.Disposed) -> None:
        pending = [entry.id for entry in self.doomed if entry in self.view.fifo(entry.list)]
        if pending:
            self.violated(f"{event.type} was published with {pending}, pending at the disposal, still pending")
        self.doomed = []


class NothingAfter(WindowMonitor):
    """From the call of dispose no turn starts; once it has resolved nothing happens at all."""

    rule = "W-DIS-2"
    needs = frozenset({"command", "log", "live"})

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        if self.view.disposing:
            self.violated(f"turn {event.turn} started after the disposal was called")

    @before(v.Dispose)
    def _called(self, _: Issued[v.Dispose]) -> None:
        self.exercised()

    @before(e.DisposeResolved)
    def _resolved(self, _: e.DisposeResolved) -> None:
        if self.view.open_gates("flush"):
            self.violated("the disposal resolved while a checkpoint is pending")

    @before(e.Event)
    def _happened(self, event: e.Event) -> None:
        if not self.view.resolved or event.kind == "driver" or type(event) is e.PluginEvent:
            return
        if type(event) not in (e.CancelRequested, e.Discard):  # a cancel may still drop what came too late
            self.violated(f"{event.type} happened after the disposal had resolved")


MONITORS: tuple[type[WindowMonitor], ...] = (DisposalEnds, NothingAfter)
"""The monitors of this family, in the order of their rules."""
