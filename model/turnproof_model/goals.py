"""
Fold the goal state from the committed messages of a log (W-GOAL-1).

A round-zero message carries a whole change of the state in its source and spells the same change in its text; a
positive round is an admitted continuation. Where text and source disagree there is no guess: the fold fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from turnproof_model.vocabulary import Message

GOAL = "goal"


class GoalDisagreementError(ValueError):
    """Say that a goal message's text and typed source disagree."""


def goal_text(change: Mapping[str, Any]) -> str:
    """Spell a change as the text of its message."""
    return f"goal {json.dumps(change, sort_keys=True, separators=(',', ':'))}"


def fold_goal(messages: Iterable[Message]) -> dict[str, object]:
    """
    Merge the changes and count the rounds, in log order.

    Raises:
        GoalDisagreementError: a round is missing or no whole number ≥ 0, a text isn't its change, or a positive
            round carries a change.

    Rules: W-GOAL-1
    """
    state: dict[str, Any] | None = None
    rounds = 0
    for message in messages:
        if message.source.kind != GOAL:
            continue
        number = message.source.details.get("round")
        change = message.source.details.get("change")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise GoalDisagreementError(f"goal message {message.id!r}: round must be a whole number ≥ 0")
        if number > 0:
            if change is not None:
                raise GoalDisagreementError(f"goal message {message.id!r}: round {number} carries a change")
            rounds = max(rounds, number)
            continue
        if not isinstance(change, Mapping) or message.text != goal_text(change):
            raise GoalDisagreementError(f"goal message {message.id!r}: its text is not its change")
        state = {**(state or {}), **change}
    return {"state": state, "rounds": rounds}
