"""
Judge where a sent message goes: queued, staged, or appended at once.

Rules: W-SEND-1, W-ROUTE-1 to -5. What is sent while a disposal is under way is latitude (``late-send``) and left to
W-DIS-2.
"""

from __future__ import annotations

from abc import abstractmethod

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Refused, before
from turnproof_model.monitors.window_facts import enters
from turnproof_model.monitors.window_monitor import WindowMonitor
from turnproof_model.observation import Observation


def injects(issued: Issued[v.Send]) -> bool:
    """Tell whether the send is an injection: next-step, not waking."""
    return not enters(issued.op)


class Presets(WindowMonitor):
    """Abbreviations act as the send they stand for, and the caller's id is used everywhere."""

    rule = "W-SEND-1"
    needs = frozenset({"command", "inbox", "log"})

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        send = self.view.next_send(event.id)
        preset = None if send is None else getattr(send.op, "preset", None)
        if preset is not None:
            self.expect(
                preset == "steer" or event.placement == "queued",
                f"{preset} {event.id!r} entered as {event.placement}: it stands for a next-turn send and is queued",
            )
        elif event.id not in self.view.messages and not self.view.offered(event.id):
            self.violated(f"enqueue names {event.id!r}, an id that no caller gave")

    @before(e.UserMessage, e.SteeringMessage)
    def _committed(self, event: e.UserMessage | e.SteeringMessage) -> None:
        if event.id in self.view.direct:
            self.exercised()
        elif event.id not in self.view.messages and not self.view.offered(event.id):
            self.violated(f"{event.type} names {event.id!r}, an id that no caller gave")


class Routing(WindowMonitor):
    """Be a rule about one kind of send; a send that is refused for no reason breaks it."""

    @abstractmethod
    def _concerns(self, send: v.Send) -> bool:
        """Tell whether the rule speaks of this send."""

    @before(Refused)
    def _refused(self, refusal: Refused) -> None:
        op = refusal.op
        if isinstance(op, v.Send) and self._concerns(op) and self.view.disposing is False:
            self.violated(f"{op.method} of {op.message.id!r} was refused ({refusal.reason}): nothing stands against it")


class NextTurn(Routing):
    """A next-turn send is queued, whatever goes on."""

    rule = "W-ROUTE-1"
    needs = frozenset({"command", "inbox"})

    def _concerns(self, send: v.Send) -> bool:
        return send.target == "next-turn"

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        send = self.view.next_send(event.id)
        if send is not None and isinstance(send.op, v.Send) and self._concerns(send.op):
            self.expect(
                event.placement == "queued",
                f"next-turn send of {event.id!r} entered as {event.placement}: it always joins the queue",
            )


class NextStepWaking(Routing):
    """A waking next-step send is steering inside the window and a queued prompt outside."""

    rule = "W-ROUTE-2"
    needs = frozenset({"command", "inbox", "log"})

    def _concerns(self, send: v.Send) -> bool:
        return send.target == "next-step" and send.wakeup

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        view, send = self.view, self.view.next_send(event.id)
        if send is None or not isinstance(send.op, v.Send) or not self._concerns(send.op):
            return
        inside = view.window()
        if inside is not None and view.disposing is False:
            wanted = "steering" if inside else "queued"
            where = "inside" if inside else "outside"
            self.expect(
                event.placement == wanted,
                f"{event.id!r}, steered {where} the window, entered as {event.placement}: it is {wanted}",
            )


class NextStepQuiet(Routing):
    """An injection is staged inside the window and appended at once outside."""

    rule = "W-ROUTE-3"
    needs = frozenset({"command", "inbox", "log"})

    def _concerns(self, send: v.Send) -> bool:
        return not enters(send)

    def _start(self) -> None:
        self.due: str | None = None
        self.staged: str | None = None

    @before(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        if not injects(issued) or self.view.disposing is not False:
            return
        inside = self.view.window()
        if inside is False:
            self.due = issued.op.message.id
        elif inside and issued.origin == "request":
            self.staged = issued.op.message.id

    @before(e.Event)
    def _next_durable(self, event: e.Event) -> None:
        if event.kind != "session" or type(event) is e.PluginEvent:
            return
        message_id = event.id if type(event) is e.UserMessage else None
        if message_id is not None and message_id != self.due and self.view.perhaps_sent(message_id):
            return  # it may have been sent ahead of what is due
        if self.due is not None:
            self.expect(
                message_id == self.due,
                f"{event.type} was appended before {self.due!r}, injected outside the window: it is appended at once",
            )
        elif self.staged is not None and message_id == self.staged:
            self.violated(f"{self.staged!r} was appended while the window was open: it is staged for the next boundary")
        self.due = self.staged = None

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        if self.due is not None and self.view.disposing is False:
            self.violated(f"{self.due!r}, injected outside the window, was not appended")
        elif self.staged is not None:
            shown = observation.inbox
            self.expect(
                shown is None or self.staged in shown.next_step,
                f"{self.staged!r}, injected inside the window, is not staged",
            )
        self.due = self.staged = None


class InjectionAlone(WindowMonitor):
    """An injection outside the window does nothing but append."""

    rule = "W-ROUTE-4"
    needs = frozenset({"command", "inbox", "log"})

    def _start(self) -> None:
        self.alone: str | None = None

    @before(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        view = self.view
        undisturbed = issued.origin == "request" and not view.arms and not view.unsure and view.disposing is False
        if undisturbed and injects(issued) and view.window() is False:
            self.alone = issued.op.message.id

    @before(e.TurnStart, e.StepStart, e.StatusChanged, e.RequestMade, e.Enqueue, e.Dequeue, e.GateOpened, e.Settled)
    def _happened(self, event: e.Event) -> None:
        if self.alone is not None:
            self.violated(f"{event.type} followed the injection of {self.alone!r} outside the window: it only appends")
            self.alone = None

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        if self.alone is not None:
            self.exercised()
        self.alone = None


class OneStackWhileIdle(WindowMonitor):
    """The sends of one stack made while idle are all placed as idle, before anything is claimed."""

    rule = "W-ROUTE-5"
    needs = frozenset({"command", "inbox", "log"})

    def _start(self) -> None:
        self.stack = -1
        self.left = 0

    @before(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        view = self.view
        if issued.origin != "batch" or self.stack == view.index or not isinstance(view.request, v.Batch):
            return
        sends = [op for op in view.request.ops if isinstance(op, v.Send) and enters(op)]
        if len(sends) > 1 and view.quiescent and view.status == "idle" and view.disposing is False and not view.unsure:
            self.stack, self.left = view.index, len(sends)
            self.exercised()

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        send = self.view.next_send(event.id)
        if self.stack != self.view.index or send is None or send.origin != "batch":
            return
        self.left -= 1
        if event.placement != "queued":
            self.violated(
                f"{event.id!r}, sent in a stack that began idle, entered as steering: the whole stack is idle"
            )

    @before(e.Dequeue)
    def _left_queue(self, event: e.Dequeue) -> None:
        if self.stack == self.view.index and self.left > 0 and not self.view.unsure and self.view.disposing is False:
            self.violated(f"{event.id!r} was claimed before the stack that sent it had returned")
            self.left = 0


MONITORS: tuple[type[WindowMonitor], ...] = (
    Presets,
    NextTurn,
    NextStepWaking,
    NextStepQuiet,
    InjectionAlone,
    OneStackWhileIdle,
)
"""The monitors of this family, in the order of their rules."""
