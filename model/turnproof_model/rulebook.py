"""
Say what a contract is made of: phases of the loop, commands of callers, and what can be seen; and what rules may use.

A contract is a ``RuleBook``: phase functions keyed by the loop's position, one function per command, and three
queries. Rule functions take a *reading* ``m`` and the state ``s``. They change ``s`` by assignment, then publish,
one event at a time: a listener may call back into the agent inside any publication, so after each one they look
again at what they rely on. They know nothing of JSON, gates' ids, schedulers or solvers; ``Reading`` is all they see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, Self, TypeVar

from attrs import define, field

from turnproof_model.algebra import NO_BATCH, Item, Queue, ToolBatch, ToolMode
from turnproof_model.events import Event
from turnproof_model.history import History
from turnproof_model.observation import InboxView
from turnproof_model.policies import Policy
from turnproof_model.vocabulary import Command, Contract, GateKind, Message, Outcome, ResumeMode, Status

S_contra = TypeVar("S_contra", contravariant=True)
S = TypeVar("S", bound="LoopState")


class Refused(Exception):  # noqa: N818  # the contract's word for what an operation meets, not a failure of ours
    """Say that the agent refuses an operation as a whole; raised before anything has changed."""

    def __init__(self, reason: str, *rules: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rules = rules


@define(slots=False)
class LoopState:
    """
    Hold what every contract's loop needs; each contract adds its own fields. All values are immutable.

    Without slots, a state is copied in one go, and an oracle copies one for each command.
    """

    at: str
    status: Status = "idle"
    turn: int = 0
    step: int = 0
    outcome: Outcome | None = None  # what the awaited gate settled with, until the loop takes it
    batch: ToolBatch = NO_BATCH
    disposals: int = 0  # disposals that haven't resolved

    def copy(self) -> Self:
        """Make an independent state that is equal."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin


class Reading(Protocol):
    """Offer rules what lies outside them: publication, gates, freedom. One implementation per reading."""

    @property
    def in_durable(self) -> bool:
        """Whether the publication of a durable event is under way (an operation now is issued by its listener)."""

    @property
    def history(self) -> History:
        """The message history of the log."""

    def message(self, message_id: str) -> Message:
        """Find a message value that was made before, by id."""

    def repair(self, event: Event) -> None:
        """Append a durable event that crash repair adds before the new agent starts; no listener sees it."""

    def has(self, capability: str) -> bool:
        """Whether the candidate declares the capability."""

    def publish(self, event: Event, *rules: str) -> None:
        """Publish an event that these rules demand; listeners run before it returns."""

    def cite(self, *rules: str) -> None:
        """Note that the premise of these rules occurred, where no event of its own shows it."""

    def request(self, *rules: str) -> None:
        """Show the model the history."""

    def each(self, queue: Queue, event: Callable[[Item], Event], *rules: str) -> None:
        """Publish one event for each item, in order; only where a command needs it, a phase takes one item a move."""

    def open(
        self, kind: GateKind, *, aborted: bool = False, slot: int = -1, rules: tuple[str, ...] = (), **view: Any
    ) -> None:
        """
        Open the gate that the loop waits for next; a kind that isn't gated settles with its default by itself.

        ``aborted``: the abort is already known, so the gate opens and hears of it at once. ``slot``: the call of the
        batch that a tool gate belongs to. ``rules``: what demands that the loop asks here. ``view``: what the gate
        shows (``GateView`` fields).
        """

    def abort_gates(self, *rules: str) -> None:
        """Let the open gates hear the abort in opening order: cooperative ones settle, the others stay open."""

    def partial(self) -> str:
        """The text that the open request has streamed so far."""

    def dispose_resolved(self, *rules: str) -> None:
        """Publish that one disposal resolved."""

    def reply(self, answer: bool) -> None:
        """Answer the command (inbox edits)."""

    def choose(self, policy: Policy) -> str:
        """Ask which value of a named freedom this candidate lives by; the same answer every time."""

    def pick(self, what: str, options: int) -> int:
        """Ask for one of ``options`` ways (≥ 2, numbered from 0) for this occurrence alone; ``what`` names it."""

    def asks(self, kind: GateKind) -> bool:
        """Tell whether gates of this kind are the runner's, or settle with their default by themselves."""

    def run_in_stack(self, *stops: str) -> None:
        """Run the loop in the caller's stack up to its next wait, or to one of these phases (claim, C-WAKE-1)."""

    def tool_mode(self, name: str) -> ToolMode:
        """Tell how a tool runs."""


def _always(_: Any) -> bool:
    return True


def _settled(s: Any) -> bool:
    return s.outcome is not None


PhaseFn = Callable[[Any, Any], None]
CommandFn = Callable[[Any, Any, Any], None]


@define
class Phase:
    """
    Name a position of the loop: the function that leaves it, and when it can.

    ``joined``: it follows the phase before it in one synchronous stack, so nothing lands in between.
    """

    name: str
    run: PhaseFn
    ready: Callable[[Any], bool]
    awaits: GateKind | None = None
    joined: bool = False


@define
class RuleBook(Generic[S]):
    """Collect the rules of one contract."""

    contract: Contract
    new_state: Callable[[], S]
    phases: dict[str, Phase] = field(factory=dict)
    commands: dict[type[Any], CommandFn] = field(factory=dict)
    resume: Callable[[Any, S, ResumeMode], S] | None = None
    quiescent: Callable[[S], bool] | None = None
    accepts_next_step: Callable[[S], bool | None] | None = None
    inbox: Callable[[S], InboxView] | None = None
    aborting: Callable[[S], bool] = field(default=lambda _: False)
    reentry: tuple[str, ...] = ()  # rules whose premise is an operation issued inside a publication

    def phase(
        self,
        name: str,
        *,
        awaits: GateKind | None = None,
        ready: Callable[[S], bool] | None = None,
        joined: bool = False,
    ) -> Callable[[PhaseFn], PhaseFn]:
        """
        Register the function that leaves a position.

        Without ``awaits`` and ``ready`` the loop runs on by itself; with ``awaits`` it needs the outcome of that
        gate (in ``s.outcome``); ``ready`` names any other condition on the state. ``joined``: no scheduler break
        lies before it.
        """

        def register(fn: PhaseFn) -> PhaseFn:
            if name in self.phases:
                raise ValueError(f"phase {name!r} of {self.contract} is registered already")
            default = _settled if awaits else _always
            self.phases[name] = Phase(name, fn, ready or default, awaits, joined)
            return fn

        return register

    @property
    def gate_kinds(self) -> frozenset[GateKind]:
        """Which gates the rules say anything of; tools are awaited by their batch."""
        return frozenset({"tool", *(phase.awaits for phase in self.phases.values() if phase.awaits)})

    def command(self, *classes: type[Command]) -> Callable[[CommandFn], CommandFn]:
        """Register the function that performs these commands in the caller's stack."""

        def register(fn: CommandFn) -> CommandFn:
            for cls in classes:
                if cls in self.commands:
                    raise ValueError(f"command {cls.__name__} of {self.contract} is registered already")
                self.commands[cls] = fn
            return fn

        return register
