"""
Give rules what lies outside them while their data are terms: publications, gates, freedom, re-entrant commands.

A ``TermReading`` lasts for one execution of one action. What it does to gates and outcomes is what ``machine.Machine``
does; where a machine is told (how a gate hears an abort, whether a listener calls back, which way a latitude goes), the
execution forks over all answers. A command that the agent refuses ends its path (``Refused`` is raised through):
nothing has changed then, so it is no transition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from turnproof_model.algebra import ToolMode, contexts_of
from turnproof_model.events import (
    DisposeResolved,
    Event,
    GateAborted,
    GateOpened,
    RequestMade,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from turnproof_model.policies import Policy
from turnproof_model.readings.execute import Impossible, run
from turnproof_model.readings.script import Hook, Recorder
from turnproof_model.readings.slots import WHERE_CALLS_RUN
from turnproof_model.rulebook import RuleBook
from turnproof_model.surroundings import ABORT_OUTCOME
from turnproof_model.vocabulary import DEFAULT_OUTCOME, TURN_GATES, AbortStyle, GateKind, Partial, Throw


@frozen
class Surroundings:
    """
    Fix what doesn't change while rules run: capabilities, gated kinds, how tools run, the values of named freedoms.

    ``policies``: by name; a freedom that isn't named has its default. ``on_abort``: the styles that gates may have.
    """

    gated: tuple[GateKind, ...]
    capabilities: Mapping[str, bool] = field(factory=dict)
    tools: Mapping[str, ToolMode] = field(factory=lambda: {"par": "parallel", "exc": "exclusive"})
    policies: Mapping[str, str] = field(factory=dict)
    on_abort: tuple[AbortStyle, ...] = ("settle", "park")

    @classmethod
    def of(cls, contract: Any, bounds: Mapping[str, int] | None = None) -> Surroundings:
        """Take what a reset of this contract takes by itself, and what these bounds need: references, if there are."""
        references = bool(bounds and bounds.get("references", 0))
        return cls(TURN_GATES[contract], {"reference": True} if references else {})


@frozen(eq=False)
class Landing:
    """Be a command that a listener may issue: its label, what it costs of which bounds, and what it does."""

    label: str
    cost: Mapping[str, int]
    perform: Callable[[TermReading, Any], None]


@define(eq=False)
class Landings:
    """
    Hold the commands that listeners may issue inside publications, within bounds.

    ``known``: by what is spent, the numbers of those that can be afforded, counted from 1; 0 is none.
    """

    commands: tuple[Landing, ...]
    bounds: Mapping[str, int]
    known: dict[tuple[tuple[str, int], ...], tuple[int, ...]] = field(factory=dict)

    def allowed(self, spent: Mapping[str, int]) -> tuple[int, ...]:
        """List what may land, none first."""
        key = tuple(spent.items())
        if key not in self.known:
            self.known[key] = (0, *(i for i, landing in enumerate(self.commands, 1) if self._affords(spent, landing)))
        return self.known[key]

    def _affords(self, spent: Mapping[str, int], landing: Landing) -> bool:
        cost = {"reentrant": 1, **landing.cost}
        return all(spent.get(name, 0) + amount <= self.bounds.get(name, 0) for name, amount in cost.items())


@define(eq=False)
class TermReading:
    """
    Be the ``m`` of rule functions; a ``rulebook.Reading``.

    ``bounds``: how much there may be of what. ``landings``: what listeners may do inside publications.
    ``recorder``: takes notes for observers, if there are any.
    """

    book: RuleBook[Any]
    s: Any
    around: Surroundings
    bounds: Mapping[str, int]
    landings: Landings
    recorder: Recorder | None = None
    spent: dict[str, int] = field(factory=dict)
    opening: list[Gate] = field(factory=list)
    missed: list[Gate] = field(factory=list)
    styles: dict[GateKind, AbortStyle] = field(factory=dict)
    durable: int = 0
    depth: int = 0
    asked: int = 0
    awaited: tuple[Gate, ...] | None = None  # unknown until somebody looks
    asked_tools: set[int] = field(factory=set)

    # -------------------------------------------------------------------------------------------- publication
    def publish(self, event: Event, *_rules: str) -> None:
        """Note an event; then a listener may issue a command."""
        if isinstance(event, (TurnStart, TurnEnd)):
            self.s.log_in_turn = isinstance(event, TurnStart)
        if isinstance(event, ToolResult) and self.recorder is not None:
            outcome = self.s.batch.at(place_of_call(event.call_id)).outcome
            self._note("returns", contexts_of(outcome), getattr(outcome, "concludes", False))
        self._note("see", event)
        durable = int(event.kind == "session")
        self.durable += durable
        self.depth += 1
        self._land()
        self.depth -= 1
        self.durable -= durable
        if isinstance(event, ToolResult):
            self._note("returned")

    def _land(self) -> None:
        allowed = self.landings.allowed(self.spent)
        if len(allowed) == 1:
            return
        self.asked += 1
        chosen = run().choose(f"landing {self.asked}", allowed)
        if chosen == 0:
            return
        landing = self.landings.commands[chosen - 1]
        self.spend({"reentrant": 1, **landing.cost})
        landing.perform(self, self.s)

    def _note(self, hook: Hook, *told: Any) -> None:
        if self.recorder is not None:
            self.recorder.note(self.s, hook, *told)

    def perform(self, op: Any) -> None:
        """
        Perform a command in the caller's stack.

        Raises:
            Refused: the agent refuses it; the path ends, for nothing has happened.
        """
        self._note("issued", op)
        self.book.commands[type(op)](self, self.s, op)
        self._note("done", op)

    def spend(self, cost: Mapping[str, int]) -> None:
        """
        Count what the path uses up of the bounds.

        Raises:
            Impossible: no run could afford it.
        """
        for name, amount in cost.items():
            self.spent[name] = self.spent.get(name, 0) + amount
            if self.spent[name] > self.bounds.get(name, 0):
                raise Impossible

    def each(self, queue: Any, event: Callable[[Any], Event], *rules: str) -> None:
        """
        Publish one event for all items of a queue, its id the queue itself.

        A listener of any of them finds the same state, since a rule changes the state before it publishes.
        """
        if queue.occupied:
            self.publish(event(_All(queue)), *rules)

    def cite(self, *rules: str) -> None:
        """Note nothing: which premises occur is asked of the concrete reading."""

    def reply(self, answer: bool) -> None:
        """Note an answer; it changes no state."""
        self._note("replied", answer)

    def repair(self, event: Event) -> None:
        """Append what crash repair adds; nobody is told."""
        if isinstance(event, TurnEnd):
            self.s.log_in_turn = False
        self._note("repair", event)

    def request(self, *rules: str) -> None:
        """Show the model the history, whatever it is."""
        self.s.streamed = False
        self.publish(RequestMade(()), *rules)

    def dispose_resolved(self, *rules: str) -> None:
        """Publish that one disposal resolved."""
        self.s.disposals -= 1
        self.publish(DisposeResolved(), *rules)

    # -------------------------------------------------------------------------------------------- what is around
    @property
    def in_durable(self) -> bool:
        """Whether the publication of a durable event is under way."""
        return self.durable > 0

    @property
    def history(self) -> _Log:
        """Tell what rules ask of the log: whether a turn is open at its end."""
        return _Log(self.s)

    def message(self, message_id: str) -> Any:
        """Refuse: in this reading no outcome names a message by id."""
        raise Impossible(message_id)

    def has(self, capability: str) -> bool:
        """Whether the candidate declares the capability."""
        return self.around.capabilities.get(capability, False)

    def asks(self, kind: GateKind) -> bool:
        """Tell whether gates of this kind are the runner's."""
        return kind in self.around.gated

    def tool_mode(self, name: str) -> ToolMode:
        """Tell how a tool runs."""
        return self.around.tools.get(name, "unknown")

    def choose(self, policy: Policy) -> str:
        """Ask for the value of a named freedom."""
        return self.around.policies.get(policy.name, policy.default)

    def pick(self, what: str, options: int) -> int:
        """Take one of several ways; the execution forks over all."""
        self.asked += 1
        return run().choose(f"{what} {self.asked}", range_of(options))

    def partial(self) -> str:
        """The text that the open request has streamed so far; all that matters is whether there is any."""
        return "…" if self.s.streamed else ""

    def run_in_stack(self, *stops: str) -> None:
        """
        Run the loop in the caller's stack.

        Asked by a command of its own, this is the last that the command does: the loop is told to go on alone up to
        one of these phases, move by move. Inside a publication it runs here.
        """
        if self.depth == 0:
            self.s.stack = stops
            return
        self._note("loop")
        self._run_up_to(stops)
        self._note("command")

    def _run_up_to(self, stops: tuple[str, ...]) -> None:
        while self.s.at not in stops:
            phase = self.book.phases[self.s.at]
            if phase.awaits is not None or not phase.ready(self.s):
                return
            phase.run(self, self.s)

    # -------------------------------------------------------------------------------------------- gates
    @property
    def gates(self) -> tuple[Gate, ...]:
        """The open gates in opening order: the one that the loop awaits, or those of running calls."""
        if self.awaited is None:
            kind = self.book.phases[self.s.first("at")].awaits
            waits = kind is not None and self.asks(kind) and not self.s.first("settled")
            self.awaited = (Gate(kind, aborted=self.s.told),) if kind is not None and waits else ()
        if self.s.at not in WHERE_CALLS_RUN:
            return self.awaited
        running = (slot for slot in self.s.batch.slots if slot.state == "running")
        asked = (slot for slot in running if "state" not in slot.now or slot.position in self.asked_tools)
        return (*self.awaited, *(Gate("tool", slot.position, slot.told) for slot in asked))

    def open(
        self,
        kind: GateKind,
        *,
        aborted: bool = False,
        slot: int = -1,
        rules: tuple[str, ...] = (),
        **view: Any,  # noqa: ARG002  # what a gate shows changes no state
    ) -> None:
        """Open a gate, or take the default of a kind that isn't gated."""
        if slot < 0:
            self.s.outcome = None
        if not self.asks(kind):
            self._note("unasked", GateOpened(kind, kind))
            self.settle_gate(slot, DEFAULT_OUTCOME[kind], by_abort=False)
            return
        gate = Gate(kind, slot)
        if slot < 0:
            self.awaited, self.s.told = (gate,), False
        else:
            self.asked_tools.add(slot)
        self.opening.append(gate)
        self.publish(GateOpened(name_of(gate), kind), *rules)
        self.opening.remove(gate)
        if aborted or gate in self.missed:
            self.missed = [other for other in self.missed if other != gate]
            self._abort(gate, rules)

    def abort_gates(self, *rules: str) -> None:
        """Let the open gates hear the abort; one whose opening is being published hears it after."""
        self.missed = list(self.opening)
        for gate in self.gates:
            if gate not in self.opening:
                self._abort(gate, rules)

    def _abort(self, gate: Gate, rules: tuple[str, ...]) -> None:
        if gate not in self.gates or gate.aborted or gate.kind == "flush":
            return
        if self._style(gate.kind) == "park":
            self._tell(gate)
            return
        self.settle(gate, ABORT_OUTCOME[gate.kind], by_abort=True)
        self.publish(GateAborted(name_of(gate), gate.kind), *rules)

    def _tell(self, gate: Gate) -> None:
        if gate.slot < 0:
            self.awaited, self.s.told = (evolve(gate, aborted=True),), True
        else:
            self.s.batch = self.s.batch.tell(gate.slot)

    def _style(self, kind: GateKind) -> AbortStyle:
        """Ask once per action and kind how such gates hear an abort."""
        if kind not in self.styles:
            self.styles[kind] = run().choose(f"on abort {kind}", self.around.on_abort)
        return self.styles[kind]

    def settle(self, gate: Gate, outcome: Any, *, by_abort: bool) -> None:
        """Close an open gate with an outcome."""
        if gate.slot < 0:
            self.awaited, self.s.told = (), False
        self.settle_gate(gate.slot, outcome, by_abort=by_abort)

    def settle_gate(self, slot: int, outcome: Any, *, by_abort: bool) -> None:
        """Store what a gate settled with, where the loop will look for it."""
        if slot >= 0:
            self.s.batch = self.s.batch.finish(slot, outcome, by_abort=by_abort)
        else:
            self.s.outcome = outcome

    def stream(self) -> None:
        """Go on waiting for a model that has said a part, unless an abort came before the text did."""
        if self.book.aborting(self.s):
            self.s.outcome = Throw()
            return
        self.s.streamed = True
        self.open("model")

    def move(self) -> None:
        """
        Let the loop make one move.

        Raises:
            Impossible: it can't.
        """
        phase = self.book.phases[self.s.at]
        if isinstance(self.s.outcome, Partial):
            self.stream()
        elif phase.ready(self.s):
            if self.recorder is not None and phase.awaits is not None:
                self._note("takes", phase.awaits, self.s.outcome)
            elif self.recorder is not None and phase.name in self.recorder.leaves:
                self._note("moves", phase.name)
            phase.run(self, self.s)
        else:
            raise Impossible
        if self.s.at in self.s.stack:
            self.s.stack = ()


@frozen(eq=False)
class _All:
    """Stand for every item of a queue."""

    id: Any


@frozen(eq=False)
class _Log:
    s: Any

    @property
    def in_turn(self) -> bool:
        """Whether a turn is open at the end of the log."""
        return bool(self.s.log_in_turn)


@frozen
class Gate:
    """Be an open gate; ``slot`` is the call of the batch that it belongs to, or -1."""

    kind: GateKind
    slot: int = -1
    aborted: bool = False


def place_of_call(call_id: str) -> int:
    """Tell the position of a call in its batch; its id is made of it (``actions.calls``, ``slots.Slot.call``)."""
    return int(call_id.rpartition("-")[2])


def range_of(options: int) -> tuple[int, ...]:
    """List the numbers of some ways."""
    return tuple(range(options))


def name_of(gate: Gate) -> str:
    """Name an open gate: there is at most one of a kind, and one for each call of a batch."""
    return gate.kind if gate.slot < 0 else f"{gate.kind} {gate.slot}"
