"""
Run a function on terms along one of its paths: forking execution.

Where the function asks for the truth of a term, or chooses from a finite list, the run takes one answer and notes that
there are others. ``trees`` runs the function again from the start with those answers given (a prefix of answers), until
all paths are known.

- The function must be a function: run again with the same answers it asks the same questions. A node checks that.
- A question that the answers so far settle isn't asked again; ``implied`` may know more about the terms at hand.
- A function that raises ends in a leaf that holds the exception. ``Impossible`` says that a path means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeAlias, TypeVar

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
    """
    Hold the end of one path: the answers on the way, in order, and what the function returned or raised.

    ``entered``: the functions of the rules that the path came to, where that is noted (``enter``).
    """

    steps: tuple[Step, ...]
    result: T | None = None
    raised: Exception | None = None
    entered: frozenset[str] = frozenset()

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


def nothing_implied(term: Term, decided: Sequence[Decided]) -> bool | None:  # noqa: ARG001
    """Know nothing about the terms at hand."""
    return None


@define(eq=False)
class Run(Generic[T]):
    """Be one run of the function: follow given answers, then take the first one everywhere."""

    answers: Sequence[Hashable]
    branches: dict[Hashable, Node[T] | Leaf[T]]
    branch: Hashable
    implied: Implied = nothing_implied
    steps: list[Step] = field(factory=list)
    decided: list[Decided] = field(factory=list)
    known: dict[object, bool] = field(factory=dict)
    entered: set[str] = field(factory=set)
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

    def follow(self, body: Callable[[], T]) -> Leaf[T]:
        """
        Run the function to the end of this path, and hang the leaf there.

        Raises:
            ReplayError: it asks something else than it did on the same answers.
        """
        _runs.append(self)  # type: ignore[arg-type]  # the function's own type doesn't matter to those who ask
        result: T | None = None
        raised: Exception | None = None
        try:
            with deciding(self.decide):
                result = body()
        except ReplayError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a path ends in belongs to that path
            raised = error.with_traceback(None)  # its frames would keep all that the run has made
        finally:
            _runs.pop()
        leaf = Leaf(tuple(self.steps), result, raised, frozenset(self.entered))
        if not isinstance(known := self.branches.setdefault(self.branch, leaf), Leaf):
            raise ReplayError(known.question, "the end")
        return leaf


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


def enter(name: str) -> None:
    """Note that the run under way comes to a function of the rules; outside of runs nobody keeps notes."""
    if _runs:
        _runs[-1].entered.add(name)
