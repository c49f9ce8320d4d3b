"""
Run the rules on real messages, one action at a time: the plain reading that the packed one is held against.

A ``Walker`` is a ``Machine`` with an oracle that answers for all that isn't determined: which outcome a gate
settles with, how gates hear an abort, which way a latitude goes, whether a listener calls back inside a publication.
``successors`` tries all answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import define, evolve, field, frozen

from turnproof_model.algebra import Item, Queue
from turnproof_model.events import Event
from turnproof_model.history import History
from turnproof_model.machine import Machine
from turnproof_model.policies import Policy
from turnproof_model.readings.actions import Template, World, outcomes, templates
from turnproof_model.readings.forest import MOVE, RELEASE, RESUME
from turnproof_model.readings.queues import CLAIMED
from turnproof_model.readings.reading import Surroundings
from turnproof_model.readings.sight import ConcreteSight, Watching
from turnproof_model.rulebook import Refused, RuleBook
from turnproof_model.surroundings import Chooser, Setting
from turnproof_model.vocabulary import (
    AbortStyle,
    Enter,
    GateKind,
    Message,
    Operation,
    Outcome,
    Release,
    Resume,
    Target,
)


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

    def snapshot(self) -> Message:
        """Make a message with a number of its own."""
        return self.new()

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
