"""
Build formulas by computing with them: what rule code gets in the place of a number or a truth that isn't known.

A term is an operation with its arguments. Arithmetic, comparison and ``& | ~`` build larger terms and fold constants.
The traps of such values, and what is done about each:

- ``if term`` would always take the same branch. Outside an execution it raises; inside, it forks (``execute.py``).
- ``and``, ``or``, ``not``, chained comparison and ``in`` ask for the truth and fork, too: right, but more paths than
  ``both``, ``either``, ``negate`` and ``choice`` make.
- ``~True`` is -2, which is truthy: write ``negate``, which takes plain truths as well.
- ``==`` builds a term, so a term must not be a key or a member of a set: it can't be hashed. ``key`` is a number that
  equal terms share: a term is made once and then found again, so terms with shared parts cost no more than their parts.
- Queue terms have no ``len`` and no iteration: a rule that asked for either would see one length only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar, Literal, Self, TypeAlias

Sort: TypeAlias = Literal["bool", "int"]


class TermTruthError(TypeError):
    """Say that the truth of a term was asked for where nothing can decide it."""

    def __init__(self, term: Term) -> None:
        super().__init__(
            f"the truth of the term {term} is known only inside an execution; run the rule through trees.Tree, or "
            "build a larger term with both, either, negate or choice"
        )
        self.term = term


class Term:
    """Be an operation on terms and plain values; immutable, and the same object wherever it is built again."""

    __slots__ = ("args", "key", "op", "sort")
    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality builds terms, so a hash would lie

    op: str
    args: tuple[Any, ...]
    sort: Sort
    key: int

    def __new__(cls, op: str, *args: object, sort: Sort) -> Self:
        """Find the term, or make it."""
        keys = [arg.key if type(arg) is Term else (type(arg), arg) for arg in args]  # key_of, in the hottest place
        structure = (op, sort, *keys)
        known: Any = _made.get(structure)
        if known is None:
            known = object.__new__(cls)
            known.op, known.args, known.sort, known.key = op, args, sort, len(_made)
            _made[structure] = known
        return known  # type: ignore[no-any-return]  # this class has no subclasses

    def __bool__(self) -> bool:
        if not _deciders:
            raise TermTruthError(self)
        return _deciders[-1](self if self.sort == "bool" else self != 0)

    def __repr__(self) -> str:
        return show(self)

    def __eq__(self, other: object) -> Any:
        return _compare("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return _compare("ne", self, other)

    def __lt__(self, other: object) -> Any:
        return _compare("lt", self, other)

    def __le__(self, other: object) -> Any:
        return _compare("le", self, other)

    def __gt__(self, other: object) -> Any:
        return _compare("lt", other, self)

    def __ge__(self, other: object) -> Any:
        return _compare("le", other, self)

    def __add__(self, other: object) -> Term | int:
        return plus(self, other)

    def __radd__(self, other: object) -> Term | int:
        return plus(other, self)

    def __sub__(self, other: object) -> Term | int:
        return minus(self, other)

    def __rsub__(self, other: object) -> Term | int:
        return minus(other, self)

    def __and__(self, other: object) -> Term | bool:
        return both(self, other)

    def __rand__(self, other: object) -> Term | bool:
        return both(other, self)

    def __or__(self, other: object) -> Term | bool:
        return either(self, other)

    def __ror__(self, other: object) -> Term | bool:
        return either(other, self)

    def __invert__(self) -> Term | bool:
        return negate(self)


Truth: TypeAlias = "Term | bool"
Number: TypeAlias = "Term | int"

_made: dict[tuple[object, ...], Term] = {}

_deciders: list[Callable[[Term], bool]] = []


@contextmanager
def deciding(decide: Callable[[Term], bool]) -> Iterator[None]:
    """Let ``decide`` answer every question for the truth of a term, while this lasts."""
    _deciders.append(decide)
    try:
        yield
    finally:
        _deciders.pop()


def key_of(value: object) -> object:
    """Tell a term from another by its number, and a plain value by its type and itself (``True`` isn't 1)."""
    return value.key if isinstance(value, Term) else (type(value), value)


def is_true(value: object) -> bool:
    """Tell whether a truth is known to hold; never forks."""
    return value is True


def is_false(value: object) -> bool:
    """Tell whether a truth is known not to hold; never forks."""
    return value is False


# ------------------------------------------------------------------------------------------------ building
@cache
def var(name: str, sort: Sort) -> Term:
    """Name an unknown."""
    return Term("var", name, sort=sort)


def negate(x: object) -> Truth:
    """Say the opposite of a truth; comparisons are turned around, so that no term is negated twice."""
    if not isinstance(x, Term):
        return not x
    if x.op == "not":
        inner: Truth = x.args[0]
        return inner
    turned = _OPPOSITE.get(x.op)
    if turned is None or any(sort_of(arg) == "bool" for arg in x.args):
        return Term("not", x, sort="bool")
    negated: Truth = _compare(turned, *(x.args if turned in {"eq", "ne"} else reversed(x.args)))
    return negated


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "le", "le": "lt"}


def both(*xs: object) -> Truth:
    """Say that all of these hold."""
    return _join("and", xs, unit=True)


def either(*xs: object) -> Truth:
    """Say that at least one of these holds."""
    return _join("or", xs, unit=False)


def _join(op: str, xs: tuple[object, ...], *, unit: bool) -> Truth:
    parts: list[Term] = []
    for x in xs:
        if not isinstance(x, Term):
            if bool(x) is not unit:
                return not unit
        elif x.op == op:
            parts.extend(x.args)
        else:
            parts.append(x)
    unique = list({part.key: part for part in parts}.values())
    if not unique:
        return unit
    return unique[0] if len(unique) == 1 else Term(op, *unique, sort="bool")


def implies(x: object, y: object) -> Truth:
    """Say that the second holds wherever the first does."""
    return either(negate(x), y)


def choice(condition: object, then: object, otherwise: object) -> object:
    """Take one of two values by a truth, without a fork."""
    if not isinstance(condition, Term):
        return then if condition else otherwise
    if key_of(then) == key_of(otherwise):
        return then
    if sort_of(then) == "bool":
        if not isinstance(then, Term):
            return either(condition, otherwise) if then else both(negate(condition), otherwise)
        if not isinstance(otherwise, Term):
            return either(negate(condition), then) if otherwise else both(condition, then)
    return Term("choice", condition, then, otherwise, sort=sort_of(then))


def number(x: object) -> Number:
    """Count a truth as 0 or 1."""
    if isinstance(x, Term):
        return x if x.sort == "int" else Term("choice", x, 1, 0, sort="int")
    return int(x)  # type: ignore[call-overload, no-any-return]  # a truth or a number


def sort_of(value: object) -> Sort:
    """Tell whether a value is a truth or a number."""
    if isinstance(value, Term):
        return value.sort
    return "bool" if isinstance(value, bool) else "int"


def plus(x: object, y: object) -> Number:
    """Add numbers; constants are collected, so that ``n + 1 - 1`` is ``n``."""
    (base, a), (other, b) = _split(x), _split(y)
    if base is None or other is None:
        return _offset(base if other is None else other, a + b)
    return _offset(Term("add", base, other, sort="int"), a + b)


def minus(x: object, y: object) -> Number:
    """Subtract numbers."""
    (base, a), (other, b) = _split(x), _split(y)
    if other is None:
        return _offset(base, a - b)
    if base is not None and base.key == other.key:
        return a - b
    return _offset(Term("sub", 0 if base is None else base, other, sort="int"), a - b)


def _split(x: object) -> tuple[Term | None, int]:
    """Take a number apart into what isn't known and a constant."""
    if not isinstance(x, Term):
        return None, int(x)  # type: ignore[call-overload]  # a plain number
    if x.op == "add" and not isinstance(x.args[1], Term):
        return x.args[0], x.args[1]
    return x, 0


def _offset(base: Term | None, constant: int) -> Number:
    if base is None:
        return constant
    return base if constant == 0 else Term("add", base, constant, sort="int")


_PLAIN: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
}


def _compare(op: str, x: object, y: object) -> Any:
    """Compare, constants on one side and ``<=`` with a constant as ``<``: equal questions get equal keys."""
    if sort_of(x) == "bool" and sort_of(y) == "bool":
        return _compare_truths(op, x, y)
    (base, a), (other, b) = _split(x), _split(y)
    if base is None and other is None:
        return _PLAIN[op](a, b)
    if base is not None and other is not None:
        if base.key == other.key:
            return _PLAIN[op](a, b)
        return Term(op, _offset(base, a - b), other, sort="bool")
    if op == "le":
        return Term("lt", base, b - a + 1, sort="bool") if other is None else Term("lt", a - b - 1, other, sort="bool")
    if other is None:
        return Term(op, base, b - a, sort="bool")
    return Term(op, a - b, other, sort="bool") if op == "lt" else Term(op, other, a - b, sort="bool")


def _compare_truths(op: str, x: object, y: object) -> Truth:
    if op not in {"eq", "ne"}:
        raise TypeError(f"truths are compared by == and != only (got {op!r}); use number to count them")
    same: Truth
    if not isinstance(x, Term):
        same = y if x else negate(y)  # type: ignore[assignment]  # a truth, as sort_of told
    elif not isinstance(y, Term):
        same = x if y else negate(x)
    elif x.key == y.key:
        same = True
    else:
        same = Term("eq", x, y, sort="bool")
    return same if op == "eq" else negate(same)


# ------------------------------------------------------------------------------------------------ looking
def parts(value: object) -> Iterator[Term]:
    """Go through a term and all terms inside it, each as often as it occurs."""
    if isinstance(value, Term):
        yield value
        for arg in value.args:
            yield from parts(arg)


def rebuild(value: object, replace: Callable[[Term], object | None]) -> object:
    """
    Build a value anew with other terms in it, folding constants.

    Args:
        value: a term or a plain value.
        replace: answers what stands in the place of a term, or ``None`` to look into its arguments.
    """
    if not isinstance(value, Term):
        return value
    instead = replace(value)
    if instead is not None:
        return instead
    if value.op not in _BUILD:
        return value
    return _BUILD[value.op](*(rebuild(arg, replace) for arg in value.args))


_BUILD: dict[str, Callable[..., object]] = {
    "not": negate,
    "and": both,
    "or": either,
    "choice": choice,
    "add": plus,
    "sub": minus,
    "eq": lambda x, y: _compare("eq", x, y),
    "ne": lambda x, y: _compare("ne", x, y),
    "lt": lambda x, y: _compare("lt", x, y),
    "le": lambda x, y: _compare("le", x, y),
}
"""How to build a term of each operation; every other operation is an unknown with plain arguments."""

_SIGNS = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "add": "+", "sub": "-", "and": "and", "or": "or"}


def show(value: object) -> str:
    """Write a term for a reader."""
    if not isinstance(value, Term):
        return str(value)
    args = [show(arg) for arg in value.args]
    if value.op == "var":
        return args[0]
    if value.op == "not":
        return f"not {args[0]}"
    if value.op == "choice":
        return f"({args[1]} if {args[0]} else {args[2]})"
    if value.op in _SIGNS:
        return f"({f' {_SIGNS[value.op]} '.join(args)})"
    return f"{value.op}({', '.join(args)})"
