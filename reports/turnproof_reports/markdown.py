"""
Render a run as Markdown for a step summary: the verdict, what failed, and the rules that the run says nothing about.

A summary of 1 MiB or more is dropped whole by the servers that show it, so this one stops before: what has no room is
counted, not shown. Candidates' words stand in code spans and fences that they can't close.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnproof.expectations import Assessment
from turnproof.results import CapsuleResult
from turnproof_reports.summary import (
    WORDS,
    counts,
    coverage_lines,
    entries,
    expectation_of,
    race_counts,
    race_entries,
    replay_line,
    visible,
)

MOST_BYTES = 1 << 20
"""What servers take of one summary."""

RESERVE = 1 << 16
"""Room kept for the end."""

LONGEST = 1 << 14
"""Bytes of one failure's text that are shown."""

MARKS = {"conforms": "✅", "fails": "❌", "driver-fault": "💥", "inconclusive": "❔"}


def markdown_report(assessment: Assessment) -> str:
    """Render a run, expectations taken into account; the text is always shorter than 1 MiB."""
    listed = entries(assessment)
    result = assessment.result
    counted = [f"{count} {WORDS[outcome]}" for outcome, count in counts(listed).items()]
    who = f"{span(result.agent.name)} {span(result.agent.version)} under contract `{result.contract}`"
    out = [
        f"## {MARKS[assessment.verdict]} turnproof: {who}: {assessment.verdict}",
        "",
        f"{result.commands} commands, seed {result.seed}: {' · '.join(counted) or 'nothing judged'}.",
        "",
    ]
    for fault in result.driver_faults:
        out += [f"### 💥 driver fault: {fault.kind}", "", fence(str(fault)[:LONGEST]), ""]
    out += [f"- **stale**: {e.rule} is expected to fail and did not ({span(e.words)})" for e in assessment.stale]
    out += [f"- **not met**: {e.rule} is expected to fail and was not exercised" for e in assessment.unmet]
    out += [f"- **flaky**: {e.rule} met {met} failures ({span(e.words)})" for e, met in assessment.flaky]
    out += _races(assessment)
    ending = _ending(assessment)
    room = MOST_BYTES - RESERVE - _size(out) - _size(ending)
    return "\n".join([*out, "", *_failures(assessment, room), *ending]) + "\n"


def _failures(assessment: Assessment, room: int) -> list[str]:
    """Show failures, the unexpected ones first, for as long as there is room."""
    out: list[str] = []
    known = {failure.name for failure, _ in assessment.expected}
    ordered = sorted(assessment.result.capsules, key=lambda failure: failure.name in known)
    for number, failure in enumerate(ordered):
        block = _failure(assessment, failure)
        if _size(out) + _size(block) > room:
            return [*out, f"… and {len(ordered) - number} more failures, which have no room here.", ""]
        out += block
    return out


def _failure(assessment: Assessment, failure: CapsuleResult) -> list[str]:
    reason = expectation_of(assessment, failure)
    mark = "❌" if reason is None else "⚠️"
    out = [f"### {mark} {', '.join(failure.rules)}", ""]
    if reason is not None:
        out += [f"Expected: {span(reason)}", ""]
    if not failure.reproduced:
        out += ["Flaky: the same commands did not fail again.", ""]
    replay = replay_line(assessment, failure)
    text = failure.text[:LONGEST] + ("" if replay is None else f"\n  replay    {replay}")
    return [*out, fence(text), ""]


def _races(assessment: Assessment) -> list[str]:
    """Count how the races went, and name those that weren't passed."""
    listed = race_entries(assessment)
    if not listed:
        return []
    lost = [f"- {WORDS[entry.outcome]}: {entry.name} ({span(entry.why)})" for entry in listed if entry.why]
    return [f"Races: {race_counts(listed)}.", "", *lost, ""]


def _ending(assessment: Assessment) -> list[str]:
    """Say what was reached, and name the rules that the run says nothing about."""
    measured = coverage_lines(assessment.result)
    out: list[str] = [f"Coverage: {' · '.join(measured)}.", ""] if measured else []
    for verdict, words in (("not-exercised", "not exercised"), ("not-applicable", "not applicable")):
        named = [rule.id for rule in assessment.result.rules if rule.verdict == verdict]
        if named:
            out += [
                f"<details><summary>{len(named)} rules {words}</summary>",
                "",
                " ".join(named),
                "",
                "</details>",
                "",
            ]
    return out


def span(text: str) -> str:
    """Put untrusted text into a code span that it can't leave."""
    shown = visible(text).replace("\n", " ")
    ticks = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}" if shown.strip() else "(no name)"


def fence(text: str) -> str:
    """Put untrusted text into a fenced block that it can't leave."""
    shown = visible(text)
    ticks = "`" * max(3, max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    return f"{ticks}text\n{shown}\n{ticks}"


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
