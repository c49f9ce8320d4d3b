"""
Hold several trials of one candidate at once, each on a *lane* of its own.

A driver that declares ``lanes`` holds an agent for each of them in one process: while one answer is judged, the driver
works on another lane's request. For any other driver each lane is a process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from attrs import frozen

from turnproof.client import Client
from turnproof.inprocess import InProcessClient
from turnproof.trial import Trial
from turnproof_model.observation import Observation
from turnproof_model.vocabulary import LANES, Command

SHARED = 10
"""Agents in one driver: one request takes a hundred times as long as another, so the driver needs some in store."""

APART = 2
"""Agents in drivers of their own; each costs a process, and the time until that is up to speed."""


@frozen
class Lane:
    """Be one of the lanes of a conversation."""

    client: Client
    number: int

    def ask(self, request: Command) -> Observation:
        """Perform one request; see ``Client``."""
        return self.client.ask(request, self.number)

    def post(self, request: Command) -> None:
        """Send one request without waiting for its answer; see ``Client``."""
        self.client.post(request, self.number)

    def fetch(self) -> Observation:
        """Wait for the answer to the request that was posted; see ``Client``."""
        return self.client.fetch(self.number)


def side_by_side(another: Callable[[], Trial], lanes: int | None = None) -> list[Trial]:
    """
    Open the lanes of a candidate.

    Args:
        another: opens a trial on a driver of its own.
        lanes: how many there shall be, ≥ 1; by default as many as pays, which depends on the driver alone.

    Returns:
        The trials of the lanes.

    Raises:
        DriverFault: a driver broke down.
    """
    first = another()
    others = range(1, usual(first) if lanes is None else lanes)
    if not first.profile.has(LANES):
        return [first, *(another() for _ in others)]
    client = cast("Client", first.client)  # what a trial is opened on
    return [first, *(Trial(Lane(client, number), first.contract, first.profile) for number in others)]


def usual(first: Trial) -> int:
    """Tell how many lanes pay: an agent in this process costs us the time in which another is waited for."""
    if first.profile.has(LANES):
        return SHARED
    return 1 if isinstance(first.client, InProcessClient) else APART
