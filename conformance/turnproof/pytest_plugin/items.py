"""
Hold the collected tests: those of the configuration file, and the function that stands for a fixture's.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnproof.pytest_plugin.checking import RuleCheck
from turnproof.pytest_plugin.settings import declared_candidate, settings_of
from turnproof.pytest_plugin.sharing import assessed


class CandidateFile(pytest.File):
    """Collect the candidate of the configuration file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Make one test for the driver, one for each rule and one for each race."""
        settings = settings_of(self.config, self)
        settings.expectations()  # a file that can't be read is told now, not in each test
        for name in settings.checks:
            yield RuleItem.from_parent(self, name=f"turnproof[{name}]", check=name)


class RuleItem(pytest.Item):
    """Check one rule or race of the candidate of the configuration file."""

    def __init__(self, *, check: str, **keywords: object) -> None:
        super().__init__(**keywords)  # type: ignore[arg-type]  # what pytest hands to from_parent
        self.check = check
        self.add_marker(pytest.mark.turnproof)

    def runtest(self) -> None:
        """Run the search, once a session, and check the rule."""
        settings = settings_of(self.config, self)
        candidate = declared_candidate(self.config, settings.contract)
        check = RuleCheck(assessed(self.config, candidate, settings, "ini"), self.check)
        self.user_properties += check.properties
        check()

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the test by its file and rule."""
        return self.path, None, self.name


def collect_beside(collector: Any) -> Any:
    """Collect the tests of a candidate in the module or class whose fixture makes it."""
    home = collector.obj
    home.turnproof = staticmethod(turnproof) if inspect.isclass(home) else turnproof  # pytest looks a test up by name
    return collector.ihook.pytest_pycollect_makeitem(collector=collector, name="turnproof", obj=turnproof)


@pytest.mark.turnproof
def turnproof(turnproof_check: RuleCheck, request: pytest.FixtureRequest) -> None:
    """Check one rule or race of the candidate that the fixture makes."""
    request.node.user_properties += turnproof_check.properties
    turnproof_check()


turnproof.__test__ = True  # type: ignore[attr-defined]  # collected under a name that no pattern knows
