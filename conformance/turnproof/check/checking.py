"""
Check files: tell what each is, judge it, and say what came out. Nothing that is in a file stops the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import evolve

from turnproof.capsule import CapsuleError, capsule_from_json
from turnproof.check.capsules import judge_capsule
from turnproof.check.formats import Opening, opening
from turnproof.check.harness_check import HarnessLog
from turnproof.check.judge import LogJudge
from turnproof.check.lines import Lines, UnreadableError
from turnproof.check.logcheck import LogCheck
from turnproof.check.results import CheckResult, FileResult, FormatName, Unread
from turnproof.check.session_check import SessionCheck
from turnproof.check.sessions import SessionLog
from turnproof.check.traces import TraceLog
from turnproof.check.verdicts import rule_verdicts
from turnproof_model.trace import TraceContract


def check_files(
    paths: Iterable[str], format_: FormatName | None = None, contract: TraceContract | None = None
) -> CheckResult:
    """
    Check files, each by itself.

    Args:
        paths: in the order of the results; ``-`` is standard input.
        format_: what to take them for, whatever they look like.
        contract: whose rules to judge by, whatever the log says.
    """
    return CheckResult(tuple(check_file(path, format_, contract) for path in paths))


def check_file(path: str, format_: FormatName | None = None, contract: TraceContract | None = None) -> FileResult:
    """Check one file; see ``check_files``."""
    try:
        with Lines.open(path) as lines:
            return check_lines(path, lines, format_, contract)
    except UnreadableError as error:
        return FileResult(path, format_, contract, unread=Unread(error.message, error.line))


def check_lines(
    name: str, lines: Lines, format_: FormatName | None = None, contract: TraceContract | None = None
) -> FileResult:
    """
    Check lines that are there already; see ``check_files``.

    Args:
        name: what the result calls them.
        lines: at their beginning.
        format_: what to take them for, whatever they look like.
        contract: whose rules to judge by, whatever the log says.
    """
    try:
        return _check(name, lines, opening(lines, format_), contract)
    except UnreadableError as error:
        return FileResult(name, format_, contract, unread=Unread(error.message, error.line))


def _check(path: str, lines: Lines, begun: Opening, contract: TraceContract | None) -> FileResult:
    """Open a log by its format and judge it."""
    match begun.format:
        case "trace":
            return _check_trace(path, lines, begun, contract)
        case "driver-session":
            return _check_session(path, lines, begun, contract)
        case "capsule":
            return _check_capsule(path, begun, contract)
        case "deepseek-harness":
            return _check_harness(path, lines, begun, contract)


def _check_trace(path: str, lines: Lines, begun: Opening, contract: TraceContract | None) -> FileResult:
    trace = TraceLog.open(lines, begun.head, contract)
    check = LogCheck(LogJudge(trace.header), trace.sequence)
    unread = _to_the_end(check, lambda: trace.check(check))
    return _summed(FileResult(path, "trace", trace.header.contract, unread=unread), check)


def _check_harness(path: str, lines: Lines, begun: Opening, contract: TraceContract | None) -> FileResult:
    log = HarnessLog.open(lines, begun.head, contract)
    check = LogCheck(log.judge(), log.reader.sequence)
    notes: list[str] = []
    unread = _to_the_end(check, lambda: notes.extend(log.check(check)))
    notes.extend(log.notes())
    return _summed(FileResult(path, "deepseek-harness", log.contract, notes=tuple(notes), unread=unread), check)


def _check_session(path: str, lines: Lines, begun: Opening, contract: TraceContract | None) -> FileResult:
    log = SessionLog.open(lines, begun.head)
    declared = log.profile.contract
    if contract not in (None, "core", declared):
        raise UnreadableError(f"the candidate of this session declares contract {declared}, not {contract}")
    check = SessionCheck(log, core_only=contract == "core")
    unread = None
    try:
        check.run()
        check.finish()
    except UnreadableError as error:
        unread = Unread(error.message, error.line)
    return FileResult(
        path,
        "driver-session",
        contract or declared,
        check.events,
        check.rules(),
        tuple(check.violations),
        tuple(check.damage),
        tuple(check.notes),
        unread,
    )


def _check_capsule(path: str, begun: Opening, contract: TraceContract | None) -> FileResult:
    try:
        capsule = capsule_from_json(begun.head)
    except CapsuleError as error:
        raise UnreadableError(str(error)) from error
    if contract not in (None, capsule.contract):
        raise UnreadableError(f"the capsule is of contract {capsule.contract}, not {contract}")
    violations, note = judge_capsule(capsule)
    rules = rule_verdicts((capsule.contract, "core"), {}, {violation.rule for violation in violations}, {})
    return FileResult(path, "capsule", capsule.contract, len(capsule.commands), rules, violations, notes=(note,))


def _to_the_end(check: LogCheck, judge: Callable[[], None]) -> Unread | None:
    """Judge a log up to its end, or as far as it can be read."""
    try:
        judge()
    except UnreadableError as error:
        check.cut_off()
        return Unread(error.message, error.line)
    check.finish()
    return None


def _summed(result: FileResult, check: LogCheck) -> FileResult:
    check.sequence.finish()
    return evolve(
        result,
        events=check.entries,
        rules=check.rules(),
        violations=check.violations,
        damage=tuple(check.sequence.damage),
        notes=(*result.notes, *check.notes()),
        silenced=check.judge.report.silenced,
    )
