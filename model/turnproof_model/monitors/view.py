"""
Fold the stream once into the facts that both contracts share, so that a monitor is a few lines.

Turn, step, batch of calls, derived history, status, gates, cancels, disposal, operations. The view believes the
stream: it never predicts, and where the stream leaves something open it says so. What a contract adds (its lists, its
admission) is folded by a subclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.arming import Arming
from turnproof_model.monitors.base import Issued, Item, Mark, Resumed, Sight, Unsure, key_of
from turnproof_model.monitors.facts import Calls, Cancelled, Gate, Line, Step, Turn
from turnproof_model.observation import Observation, Profile

Fold = TypeVar("Fold", bound=Callable[..., None])
_FOLDS: dict[Callable[..., None], tuple[type, ...]] = {}


def folds(*kinds: type) -> Callable[[Fold], Fold]:
    """Let the method fold items of these kinds into the view; an operation goes by its class."""

    def mark(method: Fold) -> Fold:
        _FOLDS[method] = kinds
        return method

    return mark


class View:
    """
    Show where the stream stands, for the shared part of the contracts.

    Attributes:
        index: number of the current request, from 0; position: that of the latest event, from 0.
        sessions, agents: how many began; a resumed agent is a new one in the same session.
        turn: the open turn; previous: the last one that ended; last_number: the highest turn number seen.
        history: the derived message history with its turns, in log order.
        messages: every value that was sent or supplied under an id.
        gates: open gates by id, in opening order; tools: what each call's gate was released with (None: any call's).
        unsure: operations of this request whose moment or fate the stream doesn't show, and latent ones.
        disposing: whether a disposal was called, None where one may have been.
    """

    _table: ClassVar[dict[type, tuple[str, ...]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._table = {}

    def __init__(self, profile: Profile, sees: frozenset[Sight]) -> None:
        self.profile = profile
        self.sees = sees
        self._bound: dict[type, list[Callable[[Any], None]]] = {}
        self.index = -1
        self.position = -1
        self.request: v.Request = v.Inspect()
        self.sessions = 0
        self.agents = 0
        self.reset()

    # -------------------------------------------------------------------------------------------- beginnings
    def reset(self) -> None:
        """Forget everything: a brand-new agent on an empty log."""
        self.sessions += 1
        self.history: list[Line] = []
        self.previous: Turn | None = None
        self.last_number = 0
        self.messages: dict[str, list[v.Message]] = {}
        self.turn: Turn | None = None
        self.compactions = 0
        self.gates_named: frozenset[str] = frozenset(v.TURN_GATES[self.profile.contract])
        self.new_agent()

    def new_agent(self) -> None:
        """Forget what dies with an agent; the log stays."""
        self.agents += 1
        self.status: v.Status = "idle"
        self.gates: dict[str, Gate] = {}
        self.arms: list[Arming] = []
        self.unsure: list[Unsure[Any]] = []
        self.due_cancels: list[v.Cancel] = []
        self.last_cancel: Cancelled | None = None
        self.tools: dict[str | None, v.Outcome | None] = {}
        self.disposing: bool | None = False
        self.disposed = False
        self.resolved = False
        self.shown: Observation | None = None

    @folds(v.Reset)
    def _reset(self, issued: Issued[v.Reset]) -> None:
        self.reset()
        if issued.op.gates is not None:
            self.gates_named = frozenset(issued.op.gates)

    @folds(v.Resume)
    def _resume(self, issued: Issued[v.Resume]) -> None:
        """A crash cuts the old agent off at once; a clean end goes on publishing until the request is over."""
        if issued.op.mode in ("crash", "fork"):
            self.new_agent()
        else:
            self.disposing = True
            if self.turn is not None and self.turn.disposed is None:
                self.turn.disposed = self.position

    # -------------------------------------------------------------------------------------------- folding
    def fold(self, item: Item) -> None:
        """Take one item in."""
        kind = key_of(item)
        methods = self._bound.get(kind)
        if methods is None:
            methods = self._bound[kind] = self._bind(kind)
        if isinstance(item, e.Event):
            self.position += 1
        for method in methods:
            method(item)

    def _bind(self, kind: type) -> list[Callable[[Any], None]]:
        names = self._table.get(kind)
        if names is None:
            names = self._table[kind] = tuple(self._folders(kind))
        return [getattr(self, name) for name in names]

    @classmethod
    def _folders(cls, kind: type) -> Iterator[str]:
        methods = {name: item for base in reversed(cls.__mro__) for name, item in vars(base).items() if callable(item)}
        for name, method in methods.items():
            if any(issubclass(kind, wanted) for wanted in _FOLDS.get(method, ())):
                yield name

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

    @folds(v.Cancel)
    def _cancel(self, issued: Issued[v.Cancel]) -> None:
        self.due_cancels.append(issued.op)

    @folds(v.Dispose)
    def _dispose(self, _: Issued[v.Dispose]) -> None:
        self.disposing = True
        if self.turn is not None and self.turn.disposed is None:
            self.turn.disposed = self.position

    @folds(v.Arm)
    def _arm(self, issued: Issued[v.Arm]) -> None:
        if issued.op.on.startswith("gate:") and "gates" not in self.sees:
            for op in issued.op.ops:
                self.fold(Unsure(op, "latent"))
        else:
            self.arms.append(Arming(issued.op))

    @folds(v.Release)
    def _release(self, issued: Issued[v.Release]) -> None:
        gate = self.gate_of(issued.op)
        if gate is not None:
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

    def fired(self, event: e.Event) -> list[Issued[Any] | Unsure[Any]]:
        """List the operations that arms perform inside this event, in the order of arming."""
        if not self.arms:
            return []
        out: list[Issued[Any] | Unsure[Any]] = []
        for arming in tuple(self.arms):
            match = arming.matches(event)
            if match is not False:
                out += arming.fire(event, match)
                if match and not arming.left:
                    self.arms.remove(arming)
        return out

    # -------------------------------------------------------------------------------------------- turns and steps
    @folds(e.TurnStart)
    def _turn_start(self, event: e.TurnStart) -> None:
        self.turn = Turn(event.turn, self.position, event.trigger)
        self.last_number = max(self.last_number, event.turn)
        self.history.append(Line(event.turn))

    @folds(e.TurnEnd)
    def _turn_end(self, event: e.TurnEnd) -> None:
        turn = self.turn or Turn(event.turn, self.position)
        turn.reason, turn.ended, turn.step = event.reason, self.position, None
        self.previous, self.turn = turn, None

    @folds(e.StepStart)
    def _step_start(self, event: e.StepStart) -> None:
        if self.turn is not None:
            self.turn.steps += 1
            self.turn.step = Step(event.step, self.position, len(self.history))
        self.tools = {}

    @folds(e.StepEnd)
    def _step_end(self, _: e.StepEnd) -> None:
        if self.turn is not None:
            self.turn.step = None

    @property
    def step(self) -> Step | None:
        """The open step."""
        return None if self.turn is None else self.turn.step

    @property
    def calls(self) -> Calls | None:
        """The batch of calls that is not fully answered."""
        step = self.step
        return step.calls if step is not None and step.calls is not None and step.calls.open else None

    @folds(e.AgentError)
    def _error(self, event: e.AgentError) -> None:
        if self.turn is not None and self.turn.number == event.turn:
            self.turn.error = event

    # -------------------------------------------------------------------------------------------- history
    @folds(e.UserMessage)
    def _user_message(self, event: e.UserMessage) -> None:
        text = event.text
        known = self.messages.get(event.id, [])
        if text is None and len(known) == 1:
            text = known[0].text
        self._append(v.Seen("user", event.id, text))

    @folds(e.SteeringMessage)
    def _steering_message(self, event: e.SteeringMessage) -> None:
        self._append(v.Seen("user", event.id, event.text))

    @folds(e.AssistantMessage)
    def _assistant_message(self, event: e.AssistantMessage) -> None:
        if self.step is not None:
            self.step.spoken = True
            if event.tool_calls:
                self.step.calls = Calls(event.tool_calls, self.position)
        self._append(v.Seen("assistant", text=event.text, tool_calls=event.tool_calls))

    @folds(e.ToolCall)
    def _tool_call(self, event: e.ToolCall) -> None:
        if self.step is not None and self.step.calls is not None:
            self.step.calls.called.append(event.call_id)

    @folds(e.ToolResult)
    def _tool_result(self, event: e.ToolResult) -> None:
        if self.step is not None and self.step.calls is not None:
            self.step.calls.results[event.call_id] = event
        if self.turn is not None and not event.is_error:
            self._concluding(self.turn, event.call_id)
        self._append(v.Seen("user", tool_result=event.call_id, is_error=event.is_error))

    def _concluding(self, turn: Turn, call_id: str) -> None:
        """Tell whether the result ends the turn; open where a tool was released without its call being shown."""
        if call_id in self.tools:
            turn.concluded = turn.concluded or getattr(self.tools[call_id], "concludes", False)
        elif turn.concluded is False and (None in self.tools or self.may_happen(v.Release)):
            turn.concluded = None

    def messages_shown(self, lines: int | None = None) -> list[v.Seen]:
        """List the message history that a request shows; of the first ``lines`` lines of the log, or of all."""
        return [line.seen for line in self.history[:lines] if line.seen is not None]

    def _append(self, seen: v.Seen) -> None:
        turn = self.turn
        self.history.append(Line(None if turn is None else turn.number, seen))
        if turn is None:
            return
        if seen.tool_result is not None:
            turn.last_result = self.position
        elif seen.id is not None:
            turn.commits.append(seen.id)
            turn.last_context = self.position

    @folds(e.RequestMade)
    def _request_made(self, _: e.RequestMade) -> None:
        if self.step is not None:
            self.step.requests += 1
        if self.turn is not None:
            self.turn.last_request = self.position

    # -------------------------------------------------------------------------------------------- live
    @folds(e.StatusChanged)
    def _status(self, event: e.StatusChanged) -> None:
        self.status = event.status

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

    # -------------------------------------------------------------------------------------------- gates
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

    @folds(Resumed)
    def _resumed(self, item: Resumed) -> None:
        """Put the new agent in the old one's place, its log repaired even where the repairs weren't published."""
        if self.turn is not None:
            for call in self.calls.ids if self.calls is not None else ():
                if self.calls is not None and call not in self.calls.results:
                    self._append(v.Seen("user", tool_result=call, is_error=True))
            self.turn.reason = "interrupted"
            self.previous, self.turn = self.turn, None
        if item.op.mode == "compact":
            self._compact()
        self.new_agent()

    def _compact(self) -> None:
        """Replace every maximal run of turns by one message."""
        kept: list[Line] = []
        inside = False
        for line in self.history:
            if line.turn is None:
                kept.append(line)
            elif not inside:
                self.compactions += 1
                kept.append(Line(None, v.Seen("user", f"compaction-{self.compactions}")))
            inside = line.turn is not None
        self.history = kept
