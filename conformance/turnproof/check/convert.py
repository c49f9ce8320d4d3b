"""
Write any log as traces, version 1, which every rule of ``core`` can be judged by.

A session log becomes one trace, a driver session one for each schedule: a reset begins a new log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from attrs import define, evolve

from turnproof.check.formats import opening
from turnproof.check.harness_check import HarnessLog
from turnproof.check.lines import Lines, UnreadableError
from turnproof.check.results import FormatName
from turnproof.check.sessions import SessionLog
from turnproof.check.traces import TraceLog
from turnproof_model.monitors import core_session
from turnproof_model.monitors.base import Report
from turnproof_model.monitors.core import TraceJudge
from turnproof_model.monitors.core_view import CoreView
from turnproof_model.monitors.stage import Stage
from turnproof_model.trace import Cancelled, End, Header, InboxDiscard, Record
from turnproof_model.trace_lines import write_trace
from turnproof_model.vocabulary import Reset


class Converted(NamedTuple):
    """Be one trace: its header, and its records while they are iterated over."""

    header: Header
    records: Iterator[Record]

    def lines(self) -> Iterator[str]:
        """Write it line by line, without line ends."""
        return write_trace(self.header, self.records)


def traces(path: str, format_: FormatName | None = None) -> Iterator[Converted]:
    """
    Read a log as traces, which are to be used up one after the other.

    Args:
        path: of the log; ``-`` is standard input.
        format_: what to take it for, whatever it looks like.

    Raises:
        UnreadableError: it can't be read, or holds no history.
    """
    with Lines.open(path) as lines:
        yield from traces_of(lines, format_)


def traces_of(lines: Lines, format_: FormatName | None = None) -> Iterator[Converted]:
    """Read lines that are there already as traces; see ``traces``."""
    begun = opening(lines, format_)
    match begun.format:
        case "trace":
            trace = TraceLog.open(lines, begun.head, None)
            yield Converted(trace.header, (record for entry in trace for record in entry.records))
        case "deepseek-harness":
            log = HarnessLog.open(lines, begun.head, None)
            header = evolve(log.judge().header, origin="deepseek-harness session log")
            yield Converted(header, (record for entry in log for record in entry.records))
        case "driver-session":
            yield from _schedules(SessionLog.open(lines, begun.head))
        case "capsule":
            raise UnreadableError("a capsule holds commands and no history; replay it with an agent to get one")


@define(eq=False, slots=False)
class _View(CoreView):
    """Tell the recorder of what a trace can only say in another way."""

    spared: Callable[[], None] = lambda: None

    def spare(self) -> None:
        """Let what a cancel was to drop be claimed."""
        super().spare()
        self.spared()


class _Recorder(TraceJudge):
    """Keep the records instead of judging them."""

    def __init__(self, header: Header) -> None:
        super().__init__(header, Report(), ())
        self.records: list[Record] = []
        self._keeping = False
        self.begin()

    def begin(self) -> None:
        """Begin another trace."""
        self.view = _View(self.view.header, spared=self._spared)

    def _spared(self) -> None:
        """Write a cancel whose listener may claim what it was about to drop as one that keeps, with removals."""
        for place in range(len(self.records) - 1, -1, -1):
            record = self.records[place]
            if isinstance(record, InboxDiscard):
                self.records[place] = evolve(record, cause="removal")
            elif isinstance(record, Cancelled):
                self._keeping = self._keeping or not record.keep_inbox
                self.records[place] = evolve(record, keep_inbox=True)
                return

    def take(self, record: Record, place: int, index: int = 0) -> None:
        """Keep one record."""
        super().take(record, place, index)
        if isinstance(record, Cancelled):
            self._keeping = False
        elif self._keeping and isinstance(record, InboxDiscard):
            record = evolve(record, cause="removal")
        self.records.append(record)

    def cut(self, header: Header, before: int) -> Iterator[Converted]:
        """
        Give what was written of a schedule that has ended: up to its ``end``, if it has one.

        Args:
            header: of the trace.
            before: how many records there were when the next schedule began.
        """
        ends = [place + 1 for place, record in enumerate(self.records) if isinstance(record, End)]
        until = ends[0] if ends else before
        records, self.records = self.records[:until], self.records[until:]
        if len(records) > len(ends):
            yield Converted(header, iter(records))


def _schedules(log: SessionLog) -> Iterator[Converted]:
    """Let the bridge write the session down, and cut what it wrote at each reset."""
    profile = log.profile
    stage = core_session.core_judge(profile, log.sees, Report())
    assert isinstance(stage, Stage)
    bridge: Any = stage.monitors[0]
    recorder = bridge.judge = _Recorder(bridge.judge.view.header)
    header = evolve(recorder.view.header, implementation=profile.implementation.name, origin="driver session")
    for exchange in log:
        before = len(recorder.records)
        stage.begin(exchange.command, exchange.observation)
        if isinstance(exchange.command, Reset):
            yield from recorder.cut(header, before)
        for event in exchange.observation.events:
            stage.event(event)
        stage.observe(exchange.observation)
    stage.finish()
    yield from recorder.cut(header, len(recorder.records))
