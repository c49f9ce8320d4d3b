"""
Hold a run against what its project expects to fail, so that a known deviation blinds nobody to a new one.

A file of expectations is TOML::

    version = 1

    [[expected]]
    rule = "C-DIS-1"                     # a failure that breaks this rule is expected
    contract = "claim"                   # optional: only under this contract
    agent = "0.1.0-rc.*"                 # optional: only for these versions of the agent (* and ? stand for any text)
    reason = "input after a disposal starts a turn"
    link = "https://tracker.example/12"  # optional
    flaky = false                        # optional: it may fail or not

A *failure* is matched, not a rule: what breaks an expected rule and others besides is expected as a whole, and another
failure of one of those others is not. An expectation that no failure met is *stale*, and stale ones break a run as
unexpected failures do; one whose rule was not exercised shows nothing either way and leaves a run inconclusive.
"""

from __future__ import annotations

import datetime as dt
import fnmatch
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import tomlkit
import tomlkit.exceptions
from attrs import field, frozen

from turnproof.results import EXIT_CODES, CapsuleResult, RaceResult, RunResult, RunVerdict
from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS

VERSION = 1
"""The version of the file's form."""

RuleOutcome: TypeAlias = Literal[
    "passed", "failed", "expected", "stale", "unmet", "not-exercised", "not-applicable", "unobservable"
]
"""The verdict on a rule once expectations are known; ``unmet`` expectations are those the run says nothing about."""


RaceOutcome: TypeAlias = Literal["passed", "failed", "expected", "not-exercised", "not-applicable"]
"""The verdict on a race once expectations are known."""


class ExpectationsError(ValueError):
    """Say that a file of expectations can't be read; the message names the file and the entry."""


@frozen
class Expectation:
    """Expect failures that break one rule; see the head of this module for the fields."""

    rule: str
    reason: str
    contract: str | None = None
    agent: str | None = None
    link: str | None = None
    since: str | None = None
    flaky: bool = False

    def applies(self, result: RunResult) -> bool:
        """Tell whether the conditions are those of this run."""
        if self.contract not in (None, result.contract) or result.rule(self.rule) is None:
            return False
        return self.agent is None or fnmatch.fnmatchcase(result.agent.version, self.agent)

    def meets(self, failure: CapsuleResult) -> bool:
        """Tell whether a failure is the expected one."""
        return self.rule in failure.rules

    @property
    def words(self) -> str:
        """The reason with its link, on one line."""
        return self.reason if self.link is None else f"{self.reason} ({self.link})"


# ------------------------------------------------------------------------------------------------ reading a file
_FIELDS: Mapping[str, type] = {
    "rule": str,
    "reason": str,
    "contract": str,
    "agent": str,
    "link": str,
    "since": object,
    "flaky": bool,
}


def read_expectations(path: Path) -> tuple[Expectation, ...]:
    """
    Read a file of expectations.

    Raises:
        ExpectationsError: it can't be read, isn't TOML, or an entry isn't an expectation.
    """
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
    except (OSError, UnicodeDecodeError) as error:
        raise ExpectationsError(f"{path}: can't be read: {error}") from error
    except tomlkit.exceptions.ParseError as error:
        raise ExpectationsError(f"{path}: not TOML: {error}") from error
    if document.get("version") != VERSION:
        raise ExpectationsError(f"{path}: 'version' must be {VERSION} (got {document.get('version')!r})")
    strange = sorted(document.keys() - {"version", "expected"})
    entries = document.get("expected", [])
    if strange or not isinstance(entries, list):
        named = strange[0] if strange else "expected"
        raise ExpectationsError(f"{path}: a file holds 'version' and [[expected]] tables (got {named!r})")
    return tuple(_expectation(entry, f"{path}: expectation {number}") for number, entry in enumerate(entries, 1))


def _expectation(entry: Mapping[str, Any], where: str) -> Expectation:
    for name, value in entry.items():
        if name not in _FIELDS:
            raise ExpectationsError(f"{where}: fields are {', '.join(_FIELDS)} (got {name!r})")
        if not isinstance(value, _FIELDS[name]):
            raise ExpectationsError(f"{where}: {name!r} is {_FIELDS[name].__name__} (got {value!r})")
    fields = dict(entry)
    for name in ("rule", "reason"):
        if not str(fields.get(name, "")).strip():
            raise ExpectationsError(f"{where}: {name!r} must be there and not be empty")
    if fields.get("contract") not in (None, *CONTRACTS):
        raise ExpectationsError(f"{where}: 'contract' is one of {', '.join(CONTRACTS)} (got {fields['contract']!r})")
    if isinstance(since := fields.get("since"), dt.date):
        fields["since"] = since.isoformat()
    try:
        catalogue.rule(fields["rule"])
    except catalogue.UnknownRuleError as error:
        raise ExpectationsError(f"{where}: {error.args[0]}") from error
    return Expectation(**fields)


# ------------------------------------------------------------------------------------------------ judging a run
@frozen
class Assessment:
    """
    Hold a run as its project sees it.

    ``expected`` pairs each failure that was expected with its expectation; ``unexpected`` are the others; ``stale`` and
    ``unmet`` are expectations without a failure, ``flaky`` those that may fail or not, with how many failures met
    each; ``unrepeated`` are failures that didn't show again when their commands were given again.
    """

    result: RunResult
    expectations: tuple[Expectation, ...] = ()
    expected: tuple[tuple[CapsuleResult, Expectation], ...] = ()
    unexpected: tuple[CapsuleResult, ...] = ()
    stale: tuple[Expectation, ...] = ()
    unmet: tuple[Expectation, ...] = ()
    flaky: tuple[tuple[Expectation, int], ...] = ()
    file: str | None = field(default=None)

    @property
    def verdict(self) -> RunVerdict:
        """The verdict of the run, expectations taken into account."""
        if self.unexpected or self.stale:
            return "fails"
        if self.result.driver_faults:
            return "driver-fault"
        return "inconclusive" if self.unmet or self.result.interrupted or not self.result.judged else "conforms"

    @property
    def exit_code(self) -> int:
        """The exit code that the verdict asks for."""
        return EXIT_CODES[self.verdict]

    @property
    def unrepeated(self) -> tuple[CapsuleResult, ...]:
        """Failures that didn't show again."""
        return tuple(failure for failure in self.result.capsules if not failure.reproduced)

    def outcome(self, rule_id: str) -> RuleOutcome:
        """Give the verdict on one rule of the run, with what was expected of it."""
        rule = self.result.rule(rule_id)
        assert rule is not None
        if rule.verdict == "failed":
            return "failed" if any(rule_id in failure.rules for failure in self.unexpected) else "expected"
        for verdict, named in (("stale", self.stale), ("unmet", self.unmet)):
            if any(expectation.rule == rule_id for expectation in named):
                return verdict  # type: ignore[return-value]  # both are outcomes
        return rule.verdict

    def race_outcome(self, race: RaceResult) -> RaceOutcome:
        """Give the verdict on one race; a failure that is expected wherever it is met is expected in a race too."""
        if race.verdict != "failed":
            return race.verdict
        return "expected" if any(failure.name == race.capsule for failure, _ in self.expected) else "failed"

    def race_reasons(self, race: RaceResult) -> tuple[str, ...]:
        """Say why a race was expected to fail, each reason once."""
        return tuple(dict.fromkeys(e.words for failure, e in self.expected if failure.name == race.capsule))

    def reasons(self, rule_id: str) -> tuple[str, ...]:
        """Say why a rule was expected to fail, each reason once."""
        met = [expectation.words for failure, expectation in self.expected if rule_id in failure.rules]
        own = [expectation.words for expectation in (*self.stale, *self.unmet) if expectation.rule == rule_id]
        return tuple(dict.fromkeys(met + own))

    def to_json(self) -> dict[str, Any]:
        """Give the run's document, with the expectations and the verdict they lead to."""
        return self.result.to_json() | {
            "verdict": self.verdict,
            "expectations": {
                "file": self.file,
                "entries": [_entry_json(expectation) for expectation in self.expectations],
                "expected": [{"capsule": failure.name, "rule": e.rule} for failure, e in self.expected],
                "unexpected": [failure.name for failure in self.unexpected],
                "stale": [expectation.rule for expectation in self.stale],
                "unmet": [expectation.rule for expectation in self.unmet],
                "flaky": [{"rule": expectation.rule, "failures": count} for expectation, count in self.flaky],
            },
        }


def assess(result: RunResult, expectations: Sequence[Expectation] = (), file: str | None = None) -> Assessment:
    """
    Hold a run against expectations.

    Args:
        result: of the run.
        expectations: of the project; those whose conditions don't hold here are left alone.
        file: where they stand, for the report.
    """
    here = [expectation for expectation in expectations if expectation.applies(result)]
    expected: list[tuple[CapsuleResult, Expectation]] = []
    unexpected: list[CapsuleResult] = []
    met: dict[Expectation, int] = dict.fromkeys(here, 0)
    for failure in result.capsules:
        meeting = [expectation for expectation in here if expectation.meets(failure)]
        for expectation in meeting:
            met[expectation] += 1
        if meeting:
            expected.append((failure, meeting[0]))
        else:
            unexpected.append(failure)
    without = [e for e in here if not met[e] and not e.flaky]
    silent = {e for e in without if _silent(result, e)}
    return Assessment(
        result,
        tuple(expectations),
        tuple(expected),
        tuple(unexpected),
        stale=tuple(e for e in without if e not in silent),
        unmet=tuple(e for e in without if e in silent),
        flaky=tuple((e, met[e]) for e in here if e.flaky),
        file=file,
    )


def _silent(result: RunResult, expectation: Expectation) -> bool:
    """Tell whether a run without the expected failure says nothing about it."""
    if result.interrupted or result.driver_faults:
        return True
    rule = result.rule(expectation.rule)
    return rule is not None and rule.verdict == "not-exercised"


def assessment_from_json(value: Mapping[str, Any], result: RunResult) -> Assessment:
    """
    Read the expectations back from a run's document; without any, all failures are unexpected.

    Raises:
        ExpectationsError: an entry isn't an expectation.
    """
    kept = value.get("expectations") or {}
    entries = kept.get("entries", [])
    named = tuple(_expectation(entry, f"expectation {number}") for number, entry in enumerate(entries, 1))
    return assess(result, named, kept.get("file"))


def _entry_json(expectation: Expectation) -> dict[str, Any]:
    fields = {name: getattr(expectation, name) for name in _FIELDS}
    return {name: value for name, value in fields.items() if value not in (None, False)}
