"""
Find the shortest schedule on which two candidates behave differently.

Both are given the same commands. First all schedules of plain commands are tried in order of length, going on only
from states of the rules that are new, so that what is found first is the shortest; where that budget ends without a
difference, the search of the suite goes on, and what it finds is made short. Afterwards each candidate is judged alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from attrs import define, field, frozen

from turnproof.candidate import Candidate
from turnproof.client import Client
from turnproof.engine import BudgetSpent, Engine, search
from turnproof.parting import Parting, Side, apart
from turnproof.recorded import plain
from turnproof.score import value_text
from turnproof.shrink import Part, as_part, play, smaller_schedules
from turnproof.trial import RuleFailure, Trial
from turnproof_model import vocabulary as v
from turnproof_model.observation import Observation, Profile
from turnproof_model.policies import POLICIES
from turnproof_model.surroundings import MisuseError

PLAIN_COMMANDS = 4_000
"""Commands spent on trying all short schedules."""

SHORTENING_COMMANDS = 4_000
"""Commands spent on making a found schedule short."""


@frozen
class Point:
    """Hold where two observations differ, and the two values."""

    where: str
    one: object
    other: object


class PartedError(BudgetSpent):
    """End a search: the two were seen to differ."""

    def __init__(self, point: Point) -> None:
        super().__init__(point.where)
        self.point = point


@define
class Both:
    """Be a client that asks two candidates, answers for the first, and ends the search where they differ."""

    one: Client
    other: Client
    profiles: tuple[Profile, Profile] | None = None
    parted: Point | None = None

    def initialize(self) -> Profile:
        """
        Open both conversations, and declare what both of them do.

        Raises:
            ValueError: they keep different contracts.
        """
        mine, theirs = self.one.initialize(), self.other.initialize()
        if mine.contract != theirs.contract:
            found = " and ".join(f"{p.contract} of {p.implementation.name}" for p in (mine, theirs))
            raise ValueError(f"two agents are compared under one contract (got {found})")
        self.profiles = (mine, theirs)
        shared = {name: mine.has(name) and theirs.has(name) for name in {*mine.capabilities, *theirs.capabilities}}
        return Profile(mine.implementation, mine.contract, mine.protocol, shared, mine.gates, mine.tools)

    def ask(self, request: v.Command) -> Observation:
        """Ask both."""
        self.parted = None
        mine, theirs = self.one.ask(request), self.other.ask(request)
        difference = apart(mine, theirs)
        if difference is not None:
            self.parted = Point(*difference)
            raise PartedError(self.parted)
        return mine


@frozen
class Found:
    """Hold a schedule that parts the two, as commands and as parts that can be shortened."""

    parts: tuple[Part, ...]
    schedule: tuple[v.Command, ...]
    point: Point


def part(one: Candidate, other: Candidate, *, commands: int = 20_000, seed: int = 1) -> Parting | None:
    """
    Find a schedule on which two candidates behave differently, as short as the budget lets it be.

    Args:
        one: a candidate.
        other: another, or another version, of the same contract.
        commands: given to both before giving up, besides those spent on making a schedule short.
        seed: where the choices of the search come from.

    Returns:
        ``None`` where no difference was found.

    Raises:
        ValueError: they keep different contracts.
        DriverFault: one of the drivers broke down.
    """
    both = Both(one.connect(), other.connect())
    try:
        trial = Trial.open(both)
        hunt = Hunt(trial, both)
        found = hunt.shortest(min(PLAIN_COMMANDS, commands))
        shortest = found is not None
        if found is None:
            found = hunt.by_chance(commands - PLAIN_COMMANDS, seed)
        if found is None:
            return None
        assert both.profiles is not None
        point = found.point
        (mine, kept), (theirs, taken) = (
            _judged(client, trial.contract, found.schedule) for client in (both.one, both.other)
        )
        return Parting(
            trial.contract,
            found.schedule,
            point.where,
            Side(both.profiles[0].implementation, value_text(point.one), plain(point.one), mine),
            Side(both.profiles[1].implementation, value_text(point.other), plain(point.other), theirs),
            shortest,
            _taken_differently(kept, taken),
        )
    finally:
        both.one.close()
        both.other.close()


def _judged(
    client: Client, contract: v.Contract, schedule: tuple[v.Command, ...]
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Judge one of the two on the schedule: the rules that it breaks, and the freedoms that it takes."""
    trial = Trial.open(client, contract)
    failure = play(trial, schedule)
    return (() if failure is None else failure.rules), trial.oracle.latitude


def _taken_differently(mine: dict[str, list[str]], theirs: dict[str, list[str]]) -> tuple[str, ...]:
    """Name the freedoms that no one value explains in both."""
    return tuple(name for name in POLICIES if name in mine and name in theirs and not {*mine[name]} & {*theirs[name]})


# ------------------------------------------------------------------------------------------------ searching
@define
class Hunt:
    """Look for a difference behind one trial of both."""

    trial: Trial
    both: Both
    seen: set[str] = field(factory=set)

    def shortest(self, budget: int) -> Found | None:
        """Try schedules of plain commands in order of length, and go on only from states that are new."""
        todo: deque[tuple[Part, ...]] = deque([(v.Reset(),)])
        limit = self.trial.commands + budget
        while todo and self.trial.commands < limit:
            parts = todo.popleft()
            found, going = self._played(parts)
            if found is not None:
                return found
            state = repr(self.trial.machine.fingerprint())
            if going and state not in self.seen:
                self.seen.add(state)
                todo.extend((*parts, option) for option in self._options(len(parts)))
        return None

    def _played(self, parts: tuple[Part, ...]) -> tuple[Found | None, bool]:
        """Play a schedule on both; tell whether it can go on: not where both break the same rule alike."""
        try:
            return None, play(self.trial, parts) is None
        except PartedError as error:
            schedule = tuple(self.trial.schedule)
            return Found(parts[: len(schedule)], schedule, error.point), False

    def _options(self, length: int) -> Iterator[Part]:
        """List the plain commands that can be given in the state that was reached."""
        profile = self.trial.profile
        message = v.Message(f"m{length}", f"m{length}")
        yield from (v.followup(message), v.steer(message), v.inject(message))
        yield v.Send(message, "next-turn", wakeup=False)
        yield v.Cancel("user")
        if profile.has("keepInbox"):
            yield v.Cancel("user", keep_inbox=True)
        for gate in self.trial.machine.gates:
            for outcome in _outcomes(gate.view.kind, length):
                yield as_part(self.trial, v.Release(outcome, gate=gate.view.id))
        if profile.has("dispose"):
            yield v.Dispose()
        if profile.has("resume"):
            yield v.Resume("crash")

    def by_chance(self, budget: int, seed: int) -> Found | None:
        """Let the suite's own search run until the two part, then make the schedule short."""
        if budget <= 0:
            return None
        search(Engine(self.trial, _go_on, self.trial.commands + budget), seed)
        if self.both.parted is None:  # nothing ended the search before its budget
            return None
        found, _ = self._played(self._as_parts(tuple(self.trial.schedule)))
        return None if found is None else self._shortened(found)

    def _as_parts(self, schedule: tuple[v.Command, ...]) -> tuple[Part, ...]:
        """Play a schedule that parts the two, to learn which gate each release means."""
        parts: list[Part] = []
        try:
            for command in schedule:
                parts.append(as_part(self.trial, command))
                if isinstance(command, v.Reset):
                    self.trial.begin(command)
                else:
                    self.trial.do(command)
        except (PartedError, MisuseError):
            pass
        return tuple(parts)

    def _shortened(self, found: Found) -> Found:
        """Leave out what the difference doesn't need; any difference of the same kind will do."""
        limit = self.trial.commands + SHORTENING_COMMANDS
        improved = True
        while improved and self.trial.commands < limit:
            improved = False
            for parts in smaller_schedules(found.parts):
                smaller, _ = self._played(parts)
                if smaller is not None and smaller.point.where == found.point.where:
                    found, improved = smaller, True
                    break
                if self.trial.commands >= limit:
                    break
        return found


def _go_on(_: RuleFailure) -> bool:
    """Go on past what both do alike, be it a broken rule."""
    return True


def _outcomes(kind: v.GateKind, length: int) -> Iterator[v.Outcome]:
    """List plain outcomes of a gate: the defaults, and one call of each tool."""
    for cls in v.OUTCOMES[kind]:
        if cls is v.Tools:
            yield v.Tools((v.Call(f"c{length}", "par"),))
            yield v.Tools((v.Call(f"c{length}", "exc"),))
        elif cls is not v.Partial:
            yield cls()  # type: ignore[call-arg]  # the others have no obligatory part
