"""
Check one log of entries: judge it, ask for each neighbourhood in which rules broke who is to blame, sum up.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from turnproof.check.blame import explain
from turnproof.check.entries import Entry
from turnproof.check.judge import LogJudge
from turnproof.check.neighbourhood import Past, Scene
from turnproof.check.results import Blame, LogViolation, Place
from turnproof.check.sequence import Sequence
from turnproof.check.verdicts import rule_verdicts
from turnproof.check.words import entry_words
from turnproof.results import RuleResult
from turnproof_model import catalogue

MOST_SCENES = 12
"""Neighbourhoods of one log for which blame is asked; a log that breaks in more is broken throughout."""


@define(eq=False)
class LogCheck:
    """
    Take the entries of a log one by one.

    Attributes:
        judge: of the log; sequence: of its sequence numbers.
        entries: how many were taken.
    """

    judge: LogJudge
    sequence: Sequence
    entries: int = 0
    _past: Past = field(init=False)
    _scene: Scene | None = None
    _scenes: int = 0
    _explained_until: tuple[int, Blame | None] = (0, None)
    _violations: list[LogViolation] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._past = Past(self.judge)

    def take(self, entry: Entry) -> None:
        """Judge one entry."""
        self.entries += 1
        broke = self.judge.take(entry)
        self._past.add(entry)
        if self._scene is not None:
            self._scene.entries.append(entry)
        elif broke:
            self._scene = self._past.scene(len(self._violations))
        if self._scene is not None and self._scene.complete:
            self._close(self._scene)

    def finish(self) -> None:
        """Judge the end of the log."""
        broke = self.judge.finish()
        if broke and self._scene is None:
            self._scene = self._past.scene(len(self._violations))
        if self._scene is not None:
            self._scene.ended = True
            self._close(self._scene)

    def cut_off(self) -> None:
        """Take the log for as far as it could be read; nothing is said about its end."""
        if self._scene is not None:
            self._close(self._scene)

    def _close(self, scene: Scene) -> None:
        """Write down what broke in a scene, with one blame for all of it."""
        self._scene = None
        blame = self._explained(scene)
        known = {entry.line: entry for entry in scene.entries}
        self._violations += self._written(scene.violations, known, blame)

    def _explained(self, scene: Scene) -> Blame | None:
        """Ask who is to blame; what breaks again in lines that were asked about already has the same blame."""
        line, blame = self._explained_until
        if scene.entries and scene.entries[0].line <= line:
            return blame
        self._scenes += 1
        blame = explain(scene, self.sequence) if self._scenes <= MOST_SCENES else None
        self._explained_until = (scene.entries[-1].line if scene.entries else 0, blame)
        return blame

    def _written(self, since: int, known: dict[int, Entry], blame: Blame | None) -> Iterator[LogViolation]:
        report = self.judge.report
        for violation, line in zip(report.violations[since:], report.lines[since:], strict=True):
            here = known.get(line)
            places = tuple(_place(name, known) for name in sorted({*violation.events, line}) if name > 0)
            clauses = tuple(clause.id for clause in catalogue.clauses(violation.rule))
            seq = here.seq if here is not None else None
            yield LogViolation(violation.rule, line, seq, violation.message, places, clauses, blame)

    @property
    def violations(self) -> tuple[LogViolation, ...]:
        """What broke, in the order in which it showed."""
        return tuple(self._violations)

    def notes(self) -> list[str]:
        """Say what is no violation, but ought to be known."""
        turn = self.judge.core.view.turn
        if turn is None:
            return []
        what = f"turn {turn.number}, begun at line {turn.place}, is still open at the end"
        return [f"{what}: the agent crashed in it, or the log was cut off there; that breaks no rule"]

    def rules(self) -> tuple[RuleResult, ...]:
        """Give each rule that this log might be judged by its verdict."""
        report = self.judge.report
        families = (*self.judge.contracts, "core")
        return rule_verdicts(families, report.exercised, report.broken(), report.not_applicable)


def _place(line: int, known: dict[int, Entry]) -> Place:
    entry = known.get(line)
    return Place(line, None, "") if entry is None else Place(line, entry.seq, entry_words(entry))
