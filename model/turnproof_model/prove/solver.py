"""
Say terms in the language of z3, which is imported when the first proof needs it and not before.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, TypeAlias

from attrs import define, field

from turnproof_model.readings.terms import Term


@cache
def z3() -> Any:
    """Import the solver."""
    return importlib.import_module("z3")


Build: TypeAlias = Callable[[Any, "list[Any]"], Any]
"""Makes a node from a context and nodes, all of them as the solver's library itself has them."""


@cache
def _builders() -> Mapping[str, Build]:
    """Name the calls of the solver's library; the operators of its Python layer ask for sorts again and again."""
    core: Any = importlib.import_module("z3.z3core")

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


@lru_cache(maxsize=None, typed=True)  # True isn't 1
def _plain(value: object) -> Any:
    return z3().BoolVal(value) if isinstance(value, bool) else z3().IntVal(value)
