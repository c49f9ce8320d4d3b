"""
A goal that outlives turns, kept in the conversation itself.

A change of the goal is supplementary input like any other: a message whose typed source says *goal, round 0* and
carries the whole change, and whose text tells the same to the model. A continuation is a prompt whose source says
*goal, round n*. Folding the committed messages gives the goal, with no state beside the log. Where text and source
disagree nobody can know which one the model acted on, so the fold refuses instead of guessing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from turnproof_reference.errors import Refused
from turnproof_reference.events import DurableEvent
from turnproof_reference.messages import Message, freeze, thaw

GOAL: Final = "goal"


@dataclass(frozen=True, slots=True)
class Goal:
    """
    Tell the goal at one moment.

    Args:
        state: all changes merged, later ones winning; None before the first.
        rounds: the highest admitted continuation, 0 before the first.
    """

    state: Mapping[str, Any] | None = None
    rounds: int = 0

    def observed(self) -> dict[str, Any]:
        """Answer the plain JSON form."""
        return {"state": thaw(self.state), "rounds": self.rounds}


def goal_change(message_id: str, change: Mapping[str, Any]) -> Message:
    """
    Make the message that changes the goal; deliver it with `inject`.

    Args:
        message_id: identity of the message.
        change: JSON object, merged into the goal.

    Rules: W-GOAL-1
    """
    return Message(message_id, change_text(change), {"kind": GOAL, "round": 0, "change": change})


def goal_continuation(message_id: str, text: str, round_number: int) -> Message:
    """
    Make the prompt of one continuation; deliver it with `followup`.

    Args:
        message_id: identity of the message.
        text: what the model is asked.
        round_number: ≥ 1.

    Raises:
        ValueError: when the round is below 1, which is what a change of the goal has.

    Rules: W-GOAL-1
    """
    if round_number < 1:
        raise ValueError(f"a goal continuation must have a round of at least 1 (got {round_number}); see goal_change")
    return Message(message_id, text, {"kind": GOAL, "round": round_number})


def change_text(change: Mapping[str, Any]) -> str:
    """Answer the one text that tells a change: `goal `, then its JSON with sorted keys and no spaces."""
    return "goal " + json.dumps(thaw(freeze(change)), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fold_goal(events: Iterable[DurableEvent]) -> Goal:
    """
    Replay the goal from the log.

    Raises:
        Refused: when a goal message contradicts itself.

    Rules: W-GOAL-1
    """
    goal = Goal()
    for event in events:
        entry = event.history_entry()
        if isinstance(entry, Message) and entry.kind == GOAL:
            goal = _follow(goal, entry)
    return goal


def _follow(goal: Goal, message: Message) -> Goal:
    """Take one goal message into account."""
    source = message.source
    round_number = source.get("round")
    if not isinstance(round_number, int) or isinstance(round_number, bool) or round_number < 0:
        raise _contradiction(message, f"its round must be a whole number of at least 0 (got {round_number!r})")
    change = source.get("change")
    if round_number > 0:
        if "change" in source:
            raise _contradiction(message, f"round {round_number} is a continuation and can't carry a change")
        return Goal(goal.state, max(goal.rounds, round_number))
    if not isinstance(change, Mapping):
        raise _contradiction(message, f"round 0 must carry its whole change as an object (got {thaw(change)!r})")
    if message.text != change_text(change):
        raise _contradiction(message, f"its text must be {change_text(change)!r} (got {message.text!r})")
    return Goal(freeze({**(goal.state or {}), **change}), goal.rounds)


def _contradiction(message: Message, because: str) -> Refused:
    return Refused("goal", f"message {message.id!r} contradicts itself: {because}")
