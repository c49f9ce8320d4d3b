"""
Check a session log of deepseek-harness: find out which contract it was recorded under, then judge it.

The contract is told by the events themselves, so that the first entries are held back until one speaks. A log that
another revision of the agent has gone on with is judged by the contract of each stretch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import define, field

from turnproof.check.entries import Entry
from turnproof.check.harness import CLAIM_RECORDS, WINDOW_RECORDS, HarnessReader, recorded_under
from turnproof.check.judge import LogJudge
from turnproof.check.lines import Lines, UnreadableError
from turnproof.check.logcheck import LogCheck
from turnproof_model.events import Spliced, TurnStart
from turnproof_model.trace import Header, TraceContract
from turnproof_model.vocabulary import Contract

UNDECIDED = 2000
"""Entries that are held back until one of them speaks for a contract; after so many ``core`` is all there is."""

HEADLESS = "the log begins in the middle of a turn"


def _enters(entry: Entry) -> bool:
    """Tell whether an entry only puts messages into the inbox, which stands outside of turns."""
    return isinstance(entry.event, Spliced) and not entry.event.removed_count


@define(eq=False)
class HarnessLog:
    """
    Be the entries of a session log, and what they are to be judged by.

    Attributes:
        reader: of the lines behind the header.
        forced: whose rules to judge by, whatever the log says.
        stated: the contract that the header names; ``turns_before``: how many turns compaction has taken out.
    """

    reader: HarnessReader
    forced: TraceContract | None
    stated: Contract | None
    turns_before: int
    _rest: Iterator[Entry] = field(init=False)
    _held: list[Entry] = field(factory=list)
    _broken: UnreadableError | None = None

    @classmethod
    def open(cls, lines: Lines, head: dict[str, Any], forced: TraceContract | None) -> HarnessLog:
        """Take the log behind its header, and hold entries back until the contract is known."""
        before = head.get("turnsBefore")
        turns_before = before if type(before) is int else 0
        log = cls(HarnessReader(lines), forced, recorded_under(head), turns_before)
        log._rest = iter(log.reader)
        if log.stated is None:
            log._hold_back()
        return log

    def _hold_back(self) -> None:
        try:
            for entry in self._rest:
                self._held.append(entry)
                if self.reader.evidence is not None or len(self._held) >= UNDECIDED:
                    return
        except UnreadableError as error:
            self._broken = error

    @property
    def recorded(self) -> Contract | None:
        """The contract that the log was recorded under, as far as it is known by now."""
        return self.stated or self.reader.evidence

    @property
    def contract(self) -> TraceContract:
        """The contract to judge by."""
        return self.forced or self.recorded or "core"

    def judge(self) -> LogJudge:
        """Make the judge of this log."""
        records = CLAIM_RECORDS if self.recorded == "claim" else WINDOW_RECORDS
        contract = self.contract
        judge = LogJudge(Header(contract, records), None if contract == "core" else contract)
        judge.count_from(self.turns_before)
        return judge

    def __iter__(self) -> Iterator[Entry]:
        """
        Go through the entries.

        Raises:
            UnreadableError: a line is no event of a session log.
        """
        yield from self._held
        self._held.clear()
        if self._broken is not None:
            raise self._broken
        yield from self._rest

    def check(self, check: LogCheck) -> Iterator[str]:
        """
        Judge all entries; say what ought to be known.

        Raises:
            UnreadableError: a line is no event of a session log; what came before is judged.
        """
        reader, judge = self.reader, check.judge
        recorded = self.recorded
        headless = False
        for entry in self:
            if reader.evidence not in (None, recorded) and not self._held and judge.core.view.turn is None:
                recorded = self._taken_over(judge)
                yield f"from line {reader.since} on the log is of contract {recorded}: it was recorded by two revisions"
            if judge.core.view.last is None and reader.sequence.beheaded:
                if isinstance(entry.event, TurnStart):
                    judge.count_from(entry.event.turn - 1)
                    yield from [f"{HEADLESS}, so that it is judged from line {entry.line} on"] if headless else []
                elif not _enters(entry):
                    headless = True
                    continue
            check.take(entry)

    def _taken_over(self, judge: LogJudge) -> Contract | None:
        found = self.reader.evidence
        if found is not None and self.forced is None:
            judge.turn_to(found)
        return found

    def notes(self) -> Iterator[str]:
        """Say what the log shows about its origin."""
        reader = self.reader
        if self.recorded is None:
            yield "nothing in the log tells its contract: it is judged by core"
        elif self.forced not in (None, "core", self.recorded):
            yield f"the log was recorded under contract {self.recorded}, by another revision than {self.forced} is of"
        if reader.older is not None:
            yield f"from line {reader.older} on messages have the form of an earlier revision, without ids"
