"""
Hold what a finished run found: verdicts per rule, capsules, latitude, faults. Renderers read these, and nothing else.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

from turnproof.faults import Fault
from turnproof_model.observation import Implementation
from turnproof_model.vocabulary import Contract

RuleVerdict = Literal["passed", "failed", "not-exercised", "not-applicable", "unobservable"]
RunVerdict = Literal["conforms", "fails", "driver-fault", "inconclusive"]

EXIT_CODES: dict[RunVerdict, int] = {"conforms": 0, "fails": 1, "driver-fault": 3, "inconclusive": 4}
"""The exit code of each verdict; 2 is for usage and unreadable input."""


@frozen
class RuleResult:
    """
    Hold the verdict on one rule.

    ``exercised`` counts how often its premise occurred; ``capsules`` are file names or ids; ``reason`` says why it
    isn't applicable or observable.
    """

    id: str
    verdict: RuleVerdict
    exercised: int = 0
    capsules: tuple[str, ...] = ()
    reason: str | None = None


@frozen
class CapsuleResult:
    """Hold one failure in words: its file, rules, score, and the text for a person."""

    name: str
    rules: tuple[str, ...]
    commands: int
    score: str
    text: str
    occurrences: int = 1
    disagreement: bool = False


@frozen
class RunResult:
    """Hold one finished run of one candidate under one contract."""

    agent: Implementation
    contract: Contract
    seed: int
    commands: int
    examples: int
    seconds: float
    rules: tuple[RuleResult, ...]
    capsules: tuple[CapsuleResult, ...] = ()
    latitude: dict[str, list[str]] = field(factory=dict)
    deviations: tuple[str, ...] = ()
    driver_faults: tuple[Fault, ...] = ()
    interrupted: bool = False

    @property
    def verdict(self) -> RunVerdict:
        """The verdict of the whole run; a rule failure outranks everything but a driver that broke down first."""
        if any(rule.verdict == "failed" for rule in self.rules):
            return "fails"
        if self.driver_faults:
            return "driver-fault"
        if self.interrupted or not any(rule.verdict == "passed" for rule in self.rules):
            return "inconclusive"
        return "conforms"

    @property
    def exit_code(self) -> int:
        """The exit code that the verdict asks for."""
        return EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Give the ``turnproof/run/1`` document."""
        return {
            "schema": "turnproof/run/1",
            "agent": {"name": self.agent.name, "version": self.agent.version, "language": self.agent.language},
            "contract": self.contract,
            "seed": self.seed,
            "commands": self.commands,
            "examples": self.examples,
            "seconds": round(self.seconds, 3),
            "rules": [_rule_json(rule) for rule in self.rules],
            "latitude": self.latitude,
            "deviations": list(self.deviations),
            "coverage": {"transitions": {"covered": None, "total": None}},
            "driver_faults": [fault.to_json() for fault in self.driver_faults],
            "verdict": self.verdict,
        }


def _rule_json(rule: RuleResult) -> dict[str, Any]:
    out: dict[str, Any] = {
        "id": rule.id,
        "verdict": rule.verdict,
        "exercised": rule.exercised,
        "capsules": list(rule.capsules),
    }
    return out if rule.reason is None else out | {"reason": rule.reason}
