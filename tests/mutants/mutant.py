"""
One mutant: a few lines of one function replaced by others.

It is kept by what it changes, not by where, so that it is known again as long as its function stays as it is.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from attrs import field, frozen

REFERENCE = Path(__file__).parents[2] / "reference"
PACKAGE = "turnproof_reference"
BODY = "(body)"
"""Stands for what is in a class or module, but in no function."""


class StaleError(Exception):
    """Say that a function no longer has the lines that a mutant replaces; make the record again."""


@frozen
class Mutant:
    """
    Hold one change.

    Args:
        module: below the package, dotted.
        function: qualified name, of the outermost function where functions are nested.
        operator: what made it.
        before, after: whole lines.
        nth: which occurrence of `before` in the function, from 0.
    """

    module: str
    function: str
    operator: str
    before: tuple[str, ...] = field(converter=tuple)
    after: tuple[str, ...] = field(converter=tuple)
    nth: int = 0

    @property
    def key(self) -> str:
        """Name it for good."""
        named = repr((self.module, self.function, self.before, self.after, self.nth))
        return hashlib.sha256(named.encode()).hexdigest()[:10]

    @property
    def path(self) -> Path:
        """The file that it changes."""
        return path_of(self.module)

    @property
    def diff(self) -> str:
        """Show the change on one line, without comments."""
        before, after = (
            "; ".join(line.partition("  #")[0].strip() for line in lines) for lines in (self.before, self.after)
        )
        return f"{before}  →  {after or '(nothing)'}"

    @property
    def place(self) -> str:
        """Name module and function."""
        return f"{self.module}.{self.function}"

    @property
    def text(self) -> str:
        """Show place and change on one line."""
        return f"{self.place}: {self.diff}"

    def source(self) -> str:
        """
        Give the whole changed module.

        Raises:
            StaleError: the function isn't there, or has other lines now.
        """
        lines = self.path.read_text(encoding="utf-8").splitlines()
        first, last = places(self.path).get(self.function, (0, 0))
        found = occurrences(lines[first:last], self.before)
        if self.nth >= len(found):
            raise StaleError(f"{self.place} must hold {self.before} (it doesn't any more); run: make mutants")
        at = first + found[self.nth]
        return "\n".join([*lines[:at], *self.after, *lines[at + len(self.before) :], ""])


def path_of(module: str) -> Path:
    """Find the file of a module below the package."""
    return REFERENCE.joinpath(PACKAGE, *module.split(".")).with_suffix(".py")


def occurrences(lines: list[str], wanted: tuple[str, ...]) -> list[int]:
    """Tell where a block of lines stands."""
    size = len(wanted)
    return [at for at in range(len(lines) - size + 1) if tuple(lines[at : at + size]) == wanted]


@cache
def places(path: Path) -> dict[str, tuple[int, int]]:
    """Give the lines of each function by name, read once: a mutant changes no file."""
    return dict(functions(path))


def functions(path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Give name and lines (from 0, end excluded) of each function, and of each class without regard to those."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, span(node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield f"{node.name}.{inner.name}", span(inner)
            yield f"{node.name}.{BODY}", span(node)


def span(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[int, int]:
    """Give the lines of a definition with its decorators, from 0, end excluded."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    assert node.end_lineno is not None
    return first - 1, node.end_lineno
