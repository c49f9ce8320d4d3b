"""
Run a function on terms, along all of its paths: forking execution.

Where the function asks for the truth of a term, or chooses from a finite list, the execution takes one answer, notes
that there are others, and later runs the function again from the start with those answers given (a prefix of answers).
So a function without state of its own becomes a *tree*: inner nodes are questions, leaves are what it returned.

- The function must be a function: run again with the same answers it asks the same questions. A node checks that.
- A question that the answers so far settle isn't asked again; ``implied`` may know more about the terms at hand.
- The tree is kept. A later walk with more options for a choice runs only what is new.
- A function that raises ends in a leaf that holds the exception. ``Impossible`` says that a path means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from attrs import define, field, frozen

from turnproof_model.readings.terms import Sort, Term, Truth, deciding, key_of, negate, var

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


class Impossible(Exception):  # noqa: N818  # no failure: the path ends because nothing can come this way
    """Say that what the answers so far ask for can't be."""


class ReplayError(RuntimeError):
    """Say that a function asked something else when it was run again with the same answers."""

    def __init__(self, first: object, now: object) -> None:
        super().__init__(
            f"an execution must ask the same questions on the same answers: {first!r} at first, {now!r} now; "
            "look for state outside the run, or for iteration over a set"
        )


# ------------------------------------------------------------------------------------------------ values
@frozen(eq=False)
class Decided:
    """Note how the truth of a term was decided."""

    term: Term
    taken: bool

    @property
    def guard(self) -> Truth:
        """What holds on this path."""
        return self.term if self.taken else negate(self.term)


@frozen
class Chosen:
    """Note what was chosen from a finite list."""

    name: str
    value: Hashable


@frozen(eq=False)
class Required:
    """Note what a path takes for granted, without an alternative."""

    term: Term


Step: TypeAlias = Decided | Chosen | Required


@frozen(eq=False)
class Leaf(Generic[T]):
    """Hold the end of one path: the answers on the way, in order, and what the function returned or raised."""

    steps: tuple[Step, ...]
    result: T | None = None
    raised: Exception | None = None

    @property
    def guards(self) -> tuple[Term, ...]:
        """What the truths decided and required on the way say together."""
        held = (
            step.term if isinstance(step, Required) else step.guard
            for step in self.steps
            if not isinstance(step, Chosen)
        )
        return tuple(term for term in held if isinstance(term, Term))

    @property
    def choices(self) -> tuple[Chosen, ...]:
        """What was chosen on the way, in order."""
        return tuple(step for step in self.steps if isinstance(step, Chosen))


@define(eq=False)
class Node(Generic[T]):
    """
    Hold one question with the branches that have been walked.

    ``term``: asked for its truth; or ``name`` with ``options``: a choice. ``branches``: by answer.
    """

    term: Term | None
    name: str
    options: tuple[Hashable, ...]
    branches: dict[Hashable, Node[T] | Leaf[T]] = field(factory=dict)

    @property
    def question(self) -> object:
        """What tells this question from another."""
        return self.name if self.term is None else self.term.key


# ------------------------------------------------------------------------------------------------ a run
Implied: TypeAlias = Callable[[Term, Sequence[Decided]], "bool | None"]
"""Tells whether decisions settle the truth of a term; ``None`` if they don't."""


def _nothing_implied(term: Term, decided: Sequence[Decided]) -> bool | None:  # noqa: ARG001
    return None


@define(eq=False)
class Run(Generic[T]):
    """Be one run of the function: follow given answers, then take the first one everywhere."""

    answers: Sequence[Hashable]
    branches: dict[Hashable, Node[T] | Leaf[T]]
    branch: Hashable
    implied: Implied = _nothing_implied
    steps: list[Step] = field(factory=list)
    decided: list[Decided] = field(factory=list)
    known: dict[object, bool] = field(factory=dict)
    depth: int = 0
    unknowns: int = 0

    def decide(self, term: Term) -> bool:
        """Answer for the truth of a term."""
        settled = self.known.get(term.key)
        if settled is None:
            settled = self.implied(term, self.decided)
        if settled is not None:
            return settled
        taken = bool(self._ask(Node(term, "", (True, False))))
        self._note(Decided(term, taken))
        return taken

    def choose(self, name: str, options: tuple[H, ...]) -> H:
        """Choose from a finite list."""
        value: H = self._ask(Node(None, name, options))  # type: ignore[assignment]  # one of the options
        self.steps.append(Chosen(name, value))
        return value

    def require(self, condition: object) -> None:
        """
        Take something for granted on this path.

        Raises:
            Impossible: it is known not to hold.
        """
        if isinstance(condition, Term):
            self.steps.append(Required(condition))
            self.known[condition.key] = True
            self.known[key_of(negate(condition))] = False
        elif not condition:
            raise Impossible

    def fresh(self, name: str, sort: Sort) -> Term:
        """Make an unknown of this path alone; the same one at the same place on every run."""
        self.unknowns += 1
        return var(f"{name}~{self.unknowns}", sort)

    def _note(self, decided: Decided) -> None:
        self.steps.append(decided)
        self.decided.append(decided)
        self.known[decided.term.key] = decided.taken
        self.known[key_of(negate(decided.term))] = not decided.taken

    def _ask(self, question: Node[T]) -> Hashable:
        node = self.branches.setdefault(self.branch, question)
        if not isinstance(node, Node) or node.question != question.question:
            raise ReplayError(getattr(node, "question", "the end"), question.question)
        if self.depth < len(self.answers):
            answer = self.answers[self.depth]
        elif question.options:
            answer = question.options[0]
        else:
            raise Impossible
        self.depth += 1
        self.branches, self.branch = node.branches, answer
        return answer

    def end(self, leaf: Leaf[T]) -> None:
        """Hang the leaf where the path ended."""
        known = self.branches.setdefault(self.branch, leaf)
        if not isinstance(known, Leaf):
            raise ReplayError(known.question, "the end")


_runs: list[Run[object]] = []


def run() -> Run[object]:
    """
    Tell the run under way.

    Raises:
        LookupError: nothing is being executed.
    """
    if not _runs:
        raise LookupError("no execution is under way; call this from a function that a Tree runs")
    return _runs[-1]


def choose(name: str, options: tuple[H, ...]) -> H:
    """Choose from a finite list, in the run under way."""
    return run().choose(name, options)


def require(condition: object) -> None:
    """Take something for granted on the path of the run under way."""
    run().require(condition)


def fresh(name: str, sort: Sort) -> Term:
    """Make an unknown of the path of the run under way."""
    return run().fresh(name, sort)


# ------------------------------------------------------------------------------------------------ a tree
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
    all choices that were ever asked for, in the order of their first occurrence.
    """

    body: Callable[[], T]
    implied: Implied = _nothing_implied
    top: dict[Hashable, Node[T] | Leaf[T]] = field(factory=dict)
    names: dict[str, None] = field(factory=dict)

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
        _runs.append(path)  # type: ignore[arg-type]  # the function's own type doesn't matter to those who ask
        try:
            with deciding(path.decide):
                leaf = Leaf(result=self.body(), steps=tuple(path.steps))
        except ReplayError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a path ends in belongs to that path
            leaf = Leaf(tuple(path.steps), raised=error)
        finally:
            _runs.pop()
        path.end(leaf)
        self.names.update((step.name, None) for step in leaf.choices)


def paths(body: Callable[[], T], implied: Implied = _nothing_implied) -> Iterator[Leaf[T]]:
    """Run a function along all of its paths, once."""
    return Tree(body, implied).leaves()


def answers_of(leaf: Leaf[T]) -> Mapping[str, Hashable]:
    """Tell the chosen values by name; of a name that was chosen twice, the last."""
    return {step.name: step.value for step in leaf.choices}
