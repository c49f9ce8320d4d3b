"""Finished runs as values, for tests of what is made of them."""

from __future__ import annotations

from turnproof.expectations import Expectation
from turnproof.faults import Exchange, Exit, Fault
from turnproof.results import CapsuleResult, RuleResult, RunResult
from turnproof_model.observation import Implementation

NASTY = "<script>alert(1)</script>&\"'`]]>\x00\x1b[31m\u202e|*_"
"""What a hostile candidate might say."""
KNOWN = Expectation("C-DIS-1", "input after a disposal starts a turn", link="https://tracker.example/12")
FAULT = Fault("exited", "the driver ended", "requests", 4, (Exchange("send", {}, None),), stderr=NASTY, exit=Exit(7))


def failure(*rules: str, name: str = "", commands: int = 3, **fields) -> CapsuleResult:
    """A failure that breaks these rules; one rule is one way of failing."""
    signature = fields.pop("signature", "+".join(rules))
    return CapsuleResult(
        name or f"{rules[0]}-0",
        rules,
        commands,
        "reset · followup a",
        f"broke {', '.join(rules)}",
        signature=signature,
        **fields,
    )


def finished(*failures: CapsuleResult, passed=("C-SEND-1",), not_exercised=(), version="1.2.0", **fields) -> RunResult:
    """A run of contract ``claim`` that met these failures."""
    broken = {rule: [f.name for f in failures if rule in f.rules] for f in failures for rule in f.rules}
    rules = [RuleResult(rule, "failed", 1, tuple(names)) for rule, names in broken.items()]
    rules += [RuleResult(rule, "passed", 2) for rule in passed if rule not in broken]
    rules += [RuleResult(rule, "not-exercised") for rule in not_exercised]
    agent = Implementation("mine", version, "python", "CPython")
    shared = {"seed": 1, "commands": 100, "examples": 5, "seconds": 0.5} | fields
    return RunResult(agent=agent, contract="claim", rules=tuple(rules), capsules=failures, **shared)
