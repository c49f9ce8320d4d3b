"""What a log of durable events shows by itself: steps, claims, entered batches, and what died with a resume."""

from __future__ import annotations

from typing import Any

import pytest
from model.monitors.claim_streams import broken, stream

from turnproof_model import events as e
from turnproof_model.monitors.watch import Watch
from turnproof_model.observation import Implementation, Profile
from turnproof_model.vocabulary import CAPABILITIES


def by_log(contract: str, *events: e.Event) -> set[str]:
    """Name the rules that a log breaks."""
    profile = Profile(Implementation("log", ""), contract, capabilities=dict.fromkeys(CAPABILITIES, True))  # type: ignore[arg-type]
    watch = Watch(profile, frozenset({"log"}))
    for event in events:
        watch.event(event)
    return set(watch.finish().broken())


CALLED = (e.StepStart(1, 1), e.AssistantMessage(1, 1, ("c",)))
UNSTARTED = (e.ToolResult("c", is_error=True, code="ABORTED_BEFORE_DISPATCH"), e.StepEnd(1, 1))


@pytest.mark.parametrize(("contract", "rule"), [("window", "W-STEP-3"), ("claim", "C-STEP-2")])
def test_an_error_without_its_call_needs_an_interrupted_turn(contract: str, rule: str) -> None:
    """W-LOG-3, C-LOG-3: a log doesn't show that a crash was repaired, but that the turn was interrupted."""
    begun = (e.TurnStart(1), *CALLED, *UNSTARTED)

    assert rule not in by_log(contract, *begun, e.TurnEnd(1, "interrupted"))
    assert rule in by_log(contract, *begun, e.TurnEnd(1, "completed"))


@pytest.mark.parametrize(("contract", "rule"), [("window", "W-STEP-1"), ("claim", "C-STEP-1")])
def test_a_second_answer_in_a_step_is_caught(contract: str, rule: str) -> None:
    """W-STEP-1, C-STEP-1: a step has one request, and so one answer."""
    answer = e.AssistantMessage(1, 1)
    begun = (e.TurnStart(1), e.StepStart(1, 1), answer)

    assert by_log(contract, *begun, e.StepEnd(1, 1)) == set()
    assert by_log(contract, *begun, answer) == {rule}


def test_a_turn_that_ends_inside_a_step_is_caught() -> None:
    """C-STEP-1, K-ENCLOSE: steps are balanced."""
    begun = (e.TurnStart(1), e.StepStart(1, 1), e.AssistantMessage(1, 1))

    assert by_log("claim", *begun, e.TurnEnd(1, "completed")) == {"C-STEP-1", "K-ENCLOSE"}


@pytest.mark.parametrize("target", ["next-turn", "next-step"])
def test_an_id_that_waits_twice_is_caught(target: Any) -> None:
    """C-SEND-3: an id that is pending in either list is refused."""
    first, claim = e.Spliced("next-turn", 0, 0, ("a",)), e.Spliced("next-turn", 0, 1)
    again = e.Spliced(target, 0, 0, ("a",))

    assert by_log("claim", first, again) == {"C-SEND-3"}
    assert by_log("claim", first, e.TurnStart(1), claim, again) == set()


def test_an_edit_may_put_an_id_in_its_own_place() -> None:
    """C-SEND-3, C-EDIT-1: what the same splice takes out isn't pending any more."""
    assert (
        by_log("claim", e.Spliced("next-turn", 0, 0, ("a",)), e.Spliced("next-turn", 0, 1, ("a",), "canceled")) == set()
    )


def test_a_claim_outside_a_turn_or_inside_a_step_is_caught() -> None:
    """C-CLAIM-2: a claim belongs to a boundary of its turn."""
    entry, claim = e.Spliced("next-turn", 0, 0, ("a",)), e.Spliced("next-turn", 0, 1)

    assert by_log("claim", entry, e.TurnStart(1), claim) == set()
    assert by_log("claim", entry, claim) == {"C-CLAIM-2"}
    assert "C-CLAIM-2" in by_log("claim", entry, e.TurnStart(1), e.StepStart(1, 1), claim)


def test_a_message_behind_the_answer_of_its_step_is_caught() -> None:
    """C-PRE-1: the batch comes before the request."""
    begun = (e.TurnStart(1), e.StepStart(1, 1), e.UserMessage("a"), e.AssistantMessage(1, 1))

    assert by_log("claim", *begun, e.StepEnd(1, 1)) == set()
    assert by_log("claim", *begun, e.UserMessage("b")) == {"C-PRE-1"}


def test_a_message_that_a_compaction_left_stands_between_turns() -> None:
    """C-TURN-2: it takes the place of turns."""
    assert by_log("claim", e.UserMessage("compaction-1", "compaction")) == set()
    assert by_log("claim", e.UserMessage("a", "user")) == {"C-TURN-2"}


def test_what_was_armed_dies_with_a_clean_resume() -> None:
    """C-CAN-1: an arm that would cancel inside the end of the old agent is not taken for a cancel."""
    assert broken(stream("followup a; on gate/aborted { cancel }; resume clean")) == set()
