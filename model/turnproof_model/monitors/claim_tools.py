"""
Judge tool batches: their closure, and what tools bring along.

Rules: C-STEP-2, C-STEP-3.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.observation import Observation

DURABLE = (
    *(e.TurnStart, e.TurnEnd, e.StepStart, e.StepEnd, e.UserMessage),
    *(e.SteeringMessage, e.AssistantMessage),
)
"""Core events that a tool batch keeps out."""


Durable = e.TurnStart | e.TurnEnd | e.StepStart | e.StepEnd | e.UserMessage | e.SteeringMessage | e.AssistantMessage


class Batches(ClaimMonitor):
    """
    See that a tool batch is closed: one call and one result each, in call order, and nothing else between.

    Rules: C-STEP-2
    """

    rule = "C-STEP-2"

    def _start(self) -> None:
        """Forget results that only the repair of a crash may have made."""
        self.repairs: list[tuple[str, int]] = []

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """A log doesn't show a resume, but that it interrupted the turn."""
        for name, place in self.repairs if event.reason != "interrupted" else ():
            self.violated(f"{name} has a result, but was never called", place)
        self.repairs = []

    @after(e.AssistantMessage)
    def opens(self, event: e.AssistantMessage) -> None:
        """A message with calls opens a batch."""
        if event.tool_calls:
            self.exercised()

    @before(*DURABLE)
    def between(self, event: Durable) -> None:
        """Until the last result only calls, results and splices are appended."""
        calls = self.view.calls
        if calls is None or isinstance(self.view.request, v.Resume):
            return
        missing = [call for call in calls.ids if call not in calls.results]
        what = event.type.replace("/", " ")
        message = f"{what} was appended while {', '.join(missing)} of the tool batch had no result"
        self.violated(message, calls.position, self.view.position + 1)

    @before(e.ToolCall)
    def called(self, event: e.ToolCall) -> None:
        """Calls are taken up in call order, each once."""
        calls = self.view.step.calls if self.view.step is not None else None
        if calls is None:
            self.violated(f"{event.call_id} was called without a batch that holds it", self.view.position + 1)
            return
        expected = calls.ids[len(calls.called)] if len(calls.called) < len(calls.ids) else "nothing more"
        if event.call_id != expected:
            message = f"{event.call_id} was called where {expected} was next in its batch"
            self.violated(message, calls.position, self.view.position + 1)

    @before(e.ToolResult)
    def answered(self, event: e.ToolResult) -> None:
        """Results are appended in call order, each once, after their call."""
        if isinstance(self.view.request, v.Resume):
            return
        calls = self.view.step.calls if self.view.step is not None else None
        if calls is None or event.call_id not in calls.ids:
            self.violated(f"a result of {event.call_id} answers no call of the batch", self.view.position + 1)
            return
        expected = calls.ids[len(calls.results)] if len(calls.results) < len(calls.ids) else "nothing more"
        if event.call_id != expected:
            self.violated(f"a result of {event.call_id} came where {expected} was next", self.view.position + 1)
        elif event.call_id not in calls.called:
            self._uncalled(event)

    def _uncalled(self, event: e.ToolResult) -> None:
        if event.is_error and "command" not in self.view.sees:
            self.repairs.append((event.call_id, self.view.place))
        else:
            self.violated(f"{event.call_id} has a result, but was never called", self.view.position + 1)


class ToolContexts(ClaimMonitor):
    """
    See that what a tool brings along enters next-step right after its result, in order.

    After a cancel, and behind an id that is refused, only the order is judged.

    Rules: C-STEP-3
    """

    rule = "C-STEP-3"
    needs = frozenset({"log", "gates", "command"})

    def _start(self) -> None:
        """Forget what a tool brought."""
        self.due: list[str] = []
        self.must = False
        self.call = ""

    @before(e.ToolResult)
    def returned(self, event: e.ToolResult) -> None:
        """A result with contexts is an occasion."""
        self._all_in()
        outcome = self.view.tools.get(event.call_id)
        self.due = [message.id for message in getattr(outcome, "additional_contexts", ())]
        self.call = event.call_id
        pending = {entry.id for entry in self.view.pending()}
        twice = any(name in pending or name in self.due[:n] for n, name in enumerate(self.due))
        self.must = not twice and self.view.aborted is False and not self.view.arms
        if self.due:
            self.exercised()

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """Each enters next-step at the end, in the order in which the tool returned them."""
        splice = self.view.splice
        if splice is None or splice.kind != "insert" or splice.told is not None or not event.inserted:
            return
        name = event.inserted[0]
        if name in self.due:
            place = self.due.index(name)
            ordered = place == 0 or not self.must
            at_end = event.target == "next-step" and event.start == splice.length
            if not (ordered and at_end):
                message = f"{name}, brought along by {self.call}, entered {event.target} at {event.start}"
                self.violated(f"{message}, not in order at the end of next-step")
            self.due = self.due[place + 1 :]
        elif name in self.view.supplied and self.view.calls is not None and self._to_come(name):
            self.violated(f"{name} entered the inbox before the result of the tool that brought it along")

    def _to_come(self, name: str) -> bool:
        calls = self.view.calls
        waiting = [call for call in calls.ids if call not in calls.results] if calls is not None else []
        outcomes = [self.view.tools.get(call) for call in waiting]
        return any(
            name == message.id for outcome in outcomes for message in getattr(outcome, "additional_contexts", ())
        )

    @before(e.ToolCall, e.StepEnd, e.TurnEnd, Observation)
    def goes_on(self, _: object) -> None:
        """All are in before the loop goes on."""
        self._all_in()

    def _all_in(self) -> None:
        if self.due and self.must and self.view.aborted is False:
            self.violated(
                f"{', '.join(self.due)}, brought along by {self.call}, didn't enter the inbox behind its result"
            )
        self.due = []


MONITORS: tuple[type[ClaimMonitor], ...] = (Batches, ToolContexts)
