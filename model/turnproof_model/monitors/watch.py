"""
Watch a candidate: every rule of its contract, and those of ``core``, over one stream.

Fed request by request, event by event, or with the durable events of a log alone; what the stream doesn't record is
not applicable, never passed.
"""

from __future__ import annotations

from collections.abc import Mapping

from turnproof_model import vocabulary as v
from turnproof_model.events import Event
from turnproof_model.monitors import window
from turnproof_model.monitors.base import Judge, JudgeMaker, Report, Sight, sight
from turnproof_model.observation import Observation, Profile

JUDGES: Mapping[v.Contract, tuple[JudgeMaker, ...]] = {"window": (window.judge,), "claim": ()}
"""What judges a candidate of each contract, in this order."""


class Watch:
    """Run every monitor that a candidate's stream can be judged by."""

    def __init__(self, profile: Profile, sees: frozenset[Sight] | None = None) -> None:
        """
        Choose the monitors.

        Args:
            profile: what the candidate declares; its contract decides which rules apply.
            sees: what the stream records; by default what a driver with this profile shows.
        """
        self.report = Report()
        self.sees = sight(profile) if sees is None else sees
        self.judges: list[Judge] = [make(profile, self.sees, self.report) for make in JUDGES[profile.contract]]

    def feed(self, request: v.Request, observation: Observation) -> None:
        """Take one request with its answer."""
        self.begin(request, observation)
        for event in observation.events:
            self.event(event)
        self.observe(observation)

    def begin(self, request: v.Request, observation: Observation | None = None) -> None:
        """Take note of a request before its events; the observation tells only what was refused."""
        for judge in self.judges:
            judge.begin(request, observation)

    def event(self, event: Event) -> None:
        """Take one event; a log of durable events needs no requests around them."""
        for judge in self.judges:
            judge.event(event)

    def observe(self, observation: Observation) -> None:
        """Take the state that ends a request."""
        for judge in self.judges:
            judge.observe(observation)

    def finish(self) -> Report:
        """End the schedule and hand the report over."""
        for judge in self.judges:
            judge.finish()
        return self.report
