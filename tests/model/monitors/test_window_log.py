"""What the monitors of the log catch, each beside a lawful stream."""

from __future__ import annotations

import pytest
from model.monitors.streams import assert_caught, broken, stream

from turnproof_model import events as e
from turnproof_model import vocabulary as v

IN_TURN = "followup a; allow; "


def goal(name: str, round_number: int, change: dict[str, object] | None = None, text: str = "") -> v.Message:
    """Make a goal message."""
    details: dict[str, object] = {"round": round_number} | ({} if change is None else {"change": change})
    return v.Message(name, text or name, v.Source("goal", details))


def test_a_message_that_changed_on_its_way_is_caught():
    """W-LOG-1: id, content and source as accepted."""
    good = stream("inject i")

    assert_caught("W-LOG-1", good, good.change("user i", "user i as other"), good.change("user i", "user i from user"))


def test_an_own_type_for_context_is_caught():
    """W-LOG-2: supplementary input is a user/message."""
    good = stream("inject i; followup a; allow")
    shown = good.change("request i a", "request i=i a")

    assert_caught("W-LOG-2", shown, shown.put("plugin context/message", before="step 1.1"))


def test_supplementary_input_that_is_wrapped_is_caught():
    """W-LOG-2: nothing is put around it."""
    good = stream("inject i; followup a; allow")
    bad = good.change("request i a", "request i=<context>i</context> a")

    assert_caught("W-LOG-2", good.change("request i a", "request i=i a"), bad, also="W-REQ-1")


@pytest.mark.parametrize("mode", ["crash", "clean", "fork", "compact"])
def test_history_that_a_resume_loses_is_caught(mode):
    """W-LOG-3: what lies between turns stays committed."""
    good = stream(f"inject i; {IN_TURN}text; stop; inject j; resume {mode}; followup b; allow")
    shown = "i compaction-1 j b" if mode == "compact" else "i a A j b"
    bad = good.change(f"request {shown}", f"request {shown.removeprefix('i ')}")

    assert_caught("W-LOG-3", good, bad, also="W-REQ-1")


def test_a_cut_off_turn_closed_for_another_reason_is_caught():
    """W-LOG-3: it is closed as interrupted."""
    silent = stream(IN_TURN + "resume crash; followup b; allow")
    good = silent.show(at=3, events=(e.StepEnd(1, 1), e.TurnEnd(1, "interrupted")))
    bad = silent.show(at=3, events=(e.StepEnd(1, 1), e.TurnEnd(1, "aborted")))

    assert_caught("W-LOG-3", good, bad, also="W-CAN-5 W-TURN-5")
    assert_caught("W-LOG-3", silent)


def test_a_resumed_agent_that_counts_anew_is_caught():
    """W-LOG-4: turn numbers go on."""
    good = stream(IN_TURN + "text; stop; resume clean; followup b; allow")
    bad = good.change("turn 2", "turn 1").change("step 2.1", "step 1.1")

    assert_caught("W-LOG-4", good, bad, also="W-TURN-1")


def test_a_goal_that_isnt_folded_from_the_log_is_caught():
    """W-GOAL-1: changes of round zero are merged, the highest round counts."""
    change = {"objective": "ship"}
    good = stream("inspect")
    for message in (goal("g", 0, change, 'goal {"objective":"ship"}'), goal("h", 2)):
        good = good.then(v.inject(message), f"user {message.id}")
    state = {"state": change, "rounds": 2}

    assert_caught("W-GOAL-1", good.then(v.Goal(), goal=state), good.then(v.Goal(), goal={"state": None, "rounds": 0}))
    assert_caught("W-GOAL-1", good.then(v.Goal(), goal=state), good.then(v.Goal(), refused="no"))


@pytest.mark.parametrize(
    "message",
    [
        goal("g", 0, {"objective": "ship"}, "goal {}"),
        goal("g", 0),
        goal("g", 1, {"objective": "ship"}),
        v.Message("g", "g", v.Source("goal")),
        goal("g", -1),
    ],
)
def test_a_contradiction_that_is_read_as_a_goal_is_caught(message):
    """W-GOAL-1: it is a loud error, never a guess."""
    told = stream("inspect").then(v.inject(message), "user g")

    assert_caught("W-GOAL-1", told.then(v.Goal(), refused="contradiction"), told.then(v.Goal(), goal={"rounds": 0}))


def test_a_snapshot_that_travels_alone_is_caught():
    """W-XREF-1: outside the window it goes with its own prompt's admission."""
    good = stream("reference a b; allow")
    early = good.swap("user a", "user b")
    late = stream("reference a b; allow; text; stop; followup d; allow").move("user b", after="turn 2")

    for told in (early, late):
        assert "W-XREF-1" in broken(told)
    assert_caught("W-XREF-1", good)


def test_a_prompt_of_the_id_of_a_snapshot_is_not_taken_for_it():
    """W-XREF-1: only ids are told apart, and the prompt goes first."""
    told = stream("on agent/inbox/enqueue { reference a b }; followup b; allow")

    assert broken(told) == set()


def test_a_reference_inside_the_window_that_is_queued_is_caught():
    """W-XREF-1: inside the window its prompt is steering."""
    good = stream(IN_TURN + "reference r s")
    bad = good.change("+r steering", "+r queued").show(queue="r", staged="s")

    assert_caught("W-XREF-1", good, bad)
