"""
Steer a search towards what it hasn't reached: name the moves of a situation that were never seen there, and make one.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from attrs import define, field

from turnproof.coverage.moves import plain, variants
from turnproof.coverage.situations import Situation, place, situation
from turnproof.coverage.tracker import Tracker
from turnproof.making import Maker
from turnproof_model.vocabulary import Command


@define
class Steering:
    """Know what a tracker hasn't seen reached, by situation and by place; what is reached stays so."""

    tracker: Tracker
    _moves: dict[Situation, dict[str, None]] = field(factory=dict, init=False)
    _variants: dict[str, dict[str, None]] = field(factory=dict, init=False)
    _heard: int = field(default=0, init=False)  # news of the tracker that were taken note of

    def __attrs_post_init__(self) -> None:
        for sort, at, label, *_ in self.tracker.known:
            if sort in ("moves", "variants"):
                self._labels(sort).setdefault(at, {})[label] = None

    def _labels(self, sort: str) -> dict[Any, dict[str, None]]:
        return self._moves if sort == "moves" else self._variants

    def _listen(self) -> None:
        """Take what was reached since the last time out of what is wanted: a move has then been seen in its way."""
        news = self.tracker.news
        for sort, at, label, *_ in news[self._heard :]:
            if sort in ("moves", "variants"):
                self._labels(sort)[at].pop(label, None)
        self._heard = len(news)

    def wanted(self, machine: Any) -> AbstractSet[str]:
        """Name the moves and variants that were never seen in the situation of a machine."""
        self._listen()
        at = situation(machine)
        return self._moves.get(at, {}).keys() | self._variants.get(place(at), {}).keys()

    def command(self, make: Maker) -> Command | None:
        """
        Make a command that leads to something new.

        Args:
            make: makes messages, and picks one command of several.

        Returns:
            ``None`` where there is nothing new to do.
        """
        machine = make.machine()
        wanted = self.wanted(machine)
        if not wanted:
            return None
        offered = [one for label, one in (*plain(machine), *variants(machine)) if label in wanted]
        return make.pick(offered)(make) if offered else None
