"""
Be drivers with one defect each, named by the probe that must find it; everything else is sound.
"""

from __future__ import annotations

import itertools
from collections import deque

from miniature_drivers.agent import ABORTED
from miniature_drivers.driver import Driver, RpcFailure, World

from turnproof_model import vocabulary as v

PROBED_BY = {}
"""The defective class, and what it is made with, by the probe that must find it."""


def found_by(probe, **kwargs):
    """Register a defect."""

    def register(cls):
        PROBED_BY.setdefault(probe, []).append((cls, kwargs))
        return cls

    return register


class WorldDefect(Driver):
    """Carry a defect of the surroundings."""

    world_class = World

    def replace_world(self, world):
        world.__class__ = self.world_class
        super().replace_world(world)


def in_world(probe, **kwargs):
    """Register a defect of the surroundings as a driver of its own."""

    def register(cls):
        found_by(probe, **kwargs)(type(cls.__name__, (WorldDefect,), {"world_class": cls, "__doc__": cls.__doc__}))
        return cls

    return register


# ---------------------------------------------------------------------------------------------------- conversation
@found_by("initialize/form")
class InventsCapabilities(Driver):
    """Declare a capability that there is not."""

    def introduce(self, params):
        return super().introduce(params) | {"capabilities": self.capabilities | {"arm.depth": True}}


@found_by("initialize/form")
class HidesAGate(Driver):
    """Gate a kind by default that isn't listed."""

    def introduce(self, params):
        return super().introduce(params) | {"gates": ["pre-step", "model", "tool", "request-error", "flush"]}


@found_by("initialize/form")
class OffersOtherTools(Driver):
    """Offer tools by other names."""

    def introduce(self, params):
        return super().introduce(params) | {"tools": {"p": "parallel", "x": "exclusive"}}


@found_by("initialize/form")
class IsNobody(Driver):
    """Have no name."""

    def introduce(self, params):
        profile = super().introduce(params)
        return profile | {"implementation": profile["implementation"] | {"name": ""}}


@found_by("initialize/version")
class SpeaksAnyVersion(Driver):
    """Answer whatever version is asked for."""

    def introduce(self, params):
        return super().introduce({"protocol": 1})


@found_by("errors/unknown-method")
class IgnoresUnknownMethods(Driver):
    """Only observe when a method is unknown."""

    def read(self, method, params):
        known = isinstance(method, str) and (method in METHODS or method == "send")
        return super().read(method if known else "inspect", params if known else {})


METHODS = {"followup", "steer", "inject", "reset", "resume", "release", "batch", "arm", "cancel", "inspect"} | {
    "remove",
    "replace",
    "prepend",
    "dispose",
    "reference",
    "goal",
}


@found_by("errors/bad-params")
class GuessesParameters(Driver):
    """Only observe when parameters have another form."""

    def read(self, method, params):
        try:
            return super().read(method, params)
        except RpcFailure as failure:
            if method not in METHODS or "declared" in str(failure):
                raise
            return v.Inspect()


@found_by("errors/bad-params")
class ChangesBeforeItChecks(Driver):
    """Drop the agent before the parameters of a reset are read."""

    def read(self, method, params):
        if method == "reset" and self.world is not None:
            self.world.gates.clear()
        return super().read(method, params)


@in_world("errors/unknown-gate")
class ReleasesNothing(World):
    """Do nothing when a gate isn't open."""

    def release(self, name, kind, outcome):
        if name in self.gates or kind is not None:
            super().release(name, kind, outcome)


@found_by("text/any")
class NormalizesText(Driver):
    """Split and join lines as Unicode has them."""

    def perform(self, method, params):
        message = params.get("message")
        if isinstance(message, dict) and isinstance(message.get("id"), str):
            params = params | {"message": message | {"id": " ".join(message["id"].splitlines())}}
        return super().perform(method, params)


@found_by("text/long")
class ReadsThroughASmallBuffer(Driver):
    """Refuse what doesn't fit in a pipe."""

    def perform(self, method, params):
        if len(str(params)) > 1 << 16:
            raise RpcFailure("the line is cut off")
        return super().perform(method, params)


@found_by("settled")
class AnswersTooEarly(Driver):
    """Observe before the agent goes on."""

    def observe(self):
        late, self.world.ready = self.world.ready, deque()
        seen = super().observe()
        self.world.ready = late
        self.run_out()
        return seen


@found_by("reset/empty")
class ShowsTheReset(Driver):
    """Publish that an agent was made."""

    def do(self, request, method, params):
        super().do(request, method, params)
        if isinstance(request, v.Reset):
            self.world.agent.live("agent/status", status="idle")


@found_by("reset/empty")
class CountsGatesOn(WorldDefect):
    """Go on with the gate ids of the agent before."""

    def replace_world(self, world):
        world.count = 0 if self.world is None else self.world.count
        super().replace_world(world)


@found_by("reset/no-leak")
class KeepsScripts(WorldDefect):
    """Hand the scripts of a dropped agent to the next."""

    def replace_world(self, world):
        world.arms = [] if self.world is None else self.world.arms
        super().replace_world(world)


@found_by("reset/no-leak")
class LeaksLateOutput(WorldDefect):
    """Let a dropped agent's parked tool speak into the next session."""

    def replace_world(self, world):
        parked = self.world is not None and any(gate.get("aborted") for gate in self.world.gates.values())
        self.late = self.late or parked
        super().replace_world(world)

    late = False

    def observe(self):
        seen = super().observe()
        if self.late and seen["status"] == "running":
            self.late = False
            seen["events"].append({"kind": "session", "type": "tool/result", "callId": "c1", "isError": True})
        return seen


_MOODS = itertools.count()


@found_by("determinism/same-process")
class HasMoods(Driver):
    """Number its turns over all sessions."""

    def replace_world(self, world):
        super().replace_world(world)
        world.agent.turn = next(_MOODS)


class Clocked(Driver):
    """Show something of the process it runs in."""

    def __init__(self, loop=None, **kwargs):
        super().__init__(loop, **kwargs)
        self.born = next(_MOODS)

    def replace_world(self, world):
        super().replace_world(world)
        world.agent.turn = self.born


found_by("determinism/fresh-process")(Clocked)


# ---------------------------------------------------------------------------------------------------- gates
@found_by("gates/default")
class GatesTheCheckpointToo(Driver):
    """Gate flush where nobody asked for it."""

    def default_kinds(self):
        return self.kinds()


@in_world("gates/default")
class HidesDetails(World):
    """Say nothing of what a gate is for."""

    def ask(self, gate, settle):
        super().ask({key: value for key, value in gate.items() if key != "claimed"}, settle)


@in_world("gates/default")
class ConfusesDetails(World):
    """Name another tool than the one that was called."""

    def ask(self, gate, settle):
        super().ask(gate | ({"name": "tool"} if gate["kind"] == "tool" else {}), settle)


@in_world("gates/ids")
class AnnouncesNoGates(World):
    """Open gates without a word."""

    def publish(self, event):
        if event["type"] != "gate/open" or event["gateKind"] != "turn-stopping":
            super().publish(event)


@in_world("gates/ids")
class SkipsNumbers(World):
    """Number only every other gate."""

    def ask(self, gate, settle):
        self.count += 1
        super().ask(gate, settle)


@found_by("gates/select")
class GatesWhatItLikes(Driver):
    """Gate the default kinds, whatever is asked for."""

    def do(self, request, method, params):
        plain = isinstance(request, v.Reset) and request.gates is not None
        super().do(v.Reset(on_abort=request.on_abort) if plain else request, method, params)


@in_world("release/id")
class ReleasesTheOldest(World):
    """Settle the oldest gate of the kind, whichever was named."""

    def release(self, name, kind, outcome):
        super().release(None, self.gates[name]["kind"] if name in self.gates else kind, outcome)


@in_world("release/kind")
class ReleasesTheYoungest(World):
    """Settle the youngest gate of a kind."""

    def release(self, name, kind, outcome):
        youngest = next((each for each in reversed(self.gates) if self.gates[each]["kind"] == kind), name)
        super().release(youngest, None, outcome)


@in_world("release/kind")
class ReleasesAllOfAKind(World):
    """Settle every gate of a kind."""

    def release(self, name, kind, outcome):
        for each in [each for each, gate in self.gates.items() if gate["kind"] == kind] or [name]:
            super().release(each, None, outcome)


@in_world("onAbort/settle")
class IsDeafToAborts(World):
    """Leave gates open through an abort."""

    def abort(self, name):
        pass


@in_world("onAbort/settle")
class AbortsSilently(World):
    """Settle aborted gates without a word."""

    def abort(self, name):
        self.settle(name, ABORTED)


@in_world("onAbort/park")
class SettlesWhatIsParked(World):
    """Settle every gate on an abort."""

    def abort(self, name):
        self.on_abort = {}
        super().abort(name)


@in_world("onAbort/park")
class HidesTheAbort(World):
    """Leave a parked gate as if nothing had been."""

    def abort(self, name):
        if self.on_abort.get(self.gates[name]["kind"], "settle") == "settle":
            super().abort(name)


# ---------------------------------------------------------------------------------------------------- scheduling
@found_by("batch/one-stack")
class SettlesBetweenOperations(Driver):
    """Let the agent go on between the operations of a batch."""

    def do(self, request, method, params):
        if not isinstance(request, v.Batch):
            super().do(request, method, params)
            return
        for op in params["ops"]:
            self.world.attempt(op)
            self.run_out()


@found_by("batch/refusals")
class StopsAtARefusal(Driver):
    """Leave the rest of a batch undone behind a refusal."""

    def do(self, request, method, params):
        if not isinstance(request, v.Batch):
            super().do(request, method, params)
            return
        for op in params["ops"]:
            before = len(self.world.events)
            self.world.attempt(op)
            if any(event["type"] == "op-threw" for event in self.world.events[before:]):
                return


@in_world("arm/inside")
class FiresLater(World):
    """Perform armed operations after the stack."""

    def later(self, breaks, act):
        self.ready.append(act)


@in_world("arm/once")
class FiresAgain(World):
    """Keep an arm that fired."""

    def hit(self, arm):
        super().hit(arm)
        if arm["left"] == 0:
            self.arms.append(arm | {"left": 1})


@in_world("arm/nth")
class FiresAtTheFirst(World):
    """Fire at the first event, whichever was asked for."""

    def hit(self, arm):
        super().hit(arm | {"left": 1} if arm["left"] > 1 else arm)
        if arm in self.arms:
            self.arms.remove(arm)

    def arm(self, request, ops):
        super().arm(v.Arm(request.on, (), request.where, 1, request.defer), ops)


@in_world("arm/where")
class FiresAnywhere(World):
    """Fire at any event of the type."""

    def arm(self, request, ops):
        super().arm(v.Arm(request.on, (), {}, request.nth, request.defer), ops)


@in_world("arm/defer")
class FiresAtOnce(World):
    """Perform deferred operations inside the event."""

    def later(self, breaks, act):
        act()


@in_world("arm/defer-order")
class DefersAlike(World):
    """Defer by one break, however many were asked for."""

    def arm(self, request, ops):
        super().arm(v.Arm(request.on, (), request.where, request.nth, min(request.defer, 1)), ops)


@in_world("arm/nested")
class ArmsOnlyFromOutside(World):
    """Forget what is armed inside an event."""

    def attempt(self, op):
        if op["method"] != "arm":
            super().attempt(op)


found_by("arm/dies")(KeepsScripts)


# ---------------------------------------------------------------------------------------------------- capabilities
class Declares(Driver):
    """Declare a capability and refuse its operation, or show nothing of it."""

    def __init__(self, loop=None, capability=None, **kwargs):
        super().__init__(loop, **kwargs)
        self.refused = capability

    def needed(self, request):
        for capability in super().needed(request):
            if capability == self.refused:
                raise RpcFailure("not today")
            yield capability

    def observe(self):
        return super().observe() | ({self.refused: None} if self.refused in SEEN else {})

    def default_kinds(self):
        return [kind for kind in super().default_kinds() if kind != self.refused]


SEEN = ("inbox", "acceptsNextStep", "whenIdle")

WINDOW_ONLY = ("acceptsNextStep", "step-gate", "prompt.content", "prompt.contexts")


def contract_of(capability):
    """Name a contract that has the capability."""
    return "window" if capability in WINDOW_ONLY else "claim"


REFUSABLE = (
    *(*SEEN, "keepInbox", "dispose", "resume", "fork", "compact", "request-error", "model.partial"),
    *("tool.contexts", "tool.concludes", "prompt.content", "prompt.contexts", "inbox.remove", "inbox.replace"),
    *("inbox.prepend", "goal", "reference"),
)

for _name in REFUSABLE:
    found_by(f"declared/{_name}", capability=_name, contract=contract_of(_name))(Declares)


def never_gates(kind):
    """Make surroundings in which a kind takes its default even where it is gated."""

    class NeverGates(World):
        def ask(self, gate, settle):
            self.gated = [each for each in self.gated if each != kind]
            super().ask(gate, settle)

    return NeverGates


in_world("declared/flush")(never_gates("flush"))
in_world("declared/step-gate", contract="window")(never_gates("step"))


@in_world("declared/tools.parallel")
class RunsToolsInARow(World):
    """Open one gate at a time."""

    queued = None

    def ask(self, gate, settle):
        if any(each["kind"] == "tool" for each in self.gates.values()):
            self.queued = (gate, settle)
            return
        super().ask(gate, settle)

    def settle(self, name, outcome):
        super().settle(name, outcome)
        if self.queued is not None and not self.gates:
            queued, self.queued = self.queued, None
            super().ask(*queued)


@in_world("declared/tools.exclusive")
class RunsToolsAtOnce(World):
    """Open the gates of exclusive tools side by side."""

    def go_on(self, outcome):
        if outcome is not None and isinstance(outcome, dict) and outcome.get("calls"):
            calls = [call | {"name": "par" if call["name"] == "exc" else call["name"]} for call in outcome["calls"]]
            outcome = outcome | {"calls": calls}
        super().go_on(outcome)


# What is performed though it is not declared.
class AcceptsUndeclared(Driver):
    """Perform an operation of a capability that isn't declared."""

    def __init__(self, loop=None, capability=None, **kwargs):
        super().__init__(loop, **kwargs, without=(capability,))
        self.accepted = capability

    def needed(self, request):
        return [capability for capability in super().needed(request) if capability != self.accepted]

    def kinds(self):
        return [*v.TURN_GATES[self.contract], *v.OPTIONAL_GATES[self.contract]]

    def introduce(self, params):
        profile = super().introduce(params)
        hidden = "step" if self.accepted == "step-gate" else self.accepted
        return profile | {"gates": [kind for kind in profile["gates"] if kind != hidden]}


OPERATED = (
    *("batch", "arm", "arm.defer", "arm.where", "gates.select", "onAbort.select", "keepInbox", "dispose"),
    *("resume", "fork", "compact", "flush", "step-gate", "request-error", "model.partial", "tool.contexts"),
    *("tool.concludes", "prompt.content", "prompt.contexts", "inbox.remove", "inbox.replace", "inbox.prepend"),
    *("goal", "reference"),
)

for _name in OPERATED:
    found_by(f"undeclared/{_name}", capability=_name, contract=contract_of(_name))(AcceptsUndeclared)
