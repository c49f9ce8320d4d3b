"""
Write the program as Python source: for each position one function that tells which transition leads where.

Generated source is registered with ``linecache`` under ``<explorer of CONTRACT …>``, so tracebacks show it;
``Source.text`` is the text itself. From the same diagrams ``arrays`` writes functions that make the successors of many
states at once and don't tell which transition made which.
"""

from __future__ import annotations

import linecache
from collections.abc import Hashable
from typing import Any

from attrs import define, field, frozen

from turnproof_model.readings.diagram import Diagram, Outcome, Pick, Test
from turnproof_model.readings.layout import Layout, spent_cell
from turnproof_model.readings.notation import PYTHON
from turnproof_model.readings.script import Script
from turnproof_model.readings.terms import Term

INDENT = " "

Spent = dict[str, int]


@frozen
class Transition:
    """
    Name one way to a successor: the action and what was picked on the way, in order.

    ``script``: what it shows to observers, if anybody watches.
    """

    action: str
    picks: tuple[tuple[str, Hashable], ...] = ()
    script: Script | None = field(default=None, eq=False, repr=False)


@frozen(eq=False)
class Source:
    """Hold generated source and what its transitions are called by number."""

    text: str
    transitions: tuple[Transition, ...]
    filename: str

    def load(self, **names: Any) -> dict[str, Any]:
        """Execute the source with these names in its globals."""
        linecache.cache[self.filename] = (len(self.text), None, self.text.splitlines(keepends=True), self.filename)
        module: dict[str, Any] = dict(names)
        exec(compile(self.text, self.filename, "exec", dont_inherit=True), module)  # noqa: S102  # text made here
        return module


# ------------------------------------------------------------------------------------------------ functions
@define(eq=False)
class Writer:
    """Write the function of one position; it adds pairs of the number of a transition and the successor."""

    layout: Layout
    transitions: list[Transition]
    lines: list[str] = field(factory=list)
    names: dict[str, str] = field(factory=dict)
    least: dict[int, Spent] = field(factory=dict)
    picks: list[tuple[str, Hashable]] = field(factory=list)

    def write(self, number: int) -> list[str]:
        """Write the function of the position with this number."""
        position = self.layout.program.positions[number]
        body: list[str] = []
        for action, diagram in self.layout.program.at(position):
            self.picks = [("", action)]
            body += self._budget(diagram, {}, self._node(diagram, least_spent(diagram, self.least)))
        head = [f"def at_{number}(states, add):", " for S in states:"]
        loads = [f"  {name} = {self._load(cell)}" for cell, name in self.names.items()]
        return [*head, *loads, *(f"  {line}" for line in body or ["pass"])]

    def _load(self, name: str) -> str:
        bound = name.removesuffix(" spent")
        cell = self.layout.cells[name] if bound == name else self.layout.budgets[bound]
        shifted = f"S >> {cell.offset}" if cell.offset else "S"
        return shifted if cell.offset + cell.width == self.layout.bits else f"{shifted} & {(1 << cell.width) - 1}"

    def name(self, cell: str) -> str:
        """Name the local variable that holds the contents of a cell."""
        return self.names.setdefault(cell, f"x{len(self.names)}")

    # -------------------------------------------------------------------------------------------- nodes
    def _node(self, node: Diagram, spent: Spent) -> list[str]:
        if node is None:
            return []
        if isinstance(node, Outcome):
            return self._outcome(node)
        if isinstance(node, Pick):
            return self._pick(node, spent)
        return self._truth(node, spent) if node.term is not None else self._control(node, spent)

    def _under(self, condition: str, node: Diagram, spent: Spent) -> list[str]:
        lines = self._node(node, spent)
        return [condition, *(INDENT + line for line in lines or ["pass"])]

    def _pick(self, node: Pick, spent: Spent) -> list[str]:
        lines: list[str] = []
        for answer, branch in node.branches:
            self.picks.append((node.name, answer))
            inner = self._node(branch, {**spent, **least_spent(branch, self.least)})
            lines += self._budget(branch, spent, inner)
            self.picks.pop()
        return lines

    def _truth(self, node: Test, spent: Spent) -> list[str]:
        branches = dict(node.branches)
        yes, no = branches[True], branches[False]
        condition = PYTHON.write(node.term, self.name)
        if yes is None:
            return self._under(f"if not {condition}:", no, spent)
        lines = self._under(f"if {condition}:", yes, spent)
        return lines if no is None else [*lines, *self._under("else:", no, spent)]

    def _control(self, node: Test, spent: Spent) -> list[str]:
        cell = self.layout.cells[node.name]
        groups: dict[int, tuple[Diagram, list[int]]] = {}
        for value, branch in node.branches:
            groups.setdefault(id(branch), (branch, []))[1].append(cell.code(value))
        ordered = sorted(groups.values(), key=lambda group: len(group[1]))
        lines: list[str] = []
        x = self.name(node.name)
        for i, (branch, codes) in enumerate(ordered):
            last = i == len(ordered) - 1
            if last and branch is None:
                continue
            word = "else:" if last else f"{'elif' if i else 'if'} {_among(x, codes)}:"
            lines += self._under(word, branch, spent)
        return lines

    # -------------------------------------------------------------------------------------------- bounds
    def _budget(self, node: Diagram, spent: Spent, lines: list[str]) -> list[str]:
        """Let a branch happen only while the bounds allow what it spends beyond what is known to be left."""
        bounds = self.layout.program.forest.bounds
        more = {name: n for name, n in least_spent(node, self.least).items() if n > spent.get(name, 0)}
        if not more or not lines:
            return lines
        condition = " and ".join(f"{self.name(spent_cell(name))} <= {bounds[name] - n}" for name, n in more.items())
        return [f"if {condition}:", *(INDENT + line for line in lines)]

    # -------------------------------------------------------------------------------------------- outcomes
    def _outcome(self, outcome: Outcome) -> list[str]:
        number = len(self.transitions)
        action = str(self.picks[0][1])
        self.transitions.append(Transition(action, tuple(self.picks[1:]), outcome.script))
        after = self._after(outcome)
        return [f"add(({number}, {after}))"]

    def _after(self, outcome: Outcome) -> str:
        """Write the successor: kept bits, constant bits, computed bits, and what is spent."""
        layout = self.layout
        keep = sum(cell.mask for cell in layout.budgets.values())
        constant = layout.program.positions.index(outcome.position)
        computed: list[str] = []
        for name in sorted(layout.program.live[outcome.position]):
            cell = layout.cells[name]
            if name not in outcome.written:
                keep |= cell.mask
            elif isinstance(outcome.written[name], Term):
                computed.append(f"{self._value(name, outcome.written[name])} << {cell.offset}")
            else:
                constant |= cell.code(outcome.written[name]) << cell.offset
        pieces = [f"S & {keep}", *([str(constant)] if constant else []), *computed]
        spent = sum(amount << layout.budgets[name].offset for name, amount in outcome.spent)
        text = " | ".join(pieces)
        return f"({text}) + {spent}" if spent else text

    def _value(self, name: str, value: Term) -> str:
        text = PYTHON.write(value, self.name)
        if name in self.layout.program.forest.shape.counters:
            most = self.layout.cells[name].most
            return f"({text} if {text} < {most} else {most})"
        return text


def least_spent(node: Diagram, known: dict[int, Spent]) -> Spent:
    """
    Tell what every outcome below a node spends at least.

    Args:
        node: where to look.
        known: what has been found so far, by the node's identity; it grows.
    """
    if id(node) not in known:
        if isinstance(node, Outcome):
            known[id(node)] = dict(node.spent)
        elif node is None:
            known[id(node)] = {}
        else:
            below = [least_spent(branch, known) for _, branch in node.branches if branch is not None]
            names = set(below[0]).intersection(*below[1:])
            known[id(node)] = {name: min(spent[name] for spent in below) for name in sorted(names)}
    return known[id(node)]


def _among(x: str, codes: list[int]) -> str:
    if len(codes) == 1:
        return f"{x} == {codes[0]}"
    return f"{x} in {{{', '.join(map(str, sorted(codes)))}}}"


def filename(layout: Layout, form: str) -> str:
    """Name the source of a layout for tracebacks."""
    forest = layout.program.forest
    return f"<explorer of {forest.contract}, {', '.join(f'{name}={n}' for name, n in forest.bounds.items())}, {form}>"


def generate(layout: Layout) -> Source:
    """Write the functions of all positions: ``at_N(states, add)`` calls ``add`` with (transition, successor)."""
    transitions: list[Transition] = []
    lines: list[str] = []
    for number in range(len(layout.program.positions)):
        lines += Writer(layout, transitions).write(number)
    return Source("\n".join(lines) + "\n", tuple(transitions), filename(layout, "told"))


@define(eq=False)
class Told:
    """Tell the transitions of single states, in a fixed order."""

    layout: Layout
    source: Source = field(init=False)
    module: dict[str, Any] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.source = generate(self.layout)
        self.module = self.source.load()

    def successors(self, state: int) -> list[tuple[Transition, int]]:
        """List the transitions of a state and where they lead."""
        out: list[tuple[int, int]] = []
        self.module[f"at_{self.layout.position.read(state)}"]([state], out.append)
        return [(self.source.transitions[number], after) for number, after in out]
