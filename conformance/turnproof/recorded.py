"""
Hold recorded driver sessions against the oracle: accepted whole, or the first difference and its rules.

A recording is JSON Lines of ``{request, observation}``. An ``initialize`` line gives the profile; without one the
contract is told from the first observation. Older recordings (no gate openings, capabilities as a list) are read too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, evolve, frozen

from turnproof.hypotheses import Difference
from turnproof.trial import RuleFailure, Trial
from turnproof_model.observation import Implementation, Observation, Profile
from turnproof_model.surroundings import MisuseError
from turnproof_model.vocabulary import Command, Contract, Reset
from turnproof_model.wire import WireError, observation_from_wire, profile_from_wire, request_from_wire, to_wire


class RecordingError(Exception):
    """Say that a recording can't be read; the message names file and line."""


@frozen
class Recording:
    """Hold a recorded session: profile and judged exchanges with their line numbers (from 1)."""

    path: Path
    profile: Profile
    unseen: frozenset[str]
    exchanges: tuple[tuple[int, Command, Observation], ...]


@frozen
class Replayed:
    """
    Hold the verdict on one recording; ``line`` is where it differs.

    ``disagreement``: only a monitor objects, not the oracle, which is a fault of turnproof.
    """

    path: Path
    contract: Contract
    line: int | None = None
    difference: Difference | None = None
    disagreement: bool = False

    def to_json(self) -> dict[str, Any]:
        """Give the ``files`` entry of ``turnproof/recorded/1``."""
        out: dict[str, Any] = {"path": str(self.path), "contract": self.contract}
        if self.difference is None:
            return out | {"verdict": "accepted"}
        return out | {
            "verdict": "differs",
            "line": self.line,
            "rules": list(self.difference.rules),
            "where": self.difference.where,
            "expected": plain(self.difference.expected),
            "observed": plain(self.difference.observed),
        }


def plain(value: object) -> Any:
    """Write a value of a difference as JSON."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return to_wire(value)


def read_recording(path: Path) -> Recording:
    """
    Read one file.

    Raises:
        RecordingError: the file can't be read, a line isn't JSON, or it isn't an exchange of the protocol.
    """
    profile: Profile | None = None
    exchanges: list[tuple[int, Command, Observation]] = []
    for number, line in _lines(path):
        try:
            value = json.loads(line)
            request, answer = value["request"], value["observation"]
            if request["method"] == "initialize":
                profile = recorded_profile(answer)
                continue
            command: Any = request_from_wire(request)
            exchanges.append((number, command, observation_from_wire(answer)))
        except (ValueError, KeyError, TypeError, WireError) as error:
            raise RecordingError(f"{path}:{number}: not an exchange {{request, observation}}: {error}") from error
    if not exchanges:
        raise RecordingError(f"{path}: no exchange in it")
    seen = [observation for _, _, observation in exchanges]
    return Recording(path, profile or guessed_profile(seen), unseen_in(seen), tuple(exchanges))


def unseen_in(seen: Sequence[Observation]) -> frozenset[str]:
    """Name what a recording with these observations doesn't show, as the oracle calls it."""
    told = {event.type for observation in seen for event in observation.events}
    gates = any(observation.gates for observation in seen) or "gate/aborted" in told
    unseen = {"gate/open"} if gates and "gate/open" not in told else set()
    if all(observation.answer is None for observation in seen):
        unseen.add("answer")
    return frozenset(unseen)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: can't be read: {error}") from error


def recorded_profile(answer: Mapping[str, Any]) -> Profile:
    """
    Read a profile, also that of an older recording: capabilities as a list, gates by group, no runtime.

    Raises:
        WireError: a field is missing or has the wrong form.
    """
    out = dict(answer)
    if isinstance(out.get("implementation"), Mapping):
        out["implementation"] = {"runtime": "", **out["implementation"]}
    if isinstance(out.get("capabilities"), list):
        out["capabilities"] = dict.fromkeys(out["capabilities"], True)
    if isinstance(out.get("gates"), Mapping):
        out["gates"] = [kind for kinds in out["gates"].values() for kind in kinds]
    return profile_from_wire(out)


def guessed_profile(seen: Sequence[Observation]) -> Profile:
    """Tell the contract from what an observation shows: only ``window`` has an acceptance window."""
    contract: Contract = "window" if any(o.accepts_next_step is not None for o in seen) else "claim"
    return Profile(Implementation("recorded", ""), contract)


@define
class _Player:
    """Be a client that answers from a recording."""

    recording: Recording
    answered: int = 0

    def initialize(self) -> Profile:
        """Give the recorded profile."""
        return self.recording.profile

    def ask(self, request: Command) -> Observation:
        """Give the recorded answer to the next request."""
        _, recorded, observation = self.recording.exchanges[self.answered]
        assert request is recorded
        self.answered += 1
        return observation


def replay_recording(recording: Recording) -> Replayed:
    """Put a recording on trial, up to its first broken rule."""
    contract = recording.profile.contract
    trial = Trial(_Player(recording), contract, recording.profile, unseen=recording.unseen)
    last = 1
    for line, command, _ in recording.exchanges:
        try:
            failure = (trial.end() or trial.begin(command)) if isinstance(command, Reset) else trial.do(command)
        except MisuseError as error:
            return Replayed(recording.path, contract, line, Difference("request", (), str(error), to_wire(command)))
        if failure is not None:
            return _failed(recording, line, failure)
        last = line
    failure = trial.end()
    return Replayed(recording.path, contract) if failure is None else _failed(recording, last, failure)


def _failed(recording: Recording, line: int, failure: RuleFailure) -> Replayed:
    """Say where a recording breaks a rule; what only the end of a schedule shows is said at the line that ends it."""
    difference = failure.difference or Difference("monitor", failure.rules, None, None)
    named = evolve(difference, rules=failure.rules)
    return Replayed(recording.path, recording.profile.contract, line, named, failure.disagreement)


def recorded_json(replayed: list[Replayed]) -> dict[str, Any]:
    """Give the whole ``turnproof/recorded/1`` document."""
    differs = any(item.difference is not None for item in replayed)
    return {
        "schema": "turnproof/recorded/1",
        "files": [item.to_json() for item in replayed],
        "verdict": "differs" if differs else "accepted",
    }


if __name__ == "__main__":
    import sys

    results = [replay_recording(read_recording(Path(name))) for name in sys.argv[1:]]
    for result in results:
        sys.stdout.write(json.dumps(result.to_json()) + "\n")
    accepted = sum(result.difference is None for result in results)
    sys.stdout.write(f"{accepted} of {len(results)} accepted\n")
