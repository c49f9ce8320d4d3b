"""
Judge steps: their numbers and requests, the closure of tool batches, and when a turn goes on.

Rules: C-STEP-1, C-STEP-2, C-STEP-3, C-STEP-4, C-STEP-5, C-REQ-1.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import after, before
from turnproof_model.monitors.claim_facts import Pending
from turnproof_model.monitors.claim_inbox import ClaimMonitor
from turnproof_model.monitors.facts import Gate
from turnproof_model.observation import Observation

DURABLE = (
    *(e.TurnStart, e.TurnEnd, e.StepStart, e.StepEnd, e.UserMessage),
    *(e.SteeringMessage, e.AssistantMessage),
)
"""Core events that a tool batch keeps out."""

Durable = e.TurnStart | e.TurnEnd | e.StepStart | e.StepEnd | e.UserMessage | e.SteeringMessage | e.AssistantMessage


class Steps(ClaimMonitor):
    """
    See that steps are balanced, numbered from 1, and make one request, repeated only by a retry.

    Rules: C-STEP-1
    """

    rule = "C-STEP-1"
    needs = frozenset({"log", "request", "gates", "command"})

    def _start(self) -> None:
        """Forget a retry."""
        self.retry = False

    @before(e.StepStart)
    def starts(self, event: e.StepStart) -> None:
        """The number is the next one, and no step is open."""
        turn = self.view.turn
        if turn is None:
            return
        self.retry = False
        fits = turn.step is None and event.step == turn.steps + 1
        message = f"step {event.step} of turn {turn.number} opened where step {turn.steps + 1} was next"
        self.expect(fits, message, self.view.position + 1)

    @before(e.StepEnd)
    def ends(self, event: e.StepEnd) -> None:
        """The end is that of the open step."""
        step = self.view.step
        if step is None or step.number != event.step:
            message = f"step {event.step} of turn {event.turn} ended, which isn't open"
            self.violated(message, self.view.position + 1)

    @before(e.AssistantMessage, e.ToolCall, e.ToolResult)
    def acts(self, event: e.AssistantMessage | e.ToolCall | e.ToolResult) -> None:
        """Model output and tools lie inside a step."""
        step, resumed = self.view.step, isinstance(self.view.request, v.Resume)
        if self.view.turn is None or resumed:
            return
        named = getattr(event, "step", None)
        if step is None or named not in (None, step.number):
            what = event.type.replace("/", " ")
            self.violated(f"{what} was appended outside its step", self.view.position + 1)

    @after(v.Release)
    def released(self, _: object) -> None:
        """A retry repeats the request inside the step."""
        gate: Gate | None = self.view.last_released
        if gate is not None and gate.kind == "request-error" and isinstance(gate.outcome, v.Retry):
            self.retry = True

    @before(e.RequestMade)
    def requests(self, _: e.RequestMade) -> None:
        """A step makes one request."""
        step = self.view.step
        if step is None:
            self.violated("a request was made outside any step", self.view.position + 1)
        elif step.requests and not self.retry and not self.view.may_happen(v.Release):
            message = f"step {step.number} made a second request without a retry"
            self.violated(message, step.position, self.view.position + 1)
        self.retry = False


class Batches(ClaimMonitor):
    """
    See that a tool batch is closed: one call and one result each, in call order, and nothing else between.

    Rules: C-STEP-2
    """

    rule = "C-STEP-2"

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


class GoingOn(ClaimMonitor):
    """
    See that a turn goes on while next-step input waits or the model owes a request, and asks before it stops.

    Input that comes in the request in which the turn ends, and not in its last step, may have come too late.

    Rules: C-STEP-4
    """

    rule = "C-STEP-4"
    needs = frozenset({"log", "gates", "command"})

    def _start(self) -> None:
        """Forget what waited when the step ended, and whether turn-stopping was asked since."""
        self.waiting: list[Pending] = []
        self.asked = False
        self.rested = -1

    @after(e.StepEnd)
    def step_ends(self, _: e.StepEnd) -> None:
        """A step end with something to go on for is an occasion, and so is turn-stopping."""
        self.asked = False
        self.waiting = list(self.view.lists["next-step"])
        if self.view.aborted is False and (self.waiting or self.view.owes):
            self.exercised()

    @before(e.GateOpened)
    def stopping(self, event: e.GateOpened) -> None:
        """Turn-stopping isn't asked while there is a reason to go on."""
        if event.gate_kind != "turn-stopping":
            return
        self.asked = True
        if self.view.aborted is not False:
            return
        left = [entry for entry in self.waiting if entry in self.view.lists["next-step"]]
        if left:
            message = f"turn-stopping was asked while {left[0].id} waited in next-step"
            self.violated(message, left[0].position, self.view.position + 1)
        elif self.view.owes:
            self.violated("turn-stopping was asked while a tool result was unanswered", self.view.position + 1)
        else:
            self.exercised()

    @before(e.TurnEnd)
    def turn_ends(self, event: e.TurnEnd) -> None:
        """A turn doesn't end well with next-step input waiting, with a result unanswered, or unasked."""
        turn, boundary = self.view.turn, self.view.boundary
        if event.reason not in ("completed", "max-tokens") or turn is None or boundary is None or not turn.steps:
            return
        if turn.aborted or self.view.doubt or isinstance(self.view.request, v.Resume):
            return
        place = self.view.position + 1
        pending = self.view.lists["next-step"]
        left = [entry for entry in pending if entry in self.waiting or entry.position <= self.rested]
        emptied = bool(boundary.batch or boundary.gates)
        if left and not emptied:
            self.violated(f"turn {event.turn} ended while {left[0].id} waited in next-step", left[0].position, place)
        if self.view.owes:
            self.violated(f"turn {event.turn} ended {event.reason} while a tool result was unanswered", place)
        elif not self.asked and not emptied and self.view.gated("turn-stopping") and turn.concluded is False:
            self.violated(
                f"turn {event.turn} ended {event.reason} without asking turn-stopping after its last step", place
            )

    @before(Observation)
    def rests(self, _: Observation) -> None:
        """What is pending by now waits for the next thing that the turn does."""
        self.rested = self.view.position


class Conclusions(ClaimMonitor):
    """
    See that a concluding result ends the turn unless next-step input waits, and that an error never concludes.

    Rules: C-STEP-5
    """

    rule = "C-STEP-5"
    needs = frozenset({"log", "gates", "command"})

    def _start(self) -> None:
        """Forget the last batch."""
        self.concluded = False
        self.failed: str | None = None

    @after(e.ToolResult)
    def returned(self, event: e.ToolResult) -> None:
        """An error that says it concludes is an occasion too."""
        outcome = self.view.tools.get(event.call_id)
        if event.is_error and getattr(outcome, "concludes", False):
            self.failed = event.call_id

    @after(e.StepEnd)
    def step_ends(self, _: e.StepEnd) -> None:
        """The step's results decide."""
        turn = self.view.turn
        open_ = self.view.owes is not False or (turn is not None and turn.last_result > turn.last_request)
        self.concluded = open_ and turn is not None and turn.concluded is True
        if self.concluded or self.failed is not None:
            self.exercised()

    @before(e.StepStart)
    def goes_on(self, event: e.StepStart) -> None:
        """Only next-step input takes a concluded turn further."""
        boundary = self.view.boundary
        if self.concluded and boundary is not None and not boundary.batch and not boundary.gates:
            message = f"step {event.step} of turn {event.turn} opened though a tool had concluded the turn"
            self.violated(message, self.view.position + 1)
        self.concluded, self.failed = False, None

    @before(e.TurnEnd)
    def turn_ends(self, event: e.TurnEnd) -> None:
        """A turn doesn't end on the word of a failed tool."""
        turn, failed = self.view.turn, self.failed
        self.concluded, self.failed = False, None
        well = event.reason in ("completed", "max-tokens") and turn is not None and not turn.aborted
        if failed is not None and well and self.view.owes and not self.view.doubt:
            message = f"turn {event.turn} ended because {failed} concluded it, whose result was an error"
            self.violated(message, self.view.position + 1)


class Requests(ClaimMonitor):
    """
    See that a request shows the log's messages, all of them, in log order.

    Rules: C-REQ-1
    """

    rule = "C-REQ-1"
    needs = frozenset({"log", "request"})

    @before(e.RequestMade)
    def requests(self, event: e.RequestMade) -> None:
        """Each request is an occasion."""
        logged = [line.seen for line in self.view.history if line.seen is not None]
        shown = event.messages
        place = next(
            (n for n, (mine, theirs) in enumerate(zip(logged, shown, strict=False)) if not same(mine, theirs)), None
        )
        if place is None and len(logged) == len(shown):
            self.exercised()
            return
        at = min(len(logged), len(shown)) if place is None else place
        held = tell(logged[at]) if at < len(logged) else "nothing more"
        said = tell(shown[at]) if at < len(shown) else "nothing more"
        message = f"message {at + 1} of the request is {said}, where the log holds {held}"
        self.violated(message, self.view.position + 1)


def same(logged: v.Seen, shown: v.Seen) -> bool:
    """Tell whether a shown message is the logged one; text that either side doesn't tell isn't compared."""
    if logged.id != shown.id or logged.tool_result != shown.tool_result or logged.role != shown.role:
        return False
    if (logged.tool_calls or ()) != (shown.tool_calls or ()):
        return False
    if None not in (logged.is_error, shown.is_error) and logged.is_error != shown.is_error:
        return False
    return shown.text is None or logged.text is None or shown.text == logged.text


def tell(seen: v.Seen) -> str:
    """Name a message in a sentence."""
    if seen.id is not None:
        return f"{seen.id} ({seen.text})" if seen.text is not None and seen.text != seen.id else seen.id
    if seen.tool_result is not None:
        return f"the result of {seen.tool_result}"
    calls = ", ".join(seen.tool_calls or ())
    return f"an assistant message with calls {calls}" if calls else "an assistant message"


MONITORS: tuple[type[ClaimMonitor], ...] = (Steps, Batches, ToolContexts, GoingOn, Conclusions, Requests)
