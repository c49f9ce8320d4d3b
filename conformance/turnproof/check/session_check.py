"""
Check a driver session: every observation is held against the oracle and the monitors, as in a run.

A session shows everything, so that the oracle can compare exactly. A schedule is judged up to the first rule that
breaks in it; the next one begins with the next reset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from attrs import define, field

from turnproof.check.results import Blame, Damage, LogViolation, Place
from turnproof.check.session_blame import Moment, blame_session
from turnproof.check.sessions import Exchange, SessionLog
from turnproof.check.verdicts import rule_verdicts
from turnproof.hypotheses import Difference
from turnproof.oracle import AmbiguousError, Oracle
from turnproof.results import RuleResult
from turnproof.score import command_text, event_text, value_text
from turnproof_model import catalogue
from turnproof_model.events import Event
from turnproof_model.monitors import core_session
from turnproof_model.monitors.base import Judge, Report, Violation
from turnproof_model.surroundings import MisuseError
from turnproof_model.vocabulary import Reset


@define(eq=False)
class SessionCheck:
    """
    Take the exchanges of a session one by one.

    Attributes:
        log: of the session.
        core_only: whether to judge by the rules of ``core`` alone, as a session of any other contract.
        events: how many were seen; ``notes``, ``violations``, ``damage``: what was found.
    """

    log: SessionLog
    core_only: bool = False
    events: int = 0
    notes: list[str] = field(factory=list)
    violations: list[LogViolation] = field(factory=list)
    damage: list[Damage] = field(factory=list)
    _oracle: Oracle | None = field(init=False)
    _report: Report = field(init=False)
    _judge: Judge = field(init=False)
    _exercised: Counter[str] = field(factory=Counter)
    _silent: dict[str, str] = field(factory=dict)
    _over: bool = False
    _last: Exchange | None = None
    _moments: list[Moment] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        profile = self.log.profile
        self._oracle = None if self.core_only else Oracle(profile, profile.contract, unseen=self.log.unseen)
        self._begin()

    def _begin(self) -> None:
        profile = self.log.profile
        make = core_session.core_judge if self.core_only else core_session.judge
        self._report = Report()
        self._judge = make(profile, self.log.sees, self._report)
        self._over = False

    def run(self) -> None:
        """
        Judge all exchanges.

        Raises:
            UnreadableError: a line is no exchange; what came before is judged.
        """
        for exchange in self.log:
            if isinstance(exchange.command, Reset):
                self.finish()
            self.events += len(exchange.observation.events)
            if not self._over:
                self._take(exchange)
                self._last = exchange

    def finish(self) -> None:
        """Judge what only the end of a schedule can tell."""
        if not self._over and self._last is not None:
            known = len(self._report.violations)
            self._judge.finish()
            self.violations += self._monitored(self._last, self._report.violations[known:], None)
        self._exercised.update(self._report.exercised)
        self._silent.update(self._report.not_applicable)
        if self._over and self._oracle is not None:
            self._oracle.reopen()
        self._begin()

    # -------------------------------------------------------------------------------------------- one exchange
    def _take(self, exchange: Exchange) -> None:
        difference = None
        before = self._oracle.hypotheses if self._oracle is not None else []
        if self._oracle is not None:
            try:
                judgement = self._oracle.judge(exchange.command, exchange.observation)
            except MisuseError as error:
                self._impossible(exchange, error)
                return
            except AmbiguousError as error:
                self.notes.append(f"line {exchange.line}: {error}; the schedule is not judged any further")
                self._over = True
                return
            difference = judgement.difference
            self._exercised.update(judgement.rules)
        known = len(self._report.violations)
        self._judge.begin(exchange.command, exchange.observation)
        for event in exchange.observation.events:
            self._judge.event(event)
        self._judge.observe(exchange.observation)
        found = self._report.violations[known:]
        if difference is None and not found:
            return
        blame = None
        if self._oracle is not None:
            blame = blame_session(Moment(exchange, before), self._oracle, difference)
        self.violations += self._monitored(exchange, found, blame)
        if difference is not None:
            self.violations += self._differing(exchange, difference, {violation.rule for violation in found}, blame)
        self._over = difference is not None

    def _impossible(self, exchange: Exchange, error: MisuseError) -> None:
        """A command that no candidate could have been given shows that the recording lacks an exchange."""
        what = f"{command_text(exchange.command)} can't be given here: {error}"
        self.damage.append(Damage("hole", exchange.line, f"{what}; an exchange before it is missing or changed"))
        self._over = True

    def _monitored(self, exchange: Exchange, found: list[Violation], blame: Blame | None) -> Iterator[LogViolation]:
        for violation in found:
            yield _written(violation.rule, exchange.line, violation.message, (), blame)

    def _differing(
        self, exchange: Exchange, difference: Difference, named: set[str], blame: Blame | None
    ) -> Iterator[LogViolation]:
        where = "" if difference.where == "events" else f" as {difference.where.replace('_', ' ')}"
        message = f"expected {value_text(difference.expected)}{where}, observed {value_text(difference.observed)}"
        events = tuple(
            Place(exchange.line, None, event_text(event))
            for event in (difference.expected, difference.observed)
            if isinstance(event, Event)
        )
        for rule in difference.rules:
            if rule not in named:
                yield _written(rule, exchange.line, message, events, blame)

    # -------------------------------------------------------------------------------------------- the sum
    def rules(self) -> tuple[RuleResult, ...]:
        """Give each rule that this session might be judged by its verdict."""
        families = ("core",) if self.core_only else (self.log.profile.contract, "core")
        broken = {violation.rule for violation in self.violations}
        return rule_verdicts(families, self._exercised, broken, self._silent)


def _written(rule: str, line: int, message: str, events: tuple[Place, ...], blame: Blame | None) -> LogViolation:
    clauses = tuple(clause.id for clause in catalogue.clauses(rule))
    return LogViolation(rule, line, None, message, events, clauses, blame)
