"""
Compare two finished runs: what fails now and didn't, what is fixed, and what the later run no longer shows.

Failures are told apart by their signature, the way of failing, so that another schedule for the same one is no news.
Where failures were played on the other candidate as well, those that show there too are neither new nor fixed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from attrs import frozen

from turnproof.expectations import Assessment
from turnproof.results import CapsuleResult

SHOWN_BY = ("passed", "failed")
"""Verdicts that a run reaches by having exercised a rule."""


@frozen
class Comparison:
    """
    Hold what changed from one run to the next.

    ``new`` and ``fixed`` are failures; ``newly_failing`` and ``mended`` rules; ``lost`` are rules that were exercised
    before and no more, ``gained`` the other way round; ``less_covered`` names the denominators that less was reached
    of, with how much before and after. ``found_later`` are failures of the later run that the earlier candidate shows
    too, ``not_met`` those of the earlier run that the later candidate still shows, or that not even the earlier one
    showed twice.
    """

    before: Assessment
    after: Assessment
    new: tuple[CapsuleResult, ...]
    fixed: tuple[CapsuleResult, ...]
    newly_failing: tuple[str, ...]
    mended: tuple[str, ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    less_covered: tuple[tuple[str, int, int], ...]
    found_later: tuple[CapsuleResult, ...] = ()
    not_met: tuple[CapsuleResult, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether something fails that did not fail before, or coverage was lost."""
        return bool(self.new or self.newly_failing or self.lost or self.less_covered)

    def to_json(self) -> dict[str, Any]:
        """Give the ``turnproof/comparison/1`` document."""
        return {
            "schema": "turnproof/comparison/1",
            "before": _side(self.before),
            "after": _side(self.after),
            "new": [_failure(failure) for failure in self.new],
            "fixed": [_failure(failure) for failure in self.fixed],
            "newly_failing": list(self.newly_failing),
            "mended": list(self.mended),
            "lost": list(self.lost),
            "gained": list(self.gained),
            "found_later": [_failure(failure) for failure in self.found_later],
            "not_met": [_failure(failure) for failure in self.not_met],
            "less_covered": [{"name": n, "before": b, "after": a} for n, b, a in self.less_covered],
            "verdict": "worse" if self.worse else "no worse",
        }


def compared(
    before: Assessment,
    after: Assessment,
    shown_before: Collection[str] = (),
    shown_after: Collection[str] = (),
) -> Comparison:
    """
    Compare two runs under one contract.

    Args:
        before: the earlier run.
        after: the later run.
        shown_before: names of failures of the later run that the earlier candidate shows too, as far as it was asked.
        shown_after: names of failures of the earlier run that the later candidate still shows.

    Raises:
        ValueError: they are of different contracts.
    """
    one, other = before.result, after.result
    if one.contract != other.contract:
        raise ValueError(f"runs are compared under one contract (got {one.contract} and {other.contract})")
    verdicts = {rule.id: rule.verdict for rule in one.rules}
    later = {rule.id: rule.verdict for rule in other.rules}
    both = [rule for rule in later if rule in verdicts]
    came, went = unmatched(before, after)
    new = tuple(failure for failure in came if failure.name not in shown_before)
    fixed = tuple(failure for failure in went if failure.reproduced and failure.name not in shown_after)
    broken = {rule for failure in new for rule in failure.rules}
    unmended = {rule for failure in went if failure not in fixed for rule in failure.rules}
    return Comparison(
        before,
        after,
        new=new,
        fixed=fixed,
        newly_failing=tuple(rule for rule in both if later[rule] == "failed" != verdicts[rule] and rule in broken),
        mended=tuple(
            rule for rule in both if verdicts[rule] == "failed" and later[rule] == "passed" and rule not in unmended
        ),
        lost=tuple(rule for rule in verdicts if verdicts[rule] in SHOWN_BY and later.get(rule) not in SHOWN_BY),
        gained=tuple(rule for rule in both if later[rule] in SHOWN_BY and verdicts[rule] not in SHOWN_BY),
        less_covered=tuple(_less_covered(before, after)),
        found_later=tuple(failure for failure in came if failure not in new),
        not_met=tuple(failure for failure in went if failure not in fixed),
    )


def unmatched(before: Assessment, after: Assessment) -> tuple[tuple[CapsuleResult, ...], tuple[CapsuleResult, ...]]:
    """List the failures that only the later run met, and those that only the earlier one met."""
    known = {failure.signature for failure in before.result.capsules}
    still = {failure.signature for failure in after.result.capsules}
    return (
        tuple(failure for failure in after.result.capsules if failure.signature not in known),
        tuple(failure for failure in before.result.capsules if failure.signature not in still),
    )


def _less_covered(before: Assessment, after: Assessment) -> list[tuple[str, int, int]]:
    out = []
    for name, part in before.result.coverage.items():
        now = after.result.coverage.get(name)
        if part.covered is not None and now is not None and now.covered is not None and now.covered < part.covered:
            out.append((name, part.covered, now.covered))
    return out


def _side(assessment: Assessment) -> dict[str, Any]:
    agent = assessment.result.agent
    return {"name": agent.name, "version": agent.version, "verdict": assessment.verdict}


def _failure(failure: CapsuleResult) -> dict[str, Any]:
    return {"capsule": failure.name, "rules": list(failure.rules), "score": failure.score}
