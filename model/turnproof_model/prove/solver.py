"""
Say terms in the language of z3, which is imported when the first proof needs it and not before.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from attrs import define, field

from turnproof_model.readings.terms import Term


@cache
def z3() -> Any:
    """Import the solver."""
    return importlib.import_module("z3")


def _builders() -> Mapping[str, Callable[..., Any]]:
    z = z3()
    return {
        "not": z.Not,
        "and": z.And,
        "or": z.Or,
        "choice": z.If,
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
    }


@define(eq=False)
class Translator:
    """
    Translate terms, each once.

    ``names``: what an unknown is called in z3, where that isn't its own name.
    """

    names: Mapping[str, str] = field(factory=dict)
    _known: dict[int, Any] = field(factory=dict)
    _builders: Mapping[str, Callable[..., Any]] = field(factory=_builders)

    def __call__(self, value: object) -> Any:
        """Translate a term or a plain truth or number."""
        if isinstance(value, Term):
            found = self._known.get(value.key)
            if found is None:
                found = self._known[value.key] = self._translate(value)
            return found
        return z3().BoolVal(value) if isinstance(value, bool) else z3().IntVal(value)

    def _translate(self, term: Term) -> Any:
        if term.op == "var":
            name = self.names.get(term.args[0], term.args[0])
            return z3().Bool(name) if term.sort == "bool" else z3().Int(name)
        return self._builders[term.op](*(self(arg) for arg in term.args))
