"""
Steer a search towards what it hasn't reached: name the moves of a situation that were never seen there, and make one.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from attrs import define, field

from turnproof.coverage.denominator import Transition
from turnproof.coverage.moves import plain, variants
from turnproof.coverage.situations import Situation, place, situation
from turnproof.coverage.tracker import Tracker
from turnproof.making import Maker
from turnproof_model.vocabulary import Command


@define
class Steering:
    """Know what a tracker hasn't seen reached, by situation and by place; what is reached stays so."""

    tracker: Tracker
    _moves: dict[Situation, dict[str, list[Transition]]] = field(factory=dict, init=False)
    _variants: dict[str, dict[str, Transition]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        for transition in self.tracker.known:
            if transition[0] == "moves":
                _, at, label, _ = transition
                self._moves.setdefault(at, {}).setdefault(label, []).append(transition)
            elif transition[0] == "variants":
                _, where, label = transition
                self._variants.setdefault(where, {})[label] = transition

    def wanted(self, machine: Any) -> AbstractSet[str]:
        """Name the moves and variants that were never seen in the situation of a machine."""
        at, reached = situation(machine), self.tracker.reached
        moves, variants = self._moves.get(at, {}), self._variants.get(place(at), {})
        for label in [label for label, ways in moves.items() if not reached.isdisjoint(ways)]:
            del moves[label]
        for label in [label for label, transition in variants.items() if transition in reached]:
            del variants[label]
        return moves.keys() | variants.keys()

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
