"""
Judge what a log of durable events shows of the inbox and the boundary, without commands, gates or live events.

Other monitors judge the same rules closer where more is recorded.

Rules: C-SEND-3, C-CLAIM-2, C-PRE-1.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model.monitors.base import after, before
from turnproof_model.monitors.claim_base import ClaimMonitor


class PendingTwice(ClaimMonitor):
    """
    See that an id never waits twice.

    Rules: C-SEND-3
    """

    rule = "C-SEND-3"

    @before(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """What enters isn't pending already, unless the same splice takes it out."""
        leaving = self.view.lists[event.target][event.start : event.start + event.removed_count]
        for name in event.inserted:
            waiting = self.view.find(name)
            if waiting is not None and waiting not in leaving:
                message = f"{name} was inserted into {event.target} while it waits in {waiting.list}"
                self.violated(message, waiting.position, self.view.place)


class ClaimsAtBoundaries(ClaimMonitor):
    """
    See that claims lie in a turn, between its steps.

    Rules: C-CLAIM-2
    """

    rule = "C-CLAIM-2"

    @after(e.Spliced)
    def claimed(self, event: e.Spliced) -> None:
        """A removal without outcome is a claim, and a turn has begun by then."""
        splice, turn = self.view.splice, self.view.turn
        if splice is None or splice.kind != "claim" or not event.removed_count:
            return
        if turn is None:
            self.violated(f"{event.removed_count} of {event.target} were claimed outside any turn")
        elif turn.step is not None:
            message = f"{event.removed_count} of {event.target} were claimed inside step {turn.step.number}"
            self.violated(message, turn.step.position, self.view.place)


class BatchFirst(ClaimMonitor):
    """
    See that messages enter a step before the model answers in it.

    Rules: C-PRE-1
    """

    rule = "C-PRE-1"

    @before(e.UserMessage)
    def entered(self, event: e.UserMessage) -> None:
        """Behind the answer nothing is entered into its step."""
        step = self.view.step
        if step is not None and step.spoken:
            message = f"{event.id} was appended behind the answer of step {step.number}"
            self.violated(message, step.position, self.view.place)


MONITORS: tuple[type[ClaimMonitor], ...] = (PendingTwice, ClaimsAtBoundaries, BatchFirst)
