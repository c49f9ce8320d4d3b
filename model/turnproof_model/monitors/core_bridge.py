"""
Write a driver session down as a trace, so that the rules of ``core`` judge candidates too.

A ``Bridge`` stands among the monitors of a stage and hands records to a ``TraceJudge``; each contract adds how its
lists and its admission read. Findings name the request and the positions of the events behind the records.

Whatever the stream leaves open is written in the way that accuses nobody. A cancel whose moment isn't shown is
recorded where its effect is: one that dropped something as what it was, any other as one that kept the inbox, since
nothing was seen to be dropped.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from turnproof_model import events as e
from turnproof_model import trace as t
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Finish, Issued, Monitor, Resumed, Sight, Unsure, after, before, operations
from turnproof_model.monitors.core import TraceJudge
from turnproof_model.monitors.core_view import CoreView
from turnproof_model.monitors.facts import Gate
from turnproof_model.monitors.view import View
from turnproof_model.observation import Observation

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


def shown(seen: v.Seen) -> t.Shown:
    """Write one message of a request as a trace shows it."""
    if seen.id is not None:
        return ("user", seen.id)
    if seen.tool_result is not None:
        return ("tool", seen.tool_result)
    return ("assistant", *(seen.tool_calls or ()))


class Bridge(Monitor[W], Generic[W]):
    """
    Turn a stream into records; a contract adds its lists.

    Attributes:
        judge: what the records are handed to; ``trace`` is its view, where the trace stands.
        begun: whether anything was written.
        floating: cancels and disposals of this request whose moment isn't known; ``deferred``: whether any operation
            of it may have come at any time; ``recorded``: whether a cancel or a disposal of it was.
        idled, passed, rested: where it last went idle, whether it was idle and no restart, whether it began at rest.
    """

    rule = ""
    needs = frozenset()

    @classmethod
    def lacking(cls, declared: frozenset[str]) -> str:  # noqa: ARG003 (each rule of core asks for its own kinds)
        """Need nothing: the header says what the trace holds."""
        return ""

    def _start(self) -> None:
        """Begin a new trace: a brand-new agent on an empty log."""
        if self.view.sessions > 1:
            self._end()
            self.judge.begin()
        else:
            self.judge: TraceJudge = TraceJudge(self._header(), self.report)
        self.begun = False
        self.floating: list[v.Cancel | v.Dispose] = []
        self.releasing: Gate | None = None
        self.pending: tuple[str, ...] | None = ()
        self.idled: int | None = None
        self.passed = False
        self.rested = True
        self.deferred = False
        self.recorded = False
        self.begin_lists()

    def _renewed(self) -> None:
        """A new agent goes on with the same trace."""

    def _header(self) -> t.Header:
        held = tuple(kind for kind, sights in SEEN.items() if sights <= self.view.sees)
        return t.Header(self.view.profile.contract, held)

    @property
    def trace(self) -> CoreView:
        """Where the trace stands."""
        return self.judge.view

    def emit(self, record: t.Record, ahead: int = 0) -> None:
        """Hand one record over, at the place of the latest event, or of the one that is told now (``ahead``)."""
        self.begun = True
        self.judge.take(record, self.view.position + ahead, self.view.index)

    # -------------------------------------------------------------------------------------------- for a contract
    def certain(self) -> bool:
        """Tell whether the operation that is told now is at its exact place in the stream."""
        return True

    def begin_lists(self) -> None:
        """Forget what the contract's part keeps."""
        raise NotImplementedError

    def close_admissions(self, reason: str | None = None) -> None:
        """
        Write down admissions that are over by now, though no event of their own says so.

        Args:
            reason: why the turn ends, where that is what ends them.
        """
        raise NotImplementedError

    def listed(self, observation: Observation) -> tuple[str, ...] | None:
        """Name what the agent itself shows as pending; None where it doesn't."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Write down what an agent takes with it when another one goes on in its place."""
        raise NotImplementedError

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
            self.floating.remove(found[0])
            self.recorded = True
            keeps = all(op.keep_inbox for op in found)
            self.emit(t.Cancelled(event.cause, keep_inbox=keeps or len({op.keep_inbox for op in found}) > 1))

    def land(self, *, dropped: bool = False) -> None:
        """Record the first floating cancel, whose effect is seen now; ``dropped`` says that the effect is a discard."""
        turn = self.trace.turn
        if turn is None:
            known = self.recorded or self.trace.disposed is not None
        else:
            known = turn.cancel is not None or turn.disposed is not None
        if not self.floating or (known and not dropped):
            return
        fitting = [op for op in self.floating if isinstance(op, v.Dispose) or not op.keep_inbox] if dropped else []
        op = (fitting or self.floating)[0]
        self.floating.remove(op)
        self.recorded = True
        if isinstance(op, v.Dispose):
            self.emit(t.DisposeCalled())
        else:
            self.emit(t.Cancelled(op.cause, keep_inbox=not dropped))

    @property
    def uncaused(self) -> bool:
        """Whether nothing that is recorded would drop what is pending now."""
        return self.trace.cancel is None and self.trace.disposed is None

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

    # -------------------------------------------------------------------------------------------- the log
    @after(e.TurnStart)
    def turn_starts(self, event: e.TurnStart) -> None:
        """A retried request is a turn of its own in one contract, part of its step in the other."""
        self.close_admissions()
        if event.trigger == "retry":
            self.emit(t.RequestRetry())
        self.emit(t.TurnStart(event.turn))

    @before(e.TurnEnd)
    def turn_ends(self, event: e.TurnEnd) -> None:
        """The end of a turn settles what was decided in it; one that is aborted has been cancelled by then."""
        if event.reason in ("aborted", "disposed"):
            self.land()
        self.close_admissions(event.reason)
        self.emit(t.TurnEnd(event.turn, event.reason), 1)

    @after(e.StepStart)
    def step_starts(self, event: e.StepStart) -> None:
        """A step opens."""
        self.close_admissions()
        self.emit(t.StepStart(event.turn, event.step))

    @after(e.StepEnd)
    def step_ends(self, event: e.StepEnd) -> None:
        """A step closes."""
        self.emit(t.StepEnd(event.turn, event.step))

    @after(e.AssistantMessage)
    def spoken(self, event: e.AssistantMessage) -> None:
        """The model has answered."""
        self.emit(t.AssistantMessage(event.turn, event.step, event.tool_calls))

    @after(e.ToolCall)
    def called(self, event: e.ToolCall) -> None:
        """A call is taken up."""
        self.emit(t.ToolCall(event.call_id))

    @after(e.ToolResult)
    def answered(self, event: e.ToolResult) -> None:
        """A result concludes where its outcome says so; where that isn't known it may."""
        turn = self.view.turn
        said = getattr(self.view.tools.get(event.call_id), "concludes", False)
        unknown = turn is not None and turn.concluded is None
        self.emit(t.ToolResult(event.call_id, event.is_error, (said or unknown) and not event.is_error))

    @before(v.Release)
    def releases(self, issued: Issued[v.Release]) -> None:
        """Note which gate a release settles."""
        self.releasing = self.view.gate_of(issued.op)

    @after(v.Release)
    def released(self, _: Issued[v.Release]) -> None:
        """A retry is decided."""
        gate = self.releasing
        if gate is not None and gate.kind == "request-error" and isinstance(gate.outcome, v.Retry) and not gate.aborted:
            self.emit(t.RequestRetry())

    @after(e.RequestMade)
    def asked(self, event: e.RequestMade) -> None:
        """The model is shown the history."""
        self.emit(t.Requested(tuple(shown(seen) for seen in event.messages)))

    # -------------------------------------------------------------------------------------------- status and idle
    @after(e.StatusChanged)
    def changed(self, event: e.StatusChanged) -> None:
        """An idle that is followed at once by running is a restart."""
        place = self.view.position
        if event.status == "idle":
            self.close_admissions()
            if self.floating:
                self._may_have_kept()
        restart = event.status == "running" and self.idled == place - 1
        self.passed = self.passed or (self.idled is not None and not restart)
        self.idled = place if event.status == "idle" else None
        self.emit(t.StatusSet(event.status))

    def _may_have_kept(self) -> None:
        """Let a cancel or a disposal that may have come by now excuse what waits."""
        if any(isinstance(op, v.Dispose) for op in self.floating):
            self.emit(t.DisposeCalled())
        for op in self.floating:
            if isinstance(op, v.Cancel):
                self.emit(t.Cancelled(op.cause, keep_inbox=True))

    @before(Observation)
    def rests(self, observation: Observation) -> None:
        """At the end of a request all that was under way has landed, and its waiter has resolved or not."""
        if any(gate.aborted for gate in observation.gates):
            self.land()
        if any(isinstance(op, v.Dispose) for op in self.floating) and self.trace.disposed is None:
            self.emit(t.DisposeCalled())
        self.floating = []
        if observation.status == "idle" and self.view.turn is None:
            self.close_admissions()
        self.pending = self.listed(observation)
        self._waited(observation)
        self.idled, self.passed, self.rested = None, False, observation.status == "idle"
        self.deferred = self.recorded = False

    def _waited(self, observation: Observation) -> None:
        """Record a waiter that resolved, unless it did at an idle that this request has left behind."""
        asked = any(isinstance(op, v.Reference) or (isinstance(op, v.Send) and op.wakeup) for op in self._performed())
        behind = self.passed or self.idled is not None or (self.rested and (self.deferred or not asked))
        if observation.when_idle is True and (observation.status == "idle" or not behind):
            self.emit(t.IdleResolved())

    def _performed(self) -> tuple[v.Operation, ...]:
        return operations(self.view.request)

    # -------------------------------------------------------------------------------------------- resume and end
    @after(v.Resume)
    def resumes(self, issued: Issued[v.Resume]) -> None:
        """A clean end is a disposal."""
        if issued.op.mode in ("clean", "compact"):
            self.emit(t.DisposeCalled())

    @before(Resumed)
    def repaired(self, _: Resumed) -> None:
        """Write the repairs down that were not published, and what the old agent took with it."""
        trace = self.trace
        for call in trace.batch.missing if trace.batch is not None else ():
            self.emit(t.ToolResult(call, error=True))
        if trace.step is not None:
            self.emit(t.StepEnd(*trace.step))
        if trace.turn is not None:
            self.emit(t.TurnEnd(trace.turn.number, "interrupted"))
        self.abandon()

    @after(Resumed)
    def resumed(self, item: Resumed) -> None:
        """The new agent goes on, with another history where it was compacted."""
        compacted = item.op.mode == "compact"
        history = tuple(shown(line.seen) for line in self.view.history if line.seen is not None)
        self.emit(t.SessionResume(history if compacted else None))
        self.rested = True

    @after(Finish)
    def finishes(self, _: Finish) -> None:
        """The schedule is over."""
        self._end()

    def _end(self) -> None:
        if self.pending is not None and self.begun:
            self.emit(t.End(self.pending))
        self.judge.finish()
