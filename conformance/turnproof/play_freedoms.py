"""
Live by chosen values of the freedoms that a contract leaves, and by the observed ones of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import field, frozen

from turnproof_model import catalogue
from turnproof_model import vocabulary as v
from turnproof_model.policies import POLICIES, Policy
from turnproof_model.surroundings import Chooser


@frozen
class Lives(Chooser):
    """Live by these values; ``by`` maps names of freedoms to values."""

    by: Mapping[str, str] = field(factory=dict)

    def policy(self, policy: Policy) -> str:
        """Look the value up."""
        return self.by.get(policy.name, policy.default)


def freedoms(contract: v.Contract) -> Iterator[Policy]:
    """List the freedoms that a contract leaves."""
    for policy in POLICIES.values():
        if not policy.deviation and catalogue.rule(policy.rules[0]).family == contract:
            yield policy
