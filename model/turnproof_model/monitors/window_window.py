"""
Judge the acceptance window: when it is open, that it tells the routing, and what a listener finds.

Rules: W-PUB-1, W-WIN-1 to -3.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, after, before
from turnproof_model.monitors.window_monitor import WindowMonitor
from turnproof_model.monitors.window_routing import injects
from turnproof_model.observation import Observation


class OneOrder(WindowMonitor):
    """What an operation inside an event publishes comes after that event, and finds the state of after it."""

    rule = "W-PUB-1"
    needs = frozenset({"command", "inbox", "gates"})

    def _start(self) -> None:
        self.inside: Any = None

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        view, send = self.view, self.view.next_send(event.id)
        if send is not None:
            if send.origin == "arm":
                self.exercised()
        elif view.offered(event.id) and not view.unsure and event.id not in view.messages:
            self.violated(f"enqueue of {event.id!r} was published before the event inside which it is sent")

    @after(v.Cancel)
    def _cancelled(self, issued: Issued[v.Cancel]) -> None:
        if not issued.op.keep_inbox and type(issued.inside) in (e.Enqueue, e.Dequeue):
            self.inside = issued.inside

    @before(e.Discard)
    def _dropped(self, event: e.Discard) -> None:
        inside, self.inside = self.inside, None
        if inside is None:
            return
        outstanding = sum(entry.id == inside.id for entry in (*self.view.queued, *self.view.steering))
        what = "enqueue" if type(inside) is e.Enqueue else "dequeue"
        self.expect(
            event.ids.count(inside.id) == outstanding,
            f"a cancel inside the {what} of {inside.id!r} dropped {event.ids.count(inside.id)} of it where"
            f" {outstanding} was pending: the state changes before its event is published",
        )

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        self.inside = None


class WindowShown(WindowMonitor):
    """The window is open from before prompt-submit until just before the turn's end, and at no other time."""

    rule = "W-WIN-1"
    needs = frozenset({"window", "log", "inbox"})

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        wanted = self.view.window()
        if observation.accepts_next_step is None or wanted is None or self.view.disposing is not False:
            return
        why = "an admission or a turn is open" if wanted else "neither an admission nor a turn is open"
        shown = "open" if observation.accepts_next_step else "closed"
        self.expect(observation.accepts_next_step == wanted, f"the window is {shown} although {why}")


class WindowTells(WindowMonitor):
    """``acceptsNextStep`` tells how a next-step send is routed."""

    rule = "W-WIN-2"
    needs = frozenset({"window", "command", "inbox", "log"})

    def _start(self) -> None:
        self.told: bool | None = None
        self.message = ""
        self.inside = False

    @before(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        shown = self.view.shown
        self.told = None
        if issued.origin == "request" and issued.op.target == "next-step" and shown and self.view.disposing is False:
            self.told, self.message, self.inside = shown.accepts_next_step, issued.op.message.id, injects(issued)

    @before(e.Enqueue, e.UserMessage)
    def _placed(self, event: e.Enqueue | e.UserMessage) -> None:
        if self.told is None or event.id != self.message:
            return
        accepted = type(event) is e.Enqueue and event.placement == "steering"
        self._judge(accepted)

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        if self.told is not None and self.inside:
            self._judge(accepted=True)
        self.told = None

    def _judge(self, accepted: bool) -> None:
        said, was = ("open" if self.told else "closed"), ("inside" if accepted else "outside")
        self.expect(
            accepted == self.told, f"the window was shown {said}, but {self.message!r} was routed as {was} of it"
        )
        self.told = None


class SteeringAtTurnEnd(WindowMonitor):
    """Steering that a listener of ``turn/end`` sends is a queued turn of its own."""

    rule = "W-WIN-3"
    needs = frozenset({"command", "inbox", "log"})

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        send = self.view.next_send(event.id)
        if send is None or type(send.inside) is not e.TurnEnd or getattr(send.op, "target", None) != "next-step":
            return
        if self.view.disposing is False:
            self.expect(
                event.placement == "queued",
                f"{event.id!r}, steered inside turn/end, joined the turn that has ended: it is a queued turn",
            )


MONITORS: tuple[type[WindowMonitor], ...] = (OneOrder, WindowShown, WindowTells, SteeringAtTurnEnd)
"""The monitors of this family, in the order of their rules."""
