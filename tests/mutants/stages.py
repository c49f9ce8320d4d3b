"""
The stages of a mutant's trial: what the suite does to any candidate, in the order of what tells most for its cost.

All of it is deterministic: searches start from fixed seeds, and schedules come from files.
"""

from __future__ import annotations

import json
import signal
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from attrs import frozen

from turnproof.candidate import InProcessCandidate
from turnproof.engine import Engine, search
from turnproof.faults import DriverFault
from turnproof.notation import read_schedule
from turnproof.races import play as race_of
from turnproof.races import races
from turnproof.recorded import read_recording
from turnproof.trial import Asks, RuleFailure, Trial
from turnproof_model.observation import Observation, Profile
from turnproof_model.surroundings import MisuseError
from turnproof_model.vocabulary import Command, Reset
from turnproof_model.wire import request_from_wire

DATA = Path(__file__).parents[1] / "data"
COMMAND_SECONDS = 1.0
"""Work on one command after which an agent counts as one that hangs; a sound one needs some milliseconds."""

OWN_SECONDS = 120
"""Time for the agents' own tests; an agent that never comes to rest waits, and no work is counted then."""

OWN_TESTS = {"window": "test_window_[acr]*.py", "claim": "claim/test_[!fp]*.py"}
SHARED_TESTS = ("test_python_callers.py", "test_values.py", "test_sessions.py", "test_driver.py")
"""Files of the agents' own tests, by contract and for both."""

FEW_RULES = 3
"""Rules kept of an objection."""


@frozen
class Objection:
    """Say which rules are broken and after how many commands; no rule where the driver broke down."""

    rules: tuple[str, ...]
    commands: int


@frozen
class Stage:
    """Name a part of the suite that plays an agent of a contract and answers its objection, if it has one."""

    name: str
    about: str
    play: Callable[[str], Objection | None]


@frozen
class Guarded:
    """Be a client whose process ends when one request takes too much work: what hangs can't be called back."""

    client: Asks

    def initialize(self) -> Profile:
        """Open the conversation."""
        return self.client.initialize()

    def ask(self, request: Command) -> Observation:
        """Perform one request within bounds."""
        signal.setitimer(signal.ITIMER_PROF, COMMAND_SECONDS)
        try:
            return self.client.ask(request)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def searching(seed: int, commands: int) -> Callable[[str], Objection | None]:
    """Search from a seed until the first failure."""

    def play(contract: str) -> Objection | None:
        def go(trial: Trial, failures: list[RuleFailure]) -> None:
            search(Engine(trial, lambda failure: bool(failures.append(failure)), commands), seed)

        return _tried(contract, go)

    return play


def written(contract: str) -> Objection | None:
    """Play the schedules that were written for mutants."""
    return _all_played(contract, written_schedules(contract))


def recorded(contract: str) -> Objection | None:
    """Play the schedules of the sessions that were recorded from real agents, and of their known deviations."""
    return _all_played(contract, schedules(contract))


def _all_played(contract: str, given: tuple[tuple[Command, ...], ...]) -> Objection | None:
    """Play schedules one after the other in one trial, so that a freedom taken in one binds the agent in the next."""

    def go(trial: Trial, failures: list[RuleFailure]) -> None:
        met = (played(trial, schedule) for schedule in given)
        failures.extend(islice(filter(None, met), 1))

    return _tried(contract, go)


def raced(contract: str) -> Objection | None:
    """Run the races of the catalogue; one that a changed agent can't be driven through tells nothing."""

    def go(trial: Trial, failures: list[RuleFailure]) -> None:
        for race in races(contract):
            played = race_of(trial.client, trial.profile, race)
            trial.commands += played.commands
            if played.failure is not None:
                failures.append(played.failure)
                return

    return _tried(contract, go)


def own_tests(contract: str) -> Objection | None:
    """
    Run the agents' own tests, which call them from Python and see what no driver can show.

    Left out are those that start processes, which would load the agent as it is, and those that search.
    """
    here = DATA.parent / "reference"
    files = [*here.glob(OWN_TESTS[contract]), *(here / name for name in SHARED_TESTS)]
    plugins = [word for name in ("cacheprovider", "turnproof", "hypothesispytest") for word in ("-p", f"no:{name}")]
    options = ["-x", "-q", "--no-header", "--assert=plain", *plugins]
    signal.setitimer(signal.ITIMER_REAL, OWN_SECONDS)
    status = pytest.main([*options, *map(str, sorted(files))])
    signal.setitimer(signal.ITIMER_REAL, 0)
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}:
        raise RuntimeError(f"the agents' own tests must run (pytest ended with {status!r})")
    return None if status == pytest.ExitCode.OK else Objection((), 0)


def _tried(contract: str, go: Callable[[Trial, list[RuleFailure]], None]) -> Objection | None:
    """Put the agent on trial until the first failure; one whose driver breaks down has failed too."""
    client = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": contract}).connect()
    failures: list[RuleFailure] = []
    try:
        trial = Trial.open(Guarded(client), contract)  # type: ignore[arg-type]  # one of the two
    except DriverFault:
        return Objection((), 0)
    try:
        go(trial, failures)
    except DriverFault:
        return Objection((), trial.commands)
    finally:
        client.close()
    return Objection(failures[0].rules[:FEW_RULES], trial.commands) if failures else None


def played(trial: Trial, schedule: tuple[Command, ...]) -> RuleFailure | None:
    """Play one schedule; it ends where the agent has lawfully gone another way."""
    for command in schedule:
        try:
            failure = trial.begin(command) if isinstance(command, Reset) else trial.do(command)
        except MisuseError:
            return None
        if failure is not None:
            return failure
    return None


@cache
def schedules(contract: str) -> tuple[tuple[Command, ...], ...]:
    """Read all schedules of a contract, each from one reset on."""
    read = [schedule for path in sorted((DATA / "golden" / contract).glob("*.jsonl")) for schedule in _golden(path)]
    if contract == "claim":
        for path in sorted((DATA / "dsh-deviations").glob("*.json")):
            requests = json.loads(path.read_text(encoding="utf-8"))["requests"]
            read.append(tuple(request_from_wire(request) for request in requests))
    return tuple(read)


@cache
def written_schedules(contract: str) -> tuple[tuple[Command, ...], ...]:
    """Read the schedules of a contract that were written for mutants."""
    tables = tomllib.loads((DATA / "mutants" / "schedules.toml").read_text(encoding="utf-8"))["schedule"]
    return tuple(read_schedule(table["text"]) for table in tables if table["contract"] == contract)


def _golden(path: Path) -> Iterator[tuple[Command, ...]]:
    commands = [command for _, command, _ in read_recording(path).exchanges]
    starts = [at for at, command in enumerate(commands) if isinstance(command, Reset)]
    for start, end in zip(starts, [*starts[1:], len(commands)], strict=True):
        yield tuple(commands[start:end])


def _search(name: str, seed: int, commands: int) -> Stage:
    return Stage(name, f"the default search, seed {seed}, {commands} commands", searching(seed, commands))


QUICK = (
    _search("search", 1, 400),
    Stage("races", "all races of the catalogue", raced),
    Stage("written", "schedules written for mutants that searches rarely meet", written),
    Stage("recorded", "the schedules of all recorded sessions and known deviations", recorded),
    _search("longer search", 2, 3_000),
)
"""What every mutant goes through."""

THOROUGH = (
    _search("long search", 3, 20_000),
    Stage("own tests", "the agents' own tests, from Python", own_tests),
)
"""What survivors of those go through."""
