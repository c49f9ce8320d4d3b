"""
Mutation operators for state machines, beside those of cosmic-ray.

The tool's own operators change expressions. What goes wrong in an agent is a move left out, made too early, too late
or for the wrong message, so these take statements out, swap neighbours, force conditions and shorten or turn loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import parso
from cosmic_ray.operators.operator import Operator

MOVES = {"atom_expr", "power", "expr_stmt", "del_stmt"}
"""Types of the statements that do something."""


def code_of(node: Any) -> str:
    return node.get_code(include_prefix=False)


def prefix_of(node: Any) -> str:
    return node.get_first_leaf().prefix


def put(node: Any, text: str) -> Any:
    """Make what stands in a node's place."""
    return parso.parse(prefix_of(node) + text)


def calls(node: Any) -> bool:
    return "(" in code_of(node)


def is_move(node: Any) -> bool:
    """Tell whether a small statement changes anything beyond a local name."""
    if node.type not in MOVES or node.parent is None or node.parent.type != "simple_stmt":
        return False  # what stands below a change already made has lost its parents
    if node.type != "expr_stmt":
        return node.type == "del_stmt" or calls(node)
    target, sign = (code_of(part) for part in node.children[:2])
    return "." in target or (sign.endswith("=") and sign != "=")


def only_one_of_a_condition(node: Any) -> bool:
    """Tell whether leaving the statement out is the same as forcing the condition around it."""
    suite = node.parent.parent
    if (
        suite is None
        or suite.parent is None
        or suite.type != "suite"
        or suite.parent.type != "if_stmt"
        or len(suite.parent.children) > 4
    ):
        return False
    return sum(child.type != "newline" for child in suite.children) == 1


class Replacement(Operator):
    """Replace a node by other text, in as many ways as `texts` yields."""

    def texts(self, node: Any) -> Iterator[str]:
        raise NotImplementedError

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        for _ in self.texts(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        return put(node, list(self.texts(node))[index])

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


class RemoveStatement(Replacement):
    """Leave a move out."""

    def texts(self, node: Any) -> Iterator[str]:
        if is_move(node) and not only_one_of_a_condition(node):
            yield "pass"


class DropOperand(Replacement):
    """Leave out one operand of a condition."""

    def texts(self, node: Any) -> Iterator[str]:
        if node.type in {"and_test", "or_test"}:
            parts = [code_of(part) for part in node.children[::2]]
            word = f" {code_of(node.children[1])} "
            for at in range(len(parts)):
                yield word.join(parts[:at] + parts[at + 1 :])


class ReturnConstant(Replacement):
    """Answer nothing, or yes."""

    def texts(self, node: Any) -> Iterator[str]:
        if node.type != "return_stmt" or code_of(node.children[1]) == "None":
            return
        yield "return None"
        function = node.search_ancestor("funcdef")
        if function is not None and function.annotation is not None and code_of(function.annotation) == "bool":
            yield "return True"


class SwapOrder(Replacement):
    """Put the second part of a sum or a display first."""

    def texts(self, node: Any) -> Iterator[str]:
        parts = getattr(node, "children", ())
        if node.type == "arith_expr" and len(parts) == 3 and code_of(parts[1]) == "+":
            if "number" not in {parts[0].type, parts[2].type}:
                yield f"{code_of(parts[2])} + {code_of(parts[0])}"
        elif node.type == "testlist_comp" and "*" in code_of(node) and len(parts) > 2 and code_of(parts[1]) == ",":
            yield ", ".join([code_of(parts[2]), code_of(parts[0]), *(code_of(part) for part in parts[4::2])])


class SwapEnds(Replacement):
    """Work at the other end of a line."""

    ENDS: ClassVar = {"popleft": "pop", "append": "appendleft"}

    def texts(self, node: Any) -> Iterator[str]:
        if node.type == "name" and node.value in self.ENDS:
            statement = node.search_ancestor("simple_stmt")
            line = "" if statement is None else code_of(statement)
            if node.value == "popleft" or "outbox" in line or "queued" in line:
                yield self.ENDS[node.value]


class ForceCondition(Operator):
    """Take one branch whatever the condition says."""

    def _places(self, node: Any) -> Iterator[tuple[int, str]]:
        match node.type:
            case "if_stmt" | "while_stmt":
                at = [i + 1 for i, part in enumerate(node.children) if code_of(part) in {"if", "elif", "while"}]
            case "test":
                at = [2]
            case "comp_if" | "sync_comp_if":
                at = [1]
            case _:
                at = []
        for place in at:
            for text in ("True", "False"):
                if code_of(node.children[place]) != text:
                    yield place, text

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        for place, _ in self._places(node):
            yield node.children[place].start_pos, node.children[place].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        place, text = list(self._places(node))[index]
        node.children[place] = put(node.children[place], text)
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


class ChangeLoop(Operator):
    """Go through a loop once, or from behind."""

    def _texts(self, node: Any) -> Iterator[str]:
        if node.type == "for_stmt":
            over = code_of(node.children[3])
            if node.children[3].type == "test":  # only a conditional is that, and it can't be unpacked as it is
                over = f"({over})"
            yield f"[*{over}][:1]"
            if not over.startswith("range("):
                yield f"reversed([*{over}])"

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        for _ in self._texts(node):
            yield node.children[3].start_pos, node.children[3].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.children[3] = put(node.children[3], list(self._texts(node))[index])
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


class MissException(Operator):
    """Catch something that never comes instead."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type == "except_clause":
            yield node.children[1].start_pos, node.children[1].end_pos

    def mutate(self, node: Any, _index: int) -> Any:
        node.children[1] = put(node.children[1], "ZeroDivisionError")
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


class SwapStatements(Operator):
    """Make the second of two neighbouring moves first."""

    def _places(self, node: Any) -> Iterator[int]:
        function = node.search_ancestor("funcdef") if node.type == "suite" else None
        if function is None or function.name.value == "__init__":  # parts are put together in any order
            return
        for at, (first, second) in enumerate(zip(node.children, node.children[1:], strict=False)):
            if self._swap(first, second):
                yield at

    def _swap(self, first: Any, second: Any) -> bool:
        if first.type != "simple_stmt" or second.type != "simple_stmt":
            return False
        moves = first.children[0], second.children[0]
        if not all(is_move(move) or (move.type == "expr_stmt" and calls(move)) for move in moves):
            return False
        return any(calls(move) for move in moves) and not self._hands_over(*moves)

    def _hands_over(self, first: Any, second: Any) -> bool:
        """Tell whether one of two statements makes a local name that the other uses."""
        for one, other in ((first, second), (second, first)):
            if one.type == "expr_stmt":
                made = (
                    {name.value for name in one.get_defined_names()} if "." not in code_of(one.children[0]) else set()
                )
                leaf, end = other.get_first_leaf(), other.get_last_leaf()
                while True:
                    if leaf.type == "name" and leaf.value in made:
                        return True
                    if leaf is end:
                        break
                    leaf = leaf.get_next_leaf()
        return False

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        for at in self._places(node):
            yield node.children[at].start_pos, node.children[at + 1].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        at = list(self._places(node))[index]
        node.children[at], node.children[at + 1] = node.children[at + 1], node.children[at]
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


OWN: tuple[type[Operator], ...] = (
    RemoveStatement,
    SwapStatements,
    ForceCondition,
    DropOperand,
    ReturnConstant,
    SwapOrder,
    SwapEnds,
    ChangeLoop,
    MissException,
)
