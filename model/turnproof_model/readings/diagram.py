"""
Reduce the tree of an action at one position to what changes the state: a decision diagram.

A test of the state (a control field, or the truth of a term) whose branches do the same is dropped: it told events and
cited rules apart, not states. A pick stays whatever its branches do, since each way is a transition of its own. Equal
nodes are one object, so that later passes look at each once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, TypeAlias

from attrs import define, field, frozen

from turnproof_model.readings.execute import Leaf, Node
from turnproof_model.readings.forest import Effect, Forest, Position, fixed_by
from turnproof_model.readings.packed import cell, in_cells, length_cell, pack, plane_cell
from turnproof_model.readings.pieces import Single
from turnproof_model.readings.queues import Queue
from turnproof_model.readings.script import Script
from turnproof_model.readings.slots import answers, field_asked, values_with
from turnproof_model.readings.terms import Term, key_of


@frozen(eq=False)
class Outcome:
    """
    Be the end of a path: where the loop is then, what has another value, and what it cost.

    ``written``: the new contents of cells, control as plain values, queues and numbers as terms over cells; without
    the fields that make up the position.
    ``checks``: what must hold, by rule.
    """

    position: Position
    written: Mapping[str, Any]
    spent: tuple[tuple[str, int], ...]
    script: Script | None = None


@frozen(eq=False)
class Test:
    """Ask the state: for a control field (``term`` is ``None``; branches by value) or for a truth (by True, False)."""

    name: str
    term: Term | None
    branches: tuple[tuple[Hashable, Diagram], ...]


@frozen(eq=False)
class Pick:
    """Take any of these ways; branches by what was picked."""

    name: str
    branches: tuple[tuple[Hashable, Diagram], ...]


Diagram: TypeAlias = "Outcome | Test | Pick | None"
"""A reduced tree; ``None`` where nothing can happen."""


@define(eq=False)
class Diagrams:
    """
    Reduce trees of one forest.

    ``before``: diagrams of the rules before a change, if there are any, with which these share what is alike.
    ``made``: every node by its structure. ``ends``: of each leaf what it wrote, in cells, by the leaf's identity.
    """

    forest: Forest
    before: Diagrams | None = None
    made: dict[object, Any] = field(factory=dict)
    ends: dict[int, tuple[Leaf[Effect], Mapping[str, Any], Hashable]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if self.before is not None:
            self.made, self.ends = self.before.made, self.before.ends

    def of(self, position: Position, action: str) -> Diagram:
        """Reduce the tree of an action where it begins at a position."""
        for _ in self.forest.leaves(position, action):
            pass  # every path has been run then
        return self._reduce(self.forest.trees[action].root, position)

    def _reduce(self, node: Node[Effect] | Leaf[Effect], position: Position) -> Diagram:
        if isinstance(node, Leaf):
            return self._outcome(node, position)
        here = self.forest.values[position]
        name = field_asked(node.name)
        tests = node.term is not None or name in here
        options = answers(node.name, here[name]) if name in here else node.options
        branches = tuple((answer, self._reduce(node.branches[answer], position)) for answer in options)
        if tests:
            first = branches[0][1]
            if all(branch is first for _, branch in branches):
                return first
            if node.term is not None:
                return self._one(Test("", in_cells(node.term), branches))
            values = here[name]
            spread = ((v, branch) for answer, branch in branches for v in values_with(node.name, answer, values))
            return self._one(Test(name, None, tuple(spread)))
        branches = tuple((answer, branch) for answer, branch in branches if branch is not None)
        return self._one(Pick(node.name, branches)) if branches else None

    def _cells(self, name: str, value: Any, read: Mapping[str, Hashable]) -> Iterator[tuple[str, Any]]:
        """Say what a path wrote as new contents of cells, without those that stay what they were."""
        shape = self.forest.shape
        if name in shape.control:
            if name not in read or read[name] != value:
                yield name, value
            return
        if name not in shape.queues and name not in shape.slots:
            if key_of(value) != cell(name).key:
                yield name, value
            return
        queue = value if isinstance(value, Queue) else Queue() if value is None else Queue((Single(value),))
        marks = self.forest.marks
        packed = pack(queue, marks)
        for cell_name, now in (
            (length_cell(name), packed.n),
            *((plane_cell(name, m), packed.planes[m]) for m in marks),
        ):
            if key_of(now) != cell(cell_name).key:
                yield cell_name, now

    def _one(self, node: Test | Pick) -> Test | Pick:
        asked = key_of(node.term) if isinstance(node, Test) and node.term is not None else node.name
        key = (type(node), asked, tuple((answer, type(answer), id(branch)) for answer, branch in node.branches))
        known: Test | Pick = self.made.setdefault(key, node)
        return known

    def _outcome(self, leaf: Leaf[Effect], position: Position) -> Outcome | None:
        effect = leaf.result
        if effect is None:
            return None
        if id(leaf) not in self.ends:
            self.ends[id(leaf)] = self._end(leaf, effect)
        _, written, said = self.ends[id(leaf)]
        after = tuple(effect.written.get(name, value) for name, value in zip(self.forest.place, position, strict=True))
        key = (after, said)
        outcome: Outcome | None = self.made.get(key)
        if outcome is None:
            outcome = Outcome(after, written, tuple(sorted(effect.spent.items())), effect.script)
            self.made[key] = outcome
        return outcome

    def _end(self, leaf: Leaf[Effect], effect: Effect) -> tuple[Leaf[Effect], Mapping[str, Any], Hashable]:
        """Say what a path did, wherever it began."""
        read = fixed_by(leaf)
        written: dict[str, Any] = {}
        for name, value in sorted(effect.written.items()):
            if name not in self.forest.place:
                written.update(self._cells(name, value, read))
        contents = tuple((name, key_of(value)) for name, value in written.items())
        shown = None if effect.script is None else effect.script.key
        return leaf, written, (contents, tuple(sorted(effect.spent.items())), shown)


def walk(diagram: Diagram) -> Iterator[Outcome | Test | Pick]:
    """Go through the nodes of a diagram, each once."""
    todo, seen = [diagram], set[int]()
    while todo:
        node = todo.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if not isinstance(node, Outcome):
            todo.extend(branch for _, branch in node.branches)
