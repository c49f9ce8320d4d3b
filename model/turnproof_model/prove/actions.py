"""
List what can happen to an agent on counters, and run each thing along all of its paths.

Moves of the loop, commands, tools that return, a crash. Nothing lands in front of a phase that is joined to the one
before it, and a crash is seen only where the loop waits; everything else may happen on any state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, TypeAlias

from attrs import define, evolve, field, frozen

from turnproof_model import algebra as concrete
from turnproof_model.prove.machine import Check, CounterReading, Path, Whole
from turnproof_model.prove.places import Places
from turnproof_model.prove.shape import Ghosts, LazyState, Shape, snapshots
from turnproof_model.readings import counter_batch, counters
from turnproof_model.readings.counter_batch import Calls
from turnproof_model.readings.counters import Queue
from turnproof_model.readings.execute import Chosen, Decided, Impossible, Leaf, choose, fresh, require
from turnproof_model.readings.letters import Letter
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import Term, Truth, either, key_of, var
from turnproof_model.readings.trees import Regrown, Tree
from turnproof_model.rulebook import Phase, Refused, RuleBook
from turnproof_model.vocabulary import (
    Allow,
    Block,
    Cancel,
    Continue,
    Dispose,
    Enter,
    Error,
    Fail,
    GateKind,
    GiveUp,
    MaxTokens,
    Ok,
    Outcome,
    Prepend,
    Reference,
    Reject,
    Remove,
    Replace,
    Retry,
    Send,
    Text,
    Throw,
    Tools,
)


def _entered(outcome: Any, claimed: Queue, known: object) -> Queue:  # noqa: ARG001  # no outcome names an id here
    """Lay out what a pre-step lets in: the claimed batch with snapshots behind it, or any messages."""
    if isinstance(outcome.messages, Whole):
        return claimed.join(Queue.of([outcome.messages.snapshots]))
    return Queue.of(outcome.messages)


ALGEBRA = SimpleNamespace(
    Queue=Queue,
    EMPTY=counters.EMPTY,
    Item=counters.Item,
    ToolBatch=counter_batch.ToolBatch,
    NO_BATCH=counter_batch.NO_BATCH,
    Slot=counter_batch.Slot,
    ToolMode=concrete.ToolMode,
    contexts_of=concrete.contexts_of,
    entered=_entered,
)
"""What rule modules import from ``algebra`` when they count."""

Body: TypeAlias = Callable[[CounterReading], None]


@frozen(eq=False)
class Action:
    """
    Be something that can happen.

    ``at``: the phases at which it can (None: at all). ``run``: what it does. ``rule``: the name of the function of the
    rules that tells positions apart for it, if one does.
    """

    label: str
    at: tuple[str, ...] | None
    run: Body
    rule: str = ""


# ------------------------------------------------------------------------------------------------ moves
_OUTCOMES: Mapping[GateKind, Mapping[str, Callable[[CounterReading], Any]]] = {
    "prompt-submit": {
        "allow": lambda m: Allow(None, m.bunch()),  # type: ignore[arg-type]  # any number of messages
        "allow other content": lambda m: Allow("…", m.bunch()),  # type: ignore[arg-type]
        "block": lambda m: Block(m.bunch()),  # type: ignore[arg-type]
        "throw": lambda _: Throw(),
    },
    "pre-step": {
        "enter": lambda _: Enter(Whole(snapshots())),  # type: ignore[arg-type]  # in the place of a tuple
        "enter others": lambda m: Enter((m.bunch(),)),  # type: ignore[arg-type]
        "reject": lambda _: Reject(),
        "throw": lambda _: Throw(),
    },
    "step": {"continue": lambda _: Continue(), "throw": lambda _: Throw()},
    "model": {
        "text": lambda _: Text(),
        "tools": lambda _: Tools(_some_calls()),  # type: ignore[arg-type]  # any number of calls
        "max-tokens": lambda _: MaxTokens(),
        "error": lambda _: Error(),
        "throw": lambda _: Throw(),
    },
    "request-error": {"give-up": lambda _: GiveUp(), "retry": lambda _: Retry(), "throw": lambda _: Throw()},
    "turn-stopping": {"continue": lambda _: Continue(), "throw": lambda _: Throw()},
    "flush": {"ok": lambda _: Ok(), "fail": lambda _: Fail()},
}
"""The outcomes that rules tell apart, with whatever messages they bring along."""


def _some_calls() -> Calls:
    """Make any number of calls; a reply without any is text."""
    count = fresh("calls", "int")
    require(count > 0)
    return Calls(count)


def _move(phase: Phase) -> Body:
    """Let the loop leave a position, if it can."""

    def move(m: CounterReading) -> None:
        if phase.awaits is not None:
            kinds = _OUTCOMES[phase.awaits]
            outcome: Outcome = kinds[choose("outcome", tuple(kinds))](m)
            m.s.outcome = outcome
            m.observer.takes(m, phase.awaits, outcome)
        elif not phase.ready(m.s):
            raise Impossible
        elif phase.name in m.observer.leaves:
            m.observer.moves(m, phase.name)
        phase.run(m, m.s)

    return move


# ------------------------------------------------------------------------------------------------ commands
@frozen(eq=False)
class AnyCancel:
    """Be a cancel by the user or by the parent, whom a rule meets only where it looks."""

    method: ClassVar[str] = "cancel"
    keep_inbox: bool
    found: list[str] = field(factory=list)

    @property
    def cause(self) -> str:
        """Who cancels."""
        if not self.found:
            self.found.append(choose("cause", ("user", "parent")))
        return self.found[0]


_COMMANDS: Mapping[str, Callable[[CounterReading], Any]] = {
    "followup": lambda m: Send(m.letter(), "next-turn", wakeup=True),  # type: ignore[arg-type]  # any message
    "queue": lambda m: Send(m.letter(), "next-turn", wakeup=False),  # type: ignore[arg-type]
    "steer": lambda m: Send(m.letter(), "next-step", wakeup=True),  # type: ignore[arg-type]
    "inject": lambda m: Send(m.letter(), "next-step", wakeup=False),  # type: ignore[arg-type]
    "cancel": lambda _: AnyCancel(keep_inbox=False),
    "cancel, keeping": lambda _: AnyCancel(keep_inbox=True),
    "dispose": lambda _: Dispose(),
    "refer": lambda m: Reference(m.letter(), Letter()),  # type: ignore[arg-type]
    "prepend to next-turn": lambda m: Prepend("next-turn", m.letter()),  # type: ignore[arg-type]
    "prepend to next-step": lambda m: Prepend("next-step", m.letter()),  # type: ignore[arg-type]
    "remove": lambda m: Remove(m.letter().id),  # type: ignore[arg-type]
    "replace": lambda m: Replace(m.letter().id, m.letter()),  # type: ignore[arg-type]
}
"""Every command with its finite choices made."""

_TYPES = {
    **dict.fromkeys(("followup", "queue", "steer", "inject"), Send),
    **dict.fromkeys(("cancel", "cancel, keeping"), Cancel),
    "dispose": Dispose,
    "refer": Reference,
    "remove": Remove,
    "replace": Replace,
    **dict.fromkeys(("prepend to next-turn", "prepend to next-step"), Prepend),
}


def _command(make: Callable[[CounterReading], Any], rule: Callable[[Any, Any, Any], None]) -> Body:
    """Perform a command in the caller's stack; one that is refused has changed nothing."""

    def command(m: CounterReading) -> None:
        op = make(m)
        m.observer.issued(m, op)
        refused = False
        try:
            rule(m, m.s, op)
        except Refused as refusal:
            refused = True
            m.check(refusal.rules[0], not m.s.after() and not m.events)
        m.observer.done(m, op, refused)

    return command


def _return_tool(m: CounterReading) -> None:
    """Let any running tool return."""
    require(m.s.batch.running)
    m.s.batch = m.s.batch.returned()


def _crash(m: CounterReading) -> None:
    """Go on with a new agent over the log, as after a crash; a fork is the same, and so is what follows a disposal."""
    assert m.book.resume is not None, "both contracts resume"
    m.s.batch = evolve(m.s.batch, whole=True)
    m.s.become(m.book.resume(m, m.s, "crash"))
    m.observer.resumed(m)


def actions(book: RuleBook[Any]) -> Iterator[Action]:
    """List what can happen under the rules of a contract."""
    for phase in book.phases.values():
        yield Action(f"{phase.name} moves", (phase.name,), _move(phase))
    apart = tuple(name for name, phase in book.phases.items() if not phase.joined)
    for label, make in _COMMANDS.items():
        if _TYPES[label] in book.commands:
            rule = book.commands[_TYPES[label]]
            yield Action(label, apart, _command(make, rule), rule.__name__)
    yield Action("a tool returns", None, _return_tool)
    waits = tuple(name for name, phase in book.phases.items() if _may_wait(phase))
    yield Action("crash and resume", waits, _crash, "resume")


def _may_wait(phase: Phase) -> bool:
    return phase.awaits is not None or phase.ready.__name__ != "_always"


# ------------------------------------------------------------------------------------------------ paths
@define(eq=False)
class Walk:
    """
    Run what can happen along all of its paths.

    ``places``: tells which positions a command doesn't tell apart. ``before``: the walk of the same rules before
    functions were ``changed``, whose paths stand as far as they don't come to one. ``trees``: by the labels of actions.
    """

    book: RuleBook[Any]
    shape: Shape
    observer: Observer
    places: Places
    before: Walk | None = None
    changed: frozenset[str] = frozenset()
    trees: dict[str, Tree[CounterReading]] = field(factory=dict)

    def paths(self) -> tuple[Path, ...]:
        """List the paths of all actions, without those that stand; those of an action that do the same are one."""
        return tuple(path for action in actions(self.book) for path in _merged(self._paths(action)))

    def _paths(self, action: Action) -> Iterator[Path]:
        groups = {group[0]: group for group in self.places.groups(action.rule)}
        tree = self.trees[action.label] = self._tree(action, tuple(groups))
        anywhere = action.at is None or len(action.at) == len(self.book.phases)
        where = True if anywhere else self._at(action.at or ())
        for leaf in tree.leaves():
            if leaf not in tree.kept:
                yield self._path(action, leaf, [where, *(self._said(step, groups) for step in leaf.steps)])

    def _tree(self, action: Action, places: tuple[str, ...]) -> Tree[CounterReading]:
        one = action.at[0] if action.at is not None and len(action.at) == 1 else None

        def body() -> CounterReading:
            s, g = LazyState(self.shape, places), Ghosts(self.shape)
            if one is not None:
                s.now["at"] = one
            m = CounterReading(s, g, book=self.book, observer=self.observer)
            object.__setattr__(s, "_make", m.bunch)
            action.run(m)
            return m

        if self.before is None or self.before.places.groups(action.rule) != self.places.groups(action.rule):
            return Tree(body)
        return Regrown(body, before=self.before.trees[action.label], changed=self.changed)

    def _path(self, action: Action, leaf: Leaf[CounterReading], said: Sequence[Truth]) -> Path:
        ways = (tuple({term.key: term for term in said if isinstance(term, Term)}.values()),)
        if leaf.result is None:
            fault = Check(f"the rules raise {type(leaf.raised).__name__}: {leaf.raised}", condition=False)
            return Path(action.label, ways, (fault,), {}, ())
        m = leaf.result
        return Path(action.label, ways, tuple(m.checks), {**m.s.after(), **m.g.after()}, tuple(m.events))

    def _said(self, step: object, groups: Mapping[Any, Sequence[str]]) -> Truth:
        """Say as a formula what a step of a path took for granted."""
        if isinstance(step, Chosen) and step.name == "s.at":
            return self._at(groups[step.value])
        if isinstance(step, Chosen):
            return self.shape.guard(step)
        return step.guard if isinstance(step, Decided) else step.term  # type: ignore[attr-defined]

    def _at(self, names: Sequence[str]) -> Truth:
        values = self.shape.fields["at"].values
        return either(*(var("at", "int") == values.index(name) for name in names))


def _merged(found: Iterator[Path]) -> Iterator[Path]:
    """Make one path of those that check and change the same."""
    alike: dict[tuple[object, ...], list[Path]] = {}
    for path in found:
        checks = tuple((check.rule, key_of(check.condition)) for check in path.checks)
        after = tuple((name, key_of(value)) for name, value in path.after.items())
        alike.setdefault((checks, after), []).append(path)
    for group in alike.values():
        yield evolve(group[0], ways=tuple(way for path in group for way in path.ways))
