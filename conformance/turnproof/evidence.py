"""
Show a failure move by move: what each command was answered, beside what the rules demand, up to the first difference.

A finished schedule is played once more for this, on a fresh trial; the observations of a search aren't kept. Values
are those of the vocabulary, so that a report can draw them; ``to_json`` and ``evidence_from_json`` carry them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from turnproof.score import value_text
from turnproof.trial import Asks, RuleFailure, Trial
from turnproof_model.events import Event
from turnproof_model.observation import Observation, Profile
from turnproof_model.surroundings import Demand, MisuseError
from turnproof_model.vocabulary import Command, Contract, Reset
from turnproof_model.wire import event_from_wire, observation_from_wire, request_from_wire, to_wire


@frozen
class Step:
    """
    Hold one command with what was demanded and what came.

    ``expected`` are the demanded events in order, each with its rules; ``observed`` is ``None`` where the answer wasn't
    kept.
    """

    command: Command
    expected: tuple[Demand, ...] = ()
    observed: Observation | None = None

    def to_json(self) -> dict[str, Any]:
        """Write the step as a JSON value."""
        return {
            "command": to_wire(self.command),
            "expected": [{"event": to_wire(d.event), "rules": list(d.rules)} for d in self.expected],
            "observed": None if self.observed is None else to_wire(self.observed),
        }


@frozen
class Evidence:
    """
    Hold a failing schedule move by move; only the last step differs.

    ``where`` is ``events``, a field of the observation, or ``monitor``; ``index`` is the position of the difference
    among the judged events of the last step (all events for a field). ``expected`` and ``observed`` are the two values
    in words; ``objections`` are what monitors say, by rule.
    """

    steps: tuple[Step, ...]
    where: str
    index: int
    expected: str
    observed: str
    objections: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Write the evidence as a JSON value."""
        return {
            "where": self.where,
            "index": self.index,
            "expected": self.expected,
            "observed": self.observed,
            "objections": [{"rule": rule, "message": message} for rule, message in self.objections],
            "steps": [step.to_json() for step in self.steps],
        }


def evidence_from_json(value: Mapping[str, Any]) -> Evidence:
    """
    Read evidence back.

    Raises:
        KeyError, TypeError, WireError: it isn't what ``to_json`` writes.
    """
    return Evidence(
        tuple(map(_step_from_json, value["steps"])),
        value["where"],
        value["index"],
        value["expected"],
        value["observed"],
        tuple((item["rule"], item["message"]) for item in value["objections"]),
    )


def _step_from_json(value: Mapping[str, Any]) -> Step:
    command: Any = request_from_wire(value["command"])
    demands = tuple(Demand(event_from_wire(item["event"]), tuple(item["rules"])) for item in value["expected"])
    seen = value["observed"]
    return Step(command, demands, None if seen is None else observation_from_wire(seen))


@define
class _Witness:
    """Be a client that remembers the last answer of another."""

    client: Asks
    last: Observation | None = field(default=None, init=False)

    def initialize(self) -> Profile:
        """Open the conversation."""
        return self.client.initialize()

    def ask(self, request: Command) -> Observation:
        """Perform one request and keep its answer."""
        self.last = None
        self.last = self.client.ask(request)
        return self.last


def gather(
    client: Asks, contract: Contract | None, commands: Sequence[Command], assumed: tuple[tuple[str, str], ...] = ()
) -> Evidence | None:
    """
    Play a failing schedule again and keep what each command showed.

    Args:
        client: of the candidate that failed.
        contract: the one it failed by.
        commands: from the reset on.
        assumed: the freedoms that the failure takes for given.

    Returns:
        ``None`` where nothing fails this time, or a command can't be given any more.

    Raises:
        DriverFault: the candidate's driver broke down.
    """
    witness = _Witness(client)
    trial = Trial.open(witness, contract, assumed)
    steps: list[Step] = []
    for command in commands:
        try:
            planned = trial.oracle.expect(command)
            failure = trial.begin(command) if isinstance(command, Reset) else trial.do(command)
        except MisuseError:
            return None
        demands = tuple(trial.oracle.machine.demands) if failure is None else _demands(planned, failure.expected)
        steps.append(Step(command, demands, witness.last))
        if failure is not None:
            return _evidence(tuple(steps), failure)
    failure = trial.end()
    return None if failure is None else _evidence(tuple(steps), failure)


def unrepeated(failure: RuleFailure) -> Evidence:
    """Make what evidence there is of a failure that didn't show again: its last answer alone."""
    *before, last = failure.schedule
    demands = tuple(Demand(event, ()) for event in failure.expected)
    return _evidence((*map(Step, before), Step(last, demands, failure.observation)), failure)


def _demands(planned: tuple[Demand, ...], expected: tuple[Event, ...]) -> tuple[Demand, ...]:
    """Give the demanded events with their rules, and what would have followed where nothing else was lawful."""
    if tuple(demand.event for demand in planned[: len(expected)]) == expected:
        return planned
    return tuple(Demand(event, ()) for event in expected)


def _evidence(steps: tuple[Step, ...], failure: RuleFailure) -> Evidence:
    objections = tuple((violation.rule, violation.message) for violation in failure.violations)
    difference = failure.difference
    if difference is None:
        return Evidence(steps, "monitor", len(failure.observation.events), "", "", objections)
    expected, observed = value_text(difference.expected), value_text(difference.observed)
    return Evidence(steps, difference.where, difference.index, expected, observed, objections)
