"""Going on with a session, forks, references, goals, checkpoints."""

from __future__ import annotations

import pytest


def test_pending_input_is_still_pending_after_a_crash(stage):
    """
    C-LOG-3: rebuilt from the splices, and not started.
    """
    it = stage()
    it.play("followup a; followup b; steer s; prepend next-turn z; replace b c; resume")

    assert (it.seen["status"], it.waiting) == ("idle", (["z", "c"], ["s"]))
    it.play("followup d")
    assert it.tells("claimed")[-2:] == ["claimed s", "claimed z"]


def test_claimed_input_does_not_come_back_after_a_crash(stage, all_gates):
    """
    C-LOG-3, C-CLAIM-3: the turn that claimed it is closed.
    """
    it = stage(all_gates)

    it.play("inject i; followup a; resume")

    assert it.waiting == ([], [])


@pytest.mark.parametrize("mode", ["crash", "fork"])
def test_an_open_turn_is_closed_and_its_calls_are_answered(stage, mode):
    """
    C-LOG-3, C-LOG-4: an error result for each call, step and turn closed, numbers and history go on.
    """
    it = stage()
    it.play(f"followup a; tools c1=par c2=exc; resume {mode}")
    events = [(event.type, getattr(event, "code", None)) for event in it.driver._agent.log.events][-5:]

    assert events == [
        ("tool/result", "ABORTED"),
        ("tool/call", None),
        ("tool/result", "ABORTED_BEFORE_DISPATCH"),
        ("step/end", None),
        ("turn/end", None),
    ]
    it.play("followup b")
    assert it.tells("turn", "request")[-2:] == ["turn 2", "request a answer c1 c2 b"]


def test_a_clean_resume_disposes_first(stage):
    """
    C-DIS-1, C-LOG-3: what the disposal tells belongs to the observation, and nothing is pending after it.
    """
    it = stage()
    it.play("followup a; followup b")

    told = it.play("resume clean")

    assert told[:5] == ["next-turn[0:1]=()!", "discarded b", "aborted model", "close 1.1", "end 1 aborted by disposed"]
    assert (it.seen["status"], it.waiting) == ("idle", ([], []))


def test_a_resumed_agent_takes_ids_that_are_pending_for_pending(stage):
    """
    C-LOG-3, C-SEND-3: the rebuilt lists refuse like the old ones.
    """
    it = stage()
    it.play("park a; resume")

    assert it.play("followup a") == []
    assert "refused" in it.seen


def test_the_log_keeps_each_message_as_it_was_accepted(stage):
    """
    C-LOG-1, C-LOG-2: id, content and source, in the splice and in the conversation; no second type for context.
    """
    it = stage()
    it.play("inject i:plugin; followup a")

    values = [event.message for event in it.driver._agent.log.events if event.type == "user/message"]
    inserted = [
        each for event in it.driver._agent.log.events if event.type.endswith("spliced") for each in event.inserted
    ]
    assert values == inserted
    assert [(value.text, value.kind) for value in values] == [("text of i", "plugin"), ("text of a", "user")]


def test_a_snapshot_enters_beside_its_idle_prompt(stage, all_gates):
    """
    C-XREF-1: behind the entered batch, if that still contains the prompt.
    """
    it = stage(all_gates)

    it.play("inject i; reference a shot")
    assert it.seen["gates"][0]["claimed"] == ["i", "a"]

    it.play("enter")
    assert it.tells("user") == ["user i", "user a", "user shot"]


@pytest.mark.parametrize("decision", ["enter +b", "reject", "throw pre-step"])
def test_a_snapshot_goes_the_way_of_its_prompt(stage, all_gates, decision):
    """
    C-XREF-1, C-PRE-4: without the prompt it isn't committed.
    """
    it = stage(all_gates)

    it.play(f"reference a shot; {decision}")

    assert "user shot" not in it.told


def test_a_snapshot_waits_with_a_prompt_that_waits(stage):
    """
    C-XREF-1: it is returned by the pre-step that claims the prompt, not by an earlier one.
    """
    it = stage()

    it.play("park q; reference a shot; text")

    assert it.tells("user") == ["user q", "user a", "user shot"]


def test_a_snapshot_is_injected_before_steering(stage):
    """
    C-XREF-1: while the agent runs.
    """
    it = stage()
    it.play("followup a")

    assert it.play("reference b shot") == [
        *("next-step[0:0]=(shot)", "inserted shot", "next-step[1:1]=(b)", "inserted b")
    ]


@pytest.mark.parametrize("again", ["reference i shot", "reference b i", "reference b b"])
def test_a_reference_that_is_refused_delivers_neither_message(stage, again):
    """
    C-SEND-3, C-XREF-1: refused as a whole.
    """
    it = stage()
    it.play("followup a; inject i")

    assert it.play(again) == []
    assert it.waiting == ([], ["i"])


def test_a_removed_prompt_takes_its_snapshot_along(stage):
    """
    C-XREF-1: a later message of the same id doesn't find it.
    """
    it = stage(model="park")

    it.play("followup z; cancel keep; text; park q; park r")
    it.driver.perform("reference", {"message": {"id": "a", "text": "x"}, "snapshot": {"id": "shot", "text": "y"}})
    it.play("remove a; followup a; text; text; text")

    assert "user a" in it.told
    assert "user shot" not in it.told


def goal(message_id, text, **source):
    return {"message": {"id": message_id, "text": text, "source": {"kind": "goal", **source}}}


def test_the_goal_is_folded_from_what_was_committed(stage):
    """
    W-GOAL-1: pending changes don't count, committed ones merge.
    """
    it = stage()
    it.perform("inject", goal("g1", 'goal {"aim":"x"}', round=0, change={"aim": "x"}))
    it.play("goal")
    assert it.seen["goal"] == {"state": None, "rounds": 0}

    it.perform("followup", goal("g2", "go on", round=1))
    it.play("goal")
    assert it.seen["goal"] == {"state": {"aim": "x"}, "rounds": 1}


def test_a_checkpoint_precedes_decision_request_and_tool(stage):
    """
    C-PRE-1, C-STEP-2: the log is safe before anything relies on it.
    """
    it = stage(("pre-step", "model", "tool", "flush"))

    assert it.play("followup a")[-1:] == ["open flush"]
    assert it.play("saved") == ["open pre-step"]
    assert it.play("enter") == ["step 1.1", "user a", "open flush"]
    assert it.play("saved") == ["request a", "open model"]
    assert it.play("tools c1=par") == ["answer c1", "call c1", "open flush"]
    assert it.play("saved") == ["open tool"]


def test_a_failed_checkpoint_prevents_what_it_was_to_protect(stage):
    """
    C-TURN-5, C-STEP-2: decision and request fail the turn without a recovery, a tool fails its call.
    """
    gates = ("pre-step", "model", "tool", "request-error", "flush")

    assert stage(gates).play("followup a; unsaved") == ["error 1.0", "end 1 error", "idle"]
    assert stage(gates).play("followup a; saved; enter; unsaved") == ["close 1.1", "error 1.1", "end 1 error", "idle"]
    assert stage(gates).play("followup a; saved; enter; saved; tools c1=par; unsaved")[0] == "result c1 error"


def test_a_cancel_during_the_checkpoint_of_a_tool_keeps_the_tool_from_starting(stage):
    """
    C-STEP-2: the call is closed as not started.
    """
    it = stage(("model", "tool", "flush"))
    it.play("followup a; saved; saved; tools c1=par; cancel")
    assert it.gates == ["flush"]

    assert it.play("saved")[0] == "result c1 ABORTED_BEFORE_DISPATCH"
