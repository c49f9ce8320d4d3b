"""
Know the deliberate defects of the reference agents.

The reference agents are met by name only, as any candidate: nothing of them is imported at the top of a module.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.faults import UsageError
from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS
from turnproof_model.vocabulary import Contract

BOOK: Final = ("turnproof_reference.driver.contracts", "faults_of")
"""Where the defects of a contract are found, by name."""


class UnknownDefectError(UsageError):
    """Say that the reference agents have no such defect."""


@frozen
class Defect:
    """
    Describe one defect.

    ``rules`` may be named for it, the first of them being the one that it was made for; ``origin`` is where it comes
    from: a public bug, a deviation of a real agent, or an alternative that the documents turn down.
    """

    name: str
    contract: Contract
    rules: tuple[str, ...]
    origin: str
    story: str

    @property
    def rule(self) -> str:
        """The rule that it was made for."""
        return self.rules[0]

    @property
    def candidate(self) -> InProcessCandidate:
        """The reference agent that has it."""
        return InProcessCandidate(REFERENCE_DRIVER, {"contract": self.contract, "fault": self.name})

    def to_json(self) -> dict[str, Any]:
        """Write it as a JSON value."""
        return {
            "id": self.name,
            "contract": self.contract,
            "rule": self.rule,
            "also": list(self.rules[1:]),
            "origin": self.origin,
            "story": self.story,
        }


def defects(contract: str | None = None, names: Sequence[str] = ()) -> tuple[Defect, ...]:
    """
    List defects in the order in which they are entered.

    Args:
        contract: only those of this contract.
        names: only these.

    Raises:
        UnknownDefectError: one of the names is no defect's.
    """
    listed = [one for each in CONTRACTS if contract in (None, each) for one in _book(each)]
    strange = [name for name in names if name not in {one.name for one in listed}]
    if strange:
        raise UnknownDefectError(f"a defect is one of those listed by 'turnproof faults --list' (got {strange[0]!r})")
    return tuple(one for one in listed if not names or one.name in names)


def binding(contract: str) -> tuple[str, ...]:
    """List the rules of a contract that a protocol can show, each of which has to kill something."""
    return tuple(rule.id for rule in catalogue.rules(contract) if rule.untestable is None)


def _book(contract: Contract) -> list[Defect]:
    module, name = BOOK
    book: dict[str, Any] = getattr(importlib.import_module(module), name)(contract)
    return [Defect(one.name, contract, one.rules, one.origin, one.story) for one in book.values()]
