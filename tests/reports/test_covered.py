"""Reports say how much of what can be reached a run has reached, and nothing where nothing was measured."""

from __future__ import annotations

import pytest
from finished_runs import finished

from turnproof.expectations import assess
from turnproof.results import Coverage
from turnproof_reports.markdown import markdown_report
from turnproof_reports.page import html_report
from turnproof_reports.terminal import print_run

REACHED = {"transitions": Coverage(30, 40, ("idle · steer → admission",)), "stacks": Coverage(0, 8)}


def test_the_terminal_and_markdown_say_what_was_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assessment = assess(finished(coverage=REACHED))
    print_run(assessment)

    said = "transitions 30 of 40 (75.0 %) · stacks 0 of 8 (0.0 %)"
    assert f"coverage: {said}\n" in capsys.readouterr().out
    assert f"Coverage: {said}." in markdown_report(assessment)


def test_nothing_is_said_where_nothing_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assessment = assess(finished(coverage={"transitions": Coverage()}))
    print_run(assessment)

    assert "coverage" not in capsys.readouterr().out
    assert "Coverage" not in markdown_report(assessment)


def test_the_page_names_the_first_of_what_was_not_reached() -> None:
    page = html_report(assess(finished(coverage=REACHED)))

    assert "10 not reached, the first 1" in page
    assert "idle · steer → admission" in page
