"""
Count and group what a run found, for every renderer alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import frozen

from turnproof.expectations import Assessment, RaceOutcome, RuleOutcome
from turnproof.results import CapsuleResult, RaceResult, RuleResult, RunResult
from turnproof_model import catalogue
from turnproof_model.catalogue import Clause, Rule

OUTCOMES: tuple[RuleOutcome, ...] = (
    "failed",
    "stale",
    "expected",
    "passed",
    "unmet",
    "not-exercised",
    "not-applicable",
    "unobservable",
)
"""Every outcome, those that a person looks for first."""

WORDS: Mapping[RuleOutcome, str] = {
    "failed": "failed",
    "stale": "stale",
    "expected": "expected failure",
    "passed": "passed",
    "unmet": "expectation not met",
    "not-exercised": "not exercised",
    "not-applicable": "not applicable",
    "unobservable": "unobservable",
}
"""What an outcome is called in a sentence."""


@frozen
class Entry:
    """
    Hold all that a report says of one rule.

    ``rule`` is ``None`` where the catalogue of this version doesn't know it.
    """

    result: RuleResult
    outcome: RuleOutcome
    rule: Rule | None
    clauses: tuple[Clause, ...]
    failures: tuple[CapsuleResult, ...]
    reasons: tuple[str, ...]

    @property
    def id(self) -> str:
        """The rule's id."""
        return self.result.id

    @property
    def title(self) -> str:
        """The rule in a few words."""
        return self.rule.title if self.rule else ""

    @property
    def family(self) -> str:
        """The group of rules that it belongs to: its id without the number."""
        head, _, number = self.id.rpartition("-")
        return head if number.isdecimal() else "core"


@frozen
class RaceEntry:
    """Hold all that a report says of one race; ``failure`` is how it was lost, where it was."""

    name: str
    outcome: RaceOutcome
    why: str
    failure: CapsuleResult | None


def race_entries(assessment: Assessment) -> tuple[RaceEntry, ...]:
    """Collect what there is to say of each race that the run was asked for."""
    return tuple(_race_entry(assessment, race) for race in assessment.result.races)


def _race_entry(assessment: Assessment, race: RaceResult) -> RaceEntry:
    failure = next((one for one in assessment.result.capsules if one.name == race.capsule), None)
    why = race.reason or ", ".join(race.rules)
    if reasons := assessment.race_reasons(race):
        why = f"{why}: {'; '.join(reasons)}"
    return RaceEntry(race.name, assessment.race_outcome(race), why, failure)


def race_counts(listed: Sequence[RaceEntry]) -> str:
    """Count the outcomes of races in words."""
    counted: Counter[str] = Counter(entry.outcome for entry in listed)
    return " · ".join(f"{counted[outcome]} {WORDS[outcome]}" for outcome in OUTCOMES if counted[outcome])


def again_line(result: RunResult) -> str:
    """Give the command line that makes the same run again."""
    words = [f"turnproof run {result.candidate} --contract {result.contract}"]
    words += [f"--race {race.name}" for race in result.races]
    if result.commands or not result.races:
        words.append(f"--commands {result.commands} --seed {result.seed}")
    return " ".join(words)


def entries(assessment: Assessment) -> tuple[Entry, ...]:
    """Collect what there is to say of each rule, in the order of the run."""
    return tuple(_entry(assessment, result) for result in assessment.result.rules)


def _entry(assessment: Assessment, result: RuleResult) -> Entry:
    try:
        rule, clauses = catalogue.rule(result.id), catalogue.clauses(result.id)
    except catalogue.UnknownRuleError:
        rule, clauses = None, ()
    failures = tuple(failure for failure in assessment.result.capsules if result.id in failure.rules)
    return Entry(result, assessment.outcome(result.id), rule, clauses, failures, assessment.reasons(result.id))


def counts(listed: Sequence[Entry]) -> dict[RuleOutcome, int]:
    """Count outcomes, leaving out those that nothing came to."""
    counted = Counter(entry.outcome for entry in listed)
    return {outcome: counted[outcome] for outcome in OUTCOMES if counted[outcome]}


def families(listed: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Group rules by family, in order."""
    out: dict[str, list[Entry]] = {}
    for entry in listed:
        out.setdefault(entry.family, []).append(entry)
    return out


def visible(value: object) -> str:
    """Show untrusted text: what can't be printed is spelled out, but for the end of a line."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in str(value))


def expectation_of(assessment: Assessment, failure: CapsuleResult) -> str | None:
    """Say why a failure was expected; ``None`` where it wasn't."""
    return next((expectation.words for met, expectation in assessment.expected if met is failure), None)


def replay_line(assessment: Assessment, failure: CapsuleResult) -> str | None:
    """Give the command line that plays a failure again; ``None`` where its capsule wasn't kept."""
    return None if failure.file is None else f"turnproof replay {failure.file} {assessment.result.candidate}"


def coverage_lines(result: RunResult) -> tuple[str, ...]:
    """Say how much of each denominator was reached, the whole first; nothing where nothing was measured."""
    return tuple(
        f"{name} {part.covered} of {part.total} ({100 * part.covered / part.total:.1f} %)"
        for name, part in result.coverage.items()
        if part.covered is not None and part.total
    )
