"""
Write a driver session down as a trace, so that the rules of ``core`` judge candidates too.

A ``Bridge`` stands among the monitors of a stage and hands records to a ``TraceJudge``; each contract adds how its
lists and its admission read. Findings name the request and the positions of the events behind the records.

Whatever the stream leaves open is written in the way that accuses nobody.
"""

from __future__ import annotations

from typing import Generic

from turnproof_model import events as e
from turnproof_model import trace as t
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Finish, Issued, Resumed, after, before, operations
from turnproof_model.monitors.core_scribe import Scribe, W
from turnproof_model.monitors.facts import Gate
from turnproof_model.observation import Observation


def shown(seen: v.Seen) -> t.Shown:
    """Write one message of a request as a trace shows it."""
    if seen.id is not None:
        return ("user", seen.id)
    if seen.tool_result is not None:
        return ("tool", seen.tool_result)
    return ("assistant", *(seen.tool_calls or ()))


class Bridge(Scribe[W], Generic[W]):
    """
    Turn a stream into records; a contract adds its lists.

    Attributes:
        releasing: the gate that a release settles; pending: what the agent itself showed as pending at last.
        idled, passed, rested: where it last went idle, whether it was idle and no restart, whether it began at rest.
    """

    def _start(self) -> None:
        """Begin a new trace: a brand-new agent on an empty log."""
        super()._start()
        self.releasing: Gate | None = None
        self.pending: tuple[str, ...] | None = ()
        self.idled: int | None = None
        self.passed = False
        self.rested = True
        self.begin_lists()

    # -------------------------------------------------------------------------------------------- for a contract
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
        if self.floating and any(gate.aborted for gate in observation.gates):
            self.land()
        if self.floating and self.trace.disposed is None and any(isinstance(op, v.Dispose) for op in self.floating):
            self.emit(t.DisposeCalled())
        if observation.status == "idle" and self.view.turn is None:
            self.close_admissions()
        self.pending = self.listed(observation)
        self._waited(observation)
        self.idled, self.passed, self.rested = None, False, observation.status == "idle"
        self.landed()

    def _waited(self, observation: Observation) -> None:
        """Record a waiter that resolved, unless it did at an idle that this request has left behind."""
        if observation.when_idle is True and (observation.status == "idle" or not self._behind()):
            self.emit(t.IdleResolved())

    def _behind(self) -> bool:
        """Tell whether this request has left an idle behind at which its waiter may have resolved."""
        performed = operations(self.view.request)
        asked = any(isinstance(op, v.Reference) or (isinstance(op, v.Send) and op.wakeup) for op in performed)
        return self.passed or self.idled is not None or (self.rested and (self.deferred or not asked))

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
        self.end()

    def end(self) -> None:
        """End the trace with what the agent showed as pending."""
        if self.pending is not None and self.begun:
            self.emit(t.End(self.pending))
        super().end()
