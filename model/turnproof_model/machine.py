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
from typing import TypeVar

from attrs import define

from turnproof_model.concrete import ConcreteReading, ignore
from turnproof_model.events import OpThrew
from turnproof_model.goals import GoalDisagreementError, fold_goal
from turnproof_model.observation import Observation
from turnproof_model.rulebook import LoopState, Refused
from turnproof_model.surroundings import Armed, Chooser, Demand, MisuseError, messages_in
from turnproof_model.vocabulary import (
    TURN_GATES,
    Arm,
    Batch,
    Command,
    Dispose,
    Goal,
    Inspect,
    Operation,
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


@define(eq=False, slots=False)
class Machine(ConcreteReading[S]):
    """Run one contract's rules on real messages."""

    refusal: Refused | None = None
    goal: Mapping[str, object] | None = None
    waiter: bool = False
    idle_then_deferred: bool = False

    def copy(self, chooser: Chooser, listener: Callable[[int, Demand], None] = ignore) -> Machine[S]:
        """Make an independent machine in the same state."""
        twin: Machine[S] = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin.s, twin.chooser, twin.listener = self.s.copy(), chooser, listener
        twin._renew()
        return twin

    def _renew(self) -> None:
        """Forget what belongs to one request alone."""
        self.demands, self.cited = [], []
        self.refusal = self.answer = self.goal = None
        self.waiter = self.idle_then_deferred = False

    def fingerprint(self) -> tuple[object, ...]:
        """Tell this state from another: equal fingerprints behave alike from here on."""
        return (self.s, *(getattr(self, name) for name in _COPIED))

    def alike(self, other: Machine[S]) -> bool:
        """Tell whether another machine behaves like this one from here on."""
        return self is other or self.fingerprint() == other.fingerprint()

    # -------------------------------------------------------------------------------------------- commands
    def ask(self, command: Command) -> Observation:
        """
        Perform one request, let everything settle, and tell what a driver answers.

        Raises:
            MisuseError: no driver could be asked that now; this machine is not to be used any further.
        """
        self.play(command)
        return self.observation()

    def play(self, command: Command) -> None:
        """
        Perform one request and let everything settle.

        Raises:
            MisuseError: no driver could be asked that now; this machine is not to be used any further.
        """
        self._renew()
        if isinstance(command, Reset):
            self._reset(command)
        elif isinstance(command, Resume):
            self._resume(command)
        else:
            self._perform_top(command)
        self._notice_idle()
        self.settle()

    def _reset(self, command: Reset) -> None:
        for kind in command.gates or ():
            if kind not in self.book.gate_kinds:
                raise MisuseError(f"{self.book.contract} has no rule about {kind}: leave it out of the gates")
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
            self.release_gate(op)
        else:
            rule = self.book.commands.get(type(op))
            if rule is None:
                raise MisuseError(f"contract {self.book.contract} has no {type(op).__name__.lower()}")
            self.history = self.history.learn(*messages_in(op))
            rule(self, self.s, op)

    def _fold_goal(self) -> None:
        try:
            self.goal = fold_goal(self.history.inputs)
        except GoalDisagreementError as error:
            raise Refused(str(error), "W-GOAL-1") from error
        self.cite("W-GOAL-1")

    # -------------------------------------------------------------------------------------------- the scheduler
    def settle(self) -> None:
        """Let the loop run until all that is left is a gate, or idleness; deferred operations land on the way."""
        for _ in range(SETTLE_LIMIT):
            if self.deferred and self._land():
                continue
            if not self._can_move():
                return
            self._move()
            self._notice_idle()
        raise RuntimeError(f"the rules of {self.book.contract} don't settle at phase {self.s.at!r}")

    def _can_move(self) -> bool:
        return isinstance(self.s.outcome, Partial) or self.book.phases[self.s.at].ready(self.s)

    def _move(self) -> None:
        """Make one move of the loop; who watches a machine looks here (``readings.sight``)."""
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
        ways = self._landings()
        if not ways:
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
        if not self.waiter and self.book.quiescent is not None and self.book.quiescent(self.s):
            self.waiter = True

    # -------------------------------------------------------------------------------------------- seen from outside
    def observation(self) -> Observation:
        """Tell what a driver answers now."""
        book, s = self.book, self.s
        return Observation(
            events=tuple([demand.event for demand in self.demands]),
            gates=tuple([gate.view for gate in self.gates]),
            status=s.status,
            accepts_next_step=book.accepts_next_step(s) if book.accepts_next_step else None,
            inbox=book.inbox(s) if book.inbox else None,
            when_idle=self.waiter,
            refused=None if self.refusal is None else self.refusal.reason,
            answer=self.answer,
            goal=self.goal,
        )
