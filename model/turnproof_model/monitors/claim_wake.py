"""
Judge waking: what starts the driver, and what doesn't.

Rules: C-SEND-4, C-WAKE-1, C-WAKE-2, C-WAKE-3.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor, names
from turnproof_model.monitors.claim_entries import waking
from turnproof_model.monitors.claim_facts import Pending
from turnproof_model.observation import Observation


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

    Whether late input restarts it or stays parked is latitude ``wake-after-abort``, but one agent does the one or the
    other.

    Rules: C-WAKE-3
    """

    rule = "C-WAKE-3"
    needs = frozenset({"log", "command", "status"})

    def _start(self) -> None:
        """No idle has been seen, and no late input has restarted the driver or stayed parked."""
        self.idle_at: tuple[int, int] | None = None
        self.restarted: int | None = None
        self.parked: int | None = None

    def _renewed(self) -> None:
        """A new agent lives by the same freedoms."""
        self.idle_at = None

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
        elif self.idle_at == (self.view.index, self.view.position):
            if self.view.unasked:
                message = "the driver restarted though no late waking input was pending"
                self.violated(message, self.view.position, self.view.position + 1)
            elif self._late():
                self.restarted = self.view.position + 1
                self._one_way()

    def _late(self) -> list[Pending]:
        """List what surely came late, and has not been cancelled or kept since."""
        if self.view.doubt or self.view.disposing is not False:
            return []
        return [entry for entry in self.view.pending() if entry.waking and entry.late is True and not entry.excused]

    @after(Observation)
    def rests(self, observation: Observation) -> None:
        """Late input that waits at rest is parked."""
        if observation.status == "idle" and self.view.turn is None and (late := self._late()):
            self.parked = late[0].position
            self._one_way()

    def _one_way(self) -> None:
        if self.restarted is not None and self.parked is not None:
            message = "late input restarted the driver once, and stayed parked another time"
            self.violated(message, self.restarted, self.parked)
            self.restarted = self.parked = None

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


MONITORS: tuple[type[ClaimMonitor], ...] = (QuietStep, QuietTurn, Wakes, Late)
