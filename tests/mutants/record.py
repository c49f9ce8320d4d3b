"""
Keep what became of each mutant, and what reviewers say about those that live.

The record is made by `make mutants`; the review is written by hand. Both know a mutant by its key, which changes with
its function only where the mutant's own lines do.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import frozen

from mutants.judging import SURVIVED, Verdict, judge
from mutants.mutant import Mutant
from mutants.stages import QUICK, THOROUGH, Stage

DATA = Path(__file__).parents[1] / "data" / "mutants"
RECORD = DATA / "record.jsonl"
REVIEW = DATA / "review.toml"

KINDS = ("equivalent", "hidden", "lawful")
"""Reasons to live: nothing ever differs; no driver can show what differs; the contract leaves open what differs."""


@frozen
class Entry:
    """Hold one mutant with its verdict."""

    mutant: Mutant
    verdict: Verdict

    def line(self) -> str:
        """Write it as one line of JSON."""
        mutant, verdict = self.mutant, self.verdict
        fields: dict[str, Any] = {
            "key": mutant.key,
            "module": mutant.module,
            "function": mutant.function,
            "operator": mutant.operator,
            "before": mutant.before,
            "after": mutant.after,
            "nth": mutant.nth,
            "verdict": verdict.verdict,
            "stage": verdict.stage,
            "rules": verdict.rules,
            "commands": verdict.commands,
        }
        return json.dumps(
            {name: value for name, value in fields.items() if value or name == "after"}, ensure_ascii=False
        )

    @classmethod
    def of_line(cls, line: str) -> Entry:
        """Read it back."""
        fields = json.loads(line)
        mutant = Mutant(
            fields["module"],
            fields["function"],
            fields["operator"],
            fields["before"],
            fields["after"],
            fields.get("nth", 0),
        )
        rules, commands = tuple(fields.get("rules", ())), fields.get("commands", 0)
        return cls(mutant, Verdict(fields["verdict"], fields.get("stage", ""), rules, commands))


def play(mutant: Mutant, stages: tuple[Stage, ...] = (*QUICK, *THOROUGH)) -> Entry:
    """Play one mutant through stages."""
    return Entry(mutant, judge(mutant, stages))


def read(path: Path = RECORD) -> list[Entry]:
    """Read a record; there is none before the first run."""
    if not path.exists():
        return []
    return [Entry.of_line(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(entries: Iterable[Entry], path: Path = RECORD) -> None:
    """Write a record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(entry.line() + "\n" for entry in entries), encoding="utf-8")


@frozen
class Review:
    """
    Hold what was found out about one or more mutants that live.

    Args:
        kind: one of `KINDS`.
        why: in a sentence.
        texts: one for each mutant: its key, and what it changes as `Mutant.text` shows it.
    """

    kind: str
    why: str
    texts: tuple[str, ...]

    @property
    def mutants(self) -> tuple[str, ...]:
        """Their keys."""
        return tuple(text.split()[0] for text in self.texts)


def review(path: Path = REVIEW) -> list[Review]:
    """Read the review."""
    found = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [Review(kind, entry["why"], tuple(entry["mutants"])) for kind in KINDS for entry in found.get(kind, ())]


def reviewed() -> dict[str, Review]:
    """Give the review by key."""
    return {key: entry for entry in review() for key in entry.mutants}


def open_questions(entries: Iterable[Entry]) -> list[Entry]:
    """List the mutants that live and that nobody has explained."""
    known = reviewed()
    return [entry for entry in entries if entry.verdict.verdict == SURVIVED and entry.mutant.key not in known]
