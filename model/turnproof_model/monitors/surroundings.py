"""
Fold what happens around an agent: what callers do, which gates are open, what was cancelled or disposed of.

Where the moment or the fate of an operation doesn't show in the stream, it is kept as *unsure*, and the facts that
depend on it say that they are open.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.arming import Arming
from turnproof_model.monitors.base import Issued, Mark, Unsure
from turnproof_model.monitors.facts import Cancelled, Gate, Turn
from turnproof_model.monitors.folding import Folding, folds
from turnproof_model.observation import Observation


class Surroundings(Folding):
    """
    Show what happened around the agent so far.

    Attributes:
        messages: every value that was sent or supplied under an id.
        gates: open gates by id, in opening order; tools: what each call's gate was released with (None: any call's).
        unsure: operations of this request whose moment or fate the stream doesn't show, and latent ones.
        disposing: whether a disposal was called, None where one may have been; disposed, resolved: what was published.
        undated: whether an earlier disposal than the one that was called may have come unseen.
        shown: the last observation.
    """

    turn: Turn | None
    messages: dict[str, list[v.Message]]

    def clear(self) -> None:
        """Forget what dies with an agent."""
        self.gates: dict[str, Gate] = {}
        self.arms: list[Arming] = []
        self.unsure: list[Unsure[Any]] = []
        self.due_cancels: list[v.Cancel] = []
        self.last_cancel: Cancelled | None = None
        self.tools: dict[str | None, v.Outcome | None] = {}
        self.disposing: bool | None = False
        self.undated = False
        self.disposed = False
        self.resolved = False
        self.shown: Observation | None = None

    # -------------------------------------------------------------------------------------------- operations
    @folds(v.Send)
    def _send(self, issued: Issued[v.Send]) -> None:
        self.learn(issued.op.message)

    @folds(v.Reference)
    def _reference(self, issued: Issued[v.Reference]) -> None:
        self.learn(issued.op.message, issued.op.snapshot)

    def learn(self, *messages: v.Message) -> None:
        """Remember messages that may appear from now on."""
        for message in messages:
            versions = self.messages.setdefault(message.id, [])
            if message not in versions:
                versions.append(message)

    @folds(v.Arm)
    def _arm(self, issued: Issued[v.Arm]) -> None:
        if issued.op.on.startswith("gate:") and "gates" not in self.sees:
            for op in issued.op.ops:
                self.fold(Unsure(op, "latent"))
        else:
            self.arms.append(Arming(issued.op))

    @folds(Unsure)
    def _unsure(self, item: Unsure[Any]) -> None:
        self.unsure.append(item)
        op = item.op
        if isinstance(op, v.Dispose) and self.disposing is False:
            self.disposing = None
        elif isinstance(op, v.Send):
            self.learn(op.message)
        elif isinstance(op, v.Reference):
            self.learn(op.message, op.snapshot)
        elif isinstance(op, v.Release):
            self.learn(*getattr(op.outcome, "additional_contexts", ()))
        elif isinstance(op, v.Arm):
            self.unsure += [Unsure(inner, "deferred") for inner in op.ops]

    def mark(self, issued: Issued[Any]) -> Mark | None:  # noqa: ARG002 (a contract knows)
        """Name the last event that the operation publishes before it returns; None where nothing need come."""
        return None

    def begins(self, issued: Issued[Any], event: e.Event) -> bool:  # noqa: ARG002 (a contract knows)
        """Tell whether the event belongs to the operation, whose mark is still to come."""
        return False

    def may_happen(self, kind: type) -> bool:
        """Tell whether an operation of this class may have happened unseen."""
        return bool(self.unsure) and any(isinstance(item.op, kind) for item in self.unsure)

    def disarm(self) -> None:
        """Forget what was armed, and what was due some breaks later."""
        self.arms = []
        self.unsure = []

    def fired(self, event: e.Event) -> list[Issued[Any] | Unsure[Any]]:
        """
        List the operations that arms perform inside this event, in the order of arming.

        Those that may come at any time from now on go first: nothing that is published need precede them.
        """
        if not self.arms:
            return []
        out: list[Issued[Any] | Unsure[Any]] = []
        for arming in tuple(self.arms):
            match = arming.matches(event)
            if match is not False:
                before = any(type(item) is Issued for item in out)  # it may publish what this arm waits for as well
                out += [_unsure(item) if before else item for item in arming.fire(event, match)]
                if match and not arming.left:
                    self.arms.remove(arming)
        return sorted(out, key=_told_at_its_moment)

    # -------------------------------------------------------------------------------------------- gates
    @folds(v.Release)
    def _release(self, issued: Issued[v.Release]) -> None:
        gate = self.gate_of(issued.op)
        if gate is None:  # a driver would have refused it: gates aren't shown here
            self.fold(Unsure(issued.op, "deferred"))
            return
        gate.outcome = issued.op.outcome
        del self.gates[gate.id]
        self.released(gate)

    def released(self, gate: Gate) -> None:
        """Take note of a gate's outcome; a contract adds to this."""
        outcome = gate.outcome
        self.learn(*getattr(outcome, "additional_contexts", ()))
        if gate.kind == "tool":
            self.tools[gate.call_id] = outcome
        elif self.turn is not None and isinstance(outcome, v.MaxTokens) and not gate.aborted:
            self.turn.max_tokens = True

    def gate_of(self, release: v.Release) -> Gate | None:
        """Find the open gate that a release addresses."""
        if release.gate is not None:
            return self.gates.get(release.gate)
        return next((gate for gate in self.gates.values() if gate.kind == release.kind), None)

    @folds(e.GateOpened)
    def _gate_opened(self, event: e.GateOpened) -> None:
        kind: Any = event.gate_kind
        self.gates[event.gate] = Gate(event.gate, kind, self.position)

    @folds(e.GateAborted)
    def _gate_aborted(self, event: e.GateAborted) -> None:
        gate = self.gates.pop(event.gate, None)
        if gate is not None:
            gate.aborted = True

    def open_gates(self, kind: v.GateKind) -> list[Gate]:
        """List the gates of a kind that are surely open, oldest first."""
        return [] if self.may_happen(v.Release) else self.gates_of(kind)

    def gates_of(self, kind: v.GateKind) -> list[Gate]:
        """List the gates of a kind that were seen to open and not to close, oldest first."""
        return [gate for gate in self.gates.values() if gate.kind == kind] if self.gates else []

    # -------------------------------------------------------------------------------------------- cancel and disposal
    @folds(v.Cancel)
    def _cancel(self, issued: Issued[v.Cancel]) -> None:
        self.due_cancels.append(issued.op)

    @folds(v.Dispose)
    def _dispose(self, _: Issued[v.Dispose]) -> None:
        self.dispose()

    def dispose(self) -> None:
        """Note that a disposal was called."""
        self.undated = self.undated or self.disposing is None
        self.disposing = True
        if self.turn is not None and self.turn.disposed is None:
            self.turn.disposed = self.position

    @folds(e.CancelRequested)
    def _cancel_requested(self, event: e.CancelRequested) -> None:
        self.last_cancel = self.cancelled(event.cause)
        self.noted(self.last_cancel)
        due = next((op for op in self.due_cancels if op.cause == event.cause), None)
        if due is not None:
            self.due_cancels.remove(due)

    def noted(self, cancelled: Cancelled) -> None:
        """Attach a published cancel to what it aborts; a contract adds to this."""
        if self.turn is not None:
            self.turn.cancels.append(cancelled)

    def cancelled(self, cause: str) -> Cancelled:
        """Find the command behind a cancel that is being published: exact where all that it could be say the same."""
        unsure = [item.op for item in self.unsure if isinstance(item.op, v.Cancel) and item.op.cause == cause]
        due = [op for op in self.due_cancels if op.cause == cause]
        keeps = {op.keep_inbox for op in (*due, *unsure)}
        return Cancelled(cause, keeps.pop() if len(keeps) == 1 else None, self.position, sure=not unsure)

    @folds(e.Disposed, e.DisposeResolved)
    def _disposed(self, event: e.Disposed | e.DisposeResolved) -> None:
        self.disposed = True
        self.resolved = self.resolved or type(event) is e.DisposeResolved

    # -------------------------------------------------------------------------------------------- the end of a request
    @folds(Observation)
    def _observed(self, observation: Observation) -> None:
        """Take the gates that are shown for the truth: a recording may lack the events of the driver."""
        known = self.gates
        self.gates = {}
        for shown in observation.gates:
            gate = known.get(shown.id) or Gate(shown.id, shown.kind, self.position)
            gate.aborted, gate.call_id, gate.message = shown.aborted, shown.call_id, shown.message
            self.gates[shown.id] = gate
        self.due_cancels = []
        self.unsure = [item for item in self.unsure if item.origin == "latent"]
        self.shown = observation


def _unsure(item: Issued[Any] | Unsure[Any]) -> Unsure[Any]:
    return item if type(item) is Unsure else Unsure(item.op, "deferred")


def _told_at_its_moment(item: Issued[Any] | Unsure[Any]) -> bool:
    return type(item) is Issued
