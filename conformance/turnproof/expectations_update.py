"""
Rewrite a file of expectations after a run: stale entries go, unexpected failures come in, all else stays as it was.

Comments are kept: those right above an entry belong to it and go with it, all others stay where they are. What is
written is read back before it replaces the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import tomlkit
from attrs import frozen
from tomlkit.items import AoT

from turnproof.expectations import VERSION, Assessment, Expectation, ExpectationsError, read_expectations
from turnproof.results import CapsuleResult

HEADER = "[[expected]]"

PREAMBLE = f"""\
# Failures that are known. A failure that isn't listed here fails the run, and so does an entry that no failure meets.
version = {VERSION}
"""
"""How a new file begins."""


@frozen
class Update:
    """Hold what an update changes: the rules of removed and of added entries, and the new text."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    text: str


def updated(text: str | None, assessment: Assessment) -> Update:
    """
    Rewrite the text of a file for a run.

    Args:
        text: of the file as it is; ``None`` where there is none.
        assessment: of the run, made with the expectations of that text.
    """
    head, blocks = _parted(PREAMBLE if text is None else text)
    gone = {number for number, entry in enumerate(assessment.expectations) if entry in assessment.stale}
    kept = [loose if number in gone else entry + loose for number, (entry, loose) in enumerate(blocks)]
    added = _new_entries(assessment.unexpected)
    pieces = [head, *kept, *(_written(rule, failure, assessment) for rule, failure in added)]
    whole = "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip()) + "\n"
    return Update(
        tuple(assessment.expectations[number].rule for number in sorted(gone)), tuple(rule for rule, _ in added), whole
    )


def update_file(path: Path, assessment: Assessment) -> Update:
    """
    Rewrite a file for a run, whole or not at all; a file that isn't there is begun.

    Raises:
        ExpectationsError: it can't be read or written.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else None
        update = updated(text, assessment)
        part = path.with_name(path.name + ".part")
        part.write_text(update.text, encoding="utf-8")
        _check(part, assessment, update)
        part.replace(path)
    except OSError as error:
        raise ExpectationsError(f"{path}: can't be written: {error}") from error
    return update


def _check(part: Path, assessment: Assessment, update: Update) -> None:
    """Read the new file back before it replaces the old one: the entries that stay are the same, and in order."""
    kept = [entry for entry in assessment.expectations if entry not in assessment.stale]
    entries = read_expectations(part)
    if list(entries[: len(kept)]) != kept or tuple(entry.rule for entry in entries[len(kept) :]) != update.added:
        part.unlink()
        raise ExpectationsError(f"{part.with_suffix('')}: has a form that can't be rewritten; edit it by hand")


def _parted(text: str) -> tuple[str, list[tuple[str, str]]]:
    """
    Part a file into what stands before the entries, and the entries.

    Each entry comes with the comments right above it, and beside it the loose lines that follow.
    """
    document = tomlkit.parse(text)
    entries = document.get("expected")
    if not isinstance(entries, AoT):
        return text, []
    head, above = _cut(text.partition(HEADER)[0], lambda line: line.startswith("#"))
    blocks: list[tuple[str, str]] = []
    for table in entries.body:
        body, rest = _cut(table.as_string(), lambda line: not line.strip() or line.startswith("#"))
        loose, next_above = _cut(rest, lambda line: line.startswith("#"))
        blocks.append((f"{above}{HEADER}\n{body}", loose))
        above = next_above
    entry, loose = blocks[-1]
    return head, [*blocks[:-1], (entry, loose + above)]


def _cut(text: str, ends: Callable[[str], bool]) -> tuple[str, str]:
    """Cut the lines off that a text ends with."""
    lines = text.splitlines(keepends=True)
    at = len(lines)
    while at and ends(lines[at - 1]):
        at -= 1
    return "".join(lines[:at]), "".join(lines[at:])


def _new_entries(unexpected: Sequence[CapsuleResult]) -> list[tuple[str, CapsuleResult]]:
    """Name one rule for each unexpected failure, the most telling one; a rule named before covers later failures."""
    added: dict[str, CapsuleResult] = {}
    for failure in unexpected:
        if not added.keys() & set(failure.rules):
            added[failure.rules[0]] = failure
    return list(added.items())


def _written(rule: str, failure: CapsuleResult, assessment: Assessment) -> str:
    """Write a new entry, with the shortest schedule as its comment."""
    entry = Expectation(rule, f"not looked into yet; seen with {assessment.result.agent.version}")
    table = tomlkit.table()
    table.add("rule", entry.rule)
    table.add("contract", assessment.result.contract)
    table.add("reason", entry.reason)
    if not failure.reproduced:
        table.add("flaky", value=True)
    score = "".join(c if c.isprintable() else repr(c)[1:-1] for c in failure.score)
    return f"# {score}\n{HEADER}\n{table.as_string()}"
