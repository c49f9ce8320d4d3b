"""
Session logs that were recorded elsewhere, of both revisions of deepseek-harness, read in place.

They are named by ``TURNPROOF_LOGS`` or lie beside the checkout; CI must have them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnproof.check import check_file
from turnproof.check.results import FileResult

BESIDE = Path(__file__).parents[4] / "shared" / "logs"
FOLDER = Path(os.environ.get("TURNPROOF_LOGS", BESIDE))
LOGS = sorted(FOLDER.glob("*/*.jsonl"))

DAMAGED = {"authored-error__session": [0], "blocked-log__session": [0]}
"""Fixtures that somebody wrote by hand, by the end of their names, with the sequence numbers that they lack."""

EARLIER = {
    *("apps__web__cordis-tool-round__session", "apps__web__feedback-command__session"),
    *("apps__web__live-interactions__session", "apps__web__navigation-panes__seed"),
    "apps__web__permission-policy-context__session",
}
"""Logs in the folder of the later revision that an earlier one recorded."""

needs_logs = pytest.mark.skipif(not LOGS and not os.environ.get("CI"), reason="the recorded logs are not here")


DEVIATIONS = (Path(__file__).parents[3] / "docs" / "deviations.md").read_text(encoding="utf-8")


def test_what_is_wrong_with_a_log_is_explained() -> None:
    section = DEVIATIONS.partition("## Recorded session logs")[2].partition("\n## ")[0]

    assert all(f"{name}`" in section for name in DAMAGED)


def untold(path: Path) -> bool:
    """Tell whether nothing in a log is of one contract only."""
    text = path.read_text(encoding="utf-8")
    return not any(mark in text for mark in ('"agent/inbox/spliced"', '"trigger"', '"steering/message"'))


@needs_logs
def test_the_logs_of_both_revisions_are_here() -> None:
    assert {path.parent.name for path in LOGS} == {"claim", "window"}


@needs_logs
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_log_is_read_whole_and_conforms(path: Path) -> None:
    result = check_file(str(path))

    assert result.unread is None
    assert result.format == "deepseek-harness"
    assert result.contract == contract_of(path, result)
    missing = next((seqs for name, seqs in DAMAGED.items() if path.stem.endswith(name)), [])
    assert result.violations == ()
    assert [damage.seq for damage in result.damage] == missing
    assert result.verdict == ("damaged" if missing else "conforms")


def contract_of(path: Path, result: FileResult) -> str:
    """Say under which contract a log was recorded."""
    if untold(path):
        assert any("nothing in the log tells its contract" in note for note in result.notes)
        return "core"
    return "window" if path.stem in EARLIER else path.parent.name
