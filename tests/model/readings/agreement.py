"""
Let observers and monitors judge the same run: one machine on real messages, watched from inside and from outside.

Observers read along with hooks and see the machine's state; monitors get requests and observations. One event of a run
may be left out, shown twice, or shown behind the next one: both sides get the edited stream, the machine doesn't.
"""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

import attrs
from attrs import define, field, frozen
from model.monitors import claim_streams, streams

from turnproof.generator import Generator
from turnproof_model import vocabulary as v
from turnproof_model.algebra import contexts_of
from turnproof_model.catalogue import rules
from turnproof_model.contracts import rule_book
from turnproof_model.events import Event, ToolResult
from turnproof_model.machine import Machine
from turnproof_model.monitors.watch import Watch
from turnproof_model.observation import Observation, Profile
from turnproof_model.policies import Policy
from turnproof_model.readings.observers import observer_of
from turnproof_model.readings.sight import ConcreteSight, Watching
from turnproof_model.rulebook import RuleBook
from turnproof_model.surroundings import Chooser, MisuseError, Setting

How: TypeAlias = Literal["as it is", "left out", "twice", "late"]

SETTINGS = {"window": streams.SETTING, "claim": Setting(dict.fromkeys(claim_streams.CAPABILITIES.split(), True))}
NEARBY = 2
"""A pair of messages is watched if one of them was made at most so many messages after the other."""

ENOUGH = 40
"""Gates that are released behind a schedule; rules that are broken on purpose may ask for ever."""


def profile_of(contract: v.Contract) -> Profile:
    """Tell what both sides may expect of the candidate."""
    return streams.profile() if contract == "window" else claim_streams.profile()


@define
class Coin(Chooser):
    """Live by some value of each freedom, and by none of the known deviations; the same whenever it is asked."""

    seed: int

    def policy(self, policy: Policy) -> str:
        lawful = policy.values[:1] if policy.deviation else policy.values
        return lawful[self._tossed(policy.name, len(lawful))]

    def once(self, what: str, options: int) -> int:
        return self._tossed(what, options)

    def _tossed(self, what: str, options: int) -> int:
        return zlib.crc32(f"{self.seed} {what} {options}".encode()) % options


# ------------------------------------------------------------------------------------------------ schedules
@frozen(eq=False)
class Schedule:
    """Be commands that a lawful machine can be asked, and the pairs of messages to watch."""

    contract: v.Contract
    seed: int
    commands: tuple[v.Command, ...]
    pairs: tuple[dict[str, str], ...]


@cache
def schedule(contract: v.Contract, seed: int, length: int = 30) -> Schedule:
    """Make one schedule; every kind of gate is the runner's, so that both sides see it."""
    coin, choices = Coin(seed), random.Random(seed)
    machine = Machine(rule_book(contract), SETTINGS[contract], coin)
    made = Generator(profile_of(contract), lambda: machine, lambda options: choices.choice(list(options)))
    optional = v.OPTIONAL_GATES[contract] if contract == "window" else ()
    told: v.Command = v.Reset((*v.TURN_GATES[contract], *optional), made.reset().on_abort)
    commands: list[v.Command] = []
    while len(commands) < length:
        twin = machine.copy(coin)
        try:
            twin.ask(told)
        except MisuseError:
            pass
        else:
            machine = twin
            commands.append(told)
        told = made.command()
        while _disposes_to_resume(told):
            told = made.command()
    return Schedule(contract, seed, tuple(commands), tuple(_pairs(contract, commands)))


def _disposes_to_resume(command: v.Command) -> bool:
    """Tell whether a request ends one agent and begins another: monitors leave open what belongs to which."""
    return isinstance(command, v.Resume) and command.mode in {"clean", "compact"}


def _pairs(contract: v.Contract, commands: Sequence[v.Command]) -> Iterator[dict[str, str]]:
    """Pair ids that were made near each other; an id follows one message where the observer takes it so."""
    made = Counter(_ids(commands))
    names = [name for name, count in made.items() if count == 1 or not observer_of(contract).once]
    for i, first in enumerate(names):
        yield from ({"A": first, "B": second} for second in names[i + 1 : i + 1 + NEARBY])


def _ids(value: Any) -> Iterator[str]:
    if isinstance(value, v.Message):
        yield value.id
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _ids(one)
    elif attrs.has(type(value)):
        for attribute in attrs.fields(type(value)):
            yield from _ids(getattr(value, attribute.name))


# ------------------------------------------------------------------------------------------------ a run
@frozen
class Edit:
    """Show one event otherwise: the ``place``-th of those that are durable or live, from 0."""

    how: How = "as it is"
    place: int = 0


@define(eq=False)
class Watched(Watching, Machine[Any]):
    """Run with sights, and keep what was shown; ``counted`` counts durable and live events."""

    sights: list[ConcreteSight] = field(factory=list, kw_only=True)
    depth: int = field(default=0, kw_only=True)
    edit: Edit = field(default=Edit(), kw_only=True)
    shown: list[Event] = field(factory=list, kw_only=True)
    counted: int = field(default=0, kw_only=True)
    held: Event | None = field(default=None, kw_only=True)

    def publish(self, event: Event, *rules: str) -> None:
        how = self._how(event)
        if isinstance(event, ToolResult):
            self._returns(event)
        if how == "late":
            self.held = event
        elif how != "left out":
            for _ in range(2 if how == "twice" else 1):
                self._show(event)
            self._release(event)
        self.depth += 1
        Machine.publish(self, event, *rules)
        self.depth -= 1
        if isinstance(event, ToolResult):
            self._tell("returned")

    def _how(self, event: Event) -> How:
        if event.kind not in {"session", "live"}:
            return "as it is"
        self.counted += 1
        return self.edit.how if self.counted - 1 == self.edit.place else "as it is"

    def _returns(self, event: ToolResult) -> None:
        slots = (slot for slot in self.s.batch.slots if slot.call.id == event.call_id)
        outcome = next((slot.outcome for slot in slots if not slot.settled_by_abort), None)
        self._tell("returns", contexts_of(outcome), getattr(outcome, "concludes", False))

    def _show(self, event: Event) -> None:
        for sight in self.sights:
            sight.look(self.s)
            sight.see(event)
        self.shown.append(event)

    def _release(self, event: Event) -> None:
        if self.held is not None and event.kind in {"session", "live"}:
            held, self.held = self.held, None
            self._show(held)

    def settle(self) -> None:
        super().settle()
        self.demand()


@frozen
class Judged:
    """Hold the rules that each side found broken, and how many events there were to edit."""

    observers: frozenset[str]
    monitors: frozenset[str]
    events: int


def judge(one: Schedule, book: RuleBook[Any] | None = None, edit: Edit = Edit()) -> Judged:  # frozen
    """
    Run a schedule to its end, let every gate settle by its default, and tell what each side says.

    Args:
        one: the schedule.
        book: the rules, perhaps broken ones, in which case the run ends where they raise or can't be asked.
        edit: of what is shown.
    """
    observer = observer_of(one.contract)
    coin = Coin(one.seed)
    sights = [ConcreteSight(observer, pair, coin.policy) for pair in one.pairs or ({},)]
    book = rule_book(one.contract) if book is None else book
    machine = Watched(book, SETTINGS[one.contract], coin, sights=sights, edit=edit)
    watch = Watch(profile_of(one.contract))
    for command, answer in _answers(machine, one.commands, lawful=book is rule_book(one.contract)):
        watch.feed(command, answer)
    monitors = {violation.rule for violation in watch.finish().violations}
    return Judged(frozenset(rule for sight in sights for rule in sight.broken), frozenset(monitors), machine.counted)


def _answers(
    machine: Watched, commands: Sequence[v.Command], *, lawful: bool
) -> Iterator[tuple[v.Command, Observation]]:
    try:
        for command in commands:
            yield command, _ask(machine, command)
        for _ in range(ENOUGH):
            if not machine.gates:
                return
            gate = machine.gates[0].view
            release = v.Release(v.DEFAULT_OUTCOME[gate.kind], gate=gate.id)
            yield release, _ask(machine, release)
    except Exception:
        if lawful:
            raise


def _ask(machine: Watched, command: v.Command) -> Observation:
    machine.shown = []
    return attrs.evolve(machine.ask(command), events=tuple(machine.shown))


def own(contract: v.Contract, broken: frozenset[str]) -> frozenset[str]:
    """Leave out the rules of ``core``, which no observer states."""
    return broken & {rule.id for rule in rules(contract)}
