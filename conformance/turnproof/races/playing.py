"""
Judge a candidate on one race: drive it to the moment, and see that it came there.

A race is played on a trial of its own, so that its verdict doesn't depend on which races were played before it: what
fails in a whole run fails alone too.
"""

from __future__ import annotations

from collections import Counter

from attrs import define, field

from turnproof.races.catalogue import Race
from turnproof.results import RaceResult
from turnproof.score import event_text
from turnproof.trial import Asks, RuleFailure, Trial
from turnproof_model.observation import Observation, Profile
from turnproof_model.surroundings import MisuseError
from turnproof_model.vocabulary import Command, Reset


@define
class Played:
    """
    Hold what one race showed.

    Attributes:
        result: the verdict, without a capsule yet.
        failure: what broke, where the verdict is ``failed``.
        exercised: how often the premise of each rule occurred.
        latitude: the values of each freedom that explain what was seen.
        commands: how many were sent.
    """

    result: RaceResult
    failure: RuleFailure | None = None
    exercised: Counter[str] = field(factory=Counter)
    latitude: dict[str, list[str]] = field(factory=dict)
    commands: int = 0


@define
class _Listener:
    """Be a client that notes what another one is told, in the words of a score."""

    client: Asks
    heard: list[str] = field(factory=list)

    def initialize(self) -> Profile:
        """Open the conversation."""
        return self.client.initialize()

    def ask(self, request: Command) -> Observation:
        """Perform one request and note its events."""
        observation = self.client.ask(request)
        self.heard.extend(map(event_text, observation.events))
        return observation


def play(client: Asks, profile: Profile, race: Race) -> Played:
    """
    Play one race.

    Args:
        client: of a conversation that is open.
        profile: what the candidate declares; of the race's contract.
        race: to be played.

    Raises:
        DriverFault: the candidate's driver broke down.
    """
    lacking = tuple(name for name in race.needs if not profile.has(name))
    if lacking:
        return Played(RaceResult(race.name, "not-applicable", reason=f"needs {', '.join(lacking)}"))
    listener = _Listener(client)
    trial = Trial(listener, profile.contract, profile)
    failure, stopped = _given(trial, race)
    failure = failure or trial.end()
    trial.close()
    if failure is not None:
        result = RaceResult(race.name, "failed", failure.rules, signature=failure.signature.digest)
    elif reason := stopped or _missed(race, listener.heard, trial.exercised):
        result = RaceResult(race.name, "not-exercised", reason=reason)
    else:
        result = RaceResult(race.name, "passed")
    return Played(result, failure, trial.exercised, trial.oracle.latitude, trial.commands)


def _given(trial: Trial, race: Race) -> tuple[RuleFailure | None, str | None]:
    """Give the commands up to the first failure; say where they could not go on."""
    for command in race.schedule:
        try:
            failure = trial.begin(command) if isinstance(command, Reset) else trial.do(command)
        except MisuseError as error:
            return None, f"the agent took another way: {error}"
        if failure is not None:
            return failure, None
    return None, None


def _missed(race: Race, heard: list[str], exercised: Counter[str]) -> str | None:
    """Say what the race aims at and did not meet: an event, or a rule that never applied."""
    rest = iter(heard)
    for wanted in race.reaches:
        if wanted not in rest:  # an iterator is searched onwards from where the last search ended
            return f"never reached: {wanted}"
    silent = [rule for rule in race.rules if not exercised[rule]]
    return f"never applied: {', '.join(silent)}" if silent else None
