"""
Judge a trace by the rules of ``core``: what any agent with a message queue owes, whatever its API.

One pass, and nothing is kept but what is outstanding (with one id per message, since a request must show them all). A
rule whose kinds the trace doesn't hold completely is not applicable, never passed. A driver session is judged as the
trace that ``core_bridge`` makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from turnproof_model import trace as t
from turnproof_model.monitors import core_idle, core_inbox, core_log, core_request
from turnproof_model.monitors.base import Report
from turnproof_model.monitors.core_base import CoreMonitor
from turnproof_model.monitors.core_view import CoreView

MONITORS: tuple[type[CoreMonitor], ...] = (
    *core_inbox.MONITORS,
    *core_log.MONITORS,
    *core_request.MONITORS,
    *core_idle.MONITORS,
)


class TraceJudge:
    """Judge one trace, record by record."""

    def __init__(self, header: t.Header, report: Report, kinds: Iterable[type[CoreMonitor]] = MONITORS) -> None:
        """
        Choose the rules that the trace can be judged by.

        Args:
            header: which kinds of record the trace holds completely.
            report: where the monitors report; the others are entered as not applicable.
            kinds: the monitors, in the order of their rules.
        """
        self.view = CoreView(header)
        self.monitors: list[CoreMonitor] = []
        self._missing: dict[str, str] = {}
        for kind in kinds:
            unheld = [name for name in kind.kinds if name not in header.records]
            if unheld:
                self._missing[kind.rule] = f"the trace doesn't record {', '.join(unheld)}"
            else:
                self.monitors.append(kind(self.view, report))
        report.not_applicable |= self._missing
        self._table: dict[type, list[Callable[[Any], None]]] = {}

    def begin(self) -> None:
        """Begin another trace of the same form."""
        self.view = CoreView(self.view.header)
        for monitor in self.monitors:
            monitor.view = self.view
            monitor.start()

    def renew(self, report: Report) -> None:
        """Get ready for another trace of the same form, reporting to another report; nothing is remembered."""
        report.not_applicable |= self._missing
        self.view = CoreView(self.view.header)
        for monitor in self.monitors:
            monitor.view = self.view
            monitor.renew(report)

    def take(self, record: t.Record, place: int, index: int = 0) -> None:
        """
        Take one record.

        Args:
            record: the next one.
            place: where it stands, as findings will name it: a line, or the position of an event.
            index: the request it belongs to, from 0.
        """
        self.view.place, self.view.index = place, index
        kind = type(record)
        methods = self._table.get(kind)
        for method in self._wanting(kind) if methods is None else methods:
            method(record)
        self.view.fold(record)

    def _wanting(self, kind: type) -> list[Callable[[Any], None]]:
        names = _plan(tuple(map(type, self.monitors)), kind)
        found = [getattr(self.monitors[place], name) for place, name in names]
        self._table[kind] = found
        return found

    def finish(self) -> None:
        """Take note of the end of the trace."""
        for monitor in self.monitors:
            monitor.finish()


@cache
def _plan(kinds: tuple[type[CoreMonitor], ...], kind: type) -> tuple[tuple[int, str], ...]:
    """List who sees records of a class, as places among the monitors with the names of their methods."""
    return tuple(
        (place, name)
        for place, monitor in enumerate(kinds)
        for _, wanted, name in monitor.marks
        if issubclass(kind, wanted)
    )


def judge_trace(header: t.Header, records: Iterable[tuple[int, t.Record]]) -> Report:
    """
    Judge a whole trace.

    Args:
        header: which kinds of record it holds completely.
        records: records in order, each with its place, as ``TraceReader`` gives them.
    """
    report = Report()
    judge = TraceJudge(header, report)
    for place, record in records:
        judge.take(record, place)
    judge.finish()
    return report
