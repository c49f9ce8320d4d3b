"""
Take one candidate on a tour: make the commands of each plan, look where the candidate is, and plan again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from attrs import define, field

from turnproof.coverage.denominator import Node, Transition
from turnproof.coverage.graph import grounds
from turnproof.coverage.labels import gate_label, label, operation_label, sort_of
from turnproof.coverage.moves import DEFAULTS, Make, operation, plain, variants
from turnproof.coverage.shipped import shipped
from turnproof.coverage.situations import Situation, situation
from turnproof.coverage.tracker import Tracker
from turnproof.faults import DriverFault
from turnproof.making import Maker
from turnproof.tour.chart import Chart
from turnproof.trial import RuleFailure, Trial
from turnproof_model import vocabulary as v
from turnproof_model.policies import POLICIES

LONGEST = 60
"""Commands after which a schedule ends: a failure in a short one is a quick one to shrink."""

ANSWERS = ("model text", "model max-tokens")
"""Moves after which the turn is played to its end."""

MOST_STEPS = 6
"""Commands that this may take: a step or two, and the end."""

Collector = Callable[[RuleFailure], bool]
"""Take a failure and say whether the tour goes on."""


Progress = Callable[[int, int], None]
"""Told after each schedule how many transitions were reached, and of how many."""


class TourEndedError(Exception):
    """Say that the collector has seen enough."""


class _LostError(Exception):
    """Say that this schedule is of no more use: it failed, or the candidate is where the chart ends."""


@define
class Tour:
    """
    Lead a candidate through all that there is; it may go on in another trial of the same candidate.

    ``each`` is told how far it is. ``refused``: transitions that the candidate failed in; they count as not reached.
    ``closed``: moves that it failed in, by node and label.
    """

    trial: Trial
    collector: Collector
    each: Progress = lambda _reached, _total: None
    refused: set[Transition] = field(factory=set, init=False)
    closed: set[tuple[Node, str]] = field(factory=set, init=False)
    tracker: Tracker = field(init=False)
    chart: Chart = field(init=False)
    _make: Maker = field(init=False)
    _numbers: list[dict[Situation, int]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        graph = shipped(self.trial.contract)
        self._numbers = [{at: number for number, at in enumerate(part.situations)} for part in graph.parts]
        self.tracker = self.trial.tracker = self.trial.tracker or Tracker.of(self.trial.profile)
        self.chart = self._charted()

    def go_on(self, trial: Trial) -> Tour:
        """Go on with another trial: the driver of the last one broke down."""
        trial.tracker = self.tracker
        self.trial = trial
        return self

    def _so_far(self) -> tuple[int, int]:
        left = len(self.chart.sources) + len(self.refused)
        return len(self.tracker.reached), len(self.tracker.reached) + left

    def _charted(self) -> Chart:
        """Draw a chart of what is left, for the freedoms that the candidate has shown."""
        trial = self.trial
        chart = Chart(shipped(trial.contract), trial.profile, self._shown(), closed=set(self.closed))
        for transition in (*self.tracker.reached, *self.refused):
            chart.cross_off(transition)
        return chart

    def _shown(self) -> Mapping[str, str]:
        """Name the freedoms that are shown to differ from the usual; the likeliest reading counts."""
        shown = self.trial.oracle.hypotheses[0].policies
        return {name: value for name, value in shown if value != POLICIES[name].default}

    def run(self) -> None:
        """
        Tour until nothing is left that a way leads to.

        Raises:
            TourEndedError: the collector has seen enough.
            DriverFault: the candidate's driver broke down; ``go_on`` and ``run`` leave out what broke it.
        """
        for number, ground in enumerate(grounds(self.trial.contract)):
            while self._schedule(number, ground.reset):
                self.each(*self._so_far())

    def _schedule(self, part: int, reset: v.Reset) -> bool:
        """Play one schedule to its end, and tell whether another is worth while."""
        if self._shown() != self.chart.policies:
            self.chart = self._charted()
        if self.chart.way((part, 0)) is None:
            return False
        trial = self.trial
        self._make = Maker(trial.profile, lambda: trial.machine, lambda options: options[0])
        if (failure := trial.begin(reset)) is not None:
            self._collect(failure)
            return False
        try:
            while self._goes_on() and (way := self.chart.way(self._node(part))) is not None:
                if self._went(part, way):
                    self._try(part)
        except _LostError:
            pass
        if (failure := trial.end()) is not None:
            self._collect(failure)
        return True

    def _goes_on(self) -> bool:
        """Tell whether the schedule is short enough, and nobody doubts where the candidate is."""
        if len(self.trial.schedule) >= LONGEST:
            return False
        first, *others = (hypothesis.machine for hypothesis in self.trial.oracle.hypotheses)
        return all(situation(other) == situation(first) for other in others)

    def _node(self, part: int) -> Node:
        number = self._numbers[part].get(situation(self.trial.machine))
        if number is None:
            raise _LostError
        return part, number

    def _went(self, part: int, way: tuple[tuple[str, int], ...]) -> bool:
        """Go a way; a move that leads elsewhere is closed, and ends it."""
        for name, expected in way:
            node = self._node(part)
            try:
                arrived = self._give_move(name) and self._node(part)[1] == expected
            except (_LostError, DriverFault):
                self._close(node, name)
                raise
            if not arrived:
                self.chart.closed.add((node, name))
                return False
        return True

    def _close(self, node: Node, name: str) -> None:
        self.closed.add((node, name))
        self.chart.closed.add((node, name))

    # -------------------------------------------------------------------------------------------- one transition
    def _try(self, part: int) -> None:
        """Try what is left here, one transition."""
        node = self._node(part)
        transition = self.chart.next_at(node)
        if transition is None:
            return
        try:
            given = self._give_transition(node, transition)
        except (_LostError, DriverFault):
            self.refused.add(transition)
            self.chart.cross_off(transition)
            if transition[0] == "moves":
                self._close(node, transition[2])
            raise
        if not given:
            self.chart.give_up(node, transition)
        elif transition not in self.tracker.reached:
            self.chart.doubt(node, transition)
        elif transition[2] in ANSWERS:
            self._play_out()

    def _play_out(self) -> None:
        """Let everything go its usual way for a while: what an answer has decided shows where its turn ends."""
        for _ in range(MOST_STEPS):
            gates = self.trial.machine.gates
            if not gates:
                return
            kind = gates[0].view.kind
            self._give_move(f"{gate_label(self.trial.machine, gates[0].view)} {DEFAULTS[kind]}")

    def _give_transition(self, node: Node, transition: Transition) -> bool:
        sort, _, name, *rest = transition
        match sort:
            case "moves":
                return self._give_move(name)
            case "variants":
                return self._give(_named(variants(self.trial.machine), name))
            case "stacks":
                return self._give_stack(name)
            case "inside":
                causes = (e.label for e in self.chart.edges(node) if rest[0] in e.heard and sort_of(e.label) == name)
                return self._give_inside(next(causes), *rest)
            case _:
                causes = (edge.label for edge in self.chart.edges(node) if name in edge.heard)
                return self._give_inside(next(causes), name, *rest)

    def _give_move(self, name: str) -> bool:
        return self._give(_named(plain(self.trial.machine), name))

    def _give_stack(self, name: str) -> bool:
        machine = self.trial.machine
        kind = machine.gates[0].view.kind if machine.gates else None
        ops = (operation(part, kind, self._make) for part in name.split("; "))
        command = v.Batch(tuple(op for op in ops if op is not None))
        return label(command, machine) == name and self._give(lambda _: command)

    def _give_inside(self, cause: str, event: str, name: str, breaks: int = 0) -> bool:
        kind = event.removeprefix("gate:") if event.startswith("gate:") else None
        op = operation(name, kind, self._make)  # type: ignore[arg-type]  # events name kinds of gates
        if op is None or operation_label(op, self.trial.machine) != name:
            return False
        return self._give(lambda _: v.Arm(event, (op,), defer=breaks)) and self._give_move(cause)

    def _give(self, make: Make | None) -> bool:
        """Give a command, if there is one that can be given, and cross off what it reached."""
        if make is None:
            return False
        command = make(self._make)
        if isinstance(command, v.Resume) and not self.trial.allows(command):
            return False
        if (failure := self.trial.do(command)) is not None:
            self._collect(failure)
            raise _LostError
        for transition in self.tracker.latest:
            self.chart.cross_off(transition)
        return True

    def _collect(self, failure: RuleFailure) -> None:
        if not self.collector(failure):
            raise TourEndedError


def _named(offered: Iterator[tuple[str, Make]], name: str) -> Make | None:
    return next((make for offered_name, make in offered if offered_name == name), None)


def take(trial: Trial, collector: Collector) -> Tour:
    """
    Take the candidate of a trial on a whole tour.

    Args:
        trial: opened, with whatever tracker it has.
        collector: takes each failure, and says whether the tour goes on.

    Raises:
        DriverFault: the candidate's driver broke down.
    """
    tour = Tour(trial, collector)
    with suppress(TourEndedError):
        tour.run()
    trial.close()
    return tour
