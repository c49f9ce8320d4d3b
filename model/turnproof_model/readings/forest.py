"""
Find everything that can happen at every position of the loop: a forest of trees, and the values that control can have.

One tree for each action holds its paths over lazily read control. Which values a control field can have at a position
is found together with the paths, as the least sets that are closed under all of them: a path that starts at a position
hands on what it wrote, what it read, and what it left alone. Fields are taken one by one, so the sets may allow
combinations that no run reaches; they never miss one. Queue contents are not looked at here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
from attrs import define, field, frozen

from turnproof_model.readings import atoms, pieces, queues
from turnproof_model.readings.actions import Template, perform, release, templates
from turnproof_model.readings.execute import Decided, Impossible, Leaf, enter
from turnproof_model.readings.lazy import LazyState, Shape
from turnproof_model.readings.loading import Change, changed_functions, load_rules
from turnproof_model.readings.observers import observer_of
from turnproof_model.readings.pieces import ATTACHED, MARKS, TAGS
from turnproof_model.readings.reading import Landing, Landings, Surroundings, TermReading
from turnproof_model.readings.script import ASKED, Recorder, Script
from turnproof_model.readings.slots import KINDS, TERMS, answers, call_fields, field_asked, tidied
from turnproof_model.readings.terms import Term, var
from turnproof_model.readings.trees import Regrown, Tree
from turnproof_model.rulebook import RuleBook
from turnproof_model.vocabulary import Contract

MOVE, RELEASE, RESUME = "move", "release", "resume"

PLACE = ("at", "then", "stack")
"""The control fields that tell positions apart: the phase, where a drain goes on, where a run in the stack ends."""

Position: TypeAlias = tuple[Hashable, ...]
"""The values of the fields in ``PLACE`` that the contract has."""


@frozen(eq=False)
class Effect:
    """
    Hold what one path does.

    ``written``: the fields that have another value, control as plain values, the others as terms. ``spent``: of which
    bounds it uses how much. ``script``: what it shows to observers, if anybody watches.
    """

    written: Mapping[str, Any]
    spent: Mapping[str, int]
    script: Script | None = None


@define(eq=False)
class Forest:
    """
    Hold the trees of a contract at some bounds.

    ``bounds``: how many there may be of what. ``values``: what control can be, by position
    and field. ``asked``: the fields that observers look at, if anybody watches. ``before``: the forest of the same
    rules before functions were ``changed``, whose paths stand as far as they don't come to one.
    """

    contract: Contract
    bounds: Mapping[str, int]
    around: Surroundings
    book: RuleBook[Any]
    asked: tuple[str, ...] = ()
    before: Forest | None = None
    changed: frozenset[str] = frozenset()
    shape: Shape = field(init=False)
    place: tuple[str, ...] = field(init=False)
    trees: dict[str, Tree[Effect]] = field(init=False)
    values: dict[Position, dict[str, dict[Hashable, None]]] = field(factory=dict)
    position: Position = field(init=False)
    _scripts: dict[int, Script] = field(init=False, factory=dict)
    _walked: dict[tuple[Position, str], tuple[int, ...]] = field(init=False, factory=dict)
    _taken: set[tuple[Position, int]] = field(init=False, factory=set)
    _kept: dict[tuple[Position, Position], set[str]] = field(init=False, factory=dict)
    _fresh: set[Position] = field(init=False, factory=set)

    def __attrs_post_init__(self) -> None:
        self.shape = Shape.of(self.book, self.bounds.get("tools", 0))
        self.place = tuple(name for name in PLACE if name in self.shape.control)
        commands = templates(self.contract, self.bounds)
        reentrant = (*(Landing(t.label, t.cost, perform(t)) for t in commands), Landing(RELEASE, {}, self._release))
        landings = Landings(reentrant, self.bounds)
        self.trees = {}
        for name, cost, act in self._actions(commands):
            self.trees[name] = self._tree(name, self._body(act, cost, landings))
        self._close()

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks and tags that items can have at these bounds."""
        return (*MARKS, *((ATTACHED,) if self.bounds.get("references", 0) else ()), *TAGS)

    def _tree(self, action: str, body: Callable[[], Effect]) -> Tree[Effect]:
        if self.before is None:
            return Tree(body, self._implied)
        return Regrown(body, self._implied, before=self.before.trees[action], changed=self.changed)

    def _actions(
        self, commands: Sequence[Template]
    ) -> Iterator[tuple[str, Mapping[str, int], Callable[[TermReading, Any], None]]]:
        yield MOVE, {}, lambda m, _: m.move()
        yield RELEASE, {}, self._command(self._release)
        for template in commands:
            yield template.label, template.cost, self._command(perform(template))
        if self.bounds.get("resumes", 0):
            yield RESUME, {"resumes": 1}, self._command(self._resume)

    def _release(self, m: TermReading, _: Any) -> None:
        release(m, self.bounds)

    def _command(self, act: Callable[[TermReading, Any], None]) -> Callable[[TermReading, Any], None]:
        """Let a command land only where a scheduler break lies: not inside a synchronous stack of the loop."""

        def command(m: TermReading, s: Any) -> None:
            if self.book.phases[s.at].joined or s.stack:
                raise Impossible
            act(m, s)

        return command

    def _resume(self, m: TermReading, s: Any) -> None:
        """Put a new agent over the log, where the old one waits: what a driver sees of a crash comes after a rest."""
        assert self.book.resume is not None
        if self.book.phases[s.at].ready(s):
            raise Impossible
        fresh = self.book.resume(m, s, "crash")
        for attribute in attrs.fields(type(fresh)):
            setattr(s, attribute.name, getattr(fresh, attribute.name))
        s.told, s.streamed, s.stack = False, False, ()
        if m.recorder is not None:
            m.recorder.note(s, "resumed")

    def _body(
        self, act: Callable[[TermReading, Any], None], cost: Mapping[str, int], landings: Landings
    ) -> Callable[[], Effect]:
        leaves = observer_of(self.contract).leaves

        def body() -> Effect:
            s = LazyState(self.shape, self._values_here, self._begin)
            recorder = Recorder(self.asked, leaves, self._scripts) if self.asked else None
            m = TermReading(self.book, s, self.around, self.bounds, landings, recorder)
            m.spend(cost)
            act(m, s)
            if s.written.get("disposals", 0) > self.bounds.get("disposals", 0):
                raise Impossible
            if recorder is None:
                return Effect(self._written(s), m.spent)
            recorder.note(s, "holds")
            return Effect(self._written(s), m.spent, recorder.script())

        return body

    def _written(self, s: Any) -> dict[str, Any]:
        none = call_fields(self.bounds.get("tools", 0))
        tidy = tidied(s, none, remembers=self.contract == "claim", written=dict(s.written))
        return {**s.written, **tidy}

    def _values_here(self, name: str) -> Iterable[Hashable]:
        return self.values[self.position][name]

    def _begin(self, name: str) -> Any:
        if name in self.shape.counters:
            return var(name, "int")
        span = queues.Queue((pieces.Span(name),))
        if name in self.shape.queues:
            return span
        return pieces.Span(name).first(pieces.TAGS) if span.occupied else None

    def _implied(self, term: Term, decided: Sequence[Decided]) -> bool | None:
        if term.op == "lt" and isinstance(term.args[1], Term) and term.args[1].op == "length":
            most = 1 if term.args[1].args[0] in self.shape.slots else self.bounds.get("messages", 0)
            if term.args[0] >= most:
                return False
        if term.op == "mark" and term.args[2] == ATTACHED and not self.bounds.get("references", 0):
            return False
        return atoms.implied(term, decided)

    # -------------------------------------------------------------------------------------------- closure
    def leaves(self, position: Position, action: str) -> Iterator[Leaf[Effect]]:
        """Walk the paths of an action that begin at a position."""
        self.position = position
        here = self.values[position]

        def options(question: str) -> Sequence[Hashable] | None:
            name = field_asked(question)
            return answers(question, here[name]) if name in here else None

        return self.trees[action].leaves(options)

    def _close(self) -> None:
        """Find all values; sets that were closed before are where it begins, so that most of them are right already."""
        start = tuple(self.shape.control[name] for name in self.place)
        self.values[start] = {name: {value: None} for name, value in self.shape.control.items()}
        if self.before is not None:
            known = self.before.values
            self.values = {position: {name: dict(some) for name, some in known[position].items()} for position in known}
        todo = list(self.values)
        while todo:
            position = todo.pop(0)
            for action, tree in self.trees.items():
                asked = tuple(len(self.values[position].get(field_asked(name), ())) for name in tree.names)
                if self._walked.get((position, action)) != asked:
                    for leaf in self.leaves(position, action):
                        self._take_in(position, leaf)
                    # a walk may meet new questions, which it has then asked with all values known by now
                    asked = tuple(len(self.values[position].get(field_asked(name), ())) for name in tree.names)
                    self._walked[position, action] = asked
            for after in self._news(position):
                if after not in todo:
                    todo.append(after)

    def _take_in(self, position: Position, leaf: Leaf[Effect]) -> None:
        """Note what a path leaves behind at the position where it ends."""
        if leaf.result is None or (position, id(leaf)) in self._taken:
            return
        self._taken.add((position, id(leaf)))
        written = leaf.result.written
        after = tuple(written.get(name, value) for name, value in zip(self.place, position, strict=True))
        there = self.values.setdefault(after, {name: {} for name in self.shape.control})
        settled = {
            **{step.name: step.value for step in leaf.choices},
            **written,
            **dict(zip(self.place, after, strict=True)),
        }
        kept = self._kept.setdefault((position, after), set())
        for name in self.shape.control:
            if name in settled:
                if settled[name] not in there[name]:
                    there[name][settled[name]] = None
                    self._fresh.add(after)
            else:
                kept.add(name)

    def _news(self, position: Position) -> list[Position]:
        """Hand on what paths leave alone; list the positions that got new values by now."""
        for (before, after), kept in self._kept.items():
            if before == position:
                here, there = self.values[position], self.values[after]
                size = sum(len(there[name]) for name in kept)
                for name in kept:
                    there[name].update(here[name])
                if sum(len(there[name]) for name in kept) > size:
                    self._fresh.add(after)
        news = sorted(self._fresh, key=list(self.values).index)
        self._fresh.clear()
        return news


def fixed_by(leaf: Leaf[Any]) -> dict[str, Hashable]:
    """Tell the values of control fields that a path has found out."""
    fixed: dict[str, Hashable] = {}
    for step in leaf.choices:
        if not step.name.endswith("?") or step.value in KINDS[step.name[:-1].rpartition(".")[2]]:
            fixed[field_asked(step.name)] = step.value
    return fixed


def forest(
    contract: Contract,
    bounds: Mapping[str, int],
    around: Surroundings | None = None,
    *,
    changes: Sequence[Change] = (),
    watched: bool = False,
    before: Forest | None = None,
) -> Forest:
    """
    Grow the forest of a contract.

    Args:
        contract: ``window`` or ``claim``.
        bounds: how much there may be of what; ``A`` and ``B`` are messages that bear these tags.
        around: what doesn't change; the contract's own by default.
        changes: made to the rules.
        watched: whether paths are to show what observers see.
        before: the forest of the same without changes, if there is one, of which this keeps what it can.
    """
    book = load_rules(contract, algebra=TERMS, changes=changes, enter=enter)
    changed = changed_functions(contract, changes)
    asked = ASKED[contract] if watched else ()
    surroundings = around or Surroundings.of(contract, bounds)
    if before is None or changed is None:
        return Forest(contract, bounds, surroundings, book, asked)
    return Forest(contract, bounds, surroundings, book, asked, before, changed)
