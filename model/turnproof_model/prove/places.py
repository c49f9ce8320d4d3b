"""
Group the positions of the loop that commands don't tell apart, so that a command is run once for each group.

A command compares its position with phase names that stand in the source, alone or in a set. Two positions that no
name and no set tells apart take the same way through it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from turnproof_model.readings.loading import MODULES, Change, source_of


def groups(contract: str, phases: Sequence[str], changes: Sequence[Change]) -> tuple[tuple[str, ...], ...]:
    """
    Group phases by what the modules of a contract say about positions, outside the phase functions themselves.

    Args:
        contract: whose rules.
        phases: every position.
        changes: made to the source.
    """
    named: list[frozenset[str]] = []
    for module in MODULES[contract]:
        if module.endswith(("_state", "_commands")):
            mine = tuple(change for change in changes if change.module == module)
            named.extend(_named(ast.parse(source_of(module, mine)), frozenset(phases)))
    alike: dict[tuple[bool, ...], list[str]] = {}
    for phase in phases:
        alike.setdefault(tuple(phase in names for names in named), []).append(phase)
    return tuple(tuple(group) for group in alike.values())


def _named(tree: ast.AST, phases: frozenset[str]) -> Iterator[frozenset[str]]:
    """List the names and the sets of names in source text; a name in a set counts with it."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Set):
            inside |= {id(element) for element in node.elts}
            yield frozenset(e.value for e in node.elts if isinstance(e, ast.Constant) and e.value in phases)
        elif isinstance(node, ast.Constant) and node.value in phases and id(node) not in inside:
            yield frozenset({str(node.value)})
