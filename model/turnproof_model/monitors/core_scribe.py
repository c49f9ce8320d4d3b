"""
Hand a session over to the judge of a trace, and decide where its cancels stand in it.

A cancel whose moment the stream doesn't show is recorded where its effect is: one that dropped something as what it
was, any other as one that kept the inbox, since nothing was seen to be dropped.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from turnproof_model import events as e
from turnproof_model import trace as t
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Monitor, Report, Sight, Unsure, after, before
from turnproof_model.monitors.core import TraceJudge
from turnproof_model.monitors.core_view import CoreView
from turnproof_model.monitors.view import View

W = TypeVar("W", bound=View)

SEEN: dict[t.TraceKind, frozenset[Sight]] = {
    "inbox": frozenset({"inbox", "command"}),
    "admission": frozenset({"inbox", "command", "gates"}),
    "log": frozenset({"log"}),
    "request": frozenset({"request"}),
    "status": frozenset({"status"}),
    "cancel": frozenset({"command"}),
    "idle": frozenset({"idle"}),
}
"""What a stream must show for its trace to hold a kind of record."""


class Scribe(Monitor[W], Generic[W]):
    """
    Write records, cancels first of all.

    Attributes:
        judge: what the records are handed to; ``trace`` is its view, where the trace stands.
        begun: whether anything was written.
        floating: cancels and disposals of this request whose moment isn't known; ``deferred``: whether any operation
            of it may have come at any time; ``recorded``: whether a cancel or a disposal of it was.
    """

    rule = ""
    needs = frozenset()

    @classmethod
    def lacking(cls, declared: frozenset[str]) -> str:  # noqa: ARG003 (each rule of core asks for its own kinds)
        """Need nothing: the header says what the trace holds."""
        return ""

    def __init__(self, view: W, report: Report) -> None:
        self.judge = TraceJudge(_header(view), report)
        super().__init__(view, report)

    def renew(self, report: Report) -> None:
        """Begin the trace of another stream, reporting to another report."""
        self.judge.renew(report)
        super().renew(report)

    def _start(self) -> None:
        """Begin a new trace: a brand-new agent on an empty log."""
        if self.view.sessions > 1:
            self.end()
            self.judge.begin()
        self.begun = False
        self.floating: list[v.Cancel | v.Dispose] = []
        self.deferred = False
        self.recorded = False

    def _renewed(self) -> None:
        """A new agent goes on with the same trace."""

    @property
    def trace(self) -> CoreView:
        """Where the trace stands."""
        return self.judge.view

    def emit(self, record: t.Record, ahead: int = 0) -> None:
        """Hand one record over, at the place of the latest event, or of the one that is told now (``ahead``)."""
        self.begun = True
        self.judge.take(record, self.view.position + ahead, self.view.index)

    def certain(self) -> bool:
        """Tell whether the operation that is told now is at its exact place in the stream."""
        return True

    def reaches(self) -> None:
        """Take note that a cancel or a disposal takes effect now; a contract says what is beyond its reach."""

    def end(self) -> None:
        """End the trace."""
        self.judge.finish()

    def landed(self) -> None:
        """Let what is still floating have come to nothing: the request is over."""
        self.floating = []
        self.deferred = self.recorded = False

    # -------------------------------------------------------------------------------------------- cancels
    @after(v.Cancel)
    def cancelled(self, issued: Issued[v.Cancel]) -> None:
        """A cancel is recorded where it is told, if that is its place."""
        if self.certain():
            self.record_cancel(t.Cancelled(issued.op.cause, issued.op.keep_inbox), issued)
        else:
            self.floating.append(issued.op)

    @after(v.Dispose)
    def disposed(self, issued: Issued[v.Dispose]) -> None:
        """So is a disposal."""
        if self.certain():
            self.record_cancel(t.DisposeCalled(), issued)
        else:
            self.floating.append(issued.op)

    def record_cancel(self, record: t.Record, issued: Issued[Any]) -> None:  # noqa: ARG002 (a contract looks at it)
        """Record a cancel or a disposal whose place is known."""
        self.recorded = True
        self.emit(record)

    @after(Unsure)
    def perhaps(self, item: Unsure[v.Operation]) -> None:
        """What may happen at any time from now waits for its effect."""
        self.deferred = self.deferred or item.origin == "deferred"
        for op in item.op.ops if isinstance(item.op, v.Arm) else (item.op,):
            if isinstance(op, v.Cancel | v.Dispose):
                self.floating.append(op)
            elif isinstance(op, v.Release) and isinstance(op.outcome, v.Retry):
                self.emit(t.RequestRetry())

    @before(e.CancelRequested)
    def requested(self, event: e.CancelRequested) -> None:
        """Where cancels are published, that is their moment."""
        if any(op.cause == event.cause for op in self.view.due_cancels):
            return
        found = [op for op in self.floating if isinstance(op, v.Cancel) and op.cause == event.cause]
        if found:
            self.reaches()
            keeping = [op for op in found if op.keep_inbox]  # what would drop is left for a discard that may follow
            self.floating.remove((keeping or found)[0])
            self.recorded = True
            keeps = all(op.keep_inbox for op in found)
            self.emit(t.Cancelled(event.cause, keep_inbox=keeps or len({op.keep_inbox for op in found}) > 1))

    def land(self, *, dropped: bool = False) -> t.Record | None:
        """Record the first floating cancel, whose effect is seen now; ``dropped`` says that the effect is a discard."""
        turn = self.trace.turn
        if turn is None:
            known = self.recorded or self.trace.disposed is not None
        else:
            known = turn.cancel is not None or turn.disposed is not None
        if not self.floating or (known and not dropped):
            return None
        fitting = [op for op in self.floating if isinstance(op, v.Dispose) or not op.keep_inbox] if dropped else []
        op = (fitting or self.floating)[0]
        self.floating.remove(op)
        self.recorded = True
        landed = t.DisposeCalled() if isinstance(op, v.Dispose) else t.Cancelled(op.cause, keep_inbox=not dropped)
        self.emit(landed)
        return landed

    @property
    def uncaused(self) -> bool:
        """Whether nothing that is recorded would drop what is pending now, or something of this request that isn't."""
        due = bool(self.floating) and not self.recorded
        return (self.trace.cancel is None or due) and self.trace.disposed is None

    @after(e.OpThrew)
    def threw(self, event: e.OpThrew) -> None:
        """What the agent refused doesn't land."""
        refused = next((op for op in self.floating if op.method == event.method), None)
        if refused is not None:
            self.floating.remove(refused)

    @before(e.GateAborted)
    def heard(self, _: e.GateAborted) -> None:
        """A gate hears of an abort: it has come."""
        self.land()


def _header(view: View) -> t.Header:
    held = tuple(kind for kind, sights in SEEN.items() if sights <= view.sees)
    return t.Header(view.profile.contract, held)
