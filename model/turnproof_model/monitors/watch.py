"""
Watch a candidate: every rule of its contract, and those of ``core``, over one stream.

Fed request by request, event by event, or with the durable events of a log alone; what the stream doesn't record is
not applicable, never passed.
"""

from __future__ import annotations

from turnproof_model import vocabulary as v
from turnproof_model.events import Event
from turnproof_model.monitors import core_session
from turnproof_model.monitors.base import Report, Sight, sight
from turnproof_model.observation import Observation, Profile


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
        self.judge = core_session.judge(profile, self.sees, self.report)

    def feed(self, request: v.Request, observation: Observation) -> None:
        """Take one request with its answer."""
        self.begin(request, observation)
        for event in observation.events:
            self.judge.event(event)
        self.judge.observe(observation)

    def begin(self, request: v.Request, observation: Observation | None = None) -> None:
        """Take note of a request before its events; the observation tells only what was refused."""
        self.judge.begin(request, observation)

    def event(self, event: Event) -> None:
        """Take one event; a log of durable events needs no requests around them."""
        self.judge.event(event)

    def observe(self, observation: Observation) -> None:
        """Take the state that ends a request."""
        self.judge.observe(observation)

    def renew(self) -> None:
        """Get ready for another stream of the same candidate, with a new report; monitors are dear to make."""
        self.report = Report()
        self.judge.renew(self.report)

    def finish(self) -> Report:
        """End the schedule and hand the report over."""
        self.judge.finish()
        return self.report
