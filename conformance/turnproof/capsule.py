"""
Keep a failure as one JSON file that replays against any candidate and survives edits of the tests.

A capsule holds the commands, not code: format version, contract, rules, schedule, what was expected and observed, the
seed and the candidate it was found on, and the same as a score for a person. ``assumed`` are freedoms whose value the
candidate had shown elsewhere in the run: they are taken for given in a replay.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

from turnproof.recorded import plain
from turnproof.score import failure_text, schedule_text
from turnproof.trial import Asks, RuleFailure, Trial
from turnproof_model.observation import Implementation
from turnproof_model.surroundings import MisuseError
from turnproof_model.vocabulary import Command, Contract, Reset
from turnproof_model.wire import WireError, request_from_wire, to_wire

SCHEMA = "turnproof/capsule/1"


class CapsuleError(Exception):
    """Say that a capsule can't be read or written; the message names the file."""


@frozen
class Capsule:
    """Hold one failing schedule and what it showed."""

    contract: Contract
    rules: tuple[str, ...]
    commands: tuple[Command, ...]
    expected: Any
    observed: Any
    where: str
    seed: int
    candidate: Implementation
    text: str
    assumed: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, failure: RuleFailure, contract: Contract, seed: int, candidate: Implementation) -> Capsule:
        """Make the capsule of a failure."""
        difference = failure.difference
        return cls(
            contract,
            failure.rules,
            failure.schedule,
            plain(difference.expected) if difference else None,
            plain(difference.observed) if difference else [v.message for v in failure.violations],
            difference.where if difference else "monitor",
            seed,
            candidate,
            failure_text(failure),
            failure.assumed,
        )

    @property
    def name(self) -> str:
        """A stable file name: the first rule and a digest of the schedule."""
        digest = hashlib.sha256(json.dumps([to_wire(c) for c in self.commands], sort_keys=True).encode()).hexdigest()
        return f"{self.rules[0] if self.rules else 'unnamed'}-{digest[:8]}"

    def to_json(self) -> dict[str, Any]:
        """Give the JSON document."""
        return {
            "schema": SCHEMA,
            "contract": self.contract,
            "rules": list(self.rules),
            "score": schedule_text(self.commands),
            "commands": [to_wire(command) for command in self.commands],
            "where": self.where,
            "expected": self.expected,
            "observed": self.observed,
            "assumed": dict(self.assumed),
            "seed": self.seed,
            "candidate": {"name": self.candidate.name, "version": self.candidate.version},
            "text": self.text.splitlines(),
        }

    def save(self, folder: Path) -> Path:
        """
        Write the capsule into a folder, whole or not at all.

        Raises:
            CapsuleError: the folder can't be written.
        """
        path = folder / f"{self.name}.json"
        part = path.with_suffix(".part")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            part.replace(path)
        except OSError as error:
            raise CapsuleError(f"{path}: can't be written: {error}") from error
        return path


def read_capsule(path: Path) -> Capsule:
    """
    Read a capsule.

    Raises:
        CapsuleError: the file can't be read, is no capsule, or of a version this program doesn't know.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CapsuleError(f"{path}: can't be read: {error}") from error
    except ValueError as error:
        raise CapsuleError(f"{path}: not JSON: {error}") from error
    try:
        return capsule_from_json(value)
    except CapsuleError as error:
        raise CapsuleError(f"{path}: {error}") from error


def capsule_from_json(value: object) -> Capsule:
    """
    Read a capsule from its JSON document.

    Raises:
        CapsuleError: it is no capsule, or of a version this program doesn't know.
    """
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        found = value.get("schema") if isinstance(value, dict) else type(value).__name__
        raise CapsuleError(f"not a capsule of {SCHEMA!r} (got {found!r})")
    try:
        commands: tuple[Any, ...] = tuple(request_from_wire(command) for command in value["commands"])
        candidate = value.get("candidate") or {}
        return Capsule(
            value["contract"],
            tuple(value["rules"]),
            commands,
            value.get("expected"),
            value.get("observed"),
            value.get("where", "events"),
            value.get("seed", 0),
            Implementation(candidate.get("name", ""), candidate.get("version", "")),
            "\n".join(value.get("text", [])),
            tuple(sorted(value.get("assumed", {}).items())),
        )
    except (AttributeError, KeyError, TypeError, WireError) as error:
        raise CapsuleError(f"a field is missing or has another form: {error}") from error


@frozen
class CapsuleReplay:
    """
    Hold what a replay showed: ``reproduced`` (the same rules broke), ``differs`` (others broke), or ``passed``.

    ``stopped`` names the command that couldn't be given to this candidate any more, if any.
    """

    verdict: Literal["reproduced", "differs", "passed"]
    failure: RuleFailure | None = None
    stopped: str | None = None


def replay_capsule(capsule: Capsule, client: Asks) -> CapsuleReplay:
    """
    Give the capsule's commands to a candidate.

    Raises:
        ValueError: the candidate is of another contract.
        DriverFault: its driver broke down.
    """
    trial = Trial.open(client, capsule.contract, capsule.assumed)
    for command in capsule.commands:
        try:
            failure = trial.begin(command) if isinstance(command, Reset) else trial.do(command)
        except MisuseError as error:
            return CapsuleReplay("passed", stopped=str(error))
        if failure is not None:
            return _compared(capsule, failure)
    failure = trial.end()
    return CapsuleReplay("passed") if failure is None else _compared(capsule, failure)


def _compared(capsule: Capsule, failure: RuleFailure) -> CapsuleReplay:
    """Tell whether a replay failed by a rule of the capsule."""
    same = set(failure.rules) & set(capsule.rules)
    return CapsuleReplay("reproduced" if same else "differs", failure)
