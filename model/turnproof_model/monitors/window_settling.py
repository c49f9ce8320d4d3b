"""
Judge what is told of a turn beside the log: its failure, and that it is settled.

Rules: W-TURN-5, W-TURN-6.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model.monitors.base import before
from turnproof_model.monitors.window_monitor import WindowMonitor
from turnproof_model.observation import Observation


class FailsOnce(WindowMonitor):
    """A failure is announced once: that of a turn inside it, that of its checkpoint behind it."""

    rule = "W-TURN-5"
    needs = frozenset({"log", "live"})

    def _start(self) -> None:
        self.announced: int | None = None
        """Where the failure of this turn, or of the last one's checkpoint, was announced."""

    @before(e.AgentError)
    def _failed(self, event: e.AgentError) -> None:
        if self.announced is None:
            self.exercised()
            self.announced = self.view.place
        else:
            self.violated(f"turn {event.turn} was announced as failed twice", self.announced, self.view.place)

    @before(e.TurnStart, e.TurnEnd)
    def _over(self, _: e.Event) -> None:
        self.announced = None


class Settles(WindowMonitor):
    """
    The last turn of a chain is settled, once, before anything else is claimed and before the agent rests.

    What begins while the checkpoint is pending begins too early, which other rules say: the turn is settled yet.
    """

    rule = "W-TURN-6"
    needs = frozenset({"log", "live"})

    def _start(self) -> None:
        self.due: int | None = None
        """The turn that has ended and isn't settled."""

    @before(e.TurnEnd)
    def _ended(self, event: e.TurnEnd) -> None:
        self.due = None if event.reason == "interrupted" else event.turn

    @before(e.Settled)
    def _settled(self, event: e.Settled) -> None:
        known = self.due == event.turn or self.view.previous is None
        self.expect(known, f"turn {event.turn} was settled, but {self._named()} has ended and isn't settled")
        self.due = None

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        if event.trigger != "message":
            self.due = None
        elif self._past_checkpoint():
            self._over(f"turn {event.turn} opened")

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        if event.placement == "queued" and self._past_checkpoint():
            self._over(f"{event.id!r} was claimed")

    @before(Observation)
    def _rests(self, observation: Observation) -> None:
        if observation.status == "idle" and not any(gate.kind == "flush" for gate in observation.gates):
            self._over("the agent came to rest")

    def _past_checkpoint(self) -> bool:
        return "gates" in self.view.sees and not self.view.gates_of("flush")

    def _over(self, what: str) -> None:
        due, self.due = self.due, None
        if due is not None:
            self.violated(f"{what} before turn {due} was settled")

    def _named(self) -> str:
        return "no turn" if self.due is None else f"turn {self.due}"


MONITORS: tuple[type[WindowMonitor], ...] = (FailsOnce, Settles)
"""The monitors of this family, in the order of their rules."""
