"""
Read the rules concretely: real messages in; exact expected events, gates, inbox and request out.

One ``Machine`` is one agent under one set of choices, with the gates, arms and deferred operations around it. All it
holds is immutable or copied, so ``copy`` is cheap. A command runs in the caller's stack; then ``settle`` lets the
loop run until everything waits: the loop never runs on a caller's stack, except where a contract says so
(``run_in_stack``). What the contract leaves open is asked of a ``Chooser``; each expected event is shown to a
``listener`` first (an oracle stops there at the first difference).
This reading shows exactly one behaviour per set of choices; it can't show all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from attrs import define, evolve, field

from turnproof_model.algebra import Item, Queue, ToolMode
from turnproof_model.events import DisposeResolved, Event, GateAborted, GateOpened, OpThrew, RequestMade
from turnproof_model.goals import GoalDisagreementError, fold_goal
from turnproof_model.history import History
from turnproof_model.observation import GateView, Observation
from turnproof_model.policies import Policy
from turnproof_model.rulebook import LoopState, Refused, RuleBook
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
    Arm,
    Batch,
    Command,
    Dispose,
    Enter,
    GateKind,
    Goal,
    Inspect,
    Message,
    Operation,
    Outcome,
    Partial,
    Release,
    Reset,
    Resume,
    Throw,
)

S = TypeVar("S", bound=LoopState)

SETTLE_LIMIT = 10_000
"""Loop moves within one request after which the rules themselves are at fault."""

_COPIED = ("gates", "gate_count", "gated", "on_abort", "arms", "deferred", "history", "streamed")


def _ignore(index: int, demand: Demand) -> None:
    """Listen to nothing."""


@define(eq=False)
class Machine(Generic[S]):
    """Run one contract's rules on real messages; a ``rulebook.Reading``."""

    book: RuleBook[S]
    setting: Setting = field(factory=Setting)
    chooser: Chooser = field(factory=Chooser)
    listener: Callable[[int, Demand], None] = _ignore
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
    durable_depth: int = 0
    refusal: Refused | None = None
    answer: bool | None = None
    goal: Mapping[str, object] | None = None
    waiter: bool = False
    resuming: bool = False
    idle_then_deferred: bool = False

    def __attrs_post_init__(self) -> None:
        self.s = self.book.new_state()
        self.gated = self.gated or TURN_GATES[self.book.contract]

    def copy(self, chooser: Chooser, listener: Callable[[int, Demand], None] = _ignore) -> Machine[S]:
        """Make an independent machine in the same state."""
        twin: Machine[S] = Machine(self.book, self.setting, chooser, listener)
        twin.s = evolve(self.s)
        for name in _COPIED:
            setattr(twin, name, getattr(self, name))
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Tell this state from another: equal fingerprints behave alike from here on."""
        return (self.s, *(getattr(self, name) for name in _COPIED))

    # -------------------------------------------------------------------------------------------- commands
    def ask(self, command: Command) -> Observation:
        """
        Perform one request and let everything settle.

        Raises:
            MisuseError: no driver could be asked that now; this machine is not to be used any further.
        """
        self.demands, self.cited = [], []
        self.refusal = self.answer = self.goal = None
        self.waiter = self.idle_then_deferred = False
        if isinstance(command, Reset):
            self._reset(command)
        elif isinstance(command, Resume):
            self._resume(command)
        else:
            self._perform_top(command)
        self._notice_idle()
        self.settle()
        return self.observation()

    def _reset(self, command: Reset) -> None:
        fresh: Machine[S] = Machine(self.book, self.setting)
        for name in _COPIED:
            setattr(self, name, getattr(fresh, name))
        self.s = fresh.s
        self.gated = TURN_GATES[self.book.contract] if command.gates is None else command.gates
        self.on_abort = command.on_abort

    def _resume(self, command: Resume) -> None:
        if self.book.resume is None:
            raise MisuseError(f"contract {self.book.contract} has no resume")
        self.arms = self.deferred = ()
        if command.mode in ("clean", "compact"):
            self.resuming = True
            self.perform(Dispose())
            self.settle()
            self.resuming = False
            if self.s.disposals:
                raise MisuseError(f"resume {command.mode} waits for gates that no abort settles: release them first")
        self.s = self.book.resume(self, self.s, command.mode)
        if command.mode == "compact":
            self.history = self.history.compacted()
        self.gates, self.gate_count, self.streamed = (), 0, ""

    def _perform_top(self, command: Command) -> None:
        if isinstance(command, Inspect):
            return
        if isinstance(command, Batch):
            for op in command.ops:
                self.attempt(op)
            return
        try:
            if isinstance(command, Goal):
                self._fold_goal()
            elif not isinstance(command, (Reset, Resume)):
                self.perform(command)
        except Refused as refused:
            self.refusal = refused
            self.cite(*refused.rules)

    def attempt(self, op: Operation) -> None:
        """Perform an operation of a batch or an arm; a refusal becomes an event, an answer is nobody's."""
        answered = self.answer
        try:
            self.perform(op)
        except (Refused, MisuseError) as error:
            self.publish(OpThrew(op.method, str(error)), *getattr(error, "rules", ()))
        self.answer = answered

    def perform(self, op: Operation) -> None:
        """
        Perform one operation in the caller's stack.

        Raises:
            Refused: the agent refuses it.
            MisuseError: no driver could perform it now.
        """
        if isinstance(op, Arm):
            self.arms = (*self.arms, Armed(op, op.nth))
        elif isinstance(op, Release):
            self._release(op)
        else:
            rule = self.book.commands.get(type(op))
            if rule is None:
                raise MisuseError(f"contract {self.book.contract} has no {type(op).__name__.lower()}")
            self.history = self.history.learn(*messages_in(op))
            rule(self, self.s, op)

    def _fold_goal(self) -> None:
        try:
            self.goal = fold_goal(self.history.known[message_id] for message_id in self.history.committed)
        except GoalDisagreementError as error:
            raise Refused(str(error), "W-GOAL-1") from error
        self.cite("W-GOAL-1")

    # -------------------------------------------------------------------------------------------- the scheduler
    def settle(self) -> None:
        """Let the loop run until all that is left is a gate, or idleness; deferred operations land on the way."""
        for _ in range(SETTLE_LIMIT):
            if self._land():
                continue
            if not self._can_move():
                return
            self._move()
            self._notice_idle()
        raise RuntimeError(f"the rules of {self.book.contract} don't settle at phase {self.s.at!r}")

    def _can_move(self) -> bool:
        return isinstance(self.s.outcome, Partial) or self.book.phases[self.s.at].ready(self.s)

    def _move(self) -> None:
        if isinstance(self.s.outcome, Partial):
            self._stream(self.s.outcome)
        else:
            self.book.phases[self.s.at].run(self, self.s)

    def _stream(self, part: Partial) -> None:
        """Go on waiting for the model, unless an abort came before the text did: then it counts for closure only."""
        if self.book.aborting(self.s):
            self.s.outcome = Throw()
            return
        self.streamed += part.text
        self.open("model", partial=self.streamed)

    def _land(self) -> bool:
        """Perform deferred operations here, in whatever order they come, or leave them while the loop can move."""
        if not self.deferred or not (ways := self._landings()):
            return False
        way = ways[self.chooser.once("deferred", len(ways))] if len(ways) > 1 else ways[0]
        if way < 0:
            return False
        ops, self.deferred = self.deferred[way], self.deferred[:way] + self.deferred[way + 1 :]
        self.idle_then_deferred = self.idle_then_deferred or self.waiter
        for op in ops:
            self.attempt(op)
        self._notice_idle()
        return True

    def _landings(self) -> tuple[int, ...]:
        """List which deferred operations may land now by position; -1 is none yet."""
        every = tuple(range(len(self.deferred)))
        if not self._can_move():
            return every
        return () if self.book.phases[self.s.at].joined else (-1, *every)

    def run_in_stack(self, *stops: str) -> None:
        """Run the loop in the caller's stack up to its next wait, or to one of these phases."""
        while self.s.at not in stops:
            phase = self.book.phases[self.s.at]
            if phase.awaits is not None or not phase.ready(self.s):
                return
            phase.run(self, self.s)

    def _notice_idle(self) -> None:
        if self.book.quiescent is not None and self.book.quiescent(self.s):
            self.waiter = True

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
        self.opening = tuple(g for g in self.opening if g != gate)
        if aborted or gate in self.missed:
            self.missed = tuple(g for g in self.missed if g != gate)
            self._abort(gate, rules)

    def abort_gates(self, *rules: str) -> None:
        """Let the open gates hear the abort in opening order; one whose opening is being published hears it after."""
        self.missed = self.opening
        for gate in self.gates:
            if gate not in self.opening:
                self._abort(gate, rules)

    def _abort(self, gate: OpenGate, rules: tuple[str, ...]) -> None:
        kind = gate.view.kind
        if gate not in self.gates or gate.view.aborted or kind == "flush":
            return
        if self.on_abort.get(kind, "settle") == "park":
            told = evolve(gate, view=evolve(gate.view, aborted=True))
            self.gates = tuple(told if g == gate else g for g in self.gates)
            return
        self.gates = tuple(g for g in self.gates if g != gate)
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

    def _release(self, op: Release) -> None:
        gate = self.find_gate(op)
        if gate is None:
            raise MisuseError(f"no open gate {op.gate or op.kind!r}")
        if not isinstance(op.outcome, OUTCOMES[gate.view.kind]):
            raise MisuseError(f"gate {gate.view.id!r} ({gate.view.kind}) doesn't take {op.outcome.kind!r}")
        outcome = self._spelled_out(op.outcome)
        self.gates = tuple(g for g in self.gates if g != gate)
        self._settle_gate(gate.slot, outcome, by_abort=False)

    def _spelled_out(self, outcome: Outcome) -> Outcome:
        """Learn the messages of an outcome, and put those made before in the place of the ids that it names."""
        if not isinstance(outcome, Enter) or outcome.messages is None:
            self.history = self.history.learn(*messages_in(outcome))
            return outcome
        known = dict(self.history.known)
        batch: list[Message | str] = []
        for named in outcome.messages:
            if isinstance(named, str) and named not in known:
                raise MisuseError(f"no message {named!r} has been made")
            message = known[named] if isinstance(named, str) else named
            known[message.id] = message
            batch.append(message)
        self.history = evolve(self.history, known=known)
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

    # -------------------------------------------------------------------------------------------- seen from outside
    def observation(self) -> Observation:
        """Tell what a driver answers now."""
        book, s = self.book, self.s
        return Observation(
            events=tuple(demand.event for demand in self.demands),
            gates=tuple(gate.view for gate in self.gates),
            status=s.status,
            accepts_next_step=book.accepts_next_step(s) if book.accepts_next_step else None,
            inbox=book.inbox(s) if book.inbox else None,
            when_idle=self.waiter,
            refused=None if self.refusal is None else self.refusal.reason,
            answer=self.answer,
            goal=self.goal,
        )
