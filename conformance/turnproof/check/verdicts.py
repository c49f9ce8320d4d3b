"""
Give each rule that a log might be judged by its verdict: passed, failed, not exercised, or why nothing can be said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from turnproof.results import RuleResult
from turnproof_model import catalogue


def rule_verdicts(
    families: Iterable[str], exercised: Mapping[str, int], broken: Collection[str], silent: Mapping[str, str]
) -> tuple[RuleResult, ...]:
    """
    Give the verdicts on all rules of some families.

    Args:
        families: contracts, and ``core``, in the order of the results.
        exercised: how often the premise of each rule occurred.
        broken: the rules that were broken.
        silent: the rules about which the log says nothing, each with what it doesn't record.
    """
    rules = (rule for family in families for rule in catalogue.rules(family))
    return tuple(_verdict(rule, exercised.get(rule.id, 0), rule.id in broken, silent) for rule in rules)


def _verdict(rule: catalogue.Rule, count: int, failed: bool, silent: Mapping[str, str]) -> RuleResult:
    if failed:
        return RuleResult(rule.id, "failed", max(count, 1))
    if rule.untestable:
        return RuleResult(rule.id, "unobservable", count, reason=rule.untestable)
    if rule.id in silent:
        return RuleResult(rule.id, "not-applicable", count, reason=silent[rule.id])
    return RuleResult(rule.id, "passed" if count else "not-exercised", count)
