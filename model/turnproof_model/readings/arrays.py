"""
Write the program as Python source that makes the successors of many states at once, as arrays.

States of each position have arrays of their own, so an *element* is a packed state without its position: a 64-bit
integer where 63 bits are enough (the sign stays free, so that differences compare as they do in the rules), and a
Python integer otherwise, through the same source. For each position there is one function. It goes through the nodes
of the decision diagrams, each once, parents first: the states that reach a node wait in its list, a test parts them, a
pick hands all of them to each of its ways, an outcome makes successors. So what many paths share is done once for all
of them, and the time goes into a few operations on long arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from turnproof_model.readings.codegen import Source, Spent, filename, least_spent
from turnproof_model.readings.diagram import Diagram, Outcome, Pick, Test
from turnproof_model.readings.layout import Cell, Layout, used
from turnproof_model.readings.notation import ARRAYS
from turnproof_model.readings.terms import Term

States: TypeAlias = NDArray[Any]
"""States of one position, of the type that ``type_of`` tells for their layout."""

Add: TypeAlias = Callable[[States], None]

Expand: TypeAlias = Callable[[States, Sequence[Add]], int]
"""Hands on the successors of states of one position in arrays, by their position, and tells how many they are."""

BITS = 63
"""How much fits into a signed 64-bit integer without its sign."""


def type_of(layout: Layout) -> np.dtype[Any]:
    """Tell the type of the elements that hold states of a layout."""
    return np.dtype(np.int64 if layout.bits - layout.position.width <= BITS else object)


def apart(layout: Layout, state: int) -> tuple[int, int]:
    """Take a packed state apart into the number of its position and its element."""
    return layout.position.read(state), state >> layout.position.width


def together(layout: Layout, position: int, element: int) -> int:
    """Make a packed state of the number of its position and its element."""
    return element << layout.position.width | position


# ------------------------------------------------------------------------------------------------ expressions
def vectorised(value: object) -> str:
    """Write a formula over cells in operations on arrays; a cell is named by ``variable``."""
    return ARRAYS.write(value, variable)


def variable(cell: str) -> str:
    """Name the array that holds the contents of a cell."""
    return "x_" + "".join(c if c.isalnum() else f"_{ord(c):x}_" for c in cell)


# ------------------------------------------------------------------------------------------------ functions
@define(eq=False)
class Writer:
    """
    Write the function of one position.

    ``base``: how far cells lie lower in an element than in a packed state. ``number``: of each of its nodes, by
    identity, parents first. ``sure``: what is known to have been left of the bounds on every way to a node.
    """

    layout: Layout
    base: int = field(init=False)
    number: dict[int, int] = field(factory=dict)
    sure: dict[int, Spent] = field(factory=dict)
    least: dict[int, Spent] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.base = self.layout.position.width

    def _mask(self, cell: Cell) -> int:
        return cell.mask >> self.base

    def _at(self, contents: int, cell: Cell) -> int:
        return contents << cell.offset - self.base

    def write(self, position: int) -> list[str]:
        """Write the function of the position with this number."""
        roots = [diagram for _, diagram in self.layout.program.at(self.layout.program.positions[position])]
        nodes = _parents_first(roots)
        self.number = {id(node): i for i, node in enumerate(nodes)}
        self._find_sure(roots, nodes)
        lists = [f" {self._list(node)} = []" for node in nodes]
        begun = [f" {self._list(root)}.append(S)" for root in roots]
        lines = [line for node in nodes for line in self._node(node)]
        return [f"def at_{position}(S, add):", " n = 0", *lists, *begun, *lines, " return n"]

    def _list(self, node: Diagram) -> str:
        return f"a{self.number[id(node)]}"

    def _find_sure(self, roots: Sequence[Diagram], nodes: Sequence[Outcome | Test | Pick]) -> None:
        self.sure = {id(root): {} for root in roots}
        for node in nodes:
            spent = self._afforded(node)
            for branch in _below(node):
                known = self.sure.setdefault(id(branch), spent)
                self.sure[id(branch)] = {name: min(n, spent[name]) for name, n in known.items() if name in spent}

    def _afforded(self, node: Outcome | Test | Pick) -> Spent:
        """Tell what is known to have been left of the bounds once a state is let in at a node."""
        sure, least = self.sure[id(node)], least_spent(node, self.least)
        return {name: max(sure.get(name, 0), least.get(name, 0)) for name in (*sure, *least)}

    # -------------------------------------------------------------------------------------------- nodes
    def _node(self, node: Outcome | Test | Pick) -> list[str]:
        name = self._list(node)
        if isinstance(node, Outcome):
            body = self._outcome(node)
        elif isinstance(node, Pick):
            body = [f"{self._list(branch)}.append(S)" for _, branch in node.branches]
        elif node.term is not None:
            body = self._truth(node)
        else:
            body = self._control(node)
        lines = [f" if {name}:", f"  S = join({name})"]
        condition = self._budget(node)
        if condition:
            return [*lines, f"  S = S[{condition}]", "  if S.size:", *(f"   {line}" for line in body)]
        return [*lines, *(f"  {line}" for line in body)]

    def _budget(self, node: Outcome | Test | Pick) -> str:
        """Say what the bounds must have left for a node, beyond what every way to it has made sure of."""
        bounds, sure = self.layout.program.forest.bounds, self.sure[id(node)]
        more = {name: n for name, n in least_spent(node, self.least).items() if n > sure.get(name, 0)}
        cells = self.layout.budgets
        return " & ".join(
            f"(S & {self._mask(cells[name])} <= {self._at(bounds[name] - n, cells[name])})" for name, n in more.items()
        )

    def _truth(self, node: Test) -> list[str]:
        branches = dict(node.branches)
        lines = [*self._loads(node.term), f"m = {vectorised(node.term)}"]
        return [
            *lines,
            *(
                f"keep(S, {mask}, {self._list(branches[answer])})"
                for answer, mask in ((True, "m"), (False, "~m"))
                if branches[answer] is not None
            ),
        ]

    def _control(self, node: Test) -> list[str]:
        """Part states by the contents of a cell; the largest group is what is left by the others."""
        cell = self.layout.cells[node.name]
        groups: dict[int, tuple[Diagram, list[int]]] = {}
        for value, branch in node.branches:
            groups.setdefault(id(branch), (branch, []))[1].append(cell.code(value))
        *first, (rest, _) = sorted(groups.values(), key=lambda group: len(group[1]))
        lines = [f"x = S & {self._mask(cell)}"]
        for i, (branch, codes) in enumerate(first):
            lines.append(f"m{i} = {' | '.join(f'(x == {self._at(code, cell)})' for code in sorted(codes))}")
            if branch is not None:
                lines.append(f"keep(S, m{i}, {self._list(branch)})")
        if rest is not None:
            others = " | ".join(f"m{i}" for i in range(len(first)))
            lines.append(f"keep(S, ~({others}), {self._list(rest)})")
        return lines

    def _loads(self, *values: object) -> Iterator[str]:
        for name in sorted({name for value in values for name in used(value)}):
            cell = self.layout.cells[name]
            shifted = f"S >> {cell.offset - self.base}" if cell.offset > self.base else "S"
            yield f"{variable(name)} = {shifted} & {(1 << cell.width) - 1}"

    # -------------------------------------------------------------------------------------------- outcomes
    def _outcome(self, outcome: Outcome) -> list[str]:
        """Write successors: kept bits, constant bits, computed bits, and what is spent."""
        layout = self.layout
        keep = sum(self._mask(cell) for cell in layout.budgets.values())
        constant = 0
        computed: list[tuple[str, Term]] = []
        for name in sorted(layout.program.live[outcome.position]):
            cell, value = layout.cells[name], outcome.written.get(name)
            if name not in outcome.written:
                keep |= self._mask(cell)
            elif isinstance(value, Term):
                computed.append((name, value))
            else:
                constant |= self._at(cell.code(value), cell)
        pieces = [f"S & {keep}", *([str(constant)] if constant else [])]
        pieces += [f"{self._value(name, value)} << {layout.cells[name].offset - self.base}" for name, value in computed]
        spent = sum(self._at(amount, layout.budgets[name]) for name, amount in outcome.spent)
        text = " | ".join(pieces)
        return [
            "n += S.size",
            *self._loads(*(value for _, value in computed)),
            f"add[{layout.program.positions.index(outcome.position)}]({f'({text}) + {spent}' if spent else text})",
        ]

    def _value(self, name: str, value: Term) -> str:
        text = vectorised(value)
        if name in self.layout.program.forest.shape.counters:
            return f"least({text}, {self.layout.cells[name].most})"
        return text


def _below(node: Outcome | Test | Pick) -> Iterator[Outcome | Test | Pick]:
    if not isinstance(node, Outcome):
        yield from (branch for _, branch in node.branches if branch is not None)


def _parents_first(roots: Sequence[Diagram]) -> list[Outcome | Test | Pick]:
    """List the nodes below some roots, each once and behind all its parents."""
    done: dict[int, Outcome | Test | Pick] = {}

    def visit(node: Outcome | Test | Pick) -> None:
        if id(node) not in done:
            for branch in _below(node):
                visit(branch)
            done[id(node)] = node

    for root in roots:
        if root is not None:
            visit(root)
    return list(reversed(done.values()))


def _helpers(layout: Layout) -> dict[str, Any]:
    """Make what the source calls by name."""
    kind = type_of(layout)

    def join(pieces: list[States]) -> States:
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def keep(states: States, mask: States, add: list[States]) -> None:
        kept = states[mask]
        if kept.size:
            add.append(kept)

    def choose(mask: States, then: Any, otherwise: Any) -> States:
        chosen: States = np.where(mask, then, otherwise)
        return chosen if chosen.dtype == np.bool_ else chosen.astype(kind, copy=False)

    return {"join": join, "keep": keep, "choose": choose, "least": np.minimum}


def generate(layout: Layout) -> Source:
    """
    Write the functions of all positions: ``at_N(states, add)`` calls ``add[M]`` with successors at M and counts all.

    The states are of position number N. A successor comes as often as transitions lead to it.
    """
    lines: list[str] = []
    for number in range(len(layout.program.positions)):
        lines += Writer(layout).write(number)
    return Source("\n".join(lines) + "\n", (), filename(layout, "arrays"))


def load(layout: Layout) -> list[Expand]:
    """Make the functions of all positions, in their order."""
    module = generate(layout).load(**_helpers(layout))
    return [module[f"at_{number}"] for number in range(len(layout.program.positions))]
