"""
Judge the outbox: drained whole, in acceptance order, at a boundary; what outlives its turn stays staged.

Rules: W-WIN-4, W-WIN-5, W-STEP-2, W-STEP-4.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.window_facts import Staged, supplied
from turnproof_model.monitors.window_monitor import WindowMonitor, in_order
from turnproof_model.observation import Observation


class Drains(WindowMonitor):
    """Be a rule about a drain: from the first item that leaves the outbox in a turn to the next step."""

    def _start(self) -> None:
        self.drained: list[Staged] | None = None
        """What was staged when the drain began."""

    @before(e.Dequeue, e.UserMessage)
    def _leaves(self, event: e.Dequeue | e.UserMessage) -> None:
        view = self.view
        item = None if view.turn is None or view.blurred else view.leaving(event)
        if item is None:
            return
        if self.drained is None:
            self.drained = list(view.outbox)
        self._left(item)

    def _left(self, item: Staged) -> None:
        """Take note that an item leaves the outbox, which still holds it."""

    @before(e.StepStart)
    def _stepped(self, _: e.StepStart) -> None:
        drained, self.drained = self.drained, None
        if drained is not None and self.view.turn is not None and not self.view.turn.aborted and not self.view.blurred:
            self._over(drained, [item for item in drained if item in self.view.outbox])

    def _over(self, drained: list[Staged], left: list[Staged]) -> None:
        """Judge a drain that is over; ``left`` is what it should have taken and didn't."""

    @before(e.TurnEnd)
    def _ended(self, _: e.TurnEnd) -> None:
        self.drained = None


class DrainedInOrder(Drains):
    """The outbox is drained whole, in acceptance order."""

    rule = "W-STEP-2"
    needs = frozenset({"command", "inbox", "log"})

    def _left(self, item: Staged) -> None:
        written = self._may_be_written()
        before = self.view.outbox[: self.view.outbox.index(item)]
        ahead = [other for other in before if not other.loose and other.id not in written]
        self.expect(
            item.loose or not ahead,
            f"{item.id!r} left the outbox ahead of {ahead[0].id if ahead else ''!r}, which was staged before it",
        )

    def _may_be_written(self) -> set[str]:
        """Name what may have been written already: an id of the opening's own may be that of a staged item."""
        opening = self.view.opening
        if opening is None:
            return set()
        return {*opening.written, *(() if opening.prompt is None else (opening.prompt.id,))}

    def _over(self, drained: list[Staged], left: list[Staged]) -> None:
        if left and len({item.kind for item in drained}) == 1:
            self.violated(f"a step opened with {[item.id for item in left]} left behind by the drain before it")


class SameRequest(Drains):
    """Steering and context accepted for one boundary reach the same request."""

    rule = "W-WIN-4"
    needs = frozenset({"command", "inbox", "log"})

    def _over(self, drained: list[Staged], left: list[Staged]) -> None:
        if len({item.kind for item in drained}) > 1:
            missing = [item.id for item in left]
            self.expect(not missing, f"{missing} was staged for the same boundary and isn't in its request")


class ToolContexts(WindowMonitor):
    """Contexts of a tool are staged after its result, in their order."""

    rule = "W-STEP-4"
    needs = frozenset({"command", "log", "gates"})

    def _start(self) -> None:
        self.due: dict[str, tuple[str | None, tuple[str, ...]]] = {}
        """Context id -> (its call, the contexts of the same result that go before it)."""
        self.answered: set[str] = set()

    @before(v.Release)
    def _returned(self, issued: Issued[v.Release]) -> None:
        gate = self.view.gate_of(issued.op)
        if gate is None or gate.kind != "tool" or not isinstance(issued.op.outcome, v.Result | v.Error):
            return
        contexts = tuple(message.id for message in issued.op.outcome.additional_contexts)
        self.answered.discard(gate.call_id or "")
        staged = {item.id for item in self.view.outbox}
        for place, item_id in enumerate(contexts):
            if item_id in staged or item_id in self.due or contexts.count(item_id) > 1:
                self.due.pop(item_id, None)  # which of the two is written can't be told
            else:
                self.due[item_id] = (gate.call_id, contexts[:place])

    @before(v.Send, v.Reference, Unsure)
    def _supplied(self, item: Issued[Any] | Unsure[Any]) -> None:
        """What is staged under the id of a context can't be told from it."""
        op = item.op
        if isinstance(op, v.Send) and op.target == "next-step" and not op.wakeup:
            self.due.pop(op.message.id, None)
        elif isinstance(op, v.Reference):
            self.due.pop(op.snapshot.id, None)
        elif isinstance(op, v.Release):
            for item_id in supplied(op):
                self.due.pop(item_id, None)

    @before(e.ToolResult)
    def _answered(self, event: e.ToolResult) -> None:
        self.answered.add(event.call_id)

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        if event.id not in self.due or event.id in self.view.direct:
            return
        call, before_it = self.due.pop(event.id)
        late = [item_id for item_id in before_it if item_id in self.due]
        if call is not None and call not in self.answered:
            self.violated(f"context {event.id!r} of call {call!r} was written before the result of that call")
        else:
            self.expect(not late, f"context {event.id!r} was written before {late}, which the tool returned before it")

    @before(e.CancelRequested, v.Dispose)
    def _dropped(self, _: object) -> None:
        self.due.clear()


class OutlivesTheTurn(WindowMonitor):
    """What is still staged when a turn ends stays staged in order, wakes nothing, and waits for the next turn."""

    rule = "W-WIN-5"
    needs = frozenset({"command", "inbox", "log"})

    def _start(self) -> None:
        self.kept: list[str] = []

    @before(e.TurnEnd)
    def _ended(self, _: e.TurnEnd) -> None:
        outbox = [] if self.view.blurred else self.view.outbox
        self.kept = [item.id for item in outbox if not item.loose]
        if outbox:
            self.exercised()

    @before(e.UserMessage, e.Dequeue)
    def _left(self, event: e.UserMessage | e.Dequeue) -> None:
        view = self.view
        if view.turn is not None or event.id not in self.kept:
            return
        if view.admission is not None:  # a rejected admission may append what is context alone (W-ADM-6)
            self.kept.remove(event.id)
            return
        direct = type(event) is e.UserMessage and (view.perhaps_sent(event.id) or view.leaving(event) is None)
        if not direct and not (type(event) is e.Dequeue and event.placement == "queued"):
            self.violated(f"{event.id!r} stayed staged when its turn ended, but left before the next turn opened")

    @before(e.StatusChanged)
    def _woke(self, event: e.StatusChanged) -> None:
        if event.status == "running" and self.kept and not self.view.queued:
            self.violated(f"{self.kept} stayed staged when its turn ended, and started the agent: it wakes nothing")

    @before(Observation)
    def _shown(self, observation: Observation) -> None:
        shown = None if observation.inbox is None else observation.inbox.next_step
        if self.view.disposing is not False:
            return
        if shown is not None and not in_order(self.kept, shown):
            self.violated(f"{self.kept} stayed staged when its turn ended, but {list(shown)} is shown")
            self.kept = []

    @after(e.TurnStart, e.CancelRequested, v.Dispose)
    def _forget(self, _: object) -> None:
        self.kept = []


MONITORS: tuple[type[WindowMonitor], ...] = (SameRequest, OutlivesTheTurn, DrainedInOrder, ToolContexts)
"""The monitors of this family, in the order of their rules."""
