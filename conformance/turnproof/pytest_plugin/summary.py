"""
End a session with what each run found: counts, flaky and stale ones by name; keep the runs, update expectations.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from turnproof.expectations import Assessment, ExpectationsError, assessment_from_json
from turnproof.expectations_update import update_file
from turnproof.results import run_from_json


def summarize(reporter: pytest.TerminalReporter, config: pytest.Config, folder: Path) -> None:
    """
    Print one paragraph for each run.

    Args:
        reporter: that prints.
        config: of the session.
        folder: where the runs are.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        found.append((path.stem, assessment_from_json(document, run_from_json(document))))
    if not found:
        return
    reporter.section("turnproof")
    for key, assessment in found:
        for line in words(assessment):
            reporter.write_line(line)
        if config.getoption("--turnproof-update"):
            reporter.write_line(_update(config, assessment))
        if folder_name := config.getoption("--turnproof-results"):
            reporter.write_line(_keep(config, Path(folder_name), key, assessment))


def words(assessment: Assessment) -> list[str]:
    """Say what a run found, a line each: who, how much, how many of each verdict, and what is odd."""
    result = assessment.result
    counts = Counter(assessment.outcome(rule.id) for rule in result.rules)
    who = f"{result.agent.name} {result.agent.version} · contract {result.contract}"
    lines = [
        f"{who} · seed {result.seed} · {result.commands} commands",
        " · ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "nothing judged",
    ]
    lines += [f"stale: {expectation.rule}: {expectation.words}" for expectation in assessment.stale]
    lines += [f"not met: {expectation.rule}: its rule was not exercised" for expectation in assessment.unmet]
    lines += [f"flaky: {e.rule}: met by {count} failures: {e.words}" for e, count in assessment.flaky]
    lines += [f"flaky: {failure.name}: the same commands did not fail again" for failure in assessment.unrepeated]
    return lines


def _update(config: pytest.Config, assessment: Assessment) -> str:
    if assessment.file is None:
        return "nothing updated: turnproof_expect names no file"
    try:
        update = update_file(config.rootpath / assessment.file, assessment)
    except ExpectationsError as error:
        raise pytest.UsageError(str(error)) from error
    return f"{assessment.file}: {len(update.added)} added, {len(update.removed)} removed"


def _keep(config: pytest.Config, folder: Path, key: str, assessment: Assessment) -> str:
    result = assessment.result
    name = "".join(c if c.isalnum() else "-" for c in f"{result.agent.name}-{result.contract}").strip("-")
    path = config.rootpath / folder / f"{name}-{key[:6]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(assessment.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return f"kept: {path}"
