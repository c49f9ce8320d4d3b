"""
Hold what a finished run found: verdicts per rule, failures, latitude, faults. Renderers read these, and nothing else.

``RunResult.to_json`` writes the ``turnproof/run/1`` document, and ``run_from_json`` reads it back whole: a report made
from the file is the report made from the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from turnproof.evidence import Evidence, evidence_from_json
from turnproof.faults import Exchange, Exit, Fault, RpcError
from turnproof_model.observation import Implementation
from turnproof_model.vocabulary import Contract

SCHEMA = "turnproof/run/1"

RuleVerdict = Literal["passed", "failed", "not-exercised", "not-applicable", "unobservable"]
RaceVerdict = Literal["passed", "failed", "not-exercised", "not-applicable"]
RunVerdict = Literal["conforms", "fails", "driver-fault", "inconclusive"]

EXIT_CODES: dict[RunVerdict, int] = {"conforms": 0, "fails": 1, "driver-fault": 3, "inconclusive": 4}
"""The exit code of each verdict; 2 is for usage and unreadable input."""


class ResultError(ValueError):
    """Say that a document isn't a finished run; the message tells what is wrong with it."""


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
class RaceResult:
    """
    Hold the verdict on one race.

    ``rules`` are those that broke, ``capsule`` and ``signature`` name the failure among those of the run, and
    ``reason`` says why the race wasn't exercised or isn't applicable.
    """

    name: str
    verdict: RaceVerdict
    rules: tuple[str, ...] = ()
    capsule: str | None = None
    signature: str = ""
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Write it as a JSON value."""
        out: dict[str, Any] = {"name": self.name, "verdict": self.verdict}
        if self.verdict == "failed":
            return out | {"rules": list(self.rules), "capsule": self.capsule, "signature": self.signature}
        return out if self.reason is None else out | {"reason": self.reason}


@frozen
class CapsuleResult:
    """
    Hold one failure: its capsule, rules and score, the text for a person, and the evidence for a picture.

    ``file`` is where the capsule was kept, if it was; ``signature`` tells this way of failing from others in any run;
    ``reproduced`` is false where the same commands didn't fail again, which makes the candidate a flaky one.
    """

    name: str
    rules: tuple[str, ...]
    commands: int
    score: str
    text: str
    occurrences: int = 1
    disagreement: bool = False
    file: str | None = None
    signature: str = ""
    reproduced: bool = True
    evidence: Evidence | None = None


@frozen
class Coverage:
    """
    Hold how much of one denominator a run reached; ``None`` where it wasn't measured.

    ``missing`` names what wasn't reached, as far as it was listed.
    """

    covered: int | None = None
    total: int | None = None
    missing: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Write it as a JSON value."""
        out: dict[str, Any] = {"covered": self.covered, "total": self.total}
        return out | {"missing": list(self.missing)} if self.missing else out


@frozen
class RunResult:
    """
    Hold one finished run of one candidate under one contract.

    ``candidate`` is what a command line calls it by; ``capabilities`` are what it declares; ``environment`` names
    versions and platform of the run. ``commands`` counts those of the search; ``races`` were played besides.
    """

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
    races: tuple[RaceResult, ...] = ()
    interrupted: bool = False
    candidate: str = "AGENT"
    capabilities: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(factory=dict)
    coverage: Mapping[str, Coverage] = field(factory=lambda: {"transitions": Coverage()})

    @property
    def verdict(self) -> RunVerdict:
        """The verdict of the whole run; a rule failure outranks everything but a driver that broke down first."""
        failed = any(rule.verdict == "failed" for rule in self.rules)
        if failed:
            return "fails"
        if self.driver_faults:
            return "driver-fault"
        return "inconclusive" if self.interrupted or not self.judged else "conforms"

    @property
    def judged(self) -> bool:
        """Whether the run says anything: a rule was judged, and a race where nothing but races was asked for."""
        raced = any(race.verdict in ("passed", "failed") for race in self.races)
        return any(rule.verdict in ("passed", "failed") for rule in self.rules) and (raced or self.commands > 0)

    @property
    def exit_code(self) -> int:
        """The exit code that the verdict asks for."""
        return EXIT_CODES[self.verdict]

    def rule(self, rule_id: str) -> RuleResult | None:
        """Find the result of a rule; ``None`` where the run says nothing about it."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)

    def to_json(self) -> dict[str, Any]:
        """Give the ``turnproof/run/1`` document."""
        agent = self.agent
        return {
            "schema": SCHEMA,
            "agent": {
                "name": agent.name,
                "version": agent.version,
                "language": agent.language,
                "runtime": agent.runtime,
            },
            "candidate": self.candidate,
            "contract": self.contract,
            "seed": self.seed,
            "commands": self.commands,
            "examples": self.examples,
            "seconds": round(self.seconds, 3),
            "rules": [_rule_json(rule) for rule in self.rules],
            "failures": [_capsule_json(capsule) for capsule in self.capsules],
            "latitude": self.latitude,
            "deviations": list(self.deviations),
            "races": [race.to_json() for race in self.races],
            "coverage": {name: part.to_json() for name, part in self.coverage.items()},
            "driver_faults": [fault.to_json() for fault in self.driver_faults],
            "interrupted": self.interrupted,
            "capabilities": list(self.capabilities),
            "environment": dict(self.environment),
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


def _capsule_json(capsule: CapsuleResult) -> dict[str, Any]:
    return {
        "capsule": capsule.name,
        "file": capsule.file,
        "rules": list(capsule.rules),
        "score": capsule.score,
        "text": capsule.text.splitlines(),
        "commands": capsule.commands,
        "occurrences": capsule.occurrences,
        "signature": capsule.signature,
        "reproduced": capsule.reproduced,
        "disagreement": capsule.disagreement,
        "evidence": None if capsule.evidence is None else capsule.evidence.to_json(),
    }


# ------------------------------------------------------------------------------------------------ reading it back
def run_from_json(value: Any) -> RunResult:
    """
    Read a ``turnproof/run/1`` document.

    Raises:
        ResultError: it is something else, or a part is missing.
    """
    found = value.get("schema") if isinstance(value, Mapping) else type(value).__name__
    if found != SCHEMA:
        raise ResultError(f"a finished run has schema {SCHEMA!r} (got {found!r}); write one with: turnproof run --json")
    try:
        return RunResult(
            agent=Implementation(**value["agent"]),
            contract=value["contract"],
            seed=value["seed"],
            commands=value["commands"],
            examples=value["examples"],
            seconds=value["seconds"],
            rules=tuple(map(_rule_from_json, value["rules"])),
            capsules=tuple(map(_capsule_from_json, value["failures"])),
            latitude=value["latitude"],
            deviations=tuple(value["deviations"]),
            driver_faults=tuple(map(_fault_from_json, value["driver_faults"])),
            races=tuple(map(_race_from_json, value.get("races", ()))),
            interrupted=value["interrupted"],
            candidate=value["candidate"],
            capabilities=tuple(value["capabilities"]),
            environment=value["environment"],
            coverage={name: _coverage_from_json(part) for name, part in value["coverage"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ResultError(f"the run can't be read: {type(error).__name__}: {error}") from error


def _rule_from_json(value: Mapping[str, Any]) -> RuleResult:
    return RuleResult(value["id"], value["verdict"], value["exercised"], tuple(value["capsules"]), value.get("reason"))


def _race_from_json(value: Mapping[str, Any]) -> RaceResult:
    return RaceResult(
        value["name"],
        value["verdict"],
        tuple(value.get("rules", ())),
        value.get("capsule"),
        value.get("signature", ""),
        value.get("reason"),
    )


def _capsule_from_json(value: Mapping[str, Any]) -> CapsuleResult:
    evidence = value["evidence"]
    return CapsuleResult(
        value["capsule"],
        tuple(value["rules"]),
        value["commands"],
        value["score"],
        "\n".join(value["text"]),
        value["occurrences"],
        value["disagreement"],
        value["file"],
        value["signature"],
        value["reproduced"],
        None if evidence is None else evidence_from_json(evidence),
    )


def _coverage_from_json(value: Mapping[str, Any]) -> Coverage:
    return Coverage(value["covered"], value["total"], tuple(value.get("missing", ())))


def _fault_from_json(value: Mapping[str, Any]) -> Fault:
    ended = value.get("exit")
    return Fault(
        value["kind"],
        value["message"],
        value["stage"],
        value["answered"],
        tuple(map(_exchange_from_json, value["exchanges"])),
        value.get("received", ""),
        value.get("stderr", ""),
        None if ended is None else Exit(ended["status"], ended["signal"]),
    )


def _exchange_from_json(value: Mapping[str, Any]) -> Exchange:
    request = value["request"]
    answer = RpcError(**value["error"]) if "error" in value else value["result"]
    return Exchange(request["method"], request["params"], answer)
