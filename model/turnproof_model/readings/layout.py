"""
Lay out the cells of a state in one integer, and forget at each position what nothing will ask for.

A cell is *live* at a position if some run from there may look at it before it is written anew. Cells that aren't live
are kept at 0, so states that differ only in them are one state; that changes no behaviour and no count of behaviours,
and it is the only abstraction beside that of identities. The position comes first (lowest bits), then what the bounds
have left to spend, then the cells. Cells that are never live together may lie on the same bits: a run can't hand one on
where the other is written, since what is handed on is live.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from turnproof_model.readings.diagram import Diagram, Diagrams, Outcome, Pick, Test, walk
from turnproof_model.readings.forest import Forest, Position
from turnproof_model.readings.packed import length_cell, plane_cell
from turnproof_model.readings.pieces import TAGS
from turnproof_model.readings.script import Script, looked_at
from turnproof_model.readings.terms import Term, parts

BUDGETS = ("messages", "cancels", "disposals", "edits", "references", "resumes", "reentrant")
"""The bounds that a run spends; a tag is spent, too, where a message bears it."""


def spent_cell(bound: str) -> str:
    """Name the cell that counts what is spent of a bound; a contract may have a field named like the bound."""
    return f"{bound} spent"


def used(value: object) -> Iterator[str]:
    """Name the cells that a formula looks at."""
    for part in parts(value):
        if part.op == "var":
            yield str(part.args[0])


@define(eq=False)
class Program:
    """
    Hold everything that can happen, reduced: a diagram for each position and action, and which cells are live where.

    ``observed``: cells that somebody outside asks for, live everywhere. ``before``: the program of the rules before a
    change, if there is one: what was live is taken to be so still, so that most programs have the same layout.
    """

    forest: Forest
    observed: frozenset[str] = frozenset()
    before: Program | None = None
    positions: tuple[Position, ...] = field(init=False)
    reduced: Diagrams = field(init=False)
    diagrams: dict[tuple[Position, str], Diagram] = field(factory=dict)
    live: dict[Position, set[str]] = field(factory=dict)
    _seen: dict[int, frozenset[str]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.reduced = Diagrams(self.forest, None if self.before is None else self.before.reduced)
        self.positions = tuple(self.forest.values)
        for position in self.positions:
            for action in self.forest.trees:
                self.diagrams[position, action] = self.reduced.of(position, action)
        self.live = {position: set(self.observed) for position in self.positions}
        if self.before is not None:
            self._seen = self.before._seen
            for position, cells in self.before.live.items():
                self.live[position] |= cells
        self._find_live()

    def at(self, position: Position) -> Iterator[tuple[str, Diagram]]:
        """List the actions that can happen at a position, with their diagrams."""
        for action in self.forest.trees:
            diagram = self.diagrams[position, action]
            if diagram is not None:
                yield action, diagram

    def nodes(self, position: Position) -> Iterator[Outcome | Test | Pick]:
        """Go through all nodes at a position."""
        for _, diagram in self.at(position):
            yield from walk(diagram)

    def _find_live(self) -> None:
        leads: dict[Position, list[_Lead]] = {}
        for position in self.positions:
            for node in self.nodes(position):
                if isinstance(node, Test):
                    self.live[position].update([node.name] if node.term is None else used(node.term))
                elif isinstance(node, Outcome):
                    leads.setdefault(node.position, []).append(_Lead.of(position, node))
                    self.live[position] |= self._shown(node.script)
        todo = list(self.positions)
        while todo:
            after = todo.pop()
            for lead in leads.get(after, ()):
                here = self.live[lead.before]
                size = len(here)
                here |= lead.needed(self.live[after])
                if len(here) > size and lead.before not in todo:
                    todo.append(lead.before)

    def _shown(self, script: Script | None) -> frozenset[str]:
        """Name the cells that observers see through a script, but for the fields that make up the position."""
        if script is None:
            return frozenset()
        if id(script) not in self._seen:
            cells = looked_at(script, self.forest.asked, self.forest.shape.control, self.forest.marks)
            self._seen[id(script)] = frozenset(cells) - {*self.forest.place}
        return self._seen[id(script)]


@frozen(eq=False)
class _Lead:
    """Be an outcome by the position it comes from: the cells that it writes, each with those that it makes them of."""

    before: Position
    made_of: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, before: Position, outcome: Outcome) -> _Lead:
        return cls(before, {name: frozenset(used(value)) for name, value in outcome.written.items()})

    def needed(self, live: set[str]) -> set[str]:
        """Name the cells that are needed before where these are live after."""
        kept = live.difference(self.made_of)
        return kept.union(*(cells for name, cells in self.made_of.items() if name in live))


@frozen
class Cell:
    """
    Place one cell: its offset and width in bits, and what its contents mean.

    ``values``: control values by number, empty for a number. ``most``: the greatest number it holds; greater ones are
    held as that.
    """

    name: str
    offset: int
    width: int
    values: tuple[Hashable, ...] = ()
    most: int = 0

    @property
    def mask(self) -> int:
        """The bits of the cell."""
        return ((1 << self.width) - 1) << self.offset

    def code(self, value: Any) -> int:
        """Say a plain value as contents."""
        if self.values:
            for i, known in enumerate(self.values):
                if known == value and type(known) is type(value):
                    return i
            raise ValueError(f"cell {self.name!r} holds one of {self.values} (got {value!r})")
        return min(int(value), self.most)

    def read(self, state: int) -> int:
        """Look at the contents."""
        return state >> self.offset & (1 << self.width) - 1


@define(eq=False)
class Layout:
    """Place all cells that are live somewhere."""

    program: Program
    position: Cell = field(init=False)
    budgets: dict[str, Cell] = field(factory=dict)
    cells: dict[str, Cell] = field(factory=dict)
    bits: int = 0

    def __attrs_post_init__(self) -> None:
        program, bounds = self.program, self.program.forest.bounds
        self.position = self._place("position", len(program.positions) - 1)
        for name in (*BUDGETS, *TAGS):
            if bounds.get(name, 0):
                self.budgets[name] = self._place(spent_cell(name), bounds[name])
        self._place_cells()

    def _place(self, name: str, most: int) -> Cell:
        placed = Cell(name, self.bits, max(1, most.bit_length()), most=most)
        self.bits += placed.width
        return placed

    def _place_cells(self) -> None:
        """Place the widest cells first, each on the lowest bits that no cell holds which is live where it is."""
        program = self.program
        ordered = tuple(self._ordered(set().union(*program.live.values())))
        where = {name: {i for i, p in enumerate(program.positions) if name in program.live[p]} for name in ordered}
        lowest = self.bits
        placed: dict[str, Cell] = {}
        for name in sorted(ordered, key=lambda name: -self._sized(name).width):
            rivals = [cell for other, cell in placed.items() if where[other] & where[name]]
            placed[name] = evolve(self._sized(name), offset=_gap(rivals, lowest, self._sized(name).width))
            self.bits = max(self.bits, placed[name].offset + placed[name].width)
        self.cells = {name: placed[name] for name in ordered}

    def _sized(self, name: str) -> Cell:
        values = self._values(name)
        most = len(values) - 1 if values else self._most(name)
        return Cell(name, 0, max(1, most.bit_length()), values, most)

    def _ordered(self, live: Iterable[str]) -> Iterator[str]:
        shape = self.program.forest.shape
        queues = (*shape.slots, *shape.queues)
        packed = [f(q) for q in queues for f in (length_cell, *map(_plane_of, self.program.forest.marks))]
        wanted = set(live)
        for name in (*shape.control, *shape.counters, *packed):
            if name in wanted:
                yield name

    def _values(self, name: str) -> tuple[Hashable, ...]:
        """Number the values that a control cell has where it is live."""
        shape = self.program.forest.shape
        if name not in shape.control:
            return ()
        values: dict[Hashable, None] = {}
        for position in self.program.positions:
            if name in self.program.live[position]:
                values.update(self.program.forest.values[position][name])
        return tuple(values)

    def _most(self, name: str) -> int:
        """Tell the greatest number that a cell has to hold."""
        forest = self.program.forest
        if name in forest.shape.counters:
            return self._asked_up_to(name) + 1
        queue, _, part = name.partition("#")
        longest = 1 if queue in forest.shape.slots else forest.bounds.get("messages", 0)
        return longest if part == "n" else (1 << longest) - 1

    def _asked_up_to(self, name: str) -> int:
        """Find the greatest number that a counter is compared with; beyond it all numbers are alike."""
        asked = 0
        for position in self.program.positions:
            for node in self.program.nodes(position):
                if isinstance(node, Test) and node.term is not None:
                    for part in parts(node.term):
                        if part.op in {"lt", "le", "eq", "ne"} and name in used(part):
                            asked = max(asked, *(abs(int(arg)) for arg in part.args if not isinstance(arg, Term)))
        return asked

    def places_like(self, other: Layout) -> bool:
        """Tell whether another layout means the same by every bit."""
        mine, others = self.program, other.program
        return (
            mine.positions == others.positions
            and mine.live == others.live
            and (self.position, self.budgets, self.cells) == (other.position, other.budgets, other.cells)
        )

    def initial(self) -> int:
        """Make the state of a new agent."""
        forest = self.program.forest
        start = tuple(forest.shape.control[name] for name in forest.place)
        state = self.program.positions.index(start)
        for name in self.program.live[start]:
            if name in forest.shape.control:
                state |= self.cells[name].code(forest.shape.control[name]) << self.cells[name].offset
        return state

    def show(self, state: int) -> dict[str, Any]:
        """Say a state for a reader: the fields of its position, what is spent, and every live cell."""
        position = self.program.positions[self.position.read(state)]
        shown: dict[str, Any] = dict(zip(self.program.forest.place, position, strict=True))
        shown.update({cell.name: cell.read(state) for cell in self.budgets.values()})
        for name, cell in self.cells.items():
            if name in self.program.live[position]:
                number = cell.read(state)
                shown[name] = cell.values[number] if cell.values else number
        return shown


def _plane_of(mark: str) -> Any:
    return lambda queue: plane_cell(queue, mark)


def _gap(rivals: Iterable[Cell], lowest: int, width: int) -> int:
    """Find the lowest offset at which so many bits overlap no rival."""
    offset = lowest
    for rival in sorted(rivals, key=lambda cell: cell.offset):
        if offset + width <= rival.offset:
            break
        offset = max(offset, rival.offset + rival.width)
    return offset
