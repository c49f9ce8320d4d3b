"""
Run the rules on real messages, one action at a time: the plain reading that the packed one is held against.

A ``Walker`` is a ``Machine`` with an oracle that answers for all that isn't determined: which outcome a gate
settles with, how gates hear an abort, which way a latitude goes, whether a listener calls back inside a publication.
``successors`` tries all answers. What it knows of packed states is only how to say its own state as one (``encode``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import attrs
from attrs import define, evolve, field, frozen

from turnproof_model.algebra import Item, Queue, Slot, ToolBatch
from turnproof_model.contracts import rule_book
from turnproof_model.events import Event
from turnproof_model.history import History
from turnproof_model.machine import Machine
from turnproof_model.policies import Policy
from turnproof_model.readings.actions import CONTEXT, Template, World, outcomes, templates
from turnproof_model.readings.forest import MOVE, RELEASE, RESUME
from turnproof_model.readings.layout import Layout
from turnproof_model.readings.packed import length_cell, plane_cell
from turnproof_model.readings.queues import CLAIMED, MARKS, TAGS
from turnproof_model.readings.reading import Surroundings
from turnproof_model.readings.sight import ConcreteSight, Watching
from turnproof_model.readings.slots import CALLS, CONCLUDING, FRESH, WHERE_CALLS_RUN, field_of
from turnproof_model.rulebook import Refused, RuleBook
from turnproof_model.surroundings import Chooser, OpenGate, Setting
from turnproof_model.vocabulary import (
    AbortStyle,
    Enter,
    Error,
    GateKind,
    Message,
    Operation,
    Outcome,
    Release,
    Result,
    Resume,
    Target,
)

NO_TAGS: Mapping[str, str] = MappingProxyType({})


class NoSuchActionError(Exception):
    """Say that an action can't happen in this state, or not with these answers."""


# ------------------------------------------------------------------------------------------------ answers
@define(eq=False)
class Answers(Chooser):
    """Give prepared answers, then the first of each; note how many there were of each."""

    prepared: Sequence[int] = ()
    asked: list[tuple[str, int]] = field(factory=list)
    given: list[int] = field(factory=list)

    def ask(self, what: str, options: int) -> int:
        """Answer one question with ``options`` answers, numbered from 0."""
        i = len(self.given)
        answer = self.prepared[i] if i < len(self.prepared) else 0
        self.asked.append((what, options))
        self.given.append(answer)
        return answer

    def once(self, what: str, options: int) -> int:
        """Answer for a latitude of one occurrence."""
        return self.ask(what, options)

    def others(self) -> Iterator[tuple[int, ...]]:
        """List the prefixes that differ from what was given, after what was prepared."""
        for i in range(len(self.prepared), len(self.given)):
            for answer in range(1, self.asked[i][1]):
                yield (*self.given[:i], answer)


@frozen(eq=False)
class _Styles(Mapping[GateKind, AbortStyle]):
    """Answer once per action and kind how gates hear an abort."""

    walker: Any
    chosen: dict[GateKind, AbortStyle] = field(factory=dict)

    def __getitem__(self, kind: GateKind) -> AbortStyle:
        if kind not in self.chosen:
            styles = self.walker.around.on_abort
            self.chosen[kind] = styles[self.walker.answers.ask(f"on abort {kind}", len(styles))]
        return self.chosen[kind]

    def __iter__(self) -> Iterator[GateKind]:
        return iter(self.chosen)

    def __len__(self) -> int:
        return len(self.chosen)


# ------------------------------------------------------------------------------------------------ the walker
@define(eq=False)
class Walker(Watching, Machine[Any]):
    """
    Be one agent that is led one action at a time.

    ``spent``: what has been used up of which bound. ``stack``: where a run in the caller's stack ends, while it lasts.
    ``came``: the outcome that the awaited gate settled with, as the packed reading writes it, and as it is.
    ``sights``: who watches. ``given``: the operations of this action, each with the event inside which it was issued.
    """

    around: Surroundings = field(kw_only=True)
    bounds: Mapping[str, int] = field(kw_only=True)
    commands: Mapping[str, Template] = field(kw_only=True)
    spent: dict[str, int] = field(factory=dict, kw_only=True)
    stack: tuple[str, ...] = field(default=(), kw_only=True)
    answers: Answers = field(factory=Answers, kw_only=True)
    landed: int = field(default=0, kw_only=True)
    came: tuple[Outcome, Outcome | None] | None = field(default=None, kw_only=True)
    depth: int = field(default=0, kw_only=True)
    sights: list[ConcreteSight] = field(factory=list, kw_only=True)
    given: list[tuple[Operation, Event | None]] = field(factory=list, kw_only=True)
    inside: Event | None = field(default=None, kw_only=True)

    @classmethod
    def fresh(cls, book: RuleBook[Any], bounds: Mapping[str, int], around: Surroundings) -> Walker:
        """Begin with a new agent."""
        commands = {t.label: t for t in templates(book.contract, bounds)}
        setting = Setting(around.capabilities, around.tools)
        return cls(book, setting, gated=around.gated, around=around, bounds=bounds, commands=commands)

    def ways(self, action: str) -> Iterator[Walker]:
        """Make the agents to which an action leads, each with what was asked and answered, given and shown."""
        todo: list[tuple[int, ...]] = [()]
        while todo:
            twin = self._twin(Answers(todo.pop()))
            with suppress(NoSuchActionError, Refused):
                twin.act(action)
                twin.history = History(in_turn=twin.history.in_turn, known=twin.history.known)
                yield twin
            todo.extend(twin.answers.others())

    def _twin(self, answers: Answers) -> Walker:
        twin = Walker(
            self.book,
            self.setting,
            chooser=answers,
            gated=self.gated,
            around=self.around,
            bounds=self.bounds,
            commands=self.commands,
            spent=dict(self.spent),
            stack=self.stack,
            came=self.came,
            answers=answers,
            sights=[sight.copy() for sight in self.sights],
        )
        twin.s = evolve(self.s)
        for name in ("gates", "gate_count", "history", "streamed"):
            setattr(twin, name, getattr(self, name))
        twin.on_abort = _Styles(twin)
        return twin

    # -------------------------------------------------------------------------------------------- actions
    def act(self, action: str) -> None:
        """Perform one action."""
        if action == MOVE:
            self._move_once()
        elif self.book.phases[self.s.at].joined or self.stack:
            raise NoSuchActionError(action)
        elif action == RESUME:
            if self._can_move():
                raise NoSuchActionError(action)
            self.spend({"resumes": 1})
            self._resume(Resume("crash"))
            self.stack = ()
        else:
            self._command(action)
        if self.s.disposals > self.bounds.get("disposals", 0):
            raise NoSuchActionError(action)

    def _move_once(self) -> None:
        if not self._can_move():
            raise NoSuchActionError(MOVE)
        self._move()
        if self.s.at in self.stack:
            self.stack = ()

    def _command(self, label: str) -> None:
        if label == RELEASE:
            self._settle_some()
            return
        template = self.commands[label]
        self.spend(template.cost)
        self._give(template.make(_Real(self)))

    def _give(self, op: Operation) -> None:
        self.given.append((op, self.inside))
        self.perform(op)

    def _settle_some(self) -> None:
        if not self.gates:
            raise NoSuchActionError(RELEASE)
        chosen = self.answers.ask("gate", len(self.gates)) if len(self.gates) > 1 else 0
        gate = self.gates[chosen].view
        choices = outcomes(gate.kind, self.bounds)
        choice = choices[self.answers.ask(f"outcome of {gate.kind}", len(choices))]
        self.spend(choice.cost)
        real = _Real(self).outcome(choice.outcome, gate.claimed or ())
        self._give(Release(real, gate=gate.id))
        self.came = (choice.outcome, self.s.outcome)

    def spend(self, cost: Mapping[str, int]) -> None:
        """
        Use up of the bounds.

        Raises:
            NoSuchActionError: nothing is left.
        """
        for name, amount in cost.items():
            self.spent[name] = self.spent.get(name, 0) + amount
            if self.spent[name] > self.bounds.get(name, 0):
                raise NoSuchActionError(name)

    def choose(self, policy: Policy) -> str:
        """Tell the value of a named freedom."""
        return self.around.policies.get(policy.name, policy.default)

    # -------------------------------------------------------------------------------------------- inside publications
    def _fire(self, event: Event) -> None:
        super()._fire(event)
        labels = (*self.commands, RELEASE)
        if self.landed >= self.bounds.get("reentrant", 0):
            return
        chosen = self.answers.ask("landing", len(labels) + 1)
        if chosen:
            self.landed += 1
            self.spend({"reentrant": 1})
            before, self.inside = self.inside, event
            self._command(labels[chosen - 1])
            self.inside = before

    def each(self, queue: Queue, event: Callable[[Item], Event], *rules: str) -> None:
        """Publish for each item; a listener calls back at the first, since it finds the same state at all of them."""
        for i, item in enumerate(queue.each()):
            before = self.landed
            self.landed = self.landed if i == 0 else self.bounds.get("reentrant", 0)
            self.publish(event(item), *rules)
            self.landed = self.landed if i == 0 else before

    def run_in_stack(self, *stops: str) -> None:
        """Go on in the caller's stack: move by move where the command itself asks, at once inside a publication."""
        if self.depth:
            super().run_in_stack(*stops)
        else:
            self.stack = stops


@frozen(eq=False)
class _Real(World):
    """Make real messages."""

    walker: Walker

    def new(self) -> Message:
        """Make a message with a number of its own."""
        made = f"m{len(self.walker.history.known) + 1}"
        message = Message(made, made)
        self.walker.history = self.walker.history.learn(message)
        return message

    def pending(self, target: Target, position: int) -> str:
        """Tell the id of a pending message."""
        items = (self.walker.s.next_turn if target == "next-turn" else self.walker.s.next_step).items
        if position >= len(items):
            raise NoSuchActionError(f"{target} {position}")
        return str(items[position].id)

    def outcome(self, outcome: Any, claimed: Sequence[str]) -> Any:
        """Put real messages and the claimed ids in the place of what stands for them."""
        if isinstance(outcome, Enter) and outcome.messages is not None:
            batch: list[Message | str] = []
            for entry in outcome.messages:
                batch.extend(claimed if entry == CLAIMED else [self.new()])
            return evolve(outcome, messages=tuple(batch))
        if getattr(outcome, "additional_contexts", ()):
            return evolve(outcome, additional_contexts=(self.new(),))
        return outcome


def successors(walker: Walker) -> Iterator[Walker]:
    """Go through all transitions of a state: the agents to which they lead."""
    actions = (MOVE, RELEASE, *walker.commands, *((RESUME,) if walker.bounds.get("resumes", 0) else ()))
    for action in actions:
        yield from walker.ways(action)


# ------------------------------------------------------------------------------------------------ as a packed state
def encode(walker: Walker, layout: Layout, tags: Mapping[str, str] = NO_TAGS) -> int:
    """
    Say the state of an agent as a packed one.

    Args:
        walker: the agent.
        layout: how states are packed.
        tags: the ids of messages that bear one.
    """
    forest = layout.program.forest
    fields = dict(_fields(walker, forest.bounds.get("tools", 0), tags))
    position = tuple(fields[name] for name in forest.place)
    state = layout.program.positions.index(position)
    for name, budget in layout.budgets.items():
        borne = int(name in tags)
        state |= max(walker.spent.get(name, 0), borne) << budget.offset
    for name in layout.program.live[position]:
        cell = layout.cells[name]
        state |= cell.code(fields[name]) << cell.offset
    return state


def _fields(walker: Walker, calls: int, tags: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    s = walker.s
    for attribute in attrs.fields(type(s)):
        value = getattr(s, attribute.name)
        kind = str(attribute.type)
        if kind == "Queue":
            yield from _queue(attribute.name, value.items, tags)
        elif kind == "Item | None":
            yield from _queue(attribute.name, () if value is None else (value,), tags)
        else:
            yield attribute.name, value
    yield "settled", s.outcome is not None
    yield "came", _came(walker, tags)
    yield "told", any(gate.slot < 0 and gate.view.aborted for gate in walker.gates)
    yield "streamed", bool(walker.streamed)
    yield "log_in_turn", walker.history.in_turn
    yield "stack", walker.stack
    remembers = walker.book.contract == "claim"
    for name, value in _batch(s.batch, walker.gates, calls, s.at, remembers=remembers):
        yield name, _written(value, tags) if isinstance(value, (Result, Error)) else value


def _queue(name: str, items: Sequence[Item], tags: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    yield length_cell(name), len(items)
    for tag in TAGS:
        yield plane_cell(name, tag), sum(int(item.id == tags.get(tag)) << i for i, item in enumerate(items))
    for mark in MARKS:
        yield plane_cell(name, mark), sum(int(getattr(item, mark)) << i for i, item in enumerate(items))


def _came(walker: Walker, tags: Mapping[str, str]) -> Outcome | None:
    outcome: Outcome | None = walker.s.outcome
    if outcome is not None and walker.came is not None and walker.came[1] is outcome:
        outcome = _borne(walker.came[0], outcome, tags)
    return outcome


def _written(outcome: Result | Error, tags: Mapping[str, str]) -> Result | Error:
    """Say what a tool returned as the packed reading writes it."""
    plain = evolve(outcome, additional_contexts=(CONTEXT,) if outcome.additional_contexts else ())
    written: Result | Error = _borne(plain, outcome, tags)
    return written


def _borne(written: Any, real: Any, tags: Mapping[str, str]) -> Any:
    """Say an outcome as the packed reading writes it, with the tag that its context bears; a context is its last."""
    name = "messages" if isinstance(written, Enter) else "additional_contexts"
    brought = getattr(written, name, None) or ()
    if CONTEXT not in brought:
        return written
    tag = next((tag for tag, bearer in tags.items() if bearer == getattr(real, name)[-1].id), None)
    return written if tag is None else evolve(written, **{name: (*brought[:-1], evolve(CONTEXT, id=tag))})


def _batch(
    batch: ToolBatch, gates: Sequence[OpenGate], calls: int, at: str, *, remembers: bool
) -> Iterator[tuple[str, Any]]:
    """Say what the packed reading remembers of a batch; the rest of its fields are as if there were no call."""
    told = {gate.slot for gate in gates if gate.view.aborted}
    slots = batch.slots
    if at not in WHERE_CALLS_RUN:
        yield CALLS, min(len(slots), 1)
        slots = tuple(evolve(slot, state="committed", outcome=None) for slot in slots[:1])
    else:
        yield CALLS, len(slots)
    for i in range(calls):
        facts = dict(FRESH)
        if i < len(slots):
            joined = i > 0 and slots[i].group == slots[i - 1].group and slots[i - 1].state != "committed"
            facts = _facts(slots[i], joined=joined, told=i in told, remembers=remembers)
        for name, value in facts.items():
            yield field_of(i, name), value


def _facts(slot: Slot, *, joined: bool, told: bool, remembers: bool) -> dict[str, Any]:
    if slot.state == "committed":
        outcome = slot.outcome
        concludes = remembers and isinstance(outcome, Result) and outcome.concludes and not slot.settled_by_abort
        return {**FRESH, "state": "committed", "outcome": CONCLUDING if concludes else None}
    unasked = slot.state in {"waiting", "called"} or slot.mode == "unknown"
    mode = slot.mode if unasked and not (slot.state == "finished" and slot.outcome is None) else "exclusive"
    outcome = slot.outcome
    return {
        "state": slot.state,
        "mode": mode,
        "joined": joined,
        "outcome": outcome,
        "early": slot.early,
        "told": told,
    }


def count(layout: Layout, around: Surroundings) -> tuple[int, int]:
    """
    Search plainly, and count states and transitions.

    Args:
        layout: how states are told apart.
        around: what the forest of the layout was grown for.
    """
    forest = layout.program.forest
    first = Walker.fresh(rule_book(forest.contract), forest.bounds, around)
    seen = {encode(first, layout)}
    todo = [first]
    transitions = 0
    while todo:
        walker = todo.pop()
        for after in successors(walker):
            transitions += 1
            code = encode(after, layout)
            if code not in seen:
                seen.add(code)
                todo.append(after)
    return len(seen), transitions
