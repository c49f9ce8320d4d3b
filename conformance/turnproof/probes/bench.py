"""
Hold a driver on the bench: everything that a probe does to it, and what it learns from that.

A probe asks in the words of the protocol and judges form and mechanics, never the contract. The bench takes down each
exchange as evidence. What a probe demands and doesn't get is a ``ProbeFailed``; a driver that breaks down raises
``DriverFault`` as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from turnproof.candidate import Candidate
from turnproof.faults import Exchange, RpcError
from turnproof.limits import Limits
from turnproof_model import vocabulary as v
from turnproof_model.events import Event, GateOpened, OpThrew
from turnproof_model.observation import GateView, Observation, Profile
from turnproof_model.wire import WireError, observation_from_wire, shorten, to_wire

FIRST_GATE: Final[Mapping[v.Contract, v.GateKind]] = {"window": "prompt-submit", "claim": "pre-step"}
"""The gate that a prompt meets before anything else."""

MOST_RELEASES: Final = 40
"""Releases after which a turn that goes on by default outcomes is given up."""

UNKNOWN_GATE: Final = v.Release(v.Continue(), gate="g999999")
"""An operation that every driver must refuse: inside a stack it leaves an ``op-threw`` at its place."""


class ProbeFailed(Exception):  # noqa: N818 - a verdict of the driver's, not an error of ours
    """Say what the driver did wrong."""


class NotApplicable(Exception):  # noqa: N818 - a verdict
    """Say why there is nothing to probe."""


class Bench:
    """
    Speak to one driver after another on behalf of the probes.

    Args:
        candidate: whose driver is probed.
        limits: of its conversations.

    Attributes:
        evidence: what was said since the probe began.
        trail: events since the last reset.
    """

    def __init__(self, candidate: Candidate, limits: Limits) -> None:
        self.client = candidate.connect(limits)
        self._profile: Profile | None = None
        self._running = False
        self.evidence: list[Exchange] = []
        self.trail: list[Event] = []

    # ---------------------------------------------------------------------------------------- conversations
    def start(self) -> Profile:
        """Begin a conversation with a fresh driver."""
        self._running = False
        self._profile = self.client.initialize()
        self._running = True
        self.evidence += self.client.exchanges
        return self._profile

    def ready(self) -> None:
        """Have a driver that runs, a fresh one if the last was lost, and no evidence yet."""
        self.evidence.clear()
        if not self._running:
            self.start()

    def calm(self) -> None:
        """Ask once more, whatever is answered: a stray line before this is found now."""
        if self._running:
            self.call("inspect")

    def lost(self) -> None:
        """Take note that the driver is gone."""
        self._running = False

    @property
    def profile(self) -> Profile:
        """What the driver said of its candidate."""
        assert self._profile is not None
        return self._profile

    @property
    def first(self) -> v.GateKind:
        """The gate that a prompt meets first."""
        return FIRST_GATE[self.profile.contract]

    @property
    def default_kinds(self) -> tuple[v.GateKind, ...]:
        """The kinds that a plain reset gates and that this candidate has."""
        kinds = v.TURN_GATES[self.profile.contract]
        return tuple(kind for kind in kinds if kind != "request-error" or self.profile.has(kind))

    # ---------------------------------------------------------------------------------------- requests
    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send anything; return the raw result or the ``RpcError``."""
        answer = self.client.call(method, params or {})
        self.evidence.append(Exchange(method, params or {}, answer))
        return answer

    def ask(self, request: v.Command) -> Observation:
        """
        Perform a request that must be answered by an observation, perhaps a refusal.

        Raises:
            ProbeFailed: it is answered by an error or another form.
        """
        wire = to_wire(request)
        answer = self.call(wire["method"], wire["params"])
        if isinstance(answer, RpcError):
            raise ProbeFailed(f"'{wire['method']}' must be performed (got error {answer.code}: {answer.message})")
        try:
            seen = observation_from_wire(answer)
        except WireError as error:
            raise ProbeFailed(f"'{wire['method']}' must be answered by an observation: {error}") from error
        self.trail += seen.events
        return seen

    def do(self, request: v.Command) -> Observation:
        """
        Perform a request that must not be refused.

        Raises:
            ProbeFailed: it is.
        """
        seen = self.ask(request)
        if seen.refused is not None:
            raise ProbeFailed(f"'{to_wire(request)['method']}' must be performed (it was refused: {seen.refused})")
        return seen

    def side_by_side(self, request: v.Command, lanes: int) -> list[Observation]:
        """Send a request on several lanes, then listen to them."""
        for lane in range(lanes):
            self.client.post(request, lane)
        seen = [self.client.fetch(lane) for lane in range(lanes)]
        self.evidence += self.client.exchanges[-lanes:]
        return seen

    def denied(self, method: str, params: Mapping[str, Any], *, refusal: bool = True) -> None:
        """
        Send what must not be performed: it is answered by an error, or a refusal if that will do, and changes nothing.

        Raises:
            ProbeFailed: it is performed, or leaves a trace.
        """
        before = self.do(v.Inspect())
        answer = self.call(method, params)
        refused = isinstance(answer, dict) and answer.get("refused") is not None
        if not isinstance(answer, RpcError) and not (refusal and refused):
            wanted = "an error or a refusal" if refusal else "an error"
            raise ProbeFailed(f"{shorten({'method': method, 'params': dict(params)})} must be answered by {wanted}")
        self.settled(before, f"what was answered by {'a refusal' if refused else 'an error'} must change nothing")

    def settled(self, before: Observation, demand: str) -> None:
        """
        Look again: nothing may have happened since an observation.

        Raises:
            ProbeFailed: something did.
        """
        after = self.do(v.Inspect())
        if after.events:
            raise ProbeFailed(f"{demand} (then came {shorten(after.events)})")
        if state(after) != state(before):
            raise ProbeFailed(f"{demand} (it was {shorten(state(before))}, then {shorten(state(after))})")

    # ---------------------------------------------------------------------------------------- common moves
    def reset(self, **choices: Any) -> Observation:
        """Begin with a new agent and an empty trail; ``choices`` are those of ``Reset``."""
        self.trail.clear()
        return self.do(v.Reset(**choices))

    def send(self, name: str, *, wakeup: bool = True) -> Observation:
        """Queue a prompt of that id."""
        return self.do(v.followup(message(name)) if wakeup else quiet(name))

    def release(self, gate: GateView, outcome: v.Outcome | None = None) -> Observation:
        """Settle a gate, by its default outcome if none is given."""
        chosen = v.DEFAULT_OUTCOME[gate.kind] if outcome is None else outcome
        return self.do(v.Release(chosen, gate=gate.id))

    def reach(self, kind: v.GateKind, prompt: str = "p") -> GateView:
        """
        Send a prompt and go on until a gate of that kind is open.

        Raises:
            ProbeFailed: none opens.
        """
        return self.go_on(kind, self.send(prompt))[0]

    def go_on(self, kind: v.GateKind, seen: Observation) -> tuple[GateView, Observation]:
        """Go on from an observation until a gate of that kind is open."""
        leading: Mapping[v.GateKind, v.Outcome] = {
            "tool": v.Tools((v.Call("c1", "par"),)),
            "request-error": v.Error("scripted failure"),
        }
        for _ in range(MOST_RELEASES):
            found = next((gate for gate in seen.gates if gate.kind == kind), None)
            if found is not None:
                return found, seen
            if not seen.gates:
                break
            gate = seen.gates[0]
            seen = self.release(gate, leading.get(kind) if gate.kind == "model" else None)
        raise ProbeFailed(f"a gate of kind '{kind}' must open in the course of a turn (none did)")

    def run_out(self, seen: Observation) -> Observation:
        """
        Settle gates by their defaults until none is open.

        Raises:
            ProbeFailed: gates keep opening.
        """
        for _ in range(MOST_RELEASES):
            if not seen.gates:
                return seen
            seen = self.release(seen.gates[0])
        raise ProbeFailed(f"a turn must end by default outcomes ({MOST_RELEASES} gates were settled)")

    def turn(self, prompt: str) -> list[Event]:
        """Run a whole turn and return its events."""
        before = len(self.trail)
        self.run_out(self.send(prompt))
        return self.trail[before:]


def message(name: str, kind: str = "user") -> v.Message:
    """Make a message of that id."""
    return v.Message(name, name, v.Source(kind))


def quiet(name: str) -> v.Send:
    """Queue a prompt that wakes nobody."""
    return v.Send(message(name), "next-turn", wakeup=False)


def state(seen: Observation) -> Observation:
    """Keep what an observation says of the present, without what happened and what was asked."""
    return evolve(seen, events=(), when_idle=None, refused=None, answer=None, goal=None)


def mentions(event: Event, name: str) -> bool:
    """Tell whether an event is about the message of that id."""
    listed = (*getattr(event, "ids", ()), *getattr(event, "inserted", ()))
    return getattr(event, "id", None) == name or name in listed


def position(events: Iterable[Event], wanted: Callable[[Event], bool], what: str) -> int:
    """
    Find the first event of a sort.

    Raises:
        ProbeFailed: there is none.
    """
    for index, event in enumerate(events):
        if wanted(event):
            return index
    raise ProbeFailed(f"{what} must be among the events (it is not)")


def threw(event: Event) -> bool:
    """Tell whether an event is the mark of a refused operation."""
    return isinstance(event, OpThrew)


def opens(kind: str) -> Callable[[Event], bool]:
    """Tell whether an event opens a gate of that kind."""
    return lambda event: isinstance(event, GateOpened) and event.gate_kind == kind


def demand(holds: object, what: str) -> None:
    """
    Demand something of the driver.

    Raises:
        ProbeFailed: it doesn't hold.
    """
    if not holds:
        raise ProbeFailed(what)


# ---------------------------------------------------------------------------------------------------- probes
@frozen
class ProbeSpec:
    """Name one probe, what it shows, and the capabilities without which there is nothing to show."""

    id: str
    title: str
    run: Callable[[Bench], None]
    needs: tuple[str, ...] = ()


Probing: TypeAlias = Callable[[Bench], None]


def probe(name: str, title: str, *needs: str) -> Callable[[Probing], ProbeSpec]:
    """
    Make a probe of a function.

    Args:
        name: id of the probe.
        title: what a driver does that passes, as a sentence.
        needs: capabilities without which it isn't applicable.
    """
    return lambda run: ProbeSpec(name, title, run, needs)
