"""
Join runs of one candidate into one: shards of a search, each with a seed of its own.

A rule that failed in one of them failed; what was exercised is added up; the same way of failing is kept once, with
its shortest schedule. The order of the runs doesn't matter beyond the seed that is named first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from attrs import evolve

from turnproof.results import CapsuleResult, Coverage, RaceResult, ResultError, RuleResult, RunResult


def merged(runs: Sequence[RunResult]) -> RunResult:
    """
    Join runs.

    Args:
        runs: of one candidate and contract, at least one.

    Raises:
        ResultError: they are of different candidates or contracts.
    """
    first = runs[0]
    for run in runs:
        if run.rules and first.rules and (run.agent, run.contract) != (first.agent, first.contract):
            raise ResultError(
                "runs can be joined only if they are of one candidate and contract "
                f"(got {_named(first)} and {_named(run)})"
            )
    capsules = _distinct(capsule for run in runs for capsule in run.capsules)
    judged = next((run for run in runs if run.rules), first)
    return evolve(
        judged,
        seed=min(run.seed for run in runs),
        commands=sum(run.commands for run in runs),
        examples=sum(run.examples for run in runs),
        seconds=sum(run.seconds for run in runs),
        rules=tuple(_rule([found for run in runs if (found := run.rule(rule.id))], capsules) for rule in judged.rules),
        capsules=capsules,
        latitude=reduce(agreeing, (run.latitude for run in runs), {}),
        deviations=tuple(dict.fromkeys(name for run in runs for name in run.deviations)),
        driver_faults=tuple(fault for run in runs for fault in run.driver_faults),
        races=_races([race for run in runs for race in run.races], capsules),
        interrupted=any(run.interrupted for run in runs),
        coverage={name: _coverage([run.coverage.get(name, Coverage()) for run in runs]) for name in judged.coverage},
    )


def _named(run: RunResult) -> str:
    return f"{run.agent.name} {run.agent.version} under {run.contract}".strip()


def _distinct(capsules: Iterable[CapsuleResult]) -> tuple[CapsuleResult, ...]:
    """Keep the shortest of each way of failing, with all its occurrences."""
    kept: dict[str, CapsuleResult] = {}
    for capsule in capsules:
        known = kept.get(capsule.signature)
        if known is None:
            kept[capsule.signature] = capsule
            continue
        better = min(known, capsule, key=lambda c: (not c.reproduced, c.commands, c.name))
        kept[capsule.signature] = evolve(better, occurrences=known.occurrences + capsule.occurrences)
    return tuple(kept.values())


def _rule(found: Sequence[RuleResult], capsules: Sequence[CapsuleResult]) -> RuleResult:
    """Join the verdicts on one rule; a failure outranks a rule that held, which outranks silence."""
    verdicts = {rule.verdict for rule in found}
    leading = next((v for v in ("failed", "passed") if v in verdicts), found[0].verdict)
    names = tuple(capsule.name for capsule in capsules if found[0].id in capsule.rules)
    return evolve(
        next(rule for rule in found if rule.verdict == leading),
        exercised=sum(rule.exercised for rule in found),
        capsules=names if leading == "failed" else (),
    )


def _races(found: Sequence[RaceResult], capsules: Sequence[CapsuleResult]) -> tuple[RaceResult, ...]:
    """Join the verdicts on each race, as those on a rule; a failure is named as it was kept."""
    kept = {capsule.signature: capsule.name for capsule in capsules}
    order = ("failed", "passed", "not-exercised", "not-applicable")
    out: dict[str, RaceResult] = {}
    for race in found:
        known = out.get(race.name, race)
        out[race.name] = min(known, race, key=lambda one: order.index(one.verdict))
    return tuple(evolve(race, capsule=kept.get(race.signature, race.capsule)) for race in out.values())


def agreeing(one: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Keep of each freedom the values that explain both runs; all of them where nothing explains both."""
    return {
        name: [value for value in one.get(name, other.get(name, [])) if value in other.get(name, one.get(name, []))]
        or sorted({*one.get(name, []), *other.get(name, [])})
        for name in dict.fromkeys([*one, *other])
    }


def _coverage(parts: Sequence[Coverage]) -> Coverage:
    """
    Join what several runs reached of one denominator.

    Where each lists what it missed, what all of them missed is missing; else the best of them is a lower bound.
    """
    measured = [part for part in parts if part.covered is not None and part.total is not None]
    if not measured:
        return Coverage()
    listed = [part for part in measured if len(part.missing) == (part.total or 0) - (part.covered or 0)]
    if len(listed) < len(measured):
        return max(measured, key=lambda part: part.covered or 0)
    missing = tuple(name for name in listed[0].missing if all(name in part.missing for part in listed))
    return Coverage((listed[0].total or 0) - len(missing), listed[0].total, missing)
