"""
Give rules, concretely, what lies outside them: publication with listeners, gates, arms, history, freedom.

``ConcreteReading`` is the ``rulebook.Reading`` of real messages. It publishes: an expected event is shown to a
``listener`` first, then the history follows, then what is armed on the event is performed inside it. It opens and
aborts gates. Who gives commands, and when the loop moves, is the ``Machine`` that builds on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from attrs import define, evolve, field

from turnproof_model.algebra import Item, Queue, ToolMode
from turnproof_model.events import DisposeResolved, Event, GateAborted, GateOpened, RequestMade
from turnproof_model.history import History
from turnproof_model.observation import GateView
from turnproof_model.policies import Policy
from turnproof_model.rulebook import LoopState, RuleBook
from turnproof_model.surroundings import (
    ABORT_OUTCOME,
    Armed,
    Chooser,
    Demand,
    MisuseError,
    OpenGate,
    Setting,
    meets,
    messages_in,
)
from turnproof_model.vocabulary import (
    DEFAULT_OUTCOME,
    OUTCOMES,
    TURN_GATES,
    AbortStyle,
    Enter,
    GateKind,
    Message,
    Operation,
    Outcome,
    Release,
)

S = TypeVar("S", bound=LoopState)


def ignore(index: int, demand: Demand) -> None:
    """Listen to nothing."""


@define(eq=False, slots=False)
class ConcreteReading(ABC, Generic[S]):
    """Offer rules their surroundings, on real messages."""

    book: RuleBook[S]
    setting: Setting = field(factory=Setting)
    chooser: Chooser = field(factory=Chooser)
    listener: Callable[[int, Demand], None] = ignore
    s: S = field(init=False)
    gates: tuple[OpenGate, ...] = ()
    gate_count: int = 0
    gated: tuple[GateKind, ...] = ()
    on_abort: Mapping[GateKind, AbortStyle] = field(factory=dict)
    arms: tuple[Armed, ...] = ()
    deferred: tuple[tuple[Operation, ...], ...] = ()
    history: History = field(factory=History)
    streamed: str = ""
    demands: list[Demand] = field(factory=list)
    cited: list[str] = field(factory=list)
    opening: tuple[OpenGate, ...] = ()  # gates whose opening is being published: they hear of no abort yet
    missed: tuple[OpenGate, ...] = ()  # those that an abort has to reach as soon as that is over
    aborting: bool = False  # an abort inside the publication of another has no more to tell: that one goes on
    durable_depth: int = 0
    answer: bool | None = None
    resuming: bool = False

    def __attrs_post_init__(self) -> None:
        self.s = self.book.new_state()
        self.gated = self.gated or TURN_GATES[self.book.contract]

    @abstractmethod
    def attempt(self, op: Operation) -> None:
        """Perform an operation inside an event."""

    @abstractmethod
    def run_in_stack(self, *stops: str) -> None:
        """Run the loop in the caller's stack up to its next wait, or to one of these phases."""

    # -------------------------------------------------------------------------------------------- what rules may use
    @property
    def in_durable(self) -> bool:
        """Whether the publication of a durable event is under way."""
        return self.durable_depth > 0

    def has(self, capability: str) -> bool:
        """Whether the candidate declares the capability."""
        return self.setting.capabilities.get(capability, False)

    def pick(self, what: str, options: int) -> int:
        """Ask for one of several ways for this occurrence alone."""
        return self.chooser.once(what, options)

    def asks(self, kind: GateKind) -> bool:
        """Tell whether gates of this kind are the runner's."""
        return kind in self.gated

    def tool_mode(self, name: str) -> ToolMode:
        """Tell how a tool runs."""
        return cast("ToolMode", self.setting.tools.get(name, "unknown"))

    def message(self, message_id: str) -> Message:
        """Find a message value that was made before, by id."""
        return self.history.known[message_id]

    def choose(self, policy: Policy) -> str:
        """Ask for the value of a named freedom."""
        return self.chooser.policy(policy)

    def cite(self, *rules: str) -> None:
        """Note that the premise of these rules occurred."""
        self.cited.extend(rules)

    def reply(self, answer: bool) -> None:
        """Answer the command."""
        self.answer = answer

    def partial(self) -> str:
        """The text that the open request has streamed so far."""
        return self.streamed

    def publish(self, event: Event, *rules: str) -> None:
        """Show an expected event to the listener, keep the history, then fire what is armed on it."""
        demand = Demand(event, rules)
        self.listener(len(self.demands), demand)
        self.demands.append(demand)
        if event.kind != "session":
            self._fire(event)
            return
        self.history = self.history.after(event)
        self.durable_depth += 1
        try:
            self._fire(event)
        finally:
            self.durable_depth -= 1

    def each(self, queue: Queue, event: Callable[[Item], Event], *rules: str) -> None:
        """Publish one event for each item, in order."""
        for item in queue.each():
            self.publish(event(item), *rules)

    def repair(self, event: Event) -> None:
        """Append what crash repair adds; nobody is told."""
        self.history = self.history.after(event)

    def request(self, *rules: str) -> None:
        """Show the model the history."""
        self.streamed = ""
        self.publish(RequestMade(self.history.messages), *rules)

    def dispose_resolved(self, *rules: str) -> None:
        """Publish that one disposal resolved."""
        self.s.disposals -= 1
        if not (self.resuming and self.s.disposals == 0):  # the disposal of a resume answers nobody
            self.publish(DisposeResolved(), *rules)

    # -------------------------------------------------------------------------------------------- gates
    def open(
        self, kind: GateKind, *, aborted: bool = False, slot: int = -1, rules: tuple[str, ...] = (), **view: Any
    ) -> None:
        """Open the gate that the loop waits for next, or take the default of a kind that isn't gated."""
        if slot < 0:
            self.s.outcome = None
        if kind not in self.gated:
            self._settle_gate(slot, DEFAULT_OUTCOME[kind], by_abort=False)
            return
        self.gate_count += 1
        gate = OpenGate(GateView(f"g{self.gate_count}", kind, **view), slot)
        self.gates = (*self.gates, gate)
        self.opening = (*self.opening, gate)
        self.publish(GateOpened(gate.view.id, kind), *rules)
        self.opening = tuple(g for g in self.opening if g is not gate)
        if aborted or gate in self.missed:
            self.missed = tuple(g for g in self.missed if g is not gate)
            self._abort(gate, rules)

    def abort_gates(self, *rules: str) -> None:
        """Let the open gates hear the abort in opening order; one whose opening is being published hears it after."""
        self.missed = self.opening
        if self.aborting:
            return
        self.aborting = True
        for gate in self.gates:
            if gate not in self.opening:
                self._abort(gate, rules)
        self.aborting = False

    def _abort(self, gate: OpenGate, rules: tuple[str, ...]) -> None:
        kind = gate.view.kind
        if gate not in self.gates or gate.view.aborted or kind == "flush":
            return
        if self.on_abort.get(kind, "settle") == "park":
            told = evolve(gate, view=evolve(gate.view, aborted=True))
            self.gates = tuple(told if g is gate else g for g in self.gates)
            return
        self.gates = tuple(g for g in self.gates if g is not gate)
        self._settle_gate(gate.slot, ABORT_OUTCOME[kind], by_abort=True)
        self.publish(GateAborted(gate.view.id, kind), *rules)

    def _settle_gate(self, slot: int, outcome: Outcome, *, by_abort: bool) -> None:
        if slot >= 0:
            self.s.batch = self.s.batch.finish(slot, outcome, by_abort=by_abort)
        else:
            self.s.outcome = outcome

    def find_gate(self, op: Release) -> OpenGate | None:
        """Find the gate that a release means: by id, or the oldest of its kind."""
        for gate in self.gates:
            if gate.view.id == op.gate or (op.gate is None and gate.view.kind == op.kind):
                return gate
        return None

    def settled_by(self, op: Release) -> tuple[OpenGate, Outcome]:
        """
        Tell which gate a release settles, and with what: messages in the place of the ids that the outcome names.

        Raises:
            MisuseError: no such gate is open, or it doesn't take this outcome.
        """
        gate = self.find_gate(op)
        if gate is None:
            raise MisuseError(f"no open gate {op.gate or op.kind!r}")
        if not isinstance(op.outcome, OUTCOMES[gate.view.kind]):
            raise MisuseError(f"gate {gate.view.id!r} ({gate.view.kind}) doesn't take {op.outcome.kind!r}")
        return gate, self._spelled_out(op.outcome)

    def release_gate(self, op: Release) -> None:
        """
        Settle the gate that a release means.

        Raises:
            MisuseError: no such gate is open, or it doesn't take this outcome; nothing has changed.
        """
        gate, outcome = self.settled_by(op)
        self.history = self.history.learn(*messages_in(outcome))
        self.gates = tuple(g for g in self.gates if g is not gate)
        self._settle_gate(gate.slot, outcome, by_abort=False)

    def _spelled_out(self, outcome: Outcome) -> Outcome:
        """Put messages in the place of the ids that an outcome names: those made before, or further up in it."""
        if not isinstance(outcome, Enter) or outcome.messages is None:
            return outcome
        known = dict(self.history.known)
        batch: list[Message | str] = []
        for named in outcome.messages:
            if isinstance(named, str) and named not in known:
                raise MisuseError(f"no message {named!r} has been made")
            message = known[named] if isinstance(named, str) else named
            known[message.id] = message
            batch.append(message)
        return Enter(tuple(batch))

    # -------------------------------------------------------------------------------------------- arms
    def _fire(self, event: Event) -> None:
        for armed in self.arms:
            if meets(event, armed.arm):
                still = next((a for a in self.arms if a.arm is armed.arm), None)
                if still is not None:
                    self._count_down(still)

    def _count_down(self, armed: Armed) -> None:
        if armed.left > 1:
            fewer = evolve(armed, left=armed.left - 1)
            self.arms = tuple(fewer if a is armed else a for a in self.arms)
            return
        self.arms = tuple(a for a in self.arms if a is not armed)
        if armed.arm.defer:
            self.deferred = (*self.deferred, armed.arm.ops)
            return
        self.cite(*self.book.reentry)
        for op in armed.arm.ops:
            self.attempt(op)
