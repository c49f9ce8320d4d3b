"""
Judge cancels: what they drop, what they keep, what they end, and what they leave alone.

Rules: C-CAN-1, C-CAN-2, C-CAN-3, C-CAN-5.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_facts import Pending
from turnproof_model.monitors.claim_turn import wrong_cause
from turnproof_model.observation import Observation


class Cancels(ClaimMonitor):
    """
    See that a cancel drops what is pending, tells the open gates in order, and stops the driver.

    Rules: C-CAN-1
    """

    rule = "C-CAN-1"
    needs = frozenset({"log", "inbox", "command", "gates", "status"})

    def _start(self) -> None:
        """Forget the cancel under way."""
        self.dropping: dict[str, list[Pending]] = {}
        self.alone = False
        self.gates: list[str] = []
        self.stopped: int | None = None

    @before(v.Cancel)
    def cancelled(self, issued: Issued[v.Cancel]) -> None:
        """A cancel of something is an occasion."""
        view = self.view
        if not view.placed:
            return
        doing = view.activity is not None or view.turn is not None
        if doing or (view.pending() and not issued.op.keep_inbox):
            self.exercised()
        self.alone = issued.origin == "request" and not view.arms and view.disposing is False
        if not issued.op.keep_inbox:
            self.dropping = {name: list(entries) for name, entries in view.lists.items()}
        running = view.turn is not None and view.turn.error is None and not view.turn.aborted
        self.gates = list(view.gates) if running and not view.doubt else []
        if view.turn is None and view.activity is not None:
            self.stopped = view.position

    @after(e.Spliced)
    def dropped(self, event: e.Spliced) -> None:
        """Next-step goes first, whole, then next-turn, whole."""
        splice = self.view.splice
        if splice is None or splice.kind != "cancel" or not self.alone or self.dropping.get(event.target) is None:
            return
        due = self.dropping.pop(event.target)
        earlier = self.dropping.get("next-step") if event.target == "next-turn" else None
        if earlier:
            self.violated(f"a cancel dropped next-turn before {earlier[0].id} of next-step")
        if splice.removed != due:
            taken = ", ".join(entry.id for entry in splice.removed)
            held = ", ".join(entry.id for entry in due)
            self.violated(f"a cancel dropped {taken} of {event.target} in one splice, which held {held}")

    @before(e.GateAborted)
    def told(self, event: e.GateAborted) -> None:
        """The gates hear of it in opening order, after the discards."""
        if event.gate not in self.gates:
            return
        place = self.gates.index(event.gate)
        gates = self.view.gates
        passed = [gate for gate in self.gates[:place] if gate in gates and not self._parks(gate)]
        if passed and self.alone:
            self.violated(f"gate {event.gate} heard of the cancel before {passed[0]}", self.view.position + 1)
        left = [entry for entries in self.dropping.values() for entry in entries if entry in self.view.pending()]
        if left and self.alone:
            message = f"gate {event.gate} heard of the cancel before {left[0].id} had been discarded"
            self.violated(message, left[0].position, self.view.position + 1)
        self.gates = self.gates[place + 1 :]

    def _parks(self, gate: str) -> bool:
        return self.view.on_abort.get(self.view.gates[gate].kind) == "park" or self.view.gates[gate].kind == "flush"

    @before(e.TurnStart)
    def goes_on(self, event: e.TurnStart) -> None:
        """Between turns a cancel stops the driver: no turn starts before it has been idle."""
        if self.stopped is not None:
            message = f"turn {event.turn} started although the driver had been cancelled between turns"
            self.violated(message, self.stopped, self.view.position + 1)
        self.stopped = None

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """The end of the turn carries the first cause."""
        wrong = wrong_cause(self.view, event)
        if wrong is not None:
            message = f"turn {event.turn} ended for cause {event.cause}, though it had been cancelled for {wrong} first"
            self.violated(message, self.view.position + 1)

    @before(e.StatusChanged)
    def idles(self, _: e.StatusChanged) -> None:
        """The driver has stopped."""
        self.stopped = None

    @after(Observation)
    def rests(self, observation: Observation) -> None:
        """What was pending has been discarded, and the gates that were open know."""
        doomed = [entry for entry in self.view.pending() if entry.doomed is not None]
        for entry in doomed if self.view.disposing is False else ():
            message = f"{entry.id} is still pending though a cancel that keeps nothing came behind it"
            self.violated(message, entry.doomed or -1, entry.position)
            entry.doomed = None
        unaware = [gate.id for gate in observation.gates if gate.id in self.gates and not gate.aborted]
        if unaware and not self.view.doubt and self.view.turn is not None and self.view.turn.aborted:
            self.violated(f"gate {unaware[0]} was open at the cancel and hasn't heard of it")
        self._start()


class Kept(ClaimMonitor):
    """
    See that a cancel that keeps the inbox drops nothing, and that what it kept waits for the next wake.

    Rules: C-CAN-2
    """

    rule = "C-CAN-2"
    needs = frozenset({"log", "command", "status"})

    def _start(self) -> None:
        """Forget what was kept."""
        self.kept: list[Pending] = []
        self.alone = False

    @before(v.Cancel)
    def cancelled(self, issued: Issued[v.Cancel]) -> None:
        """Keeping something is an occasion."""
        self.kept, self.alone = [], False
        if issued.op.keep_inbox and self.view.placed and self.view.pending():
            self.kept = self.view.pending()
            self.alone = issued.origin == "request" and not self.view.arms and self.view.disposing is False
            self.exercised()

    @after(e.Spliced)
    def dropped(self, _: e.Spliced) -> None:
        """Nothing is discarded by it."""
        splice = self.view.splice
        if splice is not None and splice.kind == "cancel" and self.alone:
            gone = [entry.id for entry in splice.removed if entry in self.kept]
            if gone:
                self.violated(f"{', '.join(gone)} was dropped by a cancel that keeps the inbox")

    @before(e.StatusChanged)
    def wakes(self, event: e.StatusChanged) -> None:
        """What was kept doesn't start the driver by itself."""
        kept = [entry for entry in self.kept if entry in self.view.pending()]
        if event.status == "running" and kept and self.view.unasked:
            message = f"the driver started for {kept[0].id}, which a cancel had kept, though nobody woke it"
            self.violated(message, kept[0].position, self.view.position + 1)

    @before(e.TurnStart)
    def turn_starts(self, event: e.TurnStart) -> None:
        """No turn follows the cancelled one within its activity."""
        previous = self.view.previous
        if self.kept and self.view.ended and previous is not None and previous.reason == "aborted":
            kept = [entry for entry in self.kept if entry in self.view.pending()]
            if kept:
                message = (
                    f"turn {event.turn} followed the cancelled one although {kept[0].id} was kept for the next wake"
                )
                self.violated(message, kept[0].position, self.view.position + 1)
        self.kept = []

    @before(Observation)
    def rests(self, _: Observation) -> None:
        """The request that cancelled is over."""
        self.alone = False


class IdleCancels(ClaimMonitor):
    """
    See that a cancel of nothing leaves no trace.

    Rules: C-CAN-3
    """

    rule = "C-CAN-3"
    needs = frozenset({"log", "command", "status"})

    def _start(self) -> None:
        """Forget the cancel."""
        self.nothing = False

    @before(v.Cancel)
    def cancelled(self, issued: Issued[v.Cancel]) -> None:
        """A request that cancels an idle agent with an empty inbox is an occasion."""
        view = self.view
        if issued.origin == "request" and view.idle and not view.pending() and not view.doubt and not view.gates:
            self.nothing = True
            self.exercised()

    @before(e.Event)
    def happens(self, event: e.Event) -> None:
        """Nothing is published."""
        if self.nothing and event.kind in ("session", "live"):
            self.violated(f"{event.type} was published by a cancel with nothing to cancel", self.view.position + 1)

    @before(Observation)
    def rests(self, _: Observation) -> None:
        """The request is over."""
        self.nothing = False


class AbortedTurns(ClaimMonitor):
    """
    See that ``aborted`` goes with a cancel of that turn, and that no claim begins behind it.

    Rules: C-CAN-5
    """

    rule = "C-CAN-5"
    needs = frozenset({"log", "command"})

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """An aborted turn is an occasion."""
        turn = self.view.turn
        if event.reason == "aborted" and turn is not None:
            caused = turn.aborted or self.view.doubt or self.view.disposing is not False
            message = f"turn {event.turn} ended aborted though nothing cancelled it"
            self.expect(caused, message, turn.position, self.view.position + 1)

    @after(e.Spliced)
    def claimed(self, _: e.Spliced) -> None:
        """Behind a cancel a claim that has begun may complete, no other begins."""
        splice, boundary, turn = self.view.splice, self.view.boundary, self.view.turn
        if splice is None or splice.kind != "claim" or turn is None or boundary is None or not turn.cancels:
            return
        first = turn.cancels[0]
        begun = boundary.claimed is not None and boundary.claimed <= first.position
        if first.sure and not begun:
            names = ", ".join(entry.id for entry in splice.removed)
            message = f"{names} was claimed for turn {turn.number} after it had been cancelled"
            self.violated(message, first.position, self.view.position)


MONITORS: tuple[type[ClaimMonitor], ...] = (Cancels, Kept, IdleCancels, AbortedTurns)
