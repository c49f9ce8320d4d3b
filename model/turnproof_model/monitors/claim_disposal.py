"""
Judge disposal: a cancel for good.

Rules: C-DIS-1.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Refused, Unsure, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.observation import Observation


class Disposal(ClaimMonitor):
    """
    See that a disposal ends everything: no turn, no request and no status behind it, and nothing pending dropped late.

    Rules: C-DIS-1
    """

    rule = "C-DIS-1"
    needs = frozenset({"log", "live", "status", "command", "request"})

    def _start(self) -> None:
        """Forget a refused disposal."""
        self.refusal = -1
        self.disposal: int | None = None
        self.perhaps = 0

    @before(v.Dispose)
    def disposes(self, _: Issued[v.Dispose]) -> None:
        """Each disposal is an occasion."""
        self.exercised()
        if self.disposal is None and self.view.placed:
            self.disposal = self.view.position

    @after(Unsure)
    def may_dispose(self, item: Unsure[Any]) -> None:
        """Count disposals that may have been refused."""
        ops = item.op.ops if isinstance(item.op, v.Arm) else (item.op,)
        self.perhaps += sum(isinstance(op, v.Dispose) for op in ops)

    @after(e.OpThrew)
    def threw(self, event: e.OpThrew) -> None:
        """A refused one doesn't count."""
        self.perhaps -= event.method == "dispose"

    @after(Refused)
    def refused(self, item: Refused) -> None:
        """A disposal that is refused changes nothing."""
        if isinstance(item.op, v.Dispose):
            self.refusal = self.view.index

    @before(e.TurnStart, e.RequestMade, e.StatusChanged)
    def goes_on(self, event: e.TurnStart | e.RequestMade | e.StatusChanged) -> None:
        """No turn starts after the call, and the driver doesn't run again."""
        if self.disposal is None:
            return
        place = self.view.position + 1
        if isinstance(event, e.TurnStart):
            self.violated(f"turn {event.turn} started after the disposal", self.disposal, place)
        elif isinstance(event, e.RequestMade) and self.view.turn is None:
            self.violated("the model was asked after the disposal", self.disposal, place)
        elif isinstance(event, e.StatusChanged) and self.view.disposed:
            self.violated(f"status {event.status} was published after agent/disposed", self.disposal, place)

    @before(e.Disposed)
    def gone(self, _: e.Disposed) -> None:
        """The agent is gone once, after its last idle, because it was disposed of."""
        place = self.view.position + 1
        if self.view.disposed:
            self.violated("agent/disposed was published twice", place)
        elif self.view.status != "idle" or self.view.turn is not None:
            self.violated("agent/disposed was published while the agent was running", place)
        elif self.view.disposing is False:
            self.violated("agent/disposed was published though nobody disposed of the agent", place)

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """The open turn ends as aborted, for this cause unless an earlier one stands."""
        turn = self.view.turn
        if turn is None or turn.disposed is None or self.disposal is None or turn.error is not None:
            return
        if event.reason != "aborted":
            message = f"turn {event.turn} ended {event.reason} though the agent was disposed of while it ran"
            self.violated(message, self.disposal, self.view.position + 1)

    @after(e.Event)
    def changes(self, event: e.Event) -> None:
        """Nothing follows from a refused disposal."""
        if self.refusal == self.view.index and event.kind == "session":
            self.violated(f"a disposal was refused, but {event.type} was appended in that request")

    @after(Observation)
    def rests(self, _: Observation) -> None:
        """What was pending at the call has been discarded, and an agent that refused every disposal is there."""
        if self.view.disposed and self.disposal is None and self.perhaps <= 0 and self.view.disposing is None:
            self.violated("agent/disposed was published though every disposal had been refused")
            self.perhaps = 1
        doomed = [entry for entry in self.view.pending() if entry.doomed is not None]
        for entry in doomed if self.disposal is not None else ():
            message = f"{entry.id} is still pending though the agent was disposed of behind it"
            self.violated(message, entry.position)
            entry.doomed = None


MONITORS: tuple[type[ClaimMonitor], ...] = (Disposal,)
