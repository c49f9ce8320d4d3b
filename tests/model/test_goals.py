"""The goal state is folded from what was committed, and disagreement is an error."""

from __future__ import annotations

import pytest

from turnproof_model import vocabulary as v
from turnproof_model.contracts import rule_book
from turnproof_model.goals import GoalDisagreementError, fold_goal, goal_text
from turnproof_model.machine import Machine

SHIP = {"objective": "ship"}


def change(message_id: str, text: str | None = None, **source: object) -> v.Message:
    details = {"round": 0, "change": SHIP} | source
    return v.Message(message_id, goal_text(SHIP) if text is None else text, v.Source("goal", details))


def machine() -> Machine:
    made = Machine(rule_book("window"))
    made.ask(v.Reset())
    return made


def test_changes_merge_and_rounds_count() -> None:
    """
    W-GOAL-1: a round-zero message carries a whole change, a positive round is a continuation.
    """
    later = v.Message("b", goal_text({"budget": 2}), v.Source("goal", {"round": 0, "change": {"budget": 2}}))
    third = v.Message("d", "go on", v.Source("goal", {"round": 3}))

    assert fold_goal([change("a"), v.Message("p", "hello"), later, third]) == {
        "state": {"objective": "ship", "budget": 2},
        "rounds": 3,
    }
    assert fold_goal([]) == {"state": None, "rounds": 0}


@pytest.mark.parametrize(
    "message",
    [
        change("a", text="goal {}"),
        change("a", round=1),
        change("a", round=-1),
        change("a", round=True),
        change("a", round=None),
        change("a", change="ship"),
    ],
)
def test_text_and_source_that_disagree_are_an_error(message: v.Message) -> None:
    """
    W-GOAL-1: disagreement is loud, never a guess.
    """
    with pytest.raises(GoalDisagreementError, match="goal message 'a'"):
        fold_goal([message])


def test_an_injected_change_is_folded_and_a_replaced_one_refused() -> None:
    """
    W-GOAL-1, W-ADM-4: what counts is the content that was committed.
    """
    agent = machine()
    agent.ask(v.inject(change("a")))

    assert agent.ask(v.Goal()).goal == {"state": SHIP, "rounds": 0}

    agent.ask(v.followup(change("b")))
    agent.ask(v.Release(v.Allow("changed"), kind="prompt-submit"))

    assert "goal message 'b'" in (agent.ask(v.Goal()).refused or "")
