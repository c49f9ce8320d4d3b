"""
Put one candidate through one schedule after another, and stop a schedule at the first broken rule.

A ``Trial`` joins a client, the oracle and the monitors: each command goes to all three, and what they say becomes one
verdict. Monitors name the rule where they can; the oracle, which compares exactly, names it where they are silent.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from attrs import define, field, frozen

from turnproof.coverage.tracker import Tracker
from turnproof.hypotheses import Difference
from turnproof.oracle import AmbiguousError, Judgement, Oracle
from turnproof_model.events import DisposeResolved, Event
from turnproof_model.monitors.base import Violation, sight
from turnproof_model.monitors.watch import Watch
from turnproof_model.observation import Observation, Profile
from turnproof_model.surroundings import MisuseError
from turnproof_model.vocabulary import Command, Contract, Release, Reset, Resume


class Answers(Protocol):
    """Be the part of a client that a trial needs."""

    def ask(self, request: Command) -> Observation:
        """Perform one request."""


class Asks(Answers, Protocol):
    """Be the part of a client that it takes to open a trial."""

    def initialize(self) -> Profile:
        """Open the conversation."""


@frozen
class Signature:
    """
    Tell one way of failing from another: the first rule, and the kinds of what was expected and observed.

    The first rule is that of the first event that is wrong; what it brings about breaks others, now these and now
    those. After a disposal that has resolved nothing is told apart: an agent that isn't gone does everything wrong.
    """

    rule: str
    where: str
    expected: str
    observed: str

    @property
    def digest(self) -> str:
        """A short name for it, the same in every run."""
        return hashlib.sha256(repr((self.rule, self.where, self.expected, self.observed)).encode()).hexdigest()[:16]


GONE = Signature("", "gone", "", "")
"""The one way of failing after a disposal has resolved."""


@frozen
class RuleFailure:
    """
    Hold one broken promise: the schedule that shows it, the rules, and what differs.

    ``schedule`` begins with its reset and ends with the command whose observation differs. ``disagreement``: a
    monitor saw a rule broken where the oracle was content, which is a fault of turnproof. ``assumed``: the
    policies that the candidate had shown before, without which the failure might be read as freedom.
    """

    rules: tuple[str, ...]
    schedule: tuple[Command, ...]
    difference: Difference | None
    violations: tuple[Violation, ...]
    expected: tuple[Event, ...]
    observation: Observation
    assumed: tuple[tuple[str, str], ...] = ()

    @property
    def disagreement(self) -> bool:
        """Whether monitors and oracle contradict each other."""
        return self.difference is None

    @property
    def signature(self) -> Signature:
        """What tells this failure from others."""
        rule, difference = next(iter(self.rules), ""), self.difference
        if difference is None:
            return Signature(rule, "monitor", "", "")
        if difference.gone:
            return GONE
        return Signature(rule, difference.where, _sort(difference.expected), _sort(difference.observed))


def _sort(value: object) -> str:
    return value.type if isinstance(value, Event) else type(value).__name__


class RuleBrokenError(AssertionError):
    """Carry a rule failure out of a test; the message is meant for a person."""

    def __init__(self, failure: RuleFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure


@define
class Trial:
    """
    Judge the candidate behind one client, schedule by schedule.

    Attributes:
        unseen, assumed: see ``Oracle``.
        exercised: how often the premise of each rule occurred, over all schedules.
        commands: requests sent so far, resets among them.
        patient: whether the monitors are told of a schedule as a whole, at its end or where the oracle objects. All
            of it is found as well, and for less, but a failure that monitors alone see is told late.
        tracker: told of every command whose observation conforms, where somebody counts what was reached.
    """

    client: Answers
    contract: Contract
    profile: Profile
    unseen: frozenset[str] = frozenset()
    assumed: tuple[tuple[str, str], ...] = ()
    exercised: Counter[str] = field(factory=Counter)
    commands: int = 0
    tracker: Tracker | None = None
    patient: bool = False
    oracle: Oracle = field(init=False)
    watch: Watch = field(init=False)
    schedule: list[Command] = field(factory=list)
    _disposed: bool = field(default=False, init=False)
    _failed: bool = field(default=False, init=False)
    _finished: bool = field(default=False, init=False)
    _answer: Observation = field(factory=Observation, init=False)
    _untold: list[tuple[int, Observation, Judgement]] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.oracle = Oracle(self.profile, self.contract, unseen=self.unseen, assumed=self.assumed)
        self.watch = self._new_watch()

    def _new_watch(self) -> Watch:
        hidden = frozenset({"gates"}) if "gate/open" in self.unseen else frozenset()
        return Watch(self.profile, sight(self.profile) - hidden)

    @classmethod
    def open(cls, client: Asks, contract: Contract | None = None, assumed: tuple[tuple[str, str], ...] = ()) -> Trial:
        """
        Initialize the candidate and get ready to judge it.

        Raises:
            ValueError: the candidate declares another contract.
        """
        profile = client.initialize()
        if contract is not None and profile.contract != contract:
            raise ValueError(f"the candidate declares contract {profile.contract!r}, not {contract!r}")
        return cls(client, profile.contract, profile, assumed=assumed)

    @property
    def machine(self) -> Any:
        """The machine of the leading hypothesis: what may be done next is read from it."""
        return self.oracle.machine

    @property
    def disposed(self) -> bool:
        """Whether this schedule's agent has resolved a disposal, and no resume came after it."""
        return self._disposed

    def allows(self, command: Command) -> bool:
        """Tell whether the command can be given now, by the rules' own guards."""
        try:
            self.oracle.require(command)
        except MisuseError:
            return False
        return True

    def begin(self, reset: Reset) -> RuleFailure | None:
        """Start a new schedule."""
        self.rewind()
        return self.do(reset)

    def rewind(self) -> None:
        """Get ready for a new schedule, which begins with a reset; one that wasn't ended counts as broken off."""
        self._leave_watch()
        self.schedule = []
        self._failed = False

    def end(self) -> RuleFailure | None:
        """
        End the schedule and judge what only its end can tell.

        Returns:
            The failure that the end shows; ``None`` after another failure. Only a new schedule may follow.
        """
        failure = self.tell_monitors()
        known = len(self.watch.report.violations)
        self._finish_watch()
        violations = tuple(self.watch.report.violations[known:])
        if self._failed or not violations:
            return failure
        return self._failure(self.schedule, self._answer, Judgement(None), violations)

    def do(self, command: Command) -> RuleFailure | None:
        """
        Give one command to candidate, oracle and monitors.

        Returns:
            The failure that ends this schedule, or ``None``. After a failure only ``begin`` may follow.

        Raises:
            MisuseError: the command can't be given now; nothing was sent.
            DriverFault: the candidate's driver broke down.
        """
        self.enter(command)
        return self.judge(self.client.ask(command))

    def enter(self, command: Command) -> None:
        """
        Enter a command into the schedule: it is about to be sent, and its observation judged next.

        Raises:
            MisuseError: the command can't be given now; nothing was entered.
        """
        if isinstance(command, (Release, Resume)):
            self.oracle.require(command)
        self.schedule.append(command)
        self.commands += 1

    def judge(self, observation: Observation) -> RuleFailure | None:
        """
        Judge what came back for the command that was entered last.

        Returns:
            The failure that ends this schedule, or ``None``. After a failure only a reset may follow.
        """
        command, self._answer = self.schedule[-1], observation
        if isinstance(command, (Reset, Resume)):
            self._disposed = False
        self._disposed = self._disposed or DisposeResolved in map(type, observation.events)
        before = self.oracle.machine
        try:
            judgement = self.oracle.judge(command, observation)
        except AmbiguousError:
            return self.tell_monitors() or self.begin(Reset())
        self._untold.append((len(self.schedule), observation, judgement))
        failure = None if self.patient and judgement.conforms else self.tell_monitors()
        if failure is None and self.tracker is not None:
            self.tracker.note(command, before, self.oracle)
        return failure

    def tell_monitors(self) -> RuleFailure | None:
        """
        Tell the monitors of the commands that they haven't been told of yet.

        Returns:
            The failure that ends this schedule, at the first command that they or the oracle object to.
        """
        untold, self._untold = self._untold, []
        self.exercised.update([rule for _, _, judgement in untold for rule in judgement.rules])
        for given, observation, judgement in untold:
            known = len(self.watch.report.violations)
            self.watch.feed(self.schedule[given - 1], observation)
            violations = tuple(self.watch.report.violations[known:])
            if violations or not judgement.conforms:
                return self._failure(self.schedule[:given], observation, judgement, violations)
        return None

    def _failure(
        self,
        schedule: Sequence[Command],
        observation: Observation,
        judgement: Judgement,
        violations: tuple[Violation, ...],
    ) -> RuleFailure:
        self._failed = True
        named = tuple(dict.fromkeys(violation.rule for violation in violations))
        by_contract = tuple(rule for rule in named if not rule.startswith("K-"))
        rules = by_contract or (judgement.difference.rules if judgement.difference else ()) or named
        assumed = self.oracle.settled
        self.oracle.reopen()
        return RuleFailure(
            rules, tuple(schedule), judgement.difference, violations, judgement.expected, observation, assumed
        )

    def close(self) -> None:
        """Count what the last schedule exercised."""
        self._leave_watch()

    def _finish_watch(self) -> None:
        if not self._finished:
            self.watch.finish()
            self._finished = True

    def _leave_watch(self) -> None:
        """Count what the monitors saw exercised in this schedule, to its end, and let them forget it."""
        self.tell_monitors()
        self._finish_watch()
        self.exercised.update(self.watch.report.exercised)
        self.watch.renew()
        self._finished = False
