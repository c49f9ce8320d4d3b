"""
Keep all paths of a function that runs on terms (``execute``) as a tree: inner nodes are questions, leaves results.

The tree is kept. A later walk with more options for a choice runs only what is new; after a change of something that
the function calls, only those paths are run again that come to what has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from attrs import define, field

from turnproof_model.readings.execute import (
    Chosen,
    Decided,
    Implied,
    Impossible,
    Leaf,
    Node,
    ReplayError,
    Run,
    Step,
    nothing_implied,
)

T = TypeVar("T")

_Way: TypeAlias = "tuple[_Way | None, Node[Any], Hashable]"
"""The answers on the way to a node, the last one first: the way before it, the question, the answer."""


def _answers_on(way: _Way | None) -> tuple[Hashable, ...]:
    answers: list[Hashable] = []
    while way is not None:
        answers.append(way[2])
        way = way[0]
    return tuple(reversed(answers))


def _steps_on(way: _Way | None) -> tuple[Step, ...]:
    steps: list[Step] = []
    while way is not None:
        way, node, answer = way
        steps.append(Chosen(node.name, answer) if node.term is None else Decided(node.term, bool(answer)))
    return tuple(reversed(steps))


@define(eq=False)
class Tree(Generic[T]):
    """
    Hold all walked paths of a function.

    ``body``: asks through ``run()`` and through the truth of terms. ``implied``: what decisions settle. ``names``: of
    all choices that were ever asked for, in the order of their first occurrence. ``kept``: leaves that were taken over.
    """

    body: Callable[[], T]
    implied: Implied = nothing_implied
    top: dict[Hashable, Node[T] | Leaf[T]] = field(factory=dict)
    names: dict[str, None] = field(factory=dict)
    kept: set[Leaf[T]] = field(factory=set)

    @property
    def root(self) -> Node[T] | Leaf[T]:
        """The first question."""
        if () not in self.top:
            self._run(())
        return self.top[()]

    def leaves(
        self,
        options: Callable[[str], Sequence[Hashable] | None] | None = None,
        feasible: Callable[[Sequence[Step]], bool] | None = None,
    ) -> Iterator[Leaf[T]]:
        """
        Walk all paths, running the function where it hasn't been yet; impossible ones are left out.

        Args:
            options: the values to try for a choice of this name, or ``None`` for those that the function gave.
            feasible: tells whether a prefix of steps is worth following.
        """
        todo: list[tuple[dict[Hashable, Node[T] | Leaf[T]], Hashable, _Way | None]] = [(self.top, (), None)]
        while todo:
            branches, branch, way = todo.pop()
            if branch not in branches:
                self._run(_answers_on(way))
            node = branches[branch]
            if isinstance(node, Leaf):
                if not isinstance(node.raised, Impossible):
                    yield node
                continue
            for answer in reversed(self._answers(node, options)):
                on = (way, node, answer)
                if feasible is None or feasible(_steps_on(on)):
                    todo.append((node.branches, answer, on))

    @staticmethod
    def _answers(node: Node[T], options: Callable[[str], Sequence[Hashable] | None] | None) -> Sequence[Hashable]:
        wanted = None if node.term is not None or options is None else options(node.name)
        return node.options if wanted is None else wanted

    def _run(self, answers: tuple[Hashable, ...]) -> None:
        path: Run[T] = Run(answers, self.top, (), self.implied)
        self._take_in(path.follow(self.body))

    def _take_in(self, leaf: Leaf[T]) -> None:
        self.names.update((step.name, None) for step in leaf.choices)


@define(eq=False)
class Regrown(Tree[T]):
    """
    Hold the walked paths of a function after some of what it calls has changed.

    A path of the tree before that enters nothing of what has changed is a path of this one, questions and leaf alike,
    and is taken over without a run.

    ``before``: the tree before, whose leaves say what they entered. ``changed``: the names of what has changed.
    """

    before: Tree[T] = field(kw_only=True)
    changed: frozenset[str] = field(kw_only=True)

    def _run(self, answers: tuple[Hashable, ...]) -> None:
        found = self._standing(answers)
        if found is None:
            super()._run(answers)
        else:
            self._graft(*found)

    def _standing(self, answers: tuple[Hashable, ...]) -> tuple[list[tuple[Node[T], Hashable]], Leaf[T]] | None:
        """Find a path before that begins with these answers and still stands: its questions with answers, its end."""
        way: list[tuple[Node[T], Hashable]] = []
        node = self.before.top.get(())
        while isinstance(node, Node):
            answer = answers[len(way)] if len(way) < len(answers) else next(iter(node.branches))
            way.append((node, answer))
            node = node.branches.get(answer)
        return None if node is None or node.entered & self.changed else (way, node)

    def _graft(self, way: Sequence[tuple[Node[T], Hashable]], leaf: Leaf[T]) -> None:
        branches: dict[Hashable, Node[T] | Leaf[T]] = self.top
        branch: Hashable = ()
        for node, answer in way:
            here = branches.setdefault(branch, Node(node.term, node.name, node.options))
            if not isinstance(here, Node) or here.question != node.question:
                raise ReplayError(getattr(here, "question", "the end"), node.question)
            branches, branch = here.branches, answer
        branches[branch] = leaf
        self.kept.add(leaf)
        self._take_in(leaf)


def paths(body: Callable[[], T], implied: Implied = nothing_implied) -> Iterator[Leaf[T]]:
    """Run a function along all of its paths, once."""
    return Tree(body, implied).leaves()


def answers_of(leaf: Leaf[T]) -> Mapping[str, Hashable]:
    """Tell the chosen values by name; of a name that was chosen twice, the last."""
    return {step.name: step.value for step in leaf.choices}
