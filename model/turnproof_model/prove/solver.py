"""
Say terms in the language of z3, which is imported when the first proof needs it and not before.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, reduce
from typing import Any, TypeAlias

from attrs import define, field

from turnproof_model.readings.terms import Sort, Term, both, choice, either, implies, minus, negate, plus, var


@cache
def z3() -> Any:
    """Import the solver."""
    return importlib.import_module("z3")


@cache
def _core() -> Any:
    """Import the calls of the solver's library."""
    return importlib.import_module("z3.z3core")


Build: TypeAlias = Callable[[Any, "list[Any]"], Any]
"""Makes a node from a context and nodes, all of them as the solver's library itself has them."""


@cache
def _builders() -> Mapping[str, Build]:
    """Name the calls of the solver's library; the operators of its Python layer ask for sorts again and again."""
    core = _core()

    def many(make: Any) -> Build:
        return lambda context, args: make(context, len(args), (core.Ast * len(args))(*args))

    def fixed(make: Any) -> Build:
        return lambda context, args: make(context, *args)

    return {
        "not": fixed(core.Z3_mk_not),
        "choice": fixed(core.Z3_mk_ite),
        "eq": fixed(core.Z3_mk_eq),
        "ne": lambda context, args: core.Z3_mk_not(context, core.Z3_mk_eq(context, *args)),
        "lt": fixed(core.Z3_mk_lt),
        "le": fixed(core.Z3_mk_le),
        "and": many(core.Z3_mk_and),
        "or": many(core.Z3_mk_or),
        "add": many(core.Z3_mk_add),
        "sub": many(core.Z3_mk_sub),
    }


@define(eq=False)
class Translator:
    """
    Translate terms, each once.

    ``names``: what an unknown is called in z3, where that isn't its own name.
    """

    names: Mapping[str, str] = field(factory=dict)
    _known: dict[int, Any] = field(factory=dict)

    def __call__(self, value: object) -> Any:
        """Translate a term or a plain truth or number."""
        if isinstance(value, Term):
            found = self._known.get(value.key)
            if found is None:
                found = self._known[value.key] = self._translate(value)
            return found
        return _plain(value)

    def _translate(self, term: Term) -> Any:
        z = z3()
        if term.op == "var":
            name = self.names.get(term.args[0], term.args[0])
            return z.Bool(name) if term.sort == "bool" else z.Int(name)
        context = z.main_ctx()
        args = [self(arg).as_ast() for arg in term.args]
        made = _builders()[term.op](context.ref(), args)
        return z.BoolRef(made, context) if term.sort == "bool" else z.ArithRef(made, context)


def interruptible(seed: int = 0) -> Any:
    """Make a solver that leaves an interruption to Python, where it would take one for a lack of an answer."""
    solver = z3().Solver()
    solver.set("random_seed", seed)
    solver.set("ctrl_c", False)
    return solver


def brisk(seed: int = 0) -> Any:
    """Make such a solver for thousands of small questions: the older arithmetic answers these in half the time."""
    solver = interruptible(seed)
    solver.set("smt.arith.solver", 2)
    solver.set("smt.relevancy", 0)
    return solver


def joined(truths: Sequence[Any]) -> Any:
    """Say that all of these hold, which are the solver's own; its Python layer would ask for the sort of each."""
    context = z3().main_ctx()
    return z3().BoolRef(_builders()["and"](context.ref(), [one.as_ast() for one in truths]), context)


def denied(truths: Sequence[Any]) -> Any:
    """Say that not all of these hold, which are the solver's own."""
    context = z3().main_ctx()
    return z3().BoolRef(_builders()["not"](context.ref(), [joined(truths).as_ast()]), context)


def answered(solver: Any, assumed: Iterable[Any]) -> Any:
    """Ask a solver, as its ``check`` does, where these truths of its own hold."""
    core = _core()
    asts = [one.as_ast() for one in assumed]
    found = core.Z3_solver_check_assumptions(solver.ctx.ref(), solver.solver, len(asts), (core.Ast * len(asts))(*asts))
    return z3().CheckSatResult(found)


def _value(model: Any, said: Any) -> Any:
    """Evaluate something in a model; what isn't settled there is false, or 0."""
    core = _core()
    found = (core.Ast * 1)()
    if not core.Z3_model_eval(model.ctx.ref(), model.model, said.as_ast(), True, found):
        raise z3().Z3Exception("a model must have a value for everything (it has none)")
    return found[0]


def told(model: Any, truth: Any) -> bool:
    """Tell whether a truth of the solver holds in a model."""
    core = _core()
    return bool(core.Z3_get_bool_value(model.ctx.ref(), _value(model, truth)) == 1)


def counted(model: Any, number: Any) -> int:
    """Tell what a number of the solver is in a model."""
    core = _core()
    return int(core.Z3_get_numeral_string(model.ctx.ref(), _value(model, number)))


def valued(model: Any, said: Any, sort: Sort) -> int | bool:
    """Tell what a truth or a number of the solver is in a model."""
    return told(model, said) if sort == "bool" else counted(model, said)


def read(says: Any, bound: Mapping[int, Term]) -> Any:
    """
    Read what the solver says as a term, or as a plain truth or number.

    Args:
        says: without quantifiers.
        bound: what its bound variables stand for.

    Raises:
        LookupError: it uses an operation that terms haven't got.
    """
    z = z3()
    if z.is_var(says):
        return bound[z.get_var_index(says)]
    if z.is_true(says) or z.is_false(says):
        return bool(z.is_true(says))
    if z.is_int_value(says):
        return says.as_long()
    if says.decl().kind() == z.Z3_OP_UNINTERPRETED:
        return var(says.decl().name(), "bool" if z.is_bool(says) else "int")
    return _readers()[says.decl().kind()](*(read(part, bound) for part in says.children()))


@cache
def _readers() -> Mapping[int, Callable[..., Any]]:
    """Name the terms for the solver's operations."""
    z = z3()
    return {
        z.Z3_OP_NOT: negate,
        z.Z3_OP_AND: both,
        z.Z3_OP_OR: either,
        z.Z3_OP_IMPLIES: implies,
        z.Z3_OP_ITE: choice,
        z.Z3_OP_EQ: _equal,
        z.Z3_OP_LE: lambda x, y: negate(_less(y, x)),
        z.Z3_OP_GE: lambda x, y: negate(_less(x, y)),
        z.Z3_OP_LT: _less,
        z.Z3_OP_GT: lambda x, y: _less(y, x),
        z.Z3_OP_ADD: lambda *xs: reduce(plus, xs),
        z.Z3_OP_SUB: lambda *xs: reduce(minus, xs),
        z.Z3_OP_UMINUS: lambda x: minus(0, x),
        z.Z3_OP_MUL: lambda x, y: _times(x, y) if isinstance(x, int) else _times(y, x),
    }


def _equal(x: Any, y: Any) -> Any:
    """Compare, where either may be known."""
    return x == y if isinstance(x, Term) else y == x


def _less(x: Any, y: Any) -> Any:
    return minus(x, y) < 0


def _times(count: int, x: Any) -> Any:
    """Multiply by a number that is known."""
    start: Any = 0
    total = reduce(plus, [x] * abs(count), start)
    return total if count >= 0 else minus(0, total)


@lru_cache(maxsize=None, typed=True)  # True isn't 1
def _plain(value: object) -> Any:
    return z3().BoolVal(value) if isinstance(value, bool) else z3().IntVal(value)
