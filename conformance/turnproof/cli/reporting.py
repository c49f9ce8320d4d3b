"""
Hold what ``run`` and ``report`` share: the options that name report files, and the writing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from turnproof.cli.common import Fn, InputError
from turnproof.expectations import Assessment, Expectation, ExpectationsError, read_expectations
from turnproof_reports.badge import badge
from turnproof_reports.junit import junit_report
from turnproof_reports.markdown import markdown_report
from turnproof_reports.page import html_report
from turnproof_reports.sarif import sarif_report

FORMS: Mapping[str, str] = {
    "html": "Write one HTML page that needs no network.",
    "junit": "Write JUnit XML, as GitHub, GitLab and Jenkins read it.",
    "sarif": "Write SARIF 2.1.0 for code scanning.",
    "markdown": "Add Markdown to this file, for a step summary; '-' is stdout.",
    "badge": "Write an SVG badge.",
}


def report_options(command: Fn) -> Fn:
    """Add an option for each form of report, and ``--docs-url``."""
    command = click.option(
        "--docs-url", metavar="URL", help="Where the pages of turnproof are, for links from SARIF to its rules."
    )(command)
    for name, words in reversed(list(FORMS.items())):
        command = click.option(f"--{name}", f"{name}_file", metavar="FILE", help=words)(command)
    return command


def write_reports(assessment: Assessment, targets: Mapping[str, str | None], docs_url: str | None) -> None:
    """
    Write the reports that were asked for.

    Args:
        assessment: of the run.
        targets: files by form, ``None`` where none is wanted.
        docs_url: where the pages of turnproof are.

    Raises:
        InputError: a file can't be written.
    """
    renderers: dict[str, Callable[[Assessment], str]] = {
        "html": html_report,
        "junit": junit_report,
        "sarif": lambda assessed: sarif_report(assessed, docs_url),
        "markdown": markdown_report,
        "badge": badge,
    }
    for form, render in renderers.items():
        target = targets.get(f"{form}_file")
        if target is not None:
            _write(target, render(assessment), append=form == "markdown")


def _write(target: str, text: str, *, append: bool) -> None:
    """Write a file; a step summary is shared by all steps of a job, so it is added to."""
    if target == "-":
        click.echo(text, nl=False)
        return
    path = Path(target)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if append else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{target}: can't be written: {error}") from error


def expected_in(path: Path | None, *, may_be_missing: bool = False) -> tuple[Expectation, ...]:
    """
    Read a file of expectations; no file, no expectations.

    Raises:
        InputError: it can't be read.
    """
    if path is None or (may_be_missing and not path.exists()):
        return ()
    try:
        return read_expectations(path)
    except ExpectationsError as error:
        raise InputError(str(error)) from error
