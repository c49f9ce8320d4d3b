"""
Map what a run says about one rule or race to an outcome of pytest; what wasn't shown is never a pass.
"""

from __future__ import annotations

import pytest
from attrs import frozen

from turnproof.expectations import Assessment
from turnproof.pytest_plugin.settings import DRIVER, RACE
from turnproof.races import race as find_race
from turnproof.results import CapsuleResult, RaceResult
from turnproof_model import catalogue

SHOWN = 3
"""Failures of one rule that its message shows."""


@frozen
class RuleCheck:
    """Check one rule, one race, or the driver, of an assessed run."""

    assessment: Assessment
    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def properties(self) -> list[tuple[str, object]]:
        """What a JUnit file keeps beside the outcome."""
        result = self.assessment.result
        rule = result.rule(self.name)
        shared: list[tuple[str, object]] = [("contract", result.contract), ("seed", result.seed)]
        if (race := self._race()) is not None:
            return [("verdict", self.assessment.race_outcome(race)), *shared]
        if rule is None:
            return shared
        return [("verdict", self.assessment.outcome(self.name)), ("exercised", rule.exercised), *shared]

    def __call__(self) -> None:
        """
        Pass, fail, skip or xfail.

        Raises:
            pytest.fail.Exception, pytest.skip.Exception, pytest.xfail.Exception: as the run says.
        """
        if self.name == DRIVER:
            self._check_driver()
            return
        if self.name.startswith(RACE):
            self._check_race()
            return
        rule = self.assessment.result.rule(self.name)
        if rule is None:
            pytest.fail("the driver broke down before any rule could be judged", pytrace=False)
        reasons = "; ".join(self.assessment.reasons(self.name))
        match self.assessment.outcome(self.name):
            case "passed":
                return
            case "failed":
                pytest.fail(self._failure_words(), pytrace=False)
            case "expected":
                pytest.xfail(reasons)
                pytest.fail(self._failure_words(), pytrace=False)  # reached under --runxfail alone
            case "stale":
                pytest.fail(self._stale_words(rule.exercised, reasons), pytrace=False)
            case "unmet":
                pytest.skip(f"expected to fail ({reasons}), and not exercised by this run")
            case "not-exercised":
                pytest.skip("not exercised by this run: raise turnproof_commands")
            case verdict:
                pytest.skip(f"{verdict}: {rule.reason}")

    def _check_driver(self) -> None:
        faults = self.assessment.result.driver_faults
        if faults:
            pytest.fail("\n\n".join(f"driver fault: {fault}" for fault in faults), pytrace=False)

    def _race(self) -> RaceResult | None:
        races = self.assessment.result.races
        return next((race for race in races if RACE + race.name == self.name), None)

    def _check_race(self) -> None:
        race = self._race()
        if race is None:
            pytest.fail("the driver broke down before any race could be run", pytrace=False)
        outcome = self.assessment.race_outcome(race)
        match outcome:
            case "passed":
                return
            case "failed" | "expected":
                if outcome == "expected":
                    pytest.xfail("; ".join(self.assessment.race_reasons(race)))
                pytest.fail(self._lost_words(race), pytrace=False)  # an expected one gets here under --runxfail alone
            case "not-exercised":
                pytest.skip(f"not exercised: {race.reason}")
            case _:
                pytest.skip(f"{outcome}: {race.reason}")

    def _lost_words(self, race: RaceResult) -> str:
        form = next(one for one in find_race(race.name) if one.contract == self.assessment.result.contract)
        lines = [f"race {race.name}: {form.story}", f"met in: {', '.join(form.sources)}", ""]
        failures = [failure for failure in self.assessment.result.capsules if failure.name == race.capsule]
        for failure in failures:
            lines += [failure.text, *self._replay_words(failure)]
        return "\n".join(lines)

    def _failure_words(self) -> str:
        rule = catalogue.rule(self.name)
        failures = [failure for failure in self.assessment.result.capsules if self.name in failure.rules]
        lines = [f"{rule.id}: {rule.title}", rule.statement, ""]
        for failure in failures[:SHOWN]:
            lines += [failure.text, *self._replay_words(failure), ""]
        if len(failures) > SHOWN:
            lines.append(f"and {len(failures) - SHOWN} more")
        return "\n".join(lines).rstrip()

    def _replay_words(self, failure: CapsuleResult) -> list[str]:
        met = f"met {failure.occurrences} times" if failure.occurrences > 1 else "met once"
        lines = [] if failure.reproduced else ["  flaky     the same commands did not fail again"]
        if failure.file is not None:
            lines.append(f"  replay    turnproof replay {failure.file} {self.assessment.result.candidate}   ({met})")
        return lines

    def _stale_words(self, exercised: int, reasons: str) -> str:
        shown = f"was exercised {exercised} times and did not fail" if exercised else "cannot fail for this candidate"
        return (
            f"{self.name} is expected to fail ({reasons}), but {shown}: "
            f"remove the stale entry from {self.assessment.file}, or run pytest with --turnproof-update"
        )
