"""
Judge what starts the loop and when it rests: waking, status, idle waiters.

Rules: W-WAKE-1 to -4, W-STAT-1, W-STAT-2.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import after, before
from turnproof_model.monitors.facts import Entry
from turnproof_model.monitors.window_monitor import WindowMonitor, ids
from turnproof_model.observation import Observation


class IdleWake(WindowMonitor):
    """A waking queued send to an idle agent leads to an admission; nobody is told idle before it has settled."""

    rule = "W-WAKE-1"
    needs = frozenset({"command", "inbox", "status", "log"})

    def _start(self) -> None:
        self.due: list[Entry] = []
        self.request = -1

    @after(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        view = self.view
        if event.placement != "queued" or view.status != "idle" or not view.quiescent or view.disposing is not False:
            return
        entry = view.queued[-1]
        if entry.waking:
            self.due.append(entry)
            self.request = view.index if isinstance(view.request, v.Send) and entry.inside is None else -1

    @after(e.Dequeue)
    def _claimed(self, _: e.Dequeue) -> None:
        for entry in [entry for entry in self.due if entry not in self.view.queued]:
            self.due.remove(entry)
            self.exercised()

    @after(e.Discard)
    def _dropped(self, _: e.Discard) -> None:
        self.due = [entry for entry in self.due if entry in self.view.queued]
        self.request = self.request if self.due else -1

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        view = self.view
        if self.due and view.quiescent and view.status == "idle" and view.disposing is False:
            self.violated(f"{self.due[0].id!r} was sent waking to an idle agent and nothing was started")
            self.due = []
        if self.request == view.index and observation.when_idle is True and not view.quiescent:
            self.violated("an idle waiter resolved before the admission that was just asked for had settled")
        self.request = -1

    @before(e.StatusChanged)
    def _rested(self, event: e.StatusChanged) -> None:
        if event.status == "idle":
            self.request = -1


class QuietParks(WindowMonitor):
    """A quiet next-turn item alone starts nothing."""

    rule = "W-WAKE-2"
    needs = frozenset({"command", "inbox", "status"})

    def _start(self) -> None:
        self.parked: str | None = None
        self.served = False

    @after(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        view = self.view
        if event.placement == "queued":
            alone = view.status == "idle" and view.quiescent and not view.waking
            self.parked = event.id if alone else None

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        view = self.view
        if event.placement != "queued" or event.id not in ids(view.queued) or view.put_back is not None:
            return
        woken = view.woken if view.claiming is not None else view.waking
        if not woken and not self.served:
            self.violated(f"{event.id!r} was claimed with nothing waking in the queue: it stays parked")
        self.served = True

    @before(e.StatusChanged)
    def _status(self, event: e.StatusChanged) -> None:
        if event.status == "idle":
            self.served = False

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        view = self.view
        if self.parked is not None and self.parked in ids(view.queued) and not view.waking:
            idle = view.status == "idle" and observation.when_idle in (True, None)
            self.expect(idle, f"{self.parked!r} is quiet and alone in the queue, but the agent isn't idle")
        self.parked = None


class ServedFromHead(WindowMonitor):
    """The queue is served from its head while anything waking is left; what is behind the last of it stays parked."""

    rule = "W-WAKE-3"
    needs = frozenset({"command", "inbox", "status"})

    def _start(self) -> None:
        self.served = False

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        view = self.view
        entry = next((entry for entry in view.queued if entry.id == event.id), None)
        if event.placement != "queued" or entry is None or view.put_back is not None:
            return
        ahead = view.queued[: view.queued.index(entry)]
        woken = view.woken if view.claiming is not None else view.waking
        quiet = next((other.id for other in ahead if other.waking is False), None)
        if quiet is not None:
            self.violated(f"{event.id!r} was claimed ahead of {quiet!r}, which is parked before it")
        elif not woken and self.served:
            self.violated(f"{event.id!r} was claimed though nothing waking is left in the queue: it stays parked")
        elif entry.waking is False and woken:
            self.exercised()
        self.served = True

    @before(e.StatusChanged)
    def _status(self, event: e.StatusChanged) -> None:
        if event.status == "idle":
            if self.served and self.view.queued and not self.view.waking:
                self.exercised()
            self.served = False


class NoLostWakeup(WindowMonitor):
    """At idle nothing waking is queued."""

    rule = "W-WAKE-4"
    needs = frozenset({"command", "inbox", "status"})

    @before(e.StatusChanged)
    def _status(self, event: e.StatusChanged) -> None:
        if event.status == "idle":
            self._judge("idle was published")

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        view = self.view
        if view.status == "idle" and view.quiescent and view.queued:
            self._judge("the agent rests")

    def _judge(self, what: str) -> None:
        if self.view.disposing is False:
            waking = [entry.id for entry in self.view.queued if entry.waking]
            self.expect(not waking, f"{what} with {waking} waking in the queue")


class StatusChanges(WindowMonitor):
    """Status is published on a change only, and idle only where nothing is under way."""

    rule = "W-STAT-1"
    needs = frozenset({"status", "log", "inbox", "live"})

    @before(e.StatusChanged)
    def _status(self, event: e.StatusChanged) -> None:
        view = self.view
        under_way = self._under_way() if event.status == "idle" else None
        if event.status == view.status:
            self.violated(f"status {event.status} was published although it was {event.status} already")
        else:
            self.expect(under_way is None, f"idle was published while {under_way}")

    def _under_way(self) -> str | None:
        view = self.view
        if view.turn is not None:
            return f"turn {view.turn.number} is open"
        if view.open_gates("prompt-submit"):
            return "an admission is open"
        previous = view.previous
        unsettled = previous is not None and previous.number > view.settled
        return "a checkpoint is pending" if unsettled or view.open_gates("flush") else None

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        if observation.status != self.view.status:
            self.violated(f"the status is {observation.status}, but the last one published is {self.view.status}")


class IdleWaiters(WindowMonitor):
    """``whenIdle`` resolves at idle quiescence and not before."""

    rule = "W-STAT-2"
    needs = frozenset({"idle", "status", "log", "inbox"})

    def _start(self) -> None:
        self.rested = True
        """Whether the agent was idle at some time since the request began."""

    @after(e.StatusChanged)
    def _status(self, event: e.StatusChanged) -> None:
        self.rested = self.rested or event.status == "idle"

    @after(Observation)
    def _ended(self, observation: Observation) -> None:
        view, resolved, rested = self.view, observation.when_idle, self.rested
        self.rested = view.status == "idle" and view.quiescent
        if resolved is None:
            return
        waking = any(entry.waking for entry in view.queued)
        if resolved == "would-spin":
            self.violated("asking when the agent is idle would hang: a waiter waits for idle quiescence")
        elif view.status == "idle" and view.quiescent and not waking:
            self.expect(
                resolved or view.disposing is not False,
                "the agent is idle, but a waiter registered before wasn't released",
            )
        elif not rested:
            self.expect(not resolved, "an idle waiter resolved while an admission, a turn or a checkpoint is under way")


MONITORS: tuple[type[WindowMonitor], ...] = (
    *(IdleWake, QuietParks, ServedFromHead, NoLostWakeup, StatusChanges, IdleWaiters),
)
"""The monitors of this family, in the order of their rules."""
