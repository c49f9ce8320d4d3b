"""
Run the suite on one candidate: search until the budget is spent, shrink each new failure, and say what was found.

Deterministic from the seed: choices are drawn with ``seed`` and no database, shrinking uses no randomness. A
failure that is found again is counted and set aside, and the search goes on past it, so one run finds all of them.
``commands`` counts what the search sends; shrinking has a budget of its own. A run that was stopped early (Ctrl-C,
a driver that keeps breaking down) says so and never reads as a pass.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from attrs import define, evolve, field

from turnproof.candidate import Candidate, called_by
from turnproof.coverage.measuring import measured
from turnproof.coverage.tracker import Tracker
from turnproof.engine import Engine, search
from turnproof.environment import environment
from turnproof.faults import DriverFault, Fault
from turnproof.keeping import keep
from turnproof.lanes import side_by_side
from turnproof.openings import openings
from turnproof.races import compete
from turnproof.results import CapsuleResult, Coverage, RaceResult, RuleResult, RunResult
from turnproof.tour import Tour
from turnproof.trial import RuleFailure, Signature, Trial
from turnproof_model import catalogue
from turnproof_model.observation import Implementation, Profile
from turnproof_model.vocabulary import Command, Contract

ROUND = 1_000_003
"""From the seed of one round of generation to that of the next."""

MOST_FAULTS = 3
"""Breakdowns of the driver after which a run gives up."""


WHOLE = (0, 1)
"""The share of a search that plays all openings."""


Progress = Callable[[int, int, int], None]
"""Told the commands sent, the budget, and the number of distinct failures so far."""


@define
class Found:
    """Hold one distinct failure and how often it was met."""

    failure: RuleFailure
    occurrences: int = 1


@define
class Search:
    """
    Collect distinct failures while the engine plays schedules.

    ``lived``: freedoms that are settled; ``first``: openings that are left to play, of those of its ``share``.
    """

    candidate: Candidate
    contract: Contract | None
    budget: int
    progress: Progress | None = None
    lanes: int | None = None
    share: tuple[int, int] = WHOLE
    found: dict[Signature, Found] = field(factory=dict)
    faults: list[Fault] = field(factory=list)
    exercised: Counter[str] = field(factory=Counter)
    profile: Profile | None = None
    sent: int = 0
    toured: int = 0
    examples: int = 0
    latitude: dict[str, list[str]] = field(factory=dict)
    lived: dict[str, str] = field(factory=dict)
    interrupted: bool = False
    raced: list[RaceResult] = field(factory=list)
    tracker: Tracker | None = None
    first: Iterator[Sequence[Command]] | None = None

    def collect(self, failure: RuleFailure) -> bool:
        """Set a failure aside; the search goes on."""
        known = self.found.get(failure.signature)
        if known is None:
            self.found[failure.signature] = Found(failure)
        else:
            known.occurrences += 1
        return True

    def race(self, names: Sequence[str]) -> None:
        """Play races; they have no budget, and go on past what fails."""
        heats = compete(self.candidate, self.contract, names)
        self.profile, self.interrupted = heats.profile, heats.interrupted
        self.faults += heats.faults
        self.latitude = heats.latitude
        for played in heats.played:
            self.raced.append(played.result)
            self.exercised.update(played.exercised)
            if played.failure is not None:
                self.collect(played.failure)

    def run(self, seed: int) -> None:
        """Play until the budget is spent, the driver keeps breaking down, or somebody stops it."""
        round_seed = seed
        while self.sent < self.budget and len(self.faults) < MOST_FAULTS:
            with ExitStack() as clients:
                try:
                    trials = side_by_side(lambda: self._open(clients), self.lanes)
                    self._generate(trials, round_seed)
                except DriverFault as fault:
                    self.faults.append(fault.fault)
                except KeyboardInterrupt:
                    self.interrupted = True
                    return
            round_seed += ROUND

    def _open(self, clients: ExitStack) -> Trial:
        client = self.candidate.connect()
        clients.callback(client.close)
        trial = Trial.open(client, self.contract)
        self.profile = trial.profile
        self.tracker = trial.tracker = self.tracker or Tracker.of(trial.profile)
        if self.first is None:
            begin, every = self.share
            self.first = islice(openings(trial.profile), begin, None, every)
        return trial

    def tour(self) -> None:
        """Lead the candidate through all transitions there are; a driver that breaks down is started again."""
        tour: Tour | None = None
        while len(self.faults) < MOST_FAULTS:
            with ExitStack() as clients:
                try:
                    trial = self._open(clients)
                    clients.callback(self._count, trial)
                    tour = Tour(trial, self.collect, self._tell) if tour is None else tour.go_on(trial)
                    tour.run()
                    return
                except DriverFault as fault:
                    self.faults.append(fault.fault)
                except KeyboardInterrupt:
                    self.interrupted = True
                    return

    def _count(self, trial: Trial) -> None:
        """Take the whole of a tour's trial into account."""
        trial.close()
        self.exercised.update(trial.exercised)
        self.latitude = trial.oracle.latitude
        self.lived = dict(trial.oracle.settled)
        self.toured += trial.commands

    def _tell(self, reached: int, total: int) -> None:
        """Count a schedule of a tour, and tell how far it is."""
        self.examples += 1
        if self.progress is not None:
            self.progress(reached, total, len(self.found))

    def _generate(self, trials: Sequence[Trial], seed: int) -> None:
        engine = Engine(trials[0], self.collect, self.budget - self.sent, trials[1:])

        def each() -> None:
            self.examples += 1
            if self.progress is not None:
                self.progress(self.sent + engine.commands, self.budget, len(self.found))

        try:
            search(engine, seed, each, self.first)
        finally:
            for trial in trials:
                trial.close()
                self.exercised.update(trial.exercised)
            self.latitude = engine.trial.oracle.latitude
            self.lived = dict(engine.trial.oracle.settled)
            self.sent += engine.commands


def run(
    candidate: Candidate,
    contract: Contract | None = None,
    *,
    commands: int = 20_000,
    seed: int = 1,
    capsules: Path | None = None,
    progress: Progress | None = None,
    called: str = "",
    races: Sequence[str] = (),
    lanes: int | None = None,
    tour: bool = False,
    share: tuple[int, int] = WHOLE,
) -> RunResult:
    """
    Judge a candidate.

    Args:
        candidate: something to connect to (``ChildCandidate``, ``InProcessCandidate``).
        contract: the contract to judge by; by default the one the candidate declares.
        commands: how many commands the search sends, resets among them; 0 leaves it out.
        seed: where all choices come from.
        capsules: the folder where failures are kept; ``None`` keeps none.
        progress: told how far the search is.
        called: what a command line calls the candidate by, for the words on how to replay; by default its own.
        races: names of races that are played before the search, ``all`` being all of them.
        tour: whether the candidate is led through all transitions before the search.
        lanes: how many agents the search holds at once, ≥ 1; by default as many as pays, see ``turnproof.lanes``.
        share: which openings the search plays: from that one on every so many; searches that are joined divide them.

    Raises:
        UnknownRaceError: no race has one of these names.
        ValueError: the candidate declares another contract.
        CapsuleError: a capsule can't be written.
    """
    began = time.monotonic()
    search = Search(candidate, contract, commands, progress, lanes, share)
    if races:
        search.race(races)
    if tour and not search.interrupted:
        search.tour()
    if not search.interrupted:
        search.run(seed)
    if search.profile is None:
        return _never_started(search, contract or "window", seed, time.monotonic() - began, called)
    kept = [_keep(search, found, seed, capsules) for found in search.found.values()]
    named = {signature.digest: item.name for signature, item in zip(search.found, kept, strict=True)}
    by_rule: dict[str, list[str]] = {}
    for item in kept:
        for rule in item.rules:
            by_rule.setdefault(rule, []).append(item.name)
    return RunResult(
        agent=search.profile.implementation,
        contract=search.profile.contract,
        seed=seed,
        commands=search.sent + search.toured,
        examples=search.examples,
        seconds=time.monotonic() - began,
        rules=tuple(rule_results(search.profile, search.exercised, by_rule)),
        capsules=tuple(kept),
        latitude=search.latitude,
        driver_faults=tuple(search.faults),
        races=tuple(evolve(race, capsule=named.get(race.signature)) for race in search.raced),
        interrupted=search.interrupted,
        candidate=called or called_by(candidate),
        capabilities=tuple(sorted(name for name, has in search.profile.capabilities.items() if has)),
        environment=environment(),
        coverage=_coverage(search),
    )


def _coverage(search: Search) -> Mapping[str, Coverage]:
    """Measure what the search and the tour have reached; races alone aren't measured."""
    if search.tracker is None or search.profile is None:
        return {"transitions": Coverage()}
    return measured(search.tracker.reached, search.profile, search.lived)


def _never_started(search: Search, contract: Contract, seed: int, seconds: float, called: str) -> RunResult:
    """Say that the driver broke down before it told who it is."""
    return RunResult(
        Implementation("unknown", ""),
        contract,
        seed,
        search.sent,
        search.examples,
        seconds,
        (),
        driver_faults=tuple(search.faults),
        interrupted=search.interrupted,
        candidate=called or called_by(search.candidate),
        environment=environment(),
    )


def _keep(search: Search, found: Found, seed: int, folder: Path | None) -> CapsuleResult:
    """Keep one failure, and note how the driver broke down meanwhile."""
    assert search.profile is not None
    kept, fault = keep(search.candidate, search.profile, found.failure, seed, folder)
    if fault is not None:
        search.faults.append(fault)
    return evolve(kept, occurrences=found.occurrences)


def rule_results(profile: Profile, exercised: Counter[str], broken: dict[str, list[str]]) -> list[RuleResult]:
    """Give every rule of the contract, and of ``core``, its verdict."""
    out: list[RuleResult] = []
    for rule in (*catalogue.rules(profile.contract), *catalogue.rules("core")):
        count = exercised.get(rule.id, 0)
        missing = rule.missing({name for name in profile.capabilities if profile.has(name)})
        if rule.id in broken:
            out.append(RuleResult(rule.id, "failed", max(count, 1), tuple(broken[rule.id])))
        elif missing:
            out.append(RuleResult(rule.id, "not-applicable", count, reason=f"needs {', '.join(missing)}"))
        elif rule.untestable:
            out.append(RuleResult(rule.id, "unobservable", count, reason=rule.untestable))
        elif count:
            out.append(RuleResult(rule.id, "passed", count))
        else:
            out.append(RuleResult(rule.id, "not-exercised"))
    return out
