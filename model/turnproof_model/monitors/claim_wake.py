"""
Judge waking and idleness: what starts the driver, what doesn't, and what may wait when it has stopped.

Rules: C-SEND-4, C-WAKE-1, C-WAKE-2, C-WAKE-3, C-TURN-6, C-PRE-5, C-STAT-1, C-STAT-2.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before, operations
from turnproof_model.monitors.claim_facts import Pending
from turnproof_model.monitors.claim_inbox import ClaimMonitor
from turnproof_model.monitors.claim_view import waking
from turnproof_model.observation import Observation


def names(entries: list[Pending]) -> str:
    """Name entries in a sentence."""
    return ", ".join(entry.id for entry in entries)


class QuietStep(ClaimMonitor):
    """
    See that an injection wakes nobody.

    Rules: C-SEND-4
    """

    rule = "C-SEND-4"
    needs = frozenset({"log", "command", "status"})
    target = "next-step"

    def _start(self) -> None:
        """Forget quiet input of this request."""
        self.quiet: list[Pending] = []
        self.at = -1

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """Quiet input to an idle agent is an occasion."""
        splice = self.view.splice
        op = splice.told.op if splice is not None and splice.told is not None else None
        if splice is None or not isinstance(op, v.Send) or op.wakeup or event.target != self.target:
            return
        if self.view.idle:
            if self.at != self.view.index:
                self.quiet, self.at = [], self.view.index
            self.quiet += splice.inserted
            self.exercised()

    @before(e.StatusChanged)
    def wakes(self, event: e.StatusChanged) -> None:
        """The agent starts only when somebody asked."""
        if event.status == "running" and self.at == self.view.index and self.quiet and self.view.unasked:
            message = f"the agent started to run for {names(self.quiet)}, though it was sent without waking"
            self.violated(message, *(entry.position for entry in self.quiet), self.view.position + 1)


class QuietTurn(QuietStep):
    """
    See that a quiet next-turn message alone stays parked.

    Rules: C-WAKE-2
    """

    rule = "C-WAKE-2"
    target = "next-turn"


class Wakes(ClaimMonitor):
    """
    See that a waking send to an idle agent starts the driver before it returns.

    A cancel or a disposal behind it, and a send inside the discards of a cancel, leave open what follows.

    Rules: C-WAKE-1
    """

    rule = "C-WAKE-1"
    needs = frozenset({"log", "command", "status"})

    def _start(self) -> None:
        """Forget a wake that is due."""
        self.due: Issued[Any] | None = None

    @before(v.Send, v.Reference)
    def sent(self, issued: Issued[v.Send | v.Reference]) -> None:
        """A waking send to an idle agent is an occasion."""
        op = issued.op
        open_ = type(issued.inside) in (e.Discarded, e.Spliced)
        if (
            waking(op)
            and self.view.idle
            and not self.view.doubt
            and not open_
            and self.view.placed
            and self.due is None
        ):
            self.due = issued

    @before(v.Cancel, v.Dispose, v.Resume)
    def withdrawn(self, _: Issued[Any]) -> None:
        """What a cancel makes of a wake under way is left to what is observed."""
        self.due = None

    @before(Unsure)
    def perhaps(self, item: Unsure[Any]) -> None:
        """A cancel that may come in between leaves it open as well."""
        if isinstance(item.op, v.Cancel | v.Dispose | v.Arm):
            self.due = None

    @before(e.StatusChanged)
    def starts(self, event: e.StatusChanged) -> None:
        """The wake has done its work."""
        if event.status == "running" and self.due is not None:
            self.due = None
            self.exercised()

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """The next operation of that stack comes after the start."""
        due, splice = self.due, self.view.splice
        told = splice.told if splice is not None else None
        if due is None or not isinstance(told, Issued) or told is due or told.origin != due.origin:
            return
        if told.inside is due.inside and due.origin in ("batch", "arm"):
            message = f"{due.op.message.id} was sent to an idle agent, but its send returned before the driver started"
            self.violated(f"{message} ({event.inserted[0]} entered first)")
            self.due = None

    @before(Observation)
    def ends(self, _: Observation) -> None:
        """By the end of the request the driver has started."""
        due, self.due = self.due, None
        if due is not None:
            self.violated(f"{due.op.message.id} was sent waking to an idle agent, but the driver didn't start")


class Late(ClaimMonitor):
    """
    See that the driver restarts for late input only, and goes idle before it does.

    Whether late input restarts it or stays parked is latitude ``wake-after-abort``.

    Rules: C-WAKE-3
    """

    rule = "C-WAKE-3"
    needs = frozenset({"log", "command", "status"})

    def _start(self) -> None:
        """No idle has been seen."""
        self.idle_at: tuple[int, int] | None = None

    @after(e.Spliced)
    def inserted(self, _: e.Spliced) -> None:
        """Late waking input is an occasion."""
        splice = self.view.splice
        if splice is not None and splice.kind == "insert" and any(entry.late for entry in splice.inserted):
            self.exercised()

    @before(e.StatusChanged)
    def changes(self, event: e.StatusChanged) -> None:
        """An idle that is followed at once by running is a restart, and needs late input that is still pending."""
        if event.status == "idle":
            self.idle_at = (self.view.index, self.view.position + 1)
        elif self.idle_at == (self.view.index, self.view.position) and self.view.unasked:
            message = "the driver restarted though no late waking input was pending"
            self.violated(message, self.view.position, self.view.position + 1)

    @before(e.TurnStart)
    def turn_starts(self, event: e.TurnStart) -> None:
        """Late input gets its turn after an idle, not in the activity that was aborted."""
        previous = self.view.previous
        if not self.view.ended or previous is None or previous.reason != "aborted":
            return
        late = [entry for entry in self.view.pending() if entry.late]
        if late:
            message = f"turn {event.turn} started for late {names(late)} before the aborted activity had become idle"
            self.violated(message, late[0].position, self.view.position + 1)


class NextTurn(ClaimMonitor):
    """
    See that a turn that ended well is followed by the next one while waking input waits.

    Quiet input may wait as well as start a turn (latitude ``idle-context``).

    Rules: C-TURN-6
    """

    rule = "C-TURN-6"
    needs = frozenset({"log", "status", "command"})

    def _start(self) -> None:
        """Forget what was pending when the last turn ended."""
        self.due: list[Pending] = []

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """What waits, and came in time, is due for the next turn."""
        boundary = self.view.boundary
        empty = boundary is not None and boundary.entered is None and (boundary.first or bool(boundary.batch))
        self.due = []
        if event.reason not in ("completed", "max-tokens") or empty or not self.view.pending() or self.view.doubt:
            return
        self.exercised()
        if self.view.disposing is False:
            self.due = [entry for entry in self.view.pending() if entry.waking and entry.late is False]

    @before(v.Cancel, v.Dispose, Unsure, v.Resume)
    def stopped(self, item: Issued[Any] | Unsure[Any]) -> None:
        """A cancel or a disposal after the end of the turn stops the driver."""
        if isinstance(item.op, v.Cancel | v.Dispose | v.Resume):
            self.due = []

    @before(e.TurnStart)
    def starts(self, _: e.TurnStart) -> None:
        """The next turn started."""
        self.due = []

    @before(e.StatusChanged)
    def idles(self, event: e.StatusChanged) -> None:
        """An agent doesn't go idle over it."""
        pending = self.view.pending()
        left = [entry for entry in self.due if entry in pending]
        self.due = []
        if event.status == "idle" and left:
            message = f"the agent went idle after a turn that ended well, though waking {names(left)} was pending"
            self.violated(message, left[0].position, self.view.position + 1)


class AfterReject(ClaimMonitor):
    """
    See that a driver does one of two things after a turn that was refused or failed: it parks, or it goes on.

    Rules: C-PRE-5
    """

    rule = "C-PRE-5"
    needs = frozenset({"log", "gates", "status"})

    def _start(self) -> None:
        """Forget the turn that ended."""
        self.after: int | None = None

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """Waking input behind such a turn is an occasion."""
        self.after = None
        waiting = [entry for entry in self.view.pending() if entry.waking]
        if event.reason in ("blocked", "error") and waiting:
            self.after = event.turn
            self.exercised()

    @before(e.TurnStart, e.StatusChanged)
    def moves(self, _: e.Event) -> None:
        """The driver went on or stopped."""
        self.after = None

    @before(Observation)
    def rests(self, observation: Observation) -> None:
        """It doesn't stay running with nothing to run."""
        if self.after is not None and observation.status == "running" and not observation.gates:
            self.violated(f"the driver neither stopped nor went on after turn {self.after}, with waking input pending")
        self.after = None


class Statuses(ClaimMonitor):
    """
    See that status is published on a change, that idle means no turn, and that waiters resolve there and not before.

    An idle that is followed at once by running is a restart, and no place for a waiter to resolve.

    Rules: C-STAT-1
    """

    rule = "C-STAT-1"
    needs = frozenset({"log", "status"})

    def _start(self) -> None:
        """No idle was passed in this request, and the agent rests."""
        self.idled: int | None = None
        self.passed = False
        self.rested = True

    @before(e.StatusChanged)
    def changes(self, event: e.StatusChanged) -> None:
        """A status is a change, and idle closes everything."""
        turn, place = self.view.turn, self.view.position + 1
        if event.status == self.view.status:
            self.violated(f"status {event.status} was published though it was that already", place)
        elif event.status == "idle" and turn is not None:
            self.violated(f"the agent went idle inside turn {turn.number}", turn.position, place)
        else:
            self.exercised()
        restart = event.status == "running" and self.idled == place - 1
        self.passed = self.passed or (self.idled is not None and not restart)
        self.idled = place if event.status == "idle" else None

    @before(Observation)
    def shown(self, observation: Observation) -> None:
        """The status that is shown is the one last published; a waiter has resolved if and only if idle was reached."""
        asked = any(map(waking, operations(self.view.request)))
        passed = self.passed or self.idled is not None or (self.rested and not asked)
        self.idled, self.passed, self.rested = None, False, observation.status == "idle"
        if isinstance(self.view.request, v.Reset | v.Resume):
            return
        if observation.status != self.view.status:
            self.violated(f"the status is {observation.status}, but {self.view.status} was published last")
        if observation.when_idle is True and observation.status == "running" and not passed:
            self.violated("a waiter for idleness resolved in a request in which the agent never was idle")
        elif observation.when_idle in (False, "would-spin") and observation.status == "idle":
            self.violated("a waiter for idleness didn't resolve though the agent is idle")


class Quiescence(ClaimMonitor):
    """
    See that nothing waking waits at idle, except what the rules park.

    Rules: C-STAT-2
    """

    rule = "C-STAT-2"
    needs = frozenset({"log", "status", "command"})

    @after(Observation)
    def rests(self, observation: Observation) -> None:
        """At rest, waking input was kept by a cancel, left by a turn, came late, or the agent is gone."""
        if observation.status != "idle" or self.view.turn is not None or self.view.disposing is not False:
            return
        left = [entry for entry in self.view.pending() if entry.waking and not entry.excused and entry.late is False]
        message = f"the agent is idle though waking {names(left)} is pending, which nothing parked"
        self.expect(not left or self.view.doubt, message, *(entry.position for entry in left))


MONITORS: tuple[type[ClaimMonitor], ...] = (
    *(QuietStep, QuietTurn, Wakes, Late, NextTurn, AfterReject, Statuses, Quiescence),
)
