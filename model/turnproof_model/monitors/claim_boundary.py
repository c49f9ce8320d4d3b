"""
Judge the step boundary: what a pre-step decision admits, refuses or leaves empty.

Rules: C-PRE-1, C-PRE-2, C-PRE-3, C-PRE-4, C-CAN-4.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_facts import Boundary


def additions(boundary: Boundary) -> list[str]:
    """Name what the last decision adds to the claimed batch, in return order."""
    outcome = boundary.gates[-1].outcome if boundary.gates else None
    if not isinstance(outcome, v.Enter) or outcome.messages is None:
        return []
    claimed = {entry.id for entry in boundary.batch}
    given = [item if isinstance(item, str) else item.id for item in outcome.messages]
    return [name for name in given if name not in claimed]


class EnteredBatch(ClaimMonitor):
    """
    See that one decision is asked for at a boundary, and that exactly the entered batch opens the step.

    Rules: C-PRE-1
    """

    rule = "C-PRE-1"
    needs = frozenset({"log", "gates", "command", "request"})

    def _start(self) -> None:
        """Forget whose batch has been compared."""
        self.closed: Boundary | None = None

    @after(e.GateOpened)
    def asked(self, event: e.GateOpened) -> None:
        """A boundary asks once, and not after a cancel."""
        boundary = self.view.boundary
        if event.gate_kind != "pre-step" or boundary is None or boundary.entered is not None:
            return
        if len(boundary.gates) > 1:
            self.violated(f"pre-step was asked again at one boundary of turn {boundary.turn}")
        elif boundary.cancelled is not None and boundary.cancelled.sure and boundary.claimed is not None:
            message = f"pre-step was asked at a boundary of turn {boundary.turn} that had been cancelled"
            self.violated(message, boundary.cancelled.position, self.view.position)

    @after(e.StepStart)
    def entered(self, _: e.StepStart) -> None:
        """Each step is an occasion."""
        self.exercised()

    @after(e.UserMessage)
    def written(self, event: e.UserMessage) -> None:
        """The messages of the batch come first in the step, in order, and nothing after them."""
        boundary = self.view.boundary
        if boundary is None or boundary.entered is None or boundary.entering is None:
            return
        if self.closed is boundary:
            self.violated(f"{event.id} was appended to the step behind its batch")
            return
        place = len(boundary.written) - 1
        expected = boundary.entering[place] if place < len(boundary.entering) else "nothing more"
        if event.id != expected:
            self.violated(f"{event.id} was entered at place {place + 1} of the batch instead of {expected}")
            self.closed = boundary

    @before(e.RequestMade, e.AssistantMessage, e.StepEnd, e.TurnEnd)
    def complete(self, _: e.Event) -> None:
        """The batch is complete before anything else happens in the step."""
        boundary = self.view.boundary
        if boundary is None or boundary.entered is None or self.closed is boundary:
            return
        self.closed = boundary
        missing = boundary.entering[len(boundary.written) :] if boundary.entering is not None else []
        if missing:
            self.violated(f"{', '.join(missing)} was entered by pre-step, but never appended", boundary.entered)


class Refusals(ClaimMonitor):
    """
    See that a rejected or failed batch leaves no trace and closes its turn.

    Rules: C-PRE-2
    """

    rule = "C-PRE-2"
    needs = frozenset({"log", "gates", "command"})

    @after(e.StepStart, e.UserMessage)
    def goes_on(self, event: e.StepStart | e.UserMessage) -> None:
        """No step opens, and nothing of the batch is appended."""
        boundary = self.view.boundary
        if boundary is not None and boundary.refused:
            what = f"{event.id} was appended" if isinstance(event, e.UserMessage) else f"step {event.step} opened"
            self.violated(f"{what} in turn {boundary.turn} though pre-step had refused its batch")

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """The turn ends blocked or in error, unless it was aborted."""
        boundary, turn = self.view.boundary, self.view.turn
        if boundary is None or turn is None or not boundary.refused or boundary.entered is not None:
            return
        expected = "blocked" if isinstance(boundary.decision, v.Reject) else "error"
        aborted = event.reason == "aborted" and (turn.aborted or self.view.doubt)
        message = f"turn {event.turn} ended {event.reason} instead of {expected} after pre-step had refused its batch"
        self.expect(event.reason == expected or aborted, message, self.view.position + 1)


class EmptyBatches(ClaimMonitor):
    """
    See that an empty entering batch opens a step only where the model owes a request.

    Rules: C-PRE-3
    """

    rule = "C-PRE-3"
    needs = frozenset({"log", "gates", "command"})

    @before(e.StepStart)
    def enters(self, event: e.StepStart) -> None:
        """At the first boundary it opens none, later only with a result to answer."""
        boundary = self.view.boundary
        if boundary is None or boundary.entered is not None or not self._empty(boundary):
            return
        owed = not boundary.first and self.view.owes is not False
        message = (
            f"step {event.step} of turn {event.turn} opened with an empty batch and nothing for the model to answer"
        )
        self.expect(owed, message, self.view.position + 1)

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """Else it closes the turn, which counts as completed."""
        boundary, turn = self.view.boundary, self.view.turn
        if boundary is None or turn is None or boundary.entered is not None or not self._empty(boundary):
            return
        if not (boundary.first or boundary.batch or boundary.gates) or turn.aborted or self.view.doubt:
            return
        well = event.reason == "completed" or (event.reason == "max-tokens" and turn.steps > 0)
        if not well:
            message = f"turn {event.turn} ended {event.reason} though an empty batch closed it"
            self.violated(message, self.view.position + 1)
        elif not boundary.first and self.view.owes:
            self.violated(f"turn {event.turn} ended at an empty batch though a tool result is unanswered")
        else:
            self.exercised()

    def _empty(self, boundary: Boundary) -> bool:
        return boundary.batch_of(gated=self.view.gated("pre-step")) == []


class Returned(ClaimMonitor):
    """
    See that what a decision adds follows return order, and leaves no trace when it comes to nothing.

    Rules: C-PRE-4
    """

    rule = "C-PRE-4"
    needs = frozenset({"log", "gates", "command"})

    @after(e.StepStart)
    def entered(self, _: e.StepStart) -> None:
        """A decision with additions is an occasion."""
        boundary = self.view.boundary
        if boundary is not None and boundary.entering is not None and additions(boundary):
            self.exercised()

    @before(e.StepEnd)
    def complete(self, _: e.StepEnd) -> None:
        """They stand in the batch in the order in which they were returned."""
        boundary = self.view.boundary
        if boundary is None or boundary.entering is None:
            return
        added = additions(boundary)
        written = [name for name in boundary.written if name in added]
        expected = [name for name in boundary.entering if name in added]
        if written != expected:
            said = ", ".join(written) or "nothing"
            self.violated(f"pre-step returned {', '.join(expected)}, but {said} was appended", boundary.entered or -1)

    @after(e.UserMessage)
    def leaked(self, event: e.UserMessage) -> None:
        """What a refused or aborted decision returned doesn't appear."""
        boundary = self.view.boundary
        gate = boundary.gates[-1] if boundary is not None and boundary.gates else None
        if boundary is not None and gate is not None and gate.aborted and event.id in additions(boundary):
            self.violated(f"{event.id} was appended, though the decision that returned it had been aborted")


class ClaimedThenCancelled(ClaimMonitor):
    """
    See that a batch that was claimed before a cancel is neither appended nor followed by a request.

    Rules: C-CAN-4
    """

    rule = "C-CAN-4"
    needs = frozenset({"log", "command", "request"})

    def _start(self) -> None:
        """Forget the turn whose step was cancelled as it opened."""
        self.opening: tuple[int, int] | None = None

    @before(v.Cancel)
    def cancelled(self, issued: Issued[v.Cancel]) -> None:
        """A cancel between claim and step, or inside the publication of step and batch, is an occasion."""
        boundary, turn = self.view.boundary, self.view.turn
        if boundary is None or turn is None or not self.view.placed or turn.error is not None:
            return
        if boundary.entered is None and boundary.batch:
            self.exercised()
        elif type(issued.inside) in (e.StepStart, e.UserMessage) and boundary.entered is not None:
            self.opening = (turn.number, self.view.position)
            self.exercised()

    @after(e.StepStart)
    def enters(self, event: e.StepStart) -> None:
        """No step opens for it."""
        boundary = self.view.boundary
        if boundary is None or boundary.cancelled is None or not boundary.cancelled.sure:
            return
        if boundary.claimed is not None and boundary.claimed <= boundary.cancelled.position:
            names = ", ".join(entry.id for entry in boundary.batch)
            message = (
                f"step {event.step} of turn {event.turn} opened for {names}, claimed before the turn was cancelled"
            )
            self.violated(message, boundary.cancelled.position, self.view.position)

    @after(e.RequestMade)
    def requested(self, _: e.RequestMade) -> None:
        """A cancel inside the opening of the step takes effect before the request."""
        if self.opening is not None and self.view.turn is not None and self.view.turn.number == self.opening[0]:
            message = f"turn {self.opening[0]} made a request although it was cancelled while its step opened"
            self.violated(message, self.opening[1], self.view.position)

    @after(e.TurnEnd)
    def ends(self, _: e.TurnEnd) -> None:
        """It matters until the turn ends."""
        self.opening = None


MONITORS: tuple[type[ClaimMonitor], ...] = (EnteredBatch, Refusals, EmptyBatches, Returned, ClaimedThenCancelled)
