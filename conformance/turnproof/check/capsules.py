"""
Judge a capsule: does the failure that it keeps still break the rules as they read today?

A capsule holds commands, and what was expected and observed at the last of them. The commands are played on the
machines of its contract; where those still demand what was expected, the failure stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from turnproof.capsule import Capsule
from turnproof.check.results import LogViolation
from turnproof.recorded import plain
from turnproof_model import catalogue
from turnproof_model.contracts import rule_book
from turnproof_model.machine import Machine
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser, MisuseError, Setting
from turnproof_model.vocabulary import CAPABILITIES

UNCHANGED = "the rules still demand what the capsule expects"


def judge_capsule(capsule: Capsule) -> tuple[tuple[LogViolation, ...], str]:
    """
    Judge a capsule by the rules as they read today.

    Returns:
        What it shows to be broken, and a note on whether the rules still say so; nothing is broken where they don't.
    """
    demanded = _demanded(capsule)
    if isinstance(demanded, str):
        return (), demanded
    if capsule.where == "events" and capsule.expected not in [*demanded, None]:
        return (), "the rules don't demand any more what the capsule expects: run it again"
    if capsule.where == "events" and capsule.expected is None and capsule.observed in demanded:
        return (), "the rules demand by now what the capsule observed: run it again"
    message = f"expected {_short(capsule.expected)}, observed {_short(capsule.observed)}"
    return tuple(_violation(rule, message) for rule in capsule.rules), UNCHANGED


@frozen
class _Assuming(Chooser):
    """Take the freedoms as the candidate had shown them, all others as they were observed."""

    assumed: Mapping[str, str]

    def policy(self, policy: Policy) -> str:
        """Pick the value of a named freedom."""
        return self.assumed.get(policy.name, policy.default)


def _demanded(capsule: Capsule) -> list[Any] | str:
    """Play the commands; give what the last one makes the rules demand, or say which can't be given any more."""
    setting = Setting(dict.fromkeys(CAPABILITIES, True))
    machine: Machine[Any] = Machine(rule_book(capsule.contract), setting, _Assuming(dict(capsule.assumed)))
    for command in capsule.commands:
        try:
            machine.ask(command)
        except MisuseError as error:
            return f"the schedule can't be played any more: {error}"
    return [plain(demand.event) for demand in machine.demands]


def _short(value: Any) -> str:
    if isinstance(value, dict):
        fields = " ".join(f"{key}={item}" for key, item in value.items() if key not in ("kind", "type"))
        return f"{value.get('type', '')} {fields}".strip()
    return "nothing" if value is None else str(value)


def _violation(rule: str, message: str) -> LogViolation:
    clauses = tuple(clause.id for clause in catalogue.clauses(rule))
    return LogViolation(rule, 1, None, message, (), clauses)
