"""
Group the positions of the loop that a command doesn't tell apart, so that it is run once for each group.

A command compares its position with phase names that stand in the source, alone or in a set: in its own function or in
one that it comes to. Two positions that no name and no set there tells apart take the same way through it. What is only
cited is left out: a premise that occurs changes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from turnproof_model.readings.loading import MODULES, Change, source_of


@frozen(eq=False)
class Places:
    """
    Know what the state and command modules of a contract say about positions.

    ``named``: by a name that a module defines, the phase names and sets of them in its definition. ``uses``: by the
    same, the names that occur in it.
    """

    phases: tuple[str, ...]
    named: Mapping[str, tuple[frozenset[str], ...]] = field(repr=False)
    uses: Mapping[str, frozenset[str]] = field(repr=False)

    @classmethod
    def of(cls, contract: str, phases: Sequence[str], changes: Sequence[Change]) -> Places:
        """
        Read the modules.

        Args:
            contract: whose rules.
            phases: every position.
            changes: made to the source.
        """
        named: dict[str, tuple[frozenset[str], ...]] = {}
        uses: dict[str, frozenset[str]] = {}
        for module in MODULES[contract]:
            if module.endswith(("_state", "_commands")):
                mine = tuple(change for change in changes if change.module == module)
                for name, node in _definitions(ast.parse(source_of(module, mine))):
                    node = _Uncited().visit(node)
                    mentioned = frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
                    named[name] = (*named.get(name, ()), *_named(node, frozenset(phases)))
                    uses[name] = uses.get(name, frozenset()) | mentioned
        return cls(tuple(phases), named, uses)

    def groups(self, function: str) -> tuple[tuple[str, ...], ...]:
        """
        Group phases by what a function, and all that it comes to, says about them.

        Args:
            function: one that these modules define, else each phase is a group of its own.
        """
        if function not in self.uses:
            return tuple((phase,) for phase in self.phases)
        names = [names for reached in sorted(self._reached(function)) for names in self.named[reached]]
        alike: dict[tuple[bool, ...], list[str]] = {}
        for phase in self.phases:
            alike.setdefault(tuple(phase in some for some in names), []).append(phase)
        return tuple(tuple(group) for group in alike.values())

    def _reached(self, function: str) -> set[str]:
        reached, todo = set[str](), [function]
        while todo:
            name = todo.pop()
            if name in self.uses and name not in reached:
                reached.add(name)
                todo.extend(self.uses[name])
        return reached


def _definitions(module: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """List what a module defines: functions, classes, constants."""
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))


class _Uncited(ast.NodeTransformer):
    """Take the arguments from citations."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # the name that the standard library looks for
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cite":
            return ast.Call(node.func, [], [])
        return self.generic_visit(node)


def _named(tree: ast.AST, phases: frozenset[str]) -> Iterator[frozenset[str]]:
    """List the names and the sets of names in source text; a name in a set counts with it."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Set):
            inside |= {id(element) for element in node.elts}
            yield frozenset(e.value for e in node.elts if isinstance(e, ast.Constant) and e.value in phases)
        elif isinstance(node, ast.Constant) and node.value in phases and id(node) not in inside:
            yield frozenset({str(node.value)})
