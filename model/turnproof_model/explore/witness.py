"""
Find a shortest way to a state of which a predicate holds, and replay it on real messages.

The search stops at the first such state. One that ends without it says that there is none, provided that it saw
everything within the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen

from turnproof_model.explore.counterexample import reset_of
from turnproof_model.explore.product import Step
from turnproof_model.explore.replay import Played, replay
from turnproof_model.explore.until import Moment, Predicate, Reader
from turnproof_model.readings.codegen import Told, Transition
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.vocabulary import Contract, Reset


@frozen
class Witness:
    """
    Be what came of a search for a state.

    ``steps``: a shortest way to it, replayed, or nothing. ``states``: how many were met. ``ended``: what ended the
    search early (``interrupted``), or nothing. ``traced``: the way in packed states, of ``layout``.
    """

    predicate: str
    begins: Reset | None
    steps: tuple[Played, ...]
    states: int
    layout: Layout = field(eq=False, repr=False)
    traced: tuple[Step, ...] = field(default=(), eq=False, repr=False)
    ended: str = ""

    @property
    def reached(self) -> bool:
        """Whether there is such a state."""
        return self.begins is not None


@define(eq=False)
class Hunt:
    """Search breadth first for a predicate; ``came``: from which state, and by which transition, a state was met."""

    layout: Layout
    predicate: Predicate
    told: Told = field(init=False)
    came: dict[int, tuple[int, Transition] | None] = field(factory=dict)
    _readers: dict[str, Callable[[int], Any]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.told = Told(self.layout)
        forest = self.layout.program.forest
        for i, name in enumerate(forest.place):
            self._readers[name] = self._of_place(i)
        for name, cell in self.layout.cells.items():
            self._readers[name] = _of_cell(cell.read, cell.values)

    def _of_place(self, i: int) -> Callable[[int], Any]:
        values = tuple(position[i] for position in self.layout.program.positions)
        return lambda state: values[self.layout.position.read(state)]

    def run(self) -> tuple[Step, ...]:
        """Search; tell a shortest way to a state of which the predicate holds after the last step, or nothing."""
        start = self.layout.initial()
        self.came[start] = None
        level = [start]
        while level:
            new: list[int] = []
            for state in level:
                for transition, after in self.told.successors(state):
                    if self._holds(transition, after):
                        return (*self._way(state), Step(transition, after))
                    if after not in self.came:
                        self.came[after] = (state, transition)
                        new.append(after)
            level = new
        return ()

    def _holds(self, transition: Transition, state: int) -> bool:
        return bool(self.predicate.holds(Moment(lambda name: self._readers[name](state), transition)))

    def _way(self, state: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        while (came := self.came[state]) is not None:
            steps.append(Step(came[1], state))
            state = came[0]
        return tuple(reversed(steps))


def _of_cell(read: Callable[[int], int], values: tuple[Any, ...]) -> Callable[[int], Any]:
    return (lambda state: values[read(state)]) if values else read


def witness(contract: Contract, bounds: Mapping[str, int], text: str) -> Witness:
    """
    Find a shortest way to a state.

    Args:
        contract: ``window`` or ``claim``.
        bounds: how much there may be of what.
        text: a predicate, or the name of one.

    Raises:
        PredicateError: it is none.
        ReplayError: what was found doesn't replay on real messages.
    """
    grown = forest(contract, bounds, watched=True)
    predicate = Reader(grown).read(text)
    layout = Layout(Program(grown, predicate.cells))
    hunt = Hunt(layout, predicate)
    try:
        traced = hunt.run()
    except KeyboardInterrupt:
        return Witness(predicate.text, None, (), len(hunt.came), layout, ended="interrupted")
    if not traced:
        return Witness(predicate.text, None, (), len(hunt.came), layout)
    steps = replay(layout, None, traced)
    return Witness(predicate.text, reset_of(contract, steps), steps, len(hunt.came), layout, traced)
