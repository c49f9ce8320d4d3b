"""
Write everything that can happen as a Promela model, for SPIN and its kin: an independent search of the same system.

The model is one process. Each position of the loop is a label, each cell of the layout a global variable, each
transition one option of the label's selection: a guard, then all assignments in one indivisible step, then a jump.
Cells that nothing will ask for are set to 0, as in the packed states, so the states of SPIN correspond one to one to
ours, whatever the search.

Counting convention. Compiled with ``-DSAFETY -DNOREDUCE`` and run with ``-E`` (a finished run isn't an invalid end),
SPIN prints *states, stored*: our states. Its *transitions* are *stored + matched*: it enters the initial state as if a
transition led there, so they are ours and one more. Every option that can be taken counts, also where two lead to
the same state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from attrs import define, field

from turnproof_model.explore.export.names import Namer, phase_of, plain
from turnproof_model.readings.codegen import Transition
from turnproof_model.readings.diagram import Diagram, Outcome, Pick, Test
from turnproof_model.readings.layout import Layout, spent_cell, used
from turnproof_model.readings.notation import PROMELA
from turnproof_model.readings.terms import Term

Picks: TypeAlias = tuple[tuple[str, Hashable], ...]

Ways: TypeAlias = dict[tuple[Picks, int], tuple[Outcome, str]]
"""The outcomes below a node by what is picked and by identity, each with the guard under which it is reached."""

ALWAYS = "true"

STEPS = 2000
"""How many indivisible steps SPIN can compile in one model; beyond, sequences that it doesn't interleave stand in."""


def promela(layout: Layout) -> Iterator[str]:
    """
    Write the model of a layout, line by line.

    Args:
        layout: of a contract at some bounds; the model has the same bounds.
    """
    forest = layout.program.forest
    bounds = ", ".join(f"{name} {amount}" for name, amount in forest.bounds.items())
    yield f"/* {forest.contract}: {bounds}. States and transitions are those of the rules at these bounds.\n"
    yield "   spin -a FILE && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -E -n -m10000000 */\n"
    cells = [*layout.budgets.values(), *layout.cells.values()]
    start = layout.initial()
    live = layout.program.live[layout.program.positions[layout.position.read(start)]]
    for cell in cells:
        meaning = f"   /* {', '.join(f'{i}: {value}' for i, value in enumerate(cell.values))} */" if cell.values else ""
        value = cell.read(start) if cell.name in live else 0
        yield f"unsigned {_name(cell.name)} : {cell.width} = {value};{meaning}\n"
    places = [_Place(layout, number) for number in range(len(layout.program.positions))]
    options = sum(1 for place in places for _ in place.options())
    word = "d_step" if options <= STEPS else "atomic"
    body = [line for place in places for line in place.lines(word)]
    for i in range(max(place.kept for place in places)):
        yield f"hidden int {_kept(i)};\n"
    yield f"\nactive proctype {forest.contract}() {{\n"
    yield f"  goto at_{layout.position.read(start)};\n"
    yield from body
    yield "}\n"


def _name(cell: str) -> str:
    """Name the variable of a cell; no cell is named like a word of Promela once it has this front."""
    return f"c_{plain(cell)}"


def expression(value: object, names: Mapping[str, str]) -> str:
    """Write a formula over cells in Promela; ``names``: variables that stand for cells instead of their own."""
    return PROMELA.write(value, lambda cell: names.get(cell, _name(cell)))


@define(eq=False)
class _Place:
    """Write the selection of one position."""

    layout: Layout
    number: int
    known: dict[int, Ways] = field(factory=dict)
    kept: int = 0

    def options(self) -> Iterator[tuple[Transition, Outcome, str]]:
        """List the transitions with where they lead and their guards."""
        program = self.layout.program
        for action, diagram in program.at(program.positions[self.number]):
            for (picks, _), (outcome, guard) in self._ways(diagram).items():
                yield Transition(action, picks), outcome, _both(self._budget(outcome), guard)

    def lines(self, word: str) -> Iterator[str]:
        """Write it line by line; ``word`` makes a sequence indivisible."""
        program = self.layout.program
        position = program.positions[self.number]
        namer = Namer.of(program.forest)
        yield f"at_{self.number}: /* {phase_of(position)} */\n  if\n"
        for transition, outcome, guard in self.options():
            steps, kept = _in_order(self._assignments(outcome))
            self.kept = max(self.kept, kept)
            yield f"  :: {word} {{ {guard} -> {'; '.join(steps) or 'skip'} }}; goto "
            yield f"at_{program.positions.index(outcome.position)} /* {namer.say(transition)} */\n"
        yield "  fi;\n"

    # -------------------------------------------------------------------------------------------- guards
    def _ways(self, node: Diagram) -> Ways:
        if id(node) not in self.known:
            self.known[id(node)] = self._found(node)
        return self.known[id(node)]

    def _found(self, node: Diagram) -> Ways:
        if node is None:
            return {}
        if isinstance(node, Outcome):
            return {((), id(node)): (node, ALWAYS)}
        if isinstance(node, Pick):
            return {
                (((node.name, answer), *picks), key): way
                for answer, branch in node.branches
                for (picks, key), way in self._ways(branch).items()
            }
        ways: dict[tuple[Picks, int], tuple[Outcome, dict[str, list[str]]]] = {}
        for condition, branch in self._branches(node):
            for key, (outcome, guard) in self._ways(branch).items():
                ways.setdefault(key, (outcome, {}))[1].setdefault(guard, []).append(condition)
        return {key: (outcome, self._any(node, guards)) for key, (outcome, guards) in ways.items()}

    def _branches(self, node: Test) -> Iterator[tuple[str, Diagram]]:
        if node.term is not None:
            condition = expression(node.term, {})
            for answer, branch in node.branches:
                yield (condition if answer is True else f"!{condition}"), branch
            return
        cell = self.layout.cells[node.name]
        for value, branch in node.branches:
            yield f"{_name(cell.name)} == {cell.code(value)}", branch

    def _any(self, node: Test, guards: Mapping[str, list[str]]) -> str:
        """Join conditions that lead to guards; all branches of a test together are no condition."""
        ways = []
        for guard, conditions in guards.items():
            whole = len(conditions) == len(node.branches)
            ways.append(guard if whole else _both(_either(conditions), guard))
        return _either(ways)

    def _budget(self, outcome: Outcome) -> str:
        bounds = self.layout.program.forest.bounds
        left = (f"{_name(spent_cell(name))} <= {bounds[name] - amount}" for name, amount in outcome.spent)
        return " && ".join(left) or ALWAYS

    # -------------------------------------------------------------------------------------------- assignments
    def _assignments(self, outcome: Outcome) -> dict[str, Any]:
        """List the new contents of cells: written, spent, and 0 where nothing will ask any more."""
        program = self.layout.program
        position, live = program.positions[self.number], program.live[outcome.position]
        changed: dict[str, Any] = {
            spent_cell(name): Term("var", spent_cell(name), sort="int") + amount for name, amount in outcome.spent
        }
        for name in self.layout.cells:
            if name not in live:
                if name in program.live[position]:
                    changed[name] = 0
            elif name in outcome.written:
                changed[name] = self._value(name, outcome.written[name])
        return changed

    def _value(self, name: str, value: Any) -> Any:
        cell = self.layout.cells[name]
        if not isinstance(value, Term):
            return cell.code(value)
        if name in self.layout.program.forest.shape.counters:
            return Term("choice", value < cell.most, value, cell.most, sort="int")
        return value


def _kept(number: int) -> str:
    return f"kept{number}"


def _in_order(changed: Mapping[str, Any]) -> tuple[list[str], int]:
    """Put assignments that are made at once in an order, keeping old contents aside (how many) where no order does."""
    left = dict(changed)
    names: dict[str, str] = {}
    steps: list[str] = []
    while left:
        needed = {name: _needed_by_others(name, left, names) for name in left}
        free = next((name for name, is_needed in needed.items() if not is_needed), None)
        if free is None:
            free = next(iter(left))
            names[free] = _kept(len(names))
            steps.append(f"{names[free]} = {_name(free)}")
        steps.append(f"{_name(free)} = {expression(left.pop(free), names)}")
    return steps, len(names)


def _needed_by_others(name: str, left: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    return name not in names and any(other != name and name in used(value) for other, value in left.items())


def _both(first: str, second: str) -> str:
    if first == ALWAYS:
        return second
    return first if second == ALWAYS else f"{first} && {second}"


def _either(ways: Iterable[str]) -> str:
    listed = list(ways)
    if ALWAYS in listed:
        return ALWAYS
    return listed[0] if len(listed) == 1 else f"({' || '.join(f'({way})' for way in listed)})"
