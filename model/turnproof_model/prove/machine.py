"""
Take one contract apart into finitely many paths over counters: every move and every command, on any state.

``CounterReading`` is the ``m`` of rule functions. Where a machine is told something from outside, the execution forks
or leaves it open: which outcome a gate settles with and when (at any time: it is chosen when the loop takes it), how
many tools an abort settles, which tags a message bears, what a latitude says (the same all the time). That is at least
what can happen in any schedule, but for what ``UNCARRIED`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen

from turnproof_model.algebra import contexts_of
from turnproof_model.events import DisposeResolved, Event, GateAborted, GateOpened, RequestMade, ToolResult
from turnproof_model.policies import Policy
from turnproof_model.prove.shape import Part
from turnproof_model.readings.counter_batch import CallId
from turnproof_model.readings.counters import Bunch, Queue
from turnproof_model.readings.execute import Impossible, choose, fresh, require
from turnproof_model.readings.letters import Letter, Name
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import Number, Term, Truth, both, either, implies, negate
from turnproof_model.rulebook import RuleBook
from turnproof_model.vocabulary import GateKind

UNCARRIED: Mapping[str, str] = {
    "re-entrant commands": "a command issued by a listener inside a publication",
    "shown text": "content, source and text of messages, and the history that a request shows",
    "snapshots": "tags of snapshots that travel attached to a prompt",
    "resumes with compaction": "what compaction makes of the log",
}
"""What the counters can't carry; each is explored at a bound, or judged by the concrete reading."""


@frozen(eq=False)
class Check:
    """Be one demand of an observer on a path: the rule, and what must hold."""

    rule: str
    condition: Truth


@frozen(eq=False)
class Path:
    """
    Be one thing that an action can do.

    ``action``: its label. ``ways``: where it does that, each a conjunction. ``checks``: what must hold along it.
    ``after``: the parts of the state that it changed, with their values. ``events``: the types of what it published.
    """

    action: str
    ways: tuple[tuple[Term, ...], ...]
    checks: tuple[Check, ...]
    after: Mapping[str, Part]
    events: tuple[str, ...]

    @property
    def guard(self) -> Truth:
        """What holds where the action does this."""
        return either(*(both(*way) for way in self.ways))


@frozen(eq=False)
class Whole:
    """Be a decision's batch where it is the claimed one, with the snapshots that come along with it."""

    snapshots: Bunch


# ------------------------------------------------------------------------------------------------ the reading
@define(eq=False)
class CounterSight:
    """Answer what observers ask of messages and calls, and take their demands."""

    s: Any
    g: Any
    checks: list[Check] = field(factory=list)
    frames: list[Any] = field(factory=list)
    brought: Any = None
    repairing: bool = False
    found: dict[str, Any] = field(factory=dict)

    def cause(self, op: Any) -> str | None:
        """Tell who cancels; None where no rule has asked."""
        return op.found[0] if op.found else None

    def choose(self, policy: Policy) -> str:
        """Ask for the value of a named freedom; the same all the time."""
        return str(self._found(f"freedom.{policy.name}", policy.values))

    def _found(self, name: str, options: tuple[Any, ...]) -> Any:
        """Choose once in a run, and find the same again."""
        if name not in self.found:
            self.found[name] = choose(name, options)
        return self.found[name]

    def check(self, rule: str, condition: Truth) -> None:
        """Demand something here."""
        self.checks.append(Check(rule, condition))

    def bears(self, name: Any, tag: str) -> Truth:
        """Tell whether an id is that of a tagged message, or one of many ids is."""
        if isinstance(name, Name):
            return name.a if tag == "A" else name.b
        return self.place(name, tag) >= 0

    def many(self, ids: Any) -> bool:
        """Tell whether these are several ids at once."""
        return isinstance(ids, Queue)

    def decided(self, s: Any, outcome: Any) -> tuple[bool, tuple[Number, Number, Number]]:  # noqa: ARG002
        """Tell whether a pre-step lets the claimed batch in, and what besides."""
        return (
            (True, self.laid(outcome.messages.snapshots))
            if isinstance(outcome.messages, Whole)
            else (False, self.laid(outcome.messages[0]))
        )

    def size(self, ids: Any) -> Number:
        """Tell how many ids these are."""
        return ids.n if isinstance(ids, (Queue, Bunch)) else 1

    def place(self, ids: Any, tag: str) -> Number:
        """Tell where among ids that of a tagged message is, or -1."""
        found: Number = ids.a if tag == "A" else ids.b
        return found

    def call_number(self, call_id: CallId) -> Number:
        """Tell the place of a call in its batch."""
        return call_id.number

    def call_count(self, call_id: CallId) -> Number:
        """Tell how many calls an event speaks of at once."""
        return call_id.count

    def laid(self, contexts: Any) -> tuple[Number, Number, Number]:
        """Tell how many contexts an outcome brings along, and where A and B are among them, or -1."""
        return (contexts.n, contexts.a, contexts.b) if isinstance(contexts, Bunch) else (0, -1, -1)

    def calls(self, named: Any) -> Number:
        """Tell how many calls these are."""
        total: Number = 0
        for call in named:
            total = total + call.count
        return total


@frozen(eq=False)
class _All:
    """Stand for every item of a queue."""

    id: Queue


@frozen(eq=False)
class _Log:
    in_turn: Truth


@define(eq=False)
class CounterReading(CounterSight):
    """Be the ``m`` of rule functions and of observers, for one run of one action."""

    book: RuleBook[Any] = field(kw_only=True)
    observer: Observer = field(kw_only=True)
    events: list[str] = field(factory=list)

    # -------------------------------------------------------------------------------------------- for rules
    def publish(self, event: Event, *_rules: str) -> None:
        """Show an event to the observer."""
        if isinstance(event, ToolResult):
            slot = self.s.batch.last
            outcome = None if slot is None else slot.outcome
            contexts: Any = contexts_of(outcome)
            brought = contexts if isinstance(contexts, Bunch) else Bunch()
            self.observer.returns(self, brought, getattr(outcome, "concludes", False))
        self.events.append(event.type)
        self.observer.see(self, event)
        if isinstance(event, ToolResult) and not self.repairing:
            self.observer.returned(self)

    def each(self, queue: Queue, event: Callable[[Any], Event], *rules: str) -> None:
        """Publish one event for all items of a queue, its id the queue itself."""
        self.publish(event(_All(queue)), *rules)

    def cite(self, *rules: str) -> None:
        """Note nothing: which premises occur is asked of the concrete reading."""

    def reply(self, answer: bool) -> None:
        """Show an answer to the observer."""
        self.observer.replied(self, answer)

    def repair(self, event: Event) -> None:
        """Append what crash repair adds."""
        self.repairing = True
        self.publish(event)
        self.repairing = False

    def request(self, *rules: str) -> None:
        """Show the model the history, whatever it is."""
        self.publish(RequestMade(()), *rules)

    def dispose_resolved(self, *rules: str) -> None:
        """Publish that one disposal resolved."""
        self.s.disposals -= 1
        self.publish(DisposeResolved(), *rules)

    @property
    def in_durable(self) -> bool:
        """Whether the publication of a durable event is under way; no command is issued there."""
        return False

    @property
    def history(self) -> _Log:
        """Tell what rules ask of the log: whether a turn is open at its end."""
        return _Log(self.g.turn_open)

    def message(self, message_id: Any) -> Any:
        """Refuse: in this reading no outcome names a message by id."""
        raise Impossible(message_id)

    def has(self, capability: str) -> bool:
        """Whether the candidate declares the capability; the same all the time."""
        return bool(self._found(f"can.{capability}", (False, True)))

    def asks(self, kind: GateKind) -> bool:  # noqa: ARG002  # one that isn't is one that settles at once
        """Tell whether gates of this kind are the runner's: all are, and may settle at once."""
        return True

    def tool_mode(self, name: Any) -> Any:
        """Tell how a tool runs: a batch leaves that open until a rule asks."""
        return name

    def pick(self, what: str, options: int) -> int:
        """Take one of several ways."""
        return choose(what, tuple(range(options)))

    def partial(self) -> str:
        """The text that the open request has streamed so far; all that matters is whether there is any."""
        return str(self._found("partial", ("", "…")))

    def run_in_stack(self, *stops: str) -> None:
        """Leave the loop where it is: it may always go on, so it may go on at once."""

    def open(self, kind: GateKind, *, aborted: bool = False, slot: Any = None, rules: Any = (), **_view: Any) -> None:
        """Open a gate; it may settle with anything at any time."""
        if slot is None:
            self.s.outcome = None
        self.publish(GateOpened(kind, kind), *rules)
        if aborted:
            self.publish(GateAborted(kind, kind), *rules)

    def abort_gates(self, *rules: str) -> None:
        """Let some of the running tools settle; every other gate may do so anyway."""
        if self.s.batch.running:
            self.s.batch = self.s.batch.interrupted()
            self.publish(GateAborted("tool", "tool"), *rules)

    # -------------------------------------------------------------------------------------------- new values
    def letter(self) -> Letter:
        """Make a message that a caller or a hook sends now; any message may be A, and any B."""
        a, b = fresh("A", "bool"), fresh("B", "bool")
        require(either(negate(a), negate(b)))
        self._bear(a, b)
        return Letter(Name(a, b))

    def bunch(self) -> Bunch:
        """Make any number of messages."""
        n, a, b = fresh("n", "int"), fresh("A", "int"), fresh("B", "int")
        require(both(n >= 0, a >= -1, a < n, b >= -1, b < n))
        require(both(either(a < 0, a != b), implies(both(a >= 0, b >= 0), n > 1)))
        self._bear(a >= 0, b >= 0)
        return Bunch(n, a, b)

    def _bear(self, a: Truth, b: Truth) -> None:
        """Give tags to new messages: where a tag follows one message, nothing new may bear it again."""
        if self.observer.once:
            require(both(implies(a, negate(self.g.seen_a)), implies(b, negate(self.g.seen_b))))
            self.g.seen_a, self.g.seen_b = either(self.g.seen_a, a), either(self.g.seen_b, b)
