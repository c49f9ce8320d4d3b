"""
Judge the entries of one log by the rules that it can be judged by, in one pass.

The rules of ``core`` follow the records, those of a contract follow the events; both name lines where they name places.
What is kept is what is outstanding, and the last entries, for the question who is to blame.
"""

from __future__ import annotations

from attrs import define, field

from turnproof.check.entries import Entry
from turnproof_model import trace as t
from turnproof_model.monitors import claim, window
from turnproof_model.monitors.base import Report, Sight, Violation
from turnproof_model.monitors.core import TraceJudge
from turnproof_model.monitors.stage import Stage
from turnproof_model.observation import Implementation, Profile
from turnproof_model.vocabulary import CAPABILITIES, Contract

DURABLE: frozenset[Sight] = frozenset({"log"})
"""What a session log shows: durable events, those of the inbox among them where it is durable."""

MOST_VIOLATIONS = 1000
"""Violations that are listed for one file; further ones are counted."""

_JUDGES = {"window": window.judge, "claim": claim.judge}


class Findings(Report):
    """
    Collect what the monitors say about one log, up to a number; ``count`` counts all, ``silenced`` those beyond it.

    ``line`` is the one that is being judged: a violation lies there, whatever other places it names.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.silenced = 0
        self.line = 0
        self.lines: list[int] = []

    def violate(self, violation: Violation) -> None:
        """Record a broken rule, or only count it."""
        self.count += 1
        if len(self.violations) < MOST_VIOLATIONS:
            super().violate(violation)
            self.lines.append(self.line)
        else:
            self.silenced += 1
            self.exercised[violation.rule] += 1


def stage_for(contract: Contract, report: Report) -> Stage:
    """Make the judge of a contract for a log, which shows durable events and says nothing of capabilities."""
    profile = Profile(Implementation("log", ""), contract, capabilities=dict.fromkeys(CAPABILITIES, True))
    stage = _JUDGES[contract](profile, DURABLE, report)
    assert isinstance(stage, Stage)
    return stage


@define(eq=False)
class LogJudge:
    """
    Run the rules of ``core``, and those of a contract where the entries hold its events.

    Attributes:
        header: which kinds of record the log holds completely.
        contract: of the events; None judges by ``core`` alone. ``contracts`` are all that it has been.
        report: what was found so far.
    """

    header: t.Header
    contract: Contract | None = None
    report: Findings = field(factory=Findings)
    core: TraceJudge = field(init=False)
    stage: Stage | None = field(init=False)
    contracts: tuple[Contract, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.core = TraceJudge(self.header, self.report)
        self.stage = stage_for(self.contract, self.report) if self.contract is not None else None
        self.contracts = (self.contract,) if self.contract is not None else ()

    def take(self, entry: Entry) -> bool:
        """Judge one entry; tell whether a rule broke."""
        report, line = self.report, entry.line
        report.line = line
        known = report.count
        for record in entry.records:
            self.core.take(record, line)
        if entry.event is not None and self.stage is not None:
            self.stage.view.position = line - 1
            self.stage.event(entry.event)
        return report.count > known

    def count_from(self, turns: int) -> None:
        """Take it that so many turns were before: compaction took them out, or the log has lost its beginning."""
        if self.stage is not None:
            self.stage.view.last_number = turns

    def turn_to(self, contract: Contract) -> None:
        """Go on by another contract, between two turns: a later revision of the agent has taken over the log."""
        earlier, self.contract = self.stage, contract
        self.stage = stage_for(contract, self.report)
        self.contracts = (*self.contracts, contract)
        if earlier is not None:
            self.stage.view.last_number = earlier.view.last_number

    def finish(self) -> bool:
        """Judge what only the end of the log can tell; tell whether a rule broke."""
        known = self.report.count
        self.core.finish()
        if self.stage is not None:
            self.stage.finish()
        return self.report.count > known
