"""
Judge a candidate step by step: its observation must equal one that the rules allow.

The oracle holds *hypotheses*: a machine together with the policies it has had to assume. Each request is played on
every hypothesis; where a rule asks for a freedom that isn't settled yet, or a deferred operation may land here or
later, the play forks. A play ends at its first difference from what was observed, so that the forks stay few. What
survives explains everything seen so far; when nothing does, the furthest play names the difference and its rules.
Hypotheses in one state share one machine, and one play of it where they agree on all that it asks.
Policies outlive a reset: a candidate lives by one value throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import define, evolve, field, frozen

from turnproof.hypotheses import Difference, Failure, Forks, Hypothesis, Played, distinct
from turnproof_model.contracts import SHOWS, forbids, is_abort, rule_book
from turnproof_model.events import (
    Event,
    GateOpened,
    PluginEvent,
    StepEnd,
    ToolResult,
    TurnEnd,
    Unhandled,
    Warned,
)
from turnproof_model.machine import Machine
from turnproof_model.observation import GateView, InboxView, Observation, Profile
from turnproof_model.policies import POLICIES
from turnproof_model.surroundings import Demand, Setting
from turnproof_model.vocabulary import Command, Contract, Release, Resume

MOST_PLAYS = 20_000
"""Plays of one request after which the oracle gives up: the schedule is too ambiguous to judge."""


_UNRULED: frozenset[type[Event]] = frozenset({PluginEvent, Warned, Unhandled})
"""Events that no rule speaks of."""

_REPAIRS: frozenset[type[Event]] = frozenset({ToolResult, StepEnd, TurnEnd})
"""Events that crash repair may publish or not."""


class AmbiguousError(Exception):
    """Say that a request has too many lawful readings to be judged; the schedule is to be dropped, not failed."""


@frozen
class Judgement:
    """Hold what one observation was found to be; ``difference`` is ``None`` where it conforms."""

    difference: Difference | None
    rules: tuple[str, ...] = ()
    expected: tuple[Event, ...] = ()

    @property
    def conforms(self) -> bool:
        """Whether some hypothesis explains the observation."""
        return self.difference is None


class _DiffersError(Exception):
    """End a play at its first difference."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.where)
        self.difference = difference


@define
class Oracle:
    """
    Judge one candidate under one contract.

    ``profile`` tells capabilities and tools. ``unseen`` names what a
    recording doesn't show: ``gate/open`` (and marks of aborted gates), ``answer``.
    ``followed`` names the deviations past which the oracle may follow the candidate. ``assumed`` are
    policies that the candidate has shown elsewhere.
    """

    profile: Profile
    contract: Contract = "window"
    unseen: frozenset[str] = frozenset()
    followed: frozenset[str] = frozenset()
    assumed: tuple[tuple[str, str], ...] = ()
    hypotheses: list[Hypothesis] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.hypotheses = [Hypothesis(self._fresh(), self.assumed)]

    def _fresh(self) -> Machine[Any]:
        tools = dict(self.profile.tools) or {"par": "parallel", "exc": "exclusive"}
        return Machine(rule_book(self.contract), Setting(dict(self.profile.capabilities), tools))

    def reopen(self) -> None:
        """Forget the state of the candidate, which a failure has made unknown, but not the policies it lives by."""
        self._begin_anew(dict.fromkeys(hypothesis.policies for hypothesis in self.hypotheses))

    def learn(self, other: Oracle) -> None:
        """
        Take over the policies that the same candidate has shown beside this session, and forget the session's state.

        Where nothing explains both, the candidate contradicts itself: the other's stand, and this session will fail.
        """
        shown = dict.fromkeys(hypothesis.policies for hypothesis in other.hypotheses)
        own = dict.fromkeys(hypothesis.policies for hypothesis in self.hypotheses)
        joint = dict.fromkeys(both for mine in own for theirs in shown if (both := _joint(mine, theirs)) is not None)
        self._begin_anew(joint or shown)

    def _begin_anew(self, policies: Iterable[tuple[tuple[str, str], ...]]) -> None:
        fresh = self._fresh()
        self.hypotheses = [Hypothesis(fresh, kept) for kept in policies]

    # -------------------------------------------------------------------------------------------- judging
    def judge(self, command: Command, observed: Observation) -> Judgement:
        """
        Hold an observation against every hypothesis and keep those that explain it.

        Raises:
            MisuseError: the command can't be given in this state; nothing has changed.
            AmbiguousError: there are too many lawful readings.
        """
        survivors: list[Hypothesis] = []
        furthest: Failure | None = None
        events = self.judged_events(command, observed)
        played: list[Played] = []
        for hypothesis in self.hypotheses:
            plays = next((plays for plays in played if plays.stands_for(hypothesis)), None)
            if plays is None:
                played.append(plays := self._plays(hypothesis, command, observed, events))
            for ending in plays.endings_of(hypothesis):
                if isinstance(ending, Hypothesis):
                    survivors.append(ending)
                elif furthest is None or _reach(ending[0]) > _reach(furthest[0]):
                    furthest = ending
        if not survivors:
            assert furthest is not None
            return Judgement(furthest[0], expected=furthest[1])
        self.hypotheses = distinct(survivors)
        machine = survivors[0].machine
        rules = [rule for demand in machine.demands for rule in demand.rules]
        return Judgement(None, (*rules, *machine.cited), tuple([demand.event for demand in machine.demands]))

    def _plays(self, hypothesis: Hypothesis, command: Command, observed: Observation, events: list[Event]) -> Played:
        """Play the command in every way that agrees with the observation for as long as it can."""
        todo: list[tuple[int, ...]] = [()]
        endings: list[Hypothesis | Failure] = []
        asked: set[str] = set()
        for _ in range(MOST_PLAYS):
            if not todo:
                return Played(hypothesis, tuple(endings), asked)
            forks = Forks(dict(hypothesis.policies), todo.pop(), self.followed, asked)
            machine = hypothesis.machine.copy(forks, self._listen(events))
            try:
                self._compare(machine, machine.ask(command), observed, events)
            except _DiffersError as differs:
                difference = evolve(differs.difference, gone=machine.s.life == "gone")
                endings.append((difference, tuple(demand.event for demand in machine.demands)))
            else:
                settled = forks.settled
                known = hypothesis.policies  # nothing is ever taken out of them
                policies = known if len(settled) == len(known) else tuple(sorted(settled.items()))
                endings.append(Hypothesis(machine, policies))
            todo.extend(forks.others())
        raise AmbiguousError(f"{command} has over {MOST_PLAYS} lawful readings")

    def require(self, command: Command) -> None:
        """
        Make sure that the first hypothesis lets the command be given now.

        Raises:
            MisuseError: no driver could be asked that.
        """
        if isinstance(command, Release):
            self.machine.settled_by(command)  # its only guard: nothing has to be played
        else:
            self.expect(command)

    def expect(self, command: Command) -> tuple[Demand, ...]:
        """Tell what the first hypothesis demands, without an observation; nothing is kept."""
        hypothesis = self.hypotheses[0]
        machine = hypothesis.machine.copy(Forks(dict(hypothesis.policies), (), self.followed))
        machine.play(command)
        return tuple(machine.demands)

    @property
    def machine(self) -> Machine[Any]:
        """The machine of the first hypothesis: what is enabled now is read from it."""
        return self.hypotheses[0].machine

    @property
    def latitude(self) -> dict[str, list[str]]:
        """The values of each freedom that still explain everything."""
        names = sorted({name for hypothesis in self.hypotheses for name, _ in hypothesis.policies})
        return {
            name: sorted({value for h in self.hypotheses for n, value in h.policies if n == name}) for name in names
        }

    @property
    def settled(self) -> tuple[tuple[str, str], ...]:
        """The policies that every hypothesis lives by."""
        first, *others = (set(hypothesis.policies) for hypothesis in self.hypotheses)
        return tuple(sorted(first.intersection(*others)))

    @property
    def deviations(self) -> list[str]:
        """The deviations that were needed to follow the candidate."""
        return sorted(
            name
            for name, values in self.latitude.items()
            if POLICIES[name].deviation and POLICIES[name].default not in values
        )

    # -------------------------------------------------------------------------------------------- comparing
    def judged_events(self, command: Command, observed: Observation) -> list[Event]:
        """Leave out what no rule speaks of: plugins' events, warnings, and the repairs of a crash resume."""
        crashed = isinstance(command, Resume) and command.mode in ("crash", "fork")
        ignored = _UNRULED | _REPAIRS if crashed else _UNRULED
        return [event for event in observed.events if type(event) not in ignored]

    def _listen(self, events: list[Event]) -> Any:
        position = 0
        hidden = "gate/open" in self.unseen

        def listen(_: int, demand: Demand) -> None:
            nonlocal position
            if hidden and isinstance(demand.event, GateOpened):
                return
            seen = events[position] if position < len(events) else None
            if seen is None or not demand.event.admits(seen):
                rules = self._forbids(seen) if not demand.rules or is_abort(seen) else demand.rules
                raise _DiffersError(Difference("events", rules, demand.event, seen, position))
            position += 1

        return listen

    def _forbids(self, event: Event | None) -> tuple[str, ...]:
        return () if event is None else forbids(self.contract, event)

    def _compare(
        self, machine: Machine[Any], expected: Observation, observed: Observation, events: list[Event]
    ) -> None:
        """Hold the rest of the observation against the machine; raise at the first difference."""
        judged = len(machine.demands)
        if "gate/open" in self.unseen:
            judged -= sum(isinstance(demand.event, GateOpened) for demand in machine.demands)
        if len(events) > judged:
            extra = events[judged]
            raise _DiffersError(Difference("events", self._forbids(extra), None, extra, judged))
        for where, mine, theirs in self._fields(machine, expected, observed):
            if mine != theirs:
                refusal = machine.refusal.rules if where == "refused" and machine.refusal else ()
                rules = refusal or SHOWS[self.contract].get(where, ())
                raise _DiffersError(Difference(where, rules, mine, theirs, len(events)))

    def _fields(
        self, machine: Machine[Any], expected: Observation, observed: Observation
    ) -> Iterator[tuple[str, object, object]]:
        """Pair what is compared beside the events, most telling first; what isn't shown isn't compared."""
        yield "refused", expected.refused is not None, observed.refused is not None
        yield "status", expected.status, observed.status
        if observed.inbox is not None and expected.inbox is not None:
            yield "inbox", _shown(expected.inbox, observed.inbox), observed.inbox
        if expected.gates != observed.gates:  # equal views need no second look
            yield "gates", tuple(map(self._gate, expected.gates)), tuple(map(self._gate, observed.gates))
            yield "gate_numbers", *_numbers(expected.gates, observed.gates)
        if expected.accepts_next_step is not None and observed.accepts_next_step is not None:
            yield "accepts_next_step", expected.accepts_next_step, observed.accepts_next_step
        if observed.when_idle is not None and not machine.idle_then_deferred:
            yield "when_idle", expected.when_idle, observed.when_idle
        if expected.answer is not None and "answer" not in self.unseen:
            yield "answer", expected.answer, observed.answer
        yield "goal", expected.goal, observed.goal

    def _gate(self, gate: GateView) -> tuple[object, ...]:
        aborted = None if "gate/open" in self.unseen else gate.aborted
        return (gate.id, gate.kind, aborted, gate.message, gate.claimed, gate.call_id)


def _joint(
    mine: tuple[tuple[str, str], ...], theirs: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...] | None:
    """Join two sets of policies, unless they contradict each other."""
    joint = dict(mine)
    if any(joint.setdefault(name, value) != value for name, value in theirs):
        return None
    return tuple(sorted(joint.items()))


def _numbers(expected: tuple[GateView, ...], observed: tuple[GateView, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Pair the turns and steps that gates are about, where the candidate tells them."""
    pairs = [
        (mine, theirs)
        for gate, shown in zip(expected, observed, strict=True)
        for mine, theirs in ((gate.turn, shown.turn), (gate.step, shown.step))
        if mine is not None and theirs is not None
    ]
    return tuple(mine for mine, _ in pairs), tuple(theirs for _, theirs in pairs)


def _shown(expected: InboxView, observed: InboxView) -> InboxView:
    """Leave the kinds of the next-step list out where the observation doesn't show them."""
    if observed.next_step_kinds is None:
        return InboxView(expected.next_turn, expected.next_step)
    return expected


def _reach(difference: Difference) -> tuple[int, bool]:
    """Order differences by how far the play came: later events first, then fields after all events."""
    return difference.index, difference.where != "events"
