"""
Read recorded driver sessions: JSON Lines of requests with their observations.

The profile comes from an ``initialize`` line. Older recordings have none, and may not show every event of the driver:
what they don't show is told from their first exchanges, which are held back for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from attrs import define, field

from turnproof.check.formats import json_lines
from turnproof.check.lines import Lines, UnreadableError
from turnproof.recorded import guessed_profile, recorded_profile, unseen_in
from turnproof_model.monitors.base import Sight, sight
from turnproof_model.observation import Observation, Profile
from turnproof_model.vocabulary import Command
from turnproof_model.wire import WireError, observation_from_wire, request_from_wire

HELD_BACK = 200
"""Exchanges that are read ahead to see what a recording shows."""


class Exchange(NamedTuple):
    """Be one line: its number from 1, the command, and what was observed."""

    line: int
    command: Command
    observation: Observation


@define(eq=False)
class SessionLog:
    """
    Be the exchanges of a session, and how they are to be read.

    Attributes:
        profile: what the candidate declared; guessed where the recording doesn't tell.
        unseen: what the recording doesn't show, as the oracle calls it.
    """

    profile: Profile = field(init=False)
    unseen: frozenset[str] = field(init=False)
    _rest: Iterator[Exchange] = field(init=False)
    _held: list[Exchange] = field(factory=list)
    _declared: Profile | None = None
    _broken: UnreadableError | None = None

    @classmethod
    def open(cls, lines: Lines, head: Mapping[str, Any]) -> SessionLog:
        """
        Read the first exchanges.

        Raises:
            UnreadableError: there is no exchange that could be read.
        """
        log = cls()
        log._rest = log._exchanges(lines, head)
        try:
            for exchange in log._rest:
                log._held.append(exchange)
                if len(log._held) >= HELD_BACK:
                    break
        except UnreadableError as error:
            log._broken = error
        if not log._held:
            raise log._broken or UnreadableError("a driver session has at least one exchange (got none)", lines.number)
        seen = [exchange.observation for exchange in log._held]
        log.profile = log._declared or guessed_profile(seen)
        log.unseen = unseen_in(seen)
        return log

    @property
    def sees(self) -> frozenset[Sight]:
        """What the monitors may rely on."""
        hidden = frozenset({"gates"}) if "gate/open" in self.unseen else frozenset()
        return sight(self.profile) - hidden

    def __iter__(self) -> Iterator[Exchange]:
        """
        Go through the exchanges.

        Raises:
            UnreadableError: a line is no exchange.
        """
        yield from self._held
        self._held.clear()
        if self._broken is not None:
            raise self._broken
        yield from self._rest

    def _exchanges(self, lines: Lines, head: Mapping[str, Any]) -> Iterator[Exchange]:
        for number, value in json_lines(lines, head):
            request, answer = value.get("request"), value.get("observation")
            if not isinstance(request, dict) or not isinstance(answer, dict):
                raise UnreadableError("a line holds a request and its observation", number)
            try:
                if request.get("method") == "initialize":
                    self._declared = recorded_profile(answer)
                    continue
                command: Any = request_from_wire(request)
                yield Exchange(number, command, observation_from_wire(answer))
            except WireError as error:
                raise UnreadableError(f"not an exchange of the protocol: {error}", number) from error
