"""A deliberate defect: a reference agent that breaks one rule, to see whether it is caught."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """
    Describe one defect.

    Args:
        name: short, in words joined by hyphens.
        contract: `window` or `claim`.
        rule: id of the rule that must catch it.
        story: what goes wrong and whom it hurts, in two sentences.
        agent: the defective subclass of the contract's agent.
    """

    name: str
    contract: str
    rule: str
    story: str
    agent: type
