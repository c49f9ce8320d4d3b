"""
Search the situations of settled agents: which there are, which moves lead from one to another, what is published.

A driver is asked only while everything waits, so this graph has an edge for each command, not for each move of the
loop. It is finite without a bound on the length of schedules: moves that would leave more waiting than there is
*room* for are left out, and a situation forgets all that grows. It is searched with the rules themselves, once for
each *setting*, which says which gates the runner has and how they hear an abort.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from turnproof.coverage.moves import plain, variants
from turnproof.coverage.situations import Situation, circumstances, pending, place, situation
from turnproof.making import Maker
from turnproof_model.contracts import rule_book
from turnproof_model.events import Event, GateOpened
from turnproof_model.machine import Machine
from turnproof_model.observation import Implementation, Profile
from turnproof_model.policies import POLICIES, Policy
from turnproof_model.surroundings import Chooser, MisuseError, Setting
from turnproof_model.vocabulary import CAPABILITIES, OPTIONAL_GATES, TURN_GATES, Command, Contract, Reset


@frozen
class Room:
    """
    Bound a search: how many messages may be pending, how many calls a batch may have, and how much there may be.

    At once counts messages, calls, and every circumstance that a turn has gathered: see ``circumstances``.
    """

    pending: int
    calls: int
    at_once: int

    def holds(self, machine: Any) -> bool:
        """Tell whether a situation is within."""
        waiting = pending(machine)
        s = machine.s
        calls = len(s.batch.slots) if s.at == "tools" else 0
        claimed = s.claimed.size if s.at == "decided" else 0
        at_once = waiting + calls + claimed + circumstances(machine)
        return waiting <= self.pending and calls <= self.calls and at_once <= self.at_once


@frozen
class Ground:
    """Name one setting: the reset that makes it, and the room that is searched."""

    name: str
    reset: Reset
    room: Room


def grounds(contract: Contract) -> tuple[Ground, ...]:
    """List the settings whose situations count: gates that heed an abort, gates that don't, and all optional gates."""
    usual = TURN_GATES[contract]
    parked = Reset(None, dict.fromkeys(usual, "park"))
    if contract == "claim":
        return (Ground("heeding", Reset(), Room(2, 2, 2)), Ground("parking", parked, Room(1, 1, 1)))
    found = (Ground("heeding", Reset(), Room(2, 2, 2)), Ground("parking", parked, Room(1, 1, 2)))
    return (*found, Ground("all gates", Reset((*usual, *OPTIONAL_GATES[contract])), Room(1, 1, 2)))


@frozen
class Edge:
    """
    Be one move: its label, the situation after it by number, and what is published on the way, each name once.

    ``assumed``: the freedoms that it depends on, with their values.
    """

    label: str
    after: int
    heard: tuple[str, ...]
    assumed: tuple[tuple[str, str], ...] = ()


@frozen
class Part:
    """Hold the situations of one setting by number, the first being that after the reset."""

    ground: str
    situations: tuple[Situation, ...]
    edges: tuple[tuple[Edge, ...], ...]


@frozen
class Graph:
    """Hold what was searched; ``variants`` are the labels that each place offers."""

    contract: Contract
    parts: tuple[Part, ...]
    variants: Mapping[str, tuple[str, ...]] = field(hash=False)


def heard_as(event: Event) -> str:
    """Name an event as an arm waits for it."""
    return f"gate:{event.gate_kind}" if isinstance(event, GateOpened) else event.type


@define
class _Ways(Chooser):
    """Take prepared values of the freedoms that are asked for, then the usual ones; remember what was asked."""

    prepared: tuple[str, ...] = ()
    asked: dict[str, str] = field(factory=dict)

    def policy(self, policy: Policy) -> str:
        """Pick the value of a named freedom."""
        if policy.deviation:
            return policy.default
        if policy.name not in self.asked:
            at = len(self.asked)
            self.asked[policy.name] = self.prepared[at] if at < len(self.prepared) else policy.default
        return self.asked[policy.name]

    def others(self) -> Iterator[tuple[str, ...]]:
        """List the ways that branch off behind what was prepared."""
        taken = tuple(self.asked.values())
        for at, name in list(enumerate(self.asked))[len(self.prepared) :]:
            for value in POLICIES[name].values[1:]:
                yield (*taken[:at], value)


@frozen
class _Searcher:
    profile: Profile
    offered: dict[str, dict[str, None]] = field(factory=dict)

    def part(self, ground: Ground) -> Part:
        """Search one setting."""
        setting = Setting(self.profile.capabilities, dict(self.profile.tools))
        first: Machine[Any] = Machine(rule_book(self.profile.contract), setting)
        first.ask(ground.reset)
        numbers: dict[Situation, int] = {situation(first): 0}
        todo = deque([first])
        edges: list[tuple[Edge, ...]] = []
        while todo:
            machine = todo.popleft()
            found: list[Edge] = []
            for label, make in plain(machine):
                for after, assumed in self._ways(machine, make(self._maker(machine)), ground.room):
                    at = situation(after)
                    number = numbers.get(at)
                    if number is None:
                        number = numbers[at] = len(numbers)
                        todo.append(after)
                    heard = tuple(dict.fromkeys(heard_as(demand.event) for demand in after.demands))
                    found.append(Edge(label, number, heard, assumed))
            edges.append(tuple(found))
            self._note_variants(machine)
        return Part(ground.name, tuple(numbers), tuple(edges))

    def _ways(
        self, machine: Machine[Any], command: Command, room: Room
    ) -> Iterator[tuple[Machine[Any], tuple[tuple[str, str], ...]]]:
        """Give a command under every value of the freedoms that it asks for."""
        todo: list[tuple[str, ...]] = [()]
        while todo:
            ways = _Ways(todo.pop(0))
            after = machine.copy(ways)
            try:
                after.ask(command)
            except MisuseError:
                return
            todo.extend(ways.others())
            if room.holds(after):
                yield after, tuple(ways.asked.items())

    def _note_variants(self, machine: Machine[Any]) -> None:
        labels = self.offered.setdefault(place(situation(machine)), {})
        for label, make in variants(machine):
            if label not in labels and _can(machine, make(self._maker(machine))):
                labels[label] = None

    def _maker(self, machine: Machine[Any]) -> Maker:
        """Make values whose names nothing bears that the machine knows."""
        make = Maker(self.profile, lambda: machine, lambda options: options[0])
        make.made.extend(machine.history.known.values())
        make.contexts = make.calls = len(machine.history.known) + machine.gate_count
        return make


def whole(contract: Contract) -> Profile:
    """Be a candidate that declares everything but what a contract knows two ways of."""
    capabilities = dict.fromkeys(CAPABILITIES, True) | {"sessionReentry": contract == "window"}
    tools: dict[str, Any] = {"par": "parallel", "exc": "exclusive"}
    return Profile(Implementation("any", ""), contract, 1, capabilities, (), tools)


def _can(machine: Machine[Any], command: Command) -> bool:
    try:
        machine.copy(Chooser()).ask(command)
    except MisuseError:
        return False
    return True


def explore(contract: Contract) -> Graph:
    """Search all settings of a contract, for a candidate that declares everything."""
    profile = whole(contract)
    searcher = _Searcher(profile)
    parts = tuple(map(searcher.part, grounds(profile.contract)))
    return Graph(profile.contract, parts, {at: tuple(labels) for at, labels in searcher.offered.items()})
