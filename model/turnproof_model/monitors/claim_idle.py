"""
Judge idleness: when the driver goes on, when it stops, and what may wait then.

Rules: C-TURN-6, C-PRE-5, C-STAT-1, C-STAT-2.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before, operations
from turnproof_model.monitors.claim_base import ClaimMonitor, names
from turnproof_model.monitors.claim_entries import waking
from turnproof_model.monitors.claim_facts import Pending
from turnproof_model.observation import Observation


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
        """No idle was passed in this request, the agent rests, and nothing was refused."""
        self.idled: int | None = None
        self.passed = False
        self.rested = True
        self.refused = False

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

    @after(e.OpThrew)
    def refuses(self, _: e.OpThrew) -> None:
        """What was refused woke nobody: the agent may have rested on until something woke it later."""
        self.refused = True

    @before(Observation)
    def shown(self, observation: Observation) -> None:
        """The status that is shown is the one last published; a waiter has resolved if and only if idle was reached."""
        asked = any(map(waking, operations(self.view.request))) and not self.refused
        passed = self.passed or self.idled is not None or (self.rested and not asked)
        self.idled, self.passed, self.rested, self.refused = None, False, observation.status == "idle", False
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


MONITORS: tuple[type[ClaimMonitor], ...] = (NextTurn, AfterReject, Statuses, Quiescence)
