"""
Write formulas over cells in a language: Python for single states, Python for arrays of them, Promela.

The three differ in a few operators and in how a cell is named. An operation that a language has no words for can't be
written in it: no formula of a transition needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from turnproof_model.readings.terms import Term

INFIX: Mapping[str, str] = {
    "add": "+",
    "sub": "-",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "shl": "<<",
    "shr": ">>",
    "bor": "|",
    "band": "&",
}
"""Operators between two arguments, the same in all languages."""


@frozen
class Notation:
    """
    Be a language: the words between the arguments of ``and`` and ``or``, and patterns of other operations.

    ``patterns``: by operation, with ``{0}``, ``{1}``, … where the arguments go.
    """

    both: str
    either: str
    patterns: Mapping[str, str]

    def write(self, value: object, name_of: Callable[[str], str]) -> str:
        """
        Write a formula.

        Args:
            value: a term over cells, a number or a truth; truths are written as numbers.
            name_of: tells how the contents of a cell are written.

        Raises:
            KeyError: the language has no words for an operation.
        """
        if not isinstance(value, Term):
            return repr(int(value))  # type: ignore[call-overload]  # a number or a truth
        if value.op == "var":
            return name_of(value.args[0])
        args = [self.write(arg, name_of) for arg in value.args]
        if value.op in INFIX:
            return f"({args[0]} {INFIX[value.op]} {args[1]})"
        if value.op in {"and", "or"}:
            return f"({(self.both if value.op == 'and' else self.either).join(args)})"
        return self.patterns[value.op].format(*args)


PYTHON = Notation(
    " and ",
    " or ",
    {
        "choice": "({1} if {0} else {2})",
        "not": "(not {0})",
        "ones": "{0}.bit_count()",
        "top": "{0}.bit_length()",
    },
)
"""Python over the integers of one state."""

ARRAYS = Notation(" & ", " | ", {"choice": "choose({0}, {1}, {2})", "not": "~{0}"})
"""Python over arrays, where truths are arrays, too."""

PROMELA = Notation(" && ", " || ", {"choice": "({0} -> {1} : {2})", "not": "(!{0})"})
"""The language of SPIN."""
