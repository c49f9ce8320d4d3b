"""
Hold what a check found: for each file what it is, what each rule says about it, and what the log itself lacks.

Three kinds of wrong are never merged. A *violation* is a rule that the recorded history breaks. *Damage* is what was
done to the log and not by the agent: a hole, a line twice, a line out of place. An *unreadable* file is
neither: it says nothing about anybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import frozen

from turnproof.results import RuleResult
from turnproof_model.trace import TraceContract

FormatName: TypeAlias = Literal["trace", "driver-session", "capsule", "deepseek-harness"]
"""What a file may be, as ``--format`` spells it."""

FORMATS: tuple[FormatName, ...] = ("trace", "driver-session", "capsule", "deepseek-harness")

Verdict: TypeAlias = Literal["conforms", "damaged", "fails", "unreadable"]
"""From best to worst; ``damaged``: no rule is broken but for what the log has lost."""

SEVERITY: tuple[Verdict, ...] = ("conforms", "damaged", "fails", "unreadable")

EXIT_CODES: Mapping[Verdict, int] = {"conforms": 0, "damaged": 1, "fails": 1, "unreadable": 2}

DamageKind: TypeAlias = Literal["hole", "duplicate", "moved"]

EditKind: TypeAlias = Literal["missing", "extra", "moved"]

Culprit: TypeAlias = Literal["log", "agent", "open"]
"""Who is to blame: the log, the agent, or nobody can tell from this log alone."""


@frozen
class Place:
    """Name one line of the log: its number from 1, its sequence number where it has one, and the event in words."""

    line: int
    seq: int | None
    event: str

    def to_json(self) -> dict[str, Any]:
        """Write the place as a JSON value."""
        out: dict[str, Any] = {"line": self.line, "event": self.event}
        return out if self.seq is None else out | {"seq": self.seq}


@frozen
class LogEdit:
    """
    Say one thing that would have to be undone to make the log legal.

    ``event`` is the event in words; ``line`` is where it stands, or the line that a missing one belongs before;
    ``to`` is the line that a moved one belongs before.
    """

    kind: EditKind
    event: str
    line: int
    to: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Write the edit as a JSON value."""
        out: dict[str, Any] = {"kind": self.kind, "event": self.event, "line": self.line}
        return out if self.to is None else out | {"to": self.to}

    def __str__(self) -> str:
        match self.kind:
            case "missing":
                return f"{self.event} is missing before line {self.line}"
            case "extra":
                return f"{self.event} at line {self.line} is one too many"
            case _:
                return f"{self.event} at line {self.line} belongs before line {self.to}"


@frozen
class Blame:
    """
    Say who is to blame for a broken rule.

    ``edits`` is the smallest set of edits that makes the neighbourhood legal, ``others`` further sets of that size;
    ``reason`` is one sentence.
    """

    culprit: Culprit
    reason: str
    edits: tuple[LogEdit, ...] = ()
    others: tuple[tuple[LogEdit, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Write the blame as a JSON value."""
        out: dict[str, Any] = {"culprit": self.culprit, "reason": self.reason}
        if self.edits:
            out["edits"] = [edit.to_json() for edit in self.edits]
        if self.others:
            out["others"] = [[edit.to_json() for edit in edits] for edits in self.others]
        return out


@frozen
class LogViolation:
    """
    Hold one broken rule: where it showed, what was expected in one sentence, and the events involved.

    ``clauses`` are the sentences of the design documents behind the rule. ``blame`` is shared by what broke in one
    neighbourhood.
    """

    rule: str
    line: int
    seq: int | None
    message: str
    events: tuple[Place, ...] = ()
    clauses: tuple[str, ...] = ()
    blame: Blame | None = None

    def to_json(self) -> dict[str, Any]:
        """Write the violation as a JSON value."""
        out: dict[str, Any] = {"rule": self.rule, "line": self.line, "message": self.message}
        if self.seq is not None:
            out["seq"] = self.seq
        out["events"] = [place.to_json() for place in self.events]
        out["clauses"] = list(self.clauses)
        return out if self.blame is None else out | {"blame": self.blame.to_json()}


@frozen
class Damage:
    """
    Hold one thing that was done to the log.

    ``seq`` is the first number that is missing, or that stands twice or late; ``edit`` names the event where it is
    known.
    """

    kind: DamageKind
    line: int
    message: str
    seq: int | None = None
    edit: LogEdit | None = None

    def to_json(self) -> dict[str, Any]:
        """Write the damage as a JSON value."""
        out: dict[str, Any] = {"kind": self.kind, "line": self.line, "message": self.message}
        if self.seq is not None:
            out["seq"] = self.seq
        return out if self.edit is None else out | {"edit": self.edit.to_json()}


@frozen
class Unread:
    """Say why a file couldn't be judged to its end; ``line`` counts from 1, 0 where it is about the whole file."""

    message: str
    line: int = 0


@frozen
class FileResult:
    """
    Hold what was found in one file.

    ``events`` counts those that a rule speaks of; ``format`` and ``contract`` are None where they couldn't be told.
    ``silenced`` counts violations beyond those that are listed.
    """

    path: str
    format: FormatName | None
    contract: TraceContract | None
    events: int = 0
    rules: tuple[RuleResult, ...] = ()
    violations: tuple[LogViolation, ...] = ()
    damage: tuple[Damage, ...] = ()
    notes: tuple[str, ...] = ()
    unread: Unread | None = None
    silenced: int = 0

    @property
    def verdict(self) -> Verdict:
        """The worst that can be said about the file."""
        if self.unread is not None:
            return "unreadable"
        if any(item.blame is None or item.blame.culprit != "log" for item in self.violations) or self.silenced:
            return "fails"
        return "damaged" if self.damage or self.violations else "conforms"

    def to_json(self) -> dict[str, Any]:
        """Give the ``files`` entry of ``turnproof/check/1``."""
        out: dict[str, Any] = {
            "path": self.path,
            "format": self.format,
            "contract": self.contract,
            "events": self.events,
            "verdict": self.verdict,
            "violations": [item.to_json() for item in self.violations],
            "damage": [item.to_json() for item in self.damage],
            "notes": list(self.notes),
            "rules": [_rule_json(rule) for rule in self.rules],
            "not_applicable": [rule.id for rule in self.rules if rule.verdict == "not-applicable"],
        }
        if self.silenced:
            out["silenced"] = self.silenced
        if self.unread is not None:
            out["error"] = {"line": self.unread.line, "message": self.unread.message}
        return out


def _rule_json(rule: RuleResult) -> dict[str, Any]:
    out: dict[str, Any] = {"id": rule.id, "verdict": rule.verdict, "exercised": rule.exercised}
    return out if rule.reason is None else out | {"reason": rule.reason}


@frozen
class CheckResult:
    """Hold what was found in all files, in the order in which they were given."""

    files: tuple[FileResult, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of a file."""
        return max((item.verdict for item in self.files), key=SEVERITY.index, default="conforms")

    @property
    def exit_code(self) -> int:
        """The exit code that the verdict asks for."""
        return EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Give the whole ``turnproof/check/1`` document."""
        return {
            "schema": "turnproof/check/1",
            "files": [item.to_json() for item in self.files],
            "verdict": self.verdict,
        }


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Name the worst of some verdicts."""
    return max(verdicts, key=SEVERITY.index, default="conforms")
