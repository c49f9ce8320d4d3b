"""
Judge steps: their numbers and requests, and when a turn goes on.

Rules: C-STEP-1, C-STEP-4, C-STEP-5.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_facts import Pending
from turnproof_model.monitors.facts import Gate
from turnproof_model.observation import Observation


class Steps(ClaimMonitor):
    """
    See that steps are balanced, numbered from 1, and that the model answers once in each.

    Rules: C-STEP-1
    """

    rule = "C-STEP-1"

    @before(e.StepStart)
    def starts(self, event: e.StepStart) -> None:
        """The number is the next one, and no step is open."""
        turn = self.view.turn
        if turn is None:
            return
        if turn.step is not None:
            message = f"step {event.step} of turn {turn.number} opened inside step {turn.step.number}"
            self.violated(message, turn.step.position, self.view.place)
        else:
            message = f"step {event.step} of turn {turn.number} opened where step {turn.steps + 1} was next"
            self.expect(event.step == turn.steps + 1, message)

    @before(e.StepEnd)
    def ends(self, event: e.StepEnd) -> None:
        """The end is that of the open step."""
        step = self.view.step
        if step is None or step.number != event.step:
            message = f"step {event.step} of turn {event.turn} ended, which isn't open"
            self.violated(message, self.view.position + 1)

    @before(e.TurnEnd)
    def left_open(self, event: e.TurnEnd) -> None:
        """A turn doesn't end inside a step."""
        step = self.view.step
        if step is not None:
            self.violated(f"turn {event.turn} ended with step {step.number} open", step.position, self.view.place)

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
        elif isinstance(event, e.AssistantMessage) and step.spoken:
            self.violated(f"step {step.number} has a second answer", step.position, self.view.place)


class StepRequests(ClaimMonitor):
    """
    See that a step makes one request, repeated only by a retry.

    Rules: C-STEP-1
    """

    rule = "C-STEP-1"
    needs = frozenset({"log", "request", "gates", "command"})

    def _start(self) -> None:
        """Forget a retry."""
        self.retry = False

    @before(e.StepStart)
    def starts(self, _: e.StepStart) -> None:
        """A retry belongs to its step."""
        self.retry = False

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


MONITORS: tuple[type[ClaimMonitor], ...] = (Steps, StepRequests, GoingOn, Conclusions)
