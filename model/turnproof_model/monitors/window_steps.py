"""
Judge what makes a turn go on and end: tool batches, steering, turn-stopping, progress, the request.

Rules: W-STEP-3, W-STEP-5 to -8, W-REQ-1.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, before
from turnproof_model.monitors.facts import Calls, Turn
from turnproof_model.monitors.window_monitor import WELL_ENDED, WindowMonitor


class ToolAdjacency(WindowMonitor):
    """Between calls and the last of their results nothing else is appended; every call has one result, in order."""

    rule = "W-STEP-3"
    needs = frozenset({"log"})

    def _start(self) -> None:
        self.repairs: list[tuple[str, int]] = []

    @before(e.TurnEnd)
    def _ended(self, event: e.TurnEnd) -> None:
        # A log doesn't show a resume: whether results were made up by a repair is known when the turn was interrupted.
        for call, place in self.repairs if event.reason != "interrupted" else ():
            self.violated(f"{call!r} was answered without a tool/call", place)
        self.repairs = []

    @before(e.Event)
    def _between(self, event: e.Event) -> None:
        calls = self.view.calls
        if calls is None or event.kind != "session" or type(event) in (e.ToolCall, e.ToolResult, e.PluginEvent):
            return
        missing = [call for call in calls.ids if call not in calls.results]
        self.violated(f"{event.type} was appended while the results of {missing} are missing", calls.position)

    @before(e.ToolCall)
    def _called(self, event: e.ToolCall) -> None:
        calls = None if self.view.step is None else self.view.step.calls
        if calls is None or event.call_id not in calls.ids:
            self.violated(f"tool/call names {event.call_id!r}, which the message before it didn't call")
        elif event.call_id in calls.called:
            self.violated(f"{event.call_id!r} was started twice")

    @before(e.ToolResult)
    def _answered(self, event: e.ToolResult) -> None:
        calls = None if self.view.step is None else self.view.step.calls
        if calls is None or event.call_id not in calls.ids:
            self.violated(f"tool/result answers {event.call_id!r}, which the message before it didn't call")
        elif event.call_id in calls.results:
            self.violated(f"{event.call_id!r} was answered twice", calls.position)
        elif event.call_id not in calls.called and not isinstance(self.view.request, v.Resume):
            self._uncalled(event, calls)
        else:
            self._order(event, calls)

    def _uncalled(self, event: e.ToolResult, calls: Calls) -> None:
        if event.is_error and "command" not in self.view.sees:
            self.repairs.append((event.call_id, self.view.place))
        else:
            self.violated(f"{event.call_id!r} was answered without a tool/call", calls.position)

    def _order(self, event: e.ToolResult, calls: Calls) -> None:
        wanted = next(call for call in calls.ids if call not in calls.results)
        if event.call_id != wanted:
            self.violated(f"{event.call_id!r} was answered before {wanted!r}, which was called first", calls.position)
        else:
            self.exercised()


class ResultsOfAnAbort(WindowMonitor):
    """After a cancel every result is an error; a call that wasn't started by then was aborted before dispatch."""

    rule = "W-STEP-3"
    needs = frozenset({"log", "live", "command"})

    def _start(self) -> None:
        self.started: dict[str, int] = {}

    @before(e.ToolCall)
    def _called(self, event: e.ToolCall) -> None:
        self.started[event.call_id] = self.view.place

    @before(e.ToolResult)
    def _answered(self, event: e.ToolResult) -> None:
        turn = self.view.turn
        if turn is None or not turn.aborted or isinstance(self.view.request, v.Resume):
            return
        since = min(
            (*(cancel.position for cancel in turn.cancels), *(() if turn.disposed is None else (turn.disposed,)))
        )
        fresh = self.started.get(event.call_id, since) > since
        late = turn.disposed is None or bool(turn.cancels)
        if not event.is_error:
            self.violated(f"{event.call_id!r} succeeded after the cancel of its turn: it is an error ABORTED", since)
        elif fresh and late and event.code != "ABORTED_BEFORE_DISPATCH":
            self.violated(
                f"{event.call_id!r}, not started when its turn was cancelled, has code {event.code}:"
                " it is ABORTED_BEFORE_DISPATCH",
                since,
            )
        elif event.code is None and not isinstance(self.view.tools.get(event.call_id, v.Error()), v.Error):
            self.violated(
                f"the result of {event.call_id!r} after the cancel of its turn has no code: it is ABORTED", since
            )


class SteeringForces(WindowMonitor):
    """Steering forces another step; context alone does not."""

    rule = "W-STEP-5"
    needs = frozenset({"log"})

    @before(e.StepStart)
    def _stepped(self, event: e.StepStart) -> None:
        turn = self.view.turn
        if turn is None or turn.last_request < 0:
            return
        since = turn.last_request
        if turn.last_input > since:
            self.exercised()
        elif turn.last_result < since and not turn.aborted:
            what = "only context was added" if turn.last_context > since else "nothing was added"
            self.violated(f"step {event.step} opened although {what} since the last request")

    @before(e.TurnEnd)
    def _ended(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if turn is None or event.reason not in WELL_ENDED or turn.concluded is not False or turn.last_request < 0:
            return
        if turn.last_input > turn.last_request:
            self.violated(f"turn {turn.number} ended without another step for the steering it took in")
        elif turn.last_context > turn.last_request:
            self.exercised()


class BatchesContinue(WindowMonitor):
    """A tool batch is followed by a request, unless a result concludes the turn, which ends it."""

    rule = "W-STEP-6"
    needs = frozenset({"log", "command", "gates"})

    @before(e.StepStart)
    def _stepped(self, event: e.StepStart) -> None:
        turn = self.view.turn
        if turn is None or turn.last_result <= turn.last_request:
            return
        if turn.concluded is not None:
            self.expect(not turn.concluded, f"step {event.step} opened although a result had concluded the turn")

    @before(e.TurnEnd)
    def _ended(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if turn is None or event.reason not in WELL_ENDED or turn.concluded is None:
            return
        if turn.last_result > turn.last_request:
            self.expect(turn.concluded, f"turn {turn.number} ended with tool results that no request followed")


class Progress(WindowMonitor):
    """A completed turn's last input has been followed by a request."""

    rule = "W-STEP-7"
    needs = frozenset({"log", "request"})

    @before(e.TurnEnd)
    def _ended(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if turn is None or event.reason not in WELL_ENDED:
            return
        if turn.last_request < 0:
            self.violated(f"turn {turn.number} ended as {event.reason} without a request")
        elif turn.concluded is False:
            last = max(turn.last_input, turn.last_result)
            self.expect(last < turn.last_request, f"turn {turn.number} ended with input that no request followed", last)
        else:
            self.exercised()


class TurnStopping(WindowMonitor):
    """At turn-stopping, staged steering runs another step and turn-stopping is asked again; none closes the turn."""

    rule = "W-STEP-8"
    needs = frozenset({"command", "inbox", "log", "gates"})

    @before(v.Release)
    def _answered(self, issued: Issued[v.Release]) -> None:
        gate = self.view.gate_of(issued.op)
        if gate is not None and gate.kind == "turn-stopping" and not gate.aborted:
            self.exercised()

    @before(e.TurnEnd)
    def _ended(self, event: e.TurnEnd) -> None:
        view = self.view
        turn = view.turn
        if turn is None or event.reason not in WELL_ENDED or self._concluded(turn) or view.disposing is not False:
            return
        staged = [entry.id for entry in view.steering]
        if staged:
            self.violated(f"turn {turn.number} ended with steering {staged} staged: it runs another step")
        elif "turn-stopping" in view.gates_named and not view.stopping and not view.may_happen(v.Release):
            self.violated(f"turn {turn.number} ended without turn-stopping being asked after its last step")

    def _concluded(self, turn: Turn) -> bool:
        return turn.concluded is not False and turn.last_result > turn.last_request


class RequestShowsTheLog(WindowMonitor):
    """A request shows the log's messages, in log order, as they were when the step opened."""

    rule = "W-REQ-1"
    needs = frozenset({"log", "request"})

    @before(e.RequestMade)
    def _requested(self, event: e.RequestMade) -> None:
        view = self.view
        shown = event.messages
        wanted = view.messages_shown(None if view.step is None else view.step.lines)
        place = next((n for n, (a, b) in enumerate(zip(wanted, shown, strict=False)) if not same(a, b)), None)
        if place is not None:
            self.violated(
                f"message {place} of the request is {brief(shown[place])}: the log has {brief(wanted[place])}"
            )
        elif len(wanted) > len(shown):
            self.violated(f"the request lacks {brief(wanted[len(shown)])}, which the log has")
        else:
            extra = "" if len(wanted) == len(shown) else brief(shown[len(wanted)])
            self.expect(not extra, f"the request shows {extra}, which the log doesn't have at its step")


def same(wanted: v.Seen, shown: v.Seen) -> bool:
    """Tell whether the request shows this message; text and error marks only where both sides show them."""
    return (
        wanted.role == shown.role
        and wanted.id == shown.id
        and (wanted.tool_calls or ()) == (shown.tool_calls or ())
        and wanted.tool_result == shown.tool_result
        and (wanted.text is None or shown.text is None or wanted.text == shown.text)
        and (wanted.is_error is None or shown.is_error is None or wanted.is_error == shown.is_error)
    )


def brief(seen: v.Seen) -> str:
    """Name a shown message in a few words."""
    if seen.tool_result is not None:
        return f"the result of {seen.tool_result!r}"
    return (
        f"input {seen.id!r}"
        if seen.id is not None
        else f"an assistant message with calls {list(seen.tool_calls or ())}"
    )


MONITORS: tuple[type[WindowMonitor], ...] = (
    *(ToolAdjacency, ResultsOfAnAbort, SteeringForces, BatchesContinue, Progress, TurnStopping, RequestShowsTheLog),
)
"""The monitors of this family, in the order of their rules."""
