"""
Tell which functions of the rules a path comes to, and which of them a change leaves with another body.

What never comes to a changed function goes on as before: questions, events, state, all of it. So whoever has taken the
rules apart once can keep most of that for changed rules (``trees.Regrown``).
"""

from __future__ import annotations

import ast
from copy import copy
from itertools import zip_longest

NOTE = "__entered__"
"""The name under which the source that ``noting`` writes finds what keeps the notes."""


def noting(text: str, module: str) -> ast.Module:
    """
    Let each function that a module defines begin by noting its name, as ``MODULE.FUNCTION``.

    Args:
        text: the source of the module.
        module: its name.
    """
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            (note,) = ast.parse(f"{NOTE}({_name(module, node)!r})").body
            node.body.insert(0, ast.copy_location(note, node.body[0]))
    return ast.fix_missing_locations(tree)


def altered(before: str, after: str, module: str) -> frozenset[str] | None:
    """
    Name the functions whose bodies differ between two sources of a module, as ``noting`` names them.

    Returns:
        Their names; nothing where something else differs, too, which takes effect before anybody enters a function: a
        decorator, a constant, a class, what is imported.
    """
    names: set[str] = set()
    for old, new in zip_longest(ast.parse(before).body, ast.parse(after).body):
        if old is None or new is None or _around(old) != _around(new):
            return None
        if isinstance(new, ast.FunctionDef) and ast.dump(old) != ast.dump(new):
            names.add(_name(module, new))
    return frozenset(names)


def _around(node: ast.stmt) -> str:
    """Say all of a statement, of a function all but its body."""
    if not isinstance(node, ast.FunctionDef):
        return ast.dump(node)
    shell = copy(node)
    shell.body = []
    return ast.dump(shell)


def _name(module: str, node: ast.FunctionDef) -> str:
    return f"{module}.{node.name}"
