"""
Judge rejected admissions: no trace of the prompt, context appended or retained, and the loop goes on.

Rules: W-ADM-5 to -8.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.window_facts import Admission, brought, supplied
from turnproof_model.monitors.window_monitor import WindowMonitor
from turnproof_model.observation import Observation


class Rejection(WindowMonitor):
    """Be a rule about the end of an admission that opened no turn; a subclass says what must hold there."""

    @before(e.StatusChanged, e.GateOpened, e.Dequeue)
    def _may_end(self, event: e.StatusChanged | e.GateOpened | e.Dequeue) -> None:
        """The next claim ends it, seen first by its prompt-submit or, where gates aren't shown, by its dequeue."""
        view = self.view
        if isinstance(event, e.StatusChanged):
            ends = event.status == "idle"
        elif isinstance(event, e.GateOpened):
            ends = event.gate_kind == "prompt-submit" and view.claiming is None
        else:
            ends = event.placement == "queued" and view.claiming is None
        admission = view.admission
        if not ends or admission is None or view.turn is not None or view.disposing is not False or view.blurred:
            return
        if admission.refused or admission.cancelled is not None:
            self._ended(admission)

    def _ended(self, admission: Admission) -> None:
        """Judge the end of a rejected admission."""


class BlockedLeavesNothing(WindowMonitor):
    """A blocked or failed admission opens no turn, and neither the prompt nor its contexts are ever written."""

    rule = "W-ADM-5"
    needs = frozenset({"command", "inbox", "log"})

    def _start(self) -> None:
        self.banned: set[str] = set()
        self.unseen: set[str] = set()  # may have been sent unseen, and be written at any time from then on

    @before(v.Release)
    def _decided(self, issued: Issued[v.Release]) -> None:
        view, outcome = self.view, issued.op.outcome
        gate = view.gate_of(issued.op)
        admission = view.admission
        if gate is not None and gate.kind == "prompt-submit" and isinstance(outcome, v.Block | v.Throw):
            if admission is not None and not gate.aborted:
                self.exercised()
                self.banned.add(admission.entry.id)
                self.banned.update(supplied(issued.op))
                snapshot = admission.entry.snapshot
                self.banned.update(() if snapshot is None else (snapshot.id,))
                self.banned -= self.unseen | {item.id for item in view.outbox}
        else:
            self.banned.difference_update(supplied(issued.op))

    @before(v.Send, v.Reference)
    def _again(self, issued: Issued[v.Send | v.Reference]) -> None:
        self.banned.discard(issued.op.message.id)

    @before(Unsure)
    def _perhaps_again(self, item: Unsure[v.Operation]) -> None:
        self.banned.clear()
        self.unseen.update(brought(item.op))

    @before(e.UserMessage, e.SteeringMessage)
    def _written(self, event: e.UserMessage | e.SteeringMessage) -> None:
        if event.id in self.banned and not self.view.expected(event.id):
            self.violated(f"{event.id!r} was written although its admission was rejected")

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        admission = self.view.admission
        if event.trigger != "retry" and admission is not None and admission.refused:
            self.violated(f"turn {event.turn} opened for {admission.entry.id!r}, whose admission was rejected")


class ContextAloneAppended(Rejection):
    """A rejected admission appends its context at once if nothing but context is staged."""

    rule = "W-ADM-6"
    needs = frozenset({"command", "inbox", "log"})

    @before(e.UserMessage)
    def _appended(self, event: e.UserMessage) -> None:
        view = self.view
        if view.admission is None or view.turn is not None or event.id in view.direct or view.blurred:
            return
        if view.disposing is not False:
            return
        context = [item for item in view.outbox if item.kind == "context"]
        if len(context) == len(view.outbox) and any(item.id == event.id for item in context):
            loose = context[0].loose
            self.expect(
                loose or context[0].id == event.id, f"{event.id!r} was appended before {context[0].id!r}, staged first"
            )

    def _ended(self, admission: Admission) -> None:
        outbox = self.view.outbox
        left = [item.id for item in outbox if item.id not in admission.retained]
        if left and all(item.kind == "context" for item in outbox):
            self.violated(f"{left} was staged alone when the admission was rejected, and wasn't appended")


class SteeringRetained(Rejection):
    """A rejected admission keeps steering staged, with the context beside it, and appends nothing."""

    rule = "W-ADM-7"
    needs = frozenset({"command", "inbox", "log"})

    @before(e.UserMessage)
    def _appended(self, event: e.UserMessage) -> None:
        view = self.view
        if view.admission is None or view.turn is not None or event.id in view.direct or view.blurred:
            return
        if view.disposing is not False:
            return
        if view.steering and any(item.id == event.id and item.kind == "context" for item in view.outbox):
            self.violated(f"{event.id!r} was appended although steering is staged beside it: both stay staged")

    @before(e.Dequeue)
    def _left(self, event: e.Dequeue) -> None:
        if event.placement == "steering" and self.view.turn is None:
            self.violated(f"steering {event.id!r} left the outbox without a turn that takes it")

    def _ended(self, admission: Admission) -> None:  # noqa: ARG002 (whichever prompt it was)
        if self.view.steering:
            self.exercised()


class GoesOn(WindowMonitor):
    """After a rejected admission the next waking prompt is served, or the agent is idle."""

    rule = "W-ADM-8"
    needs = frozenset({"command", "inbox", "status"})

    def _start(self) -> None:
        self.rejected: Admission | None = None

    @before(v.Release)
    def _decided(self, issued: Issued[v.Release]) -> None:
        gate = self.view.gate_of(issued.op)
        if gate is not None and gate.kind == "prompt-submit" and isinstance(issued.op.outcome, v.Block | v.Throw):
            self.rejected = self.view.admission

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        """Whatever becomes of the next prompt, the agent has gone on."""
        if self.rejected is not None and event.placement == "queued":
            self.rejected = None
            if self.view.disposing is False:
                self.exercised()

    @after(Observation)
    def _ended(self, observation: Observation) -> None:
        view, rejected = self.view, self.rejected
        self.rejected = None
        if rejected is None or view.disposing is not False:
            return
        stuck = view.turn is None and observation.status == "running" and view.admission in (None, rejected)
        self.expect(
            not stuck, f"the admission of {rejected.entry.id!r} was rejected, and the agent neither went on nor rests"
        )


MONITORS: tuple[type[WindowMonitor], ...] = (BlockedLeavesNothing, ContextAloneAppended, SteeringRetained, GoesOn)
"""The monitors of this family, in the order of their rules."""
