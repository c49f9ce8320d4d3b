"""
Check a driver against the protocol, before anybody judges the agent behind it by the contract.

Each probe is a short conversation; ``turnproof.probes`` holds them. A probe that a driver fails says what was demanded
and shows what was said. A driver that breaks down fails the probe that was under way, and the next goes on with a fresh
one; one that keeps breaking down is not bothered any further.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from turnproof.candidate import Candidate
from turnproof.faults import DriverFault, Exchange, Fault
from turnproof.limits import Limits
from turnproof.probes import PROBES
from turnproof.probes.bench import Bench, NotApplicable, ProbeFailed, ProbeSpec
from turnproof_model.wire import shorten

ProbeVerdict: TypeAlias = Literal["passed", "failed", "not-applicable"]

MOST_FAULTS: Final = 5
"""Driver faults after which the remaining probes are not tried."""

KEPT: Final = 64
"""Exchanges of a failed probe that are kept."""

SHOWN: Final = 4
"""Exchanges that the evidence of a failed probe shows as text."""

CHECK_LIMITS: Final = Limits(request_seconds=5.0, exchanges=KEPT)
"""Bounds of a check: what a probe asks takes a driver milliseconds."""


@frozen
class Probe:
    """
    Hold what one probe found.

    ``reason`` says what was demanded and what came, or why there was nothing to probe; ``exchanges`` are the
    conversation of a failed probe, oldest first; ``fault`` is there when the driver broke down.
    """

    id: str
    title: str
    verdict: ProbeVerdict
    reason: str = ""
    exchanges: tuple[Exchange, ...] = ()
    fault: Fault | None = None

    @property
    def evidence(self) -> str:
        """The reason and the last exchanges, as text."""
        if self.fault is not None:
            return f"{self.reason}\n{self.fault}"
        lines = [f"{shorten(each.to_json()['request'], 300)} → {_shown(each)}" for each in self.exchanges[-SHOWN:]]
        return "\n".join([self.reason, *lines])

    def to_json(self) -> dict[str, Any]:
        """Write the probe as a JSON value."""
        out: dict[str, Any] = {"id": self.id, "title": self.title, "verdict": self.verdict}
        if self.reason:
            out["reason"] = self.reason
        if self.exchanges:
            out["exchanges"] = [exchange.to_json() for exchange in self.exchanges]
        if self.fault is not None:
            out["fault"] = self.fault.to_json()
        return out


def _shown(exchange: Exchange) -> str:
    wire = exchange.to_json()
    return shorten(wire.get("result", wire.get("error")), 300)


def check_driver(
    candidate: Candidate, limits: Limits = CHECK_LIMITS, probes: Iterable[ProbeSpec] = PROBES
) -> tuple[Probe, ...]:
    """
    Probe a candidate's driver.

    Args:
        candidate: whose driver.
        limits: of each conversation.
        probes: which probes, in order.

    Returns:
        What each probe found, in that order.
    """
    bench = Bench(candidate, limits)
    found: list[Probe] = []
    try:
        for spec in probes:
            faults = sum(probe.fault is not None for probe in found)
            found.append(_tried(spec, bench) if faults < MOST_FAULTS else _untried(spec, faults))
    finally:
        bench.client.close()
    return tuple(found)


def _untried(spec: ProbeSpec, faults: int) -> Probe:
    return Probe(spec.id, spec.title, "not-applicable", f"not tried: the driver broke down {faults} times")


def _tried(spec: ProbeSpec, bench: Bench) -> Probe:
    """Run one probe; a stray line that it caused is found by the request behind it."""
    try:
        bench.ready()
        missing = [name for name in spec.needs if not bench.profile.has(name)]
        if missing:
            return Probe(spec.id, spec.title, "not-applicable", f"'{missing[0]}' is not declared")
        spec.run(bench)
        bench.calm()
    except NotApplicable as reason:
        return Probe(spec.id, spec.title, "not-applicable", str(reason))
    except ProbeFailed as failure:
        return Probe(spec.id, spec.title, "failed", str(failure), tuple(bench.evidence[-KEPT:]))
    except DriverFault as error:
        bench.lost()
        return Probe(spec.id, spec.title, "failed", error.fault.message, error.fault.exchanges, error.fault)
    return Probe(spec.id, spec.title, "passed")


def checked_json(probes: Sequence[Probe]) -> dict[str, Any]:
    """Write a check as a JSON value: the probes, and a verdict over all."""
    failed = [probe for probe in probes if probe.verdict == "failed"]
    broken = any(probe.fault is not None for probe in failed)
    return {
        "schema": "turnproof/driver-check/1",
        "probes": [probe.to_json() for probe in probes],
        "verdict": "driver-fault" if broken else "fails" if failed else "conforms",
    }
