"""Cancel at every point of a turn."""

from __future__ import annotations

import pytest


def test_a_cancel_discards_then_aborts_then_closes(stage):
    """
    C-CAN-1: next-step with one splice and its discards, then next-turn, then the gate, the step, the turn.
    """
    it = stage()
    it.play("followup a; inject i; followup p; steer s; followup q")

    assert it.play("cancel") == [
        *("next-step[0:2]=()!", "discarded i", "discarded s"),
        *("next-turn[0:2]=()!", "discarded p", "discarded q"),
        *("aborted model", "close 1.1", "end 1 aborted by user", "idle"),
    ]


def test_open_gates_hear_of_it_in_the_order_of_their_opening(stage):
    """
    C-CAN-1: one after the other, before anything else happens.
    """
    it = stage()
    it.play("followup a; tools c1=par c2=par")
    opened = [gate["id"] for gate in it.seen["gates"]]

    it.play("cancel")

    aborted = [event["gate"] for event in it.seen["events"] if event["type"] == "gate/aborted"]
    assert aborted == opened


def test_the_first_cause_stands(stage):
    """
    C-CAN-1: whatever is canceled later.
    """
    it = stage(model="park")

    it.play("followup a; cancel parent; cancel; dispose; text")

    assert it.tells("end") == ["end 1 aborted by parent"]


def test_a_keeping_cancel_leaves_everything_waiting_for_the_next_wake(stage):
    """
    C-CAN-2: both lists, in order.
    """
    it = stage()

    it.play("followup a; followup p; inject i; steer s; cancel keep")
    assert (it.seen["status"], it.waiting) == ("idle", (["p"], ["i", "s"]))

    it.play("followup q; text")
    assert it.tells("claimed") == ["claimed a", "claimed i", "claimed s", "claimed p", "claimed q"]


@pytest.mark.parametrize("cancel", ["cancel", "cancel keep"])
def test_an_idle_cancel_with_nothing_pending_leaves_no_trace(stage, cancel):
    """
    C-CAN-3: neither now nor in the next turn.
    """
    it = stage()

    assert it.play(cancel) == []
    it.play("followup a; text")
    assert it.tells("end") == ["end 1 completed"]


def test_an_idle_cancel_never_aborts_what_its_own_listeners_start(stage):
    """
    C-CAN-1: it concerns the activity that was running when it was called.
    """
    it = stage()
    it.play("inject i")
    it.on("agent/inbox/discarded", "followup a")

    it.play("cancel; text")

    assert it.tells("end", "user") == ["user a", "end 1 completed"]


def test_a_cancel_before_the_turn_only_stops_the_loop(stage):
    """
    C-CAN-1: running, then idle, and no turn.
    """
    it = stage()
    it.on("agent/status", "cancel")

    assert it.play("followup a") == [
        *("next-turn[0:0]=(a)", "inserted a", "running"),
        *("next-turn[0:1]=()!", "discarded a", "idle"),
    ]


def test_a_cancel_after_the_end_of_a_turn_only_stops_the_loop(stage):
    """
    C-CAN-1, C-CAN-2: the turn stays completed, and what waits is parked.
    """
    it = stage()
    it.play("followup a; followup b")
    it.on("turn/end", "cancel keep")

    assert it.play("text") == ["answer", "close 1.1", "end 1 completed", "idle"]
    assert it.waiting == (["b"], [])


@pytest.mark.parametrize("reaction", ["settle", "park"])
@pytest.mark.parametrize("answer", ["enter", "reject", "throw pre-step"])
def test_a_batch_that_was_claimed_before_the_cancel_is_neither_committed_nor_put_back(
    stage, all_gates, reaction, answer
):
    """
    C-CAN-4: whatever the decision says when it comes at last.
    """
    it = stage(all_gates, pre_step=reaction)

    it.play("inject i; followup a; cancel keep")
    if reaction == "park":
        assert it.gates == ["pre-step!"]
        it.play(answer)

    assert it.tells("end", "user", "step") == ["end 1 aborted by user"]
    assert it.waiting == ([], [])


@pytest.mark.parametrize("event", ["step/start", "user/message"])
def test_a_step_that_is_out_keeps_its_batch_and_makes_no_request(stage, event):
    """
    C-CAN-4: the start of a step and its batch are one publication.
    """
    it = stage()
    it.play("inject i")
    it.on(event, "cancel keep")

    assert it.play("followup a")[-7:] == [
        *("claimed a", "step 1.1", "user i", "user a", "close 1.1", "end 1 aborted by user", "idle")
    ]


def test_no_claim_begins_between_a_cancel_and_the_end_of_its_turn(stage):
    """
    C-CAN-5: input for the next boundary stays where it is.
    """
    it = stage()
    it.play("followup a; inject i")
    it.on("assistant/message", "cancel keep")

    assert it.play("text") == ["answer", "close 1.1", "end 1 aborted by user", "idle"]
    assert it.waiting == ([], ["i"])


def test_streamed_text_survives_and_a_late_answer_is_dropped(stage):
    """
    C-CAN-4: what was shown before the cancel becomes an interrupted message.
    """
    it = stage(model="park")
    it.play("followup a; partial half; cancel")

    told = it.play("text whole")

    assert told == ["interrupted", "close 1.1", "end 1 aborted by user", "idle"]
    assert it.seen["events"][0]["text"] == "half"


def test_a_batch_is_closed_after_a_cancel(stage):
    """
    C-STEP-2: started calls settle, waiting ones are closed at once; contexts of late results stay pending.
    """
    it = stage(tool="park")
    it.play("followup a; tools c1=par c2=par c3=exc; cancel keep")

    assert it.gates == ["tool!", "tool!"]
    assert it.play("result x:tool") == ["result c1 ABORTED", "next-step[0:0]=(x)", "inserted x"]
    assert it.play("toolfails") == [
        *("result c2 error", "call c3", "result c3 ABORTED_BEFORE_DISPATCH"),
        *("close 1.1", "end 1 aborted by user", "idle"),
    ]
    assert it.waiting == ([], ["x"])


def test_a_result_that_had_arrived_is_an_error_when_it_is_committed_after_the_cancel(stage):
    """
    C-STEP-2: the second answered first, and the cancel came before the first.
    """
    it = stage()
    it.play("followup a; tools c1=par c2=par")
    second = it.seen["gates"][1]["id"]
    it.perform("release", {"gate": second, "outcome": {"kind": "result", "concludes": True}})

    assert it.play("cancel")[:3] == ["aborted tool", "result c1 ABORTED", "result c2 ABORTED"]


def test_no_tool_starts_when_a_listener_of_its_call_cancels(stage):
    """
    C-STEP-2: the call is in the log, its tool is never run.
    """
    it = stage()
    it.play("followup a")
    it.on("tool/call", "cancel")

    assert it.play("tools c1=par c2=exc") == [
        *("answer c1 c2", "call c1", "result c1 ABORTED_BEFORE_DISPATCH"),
        *("call c2", "result c2 ABORTED_BEFORE_DISPATCH", "close 1.1", "end 1 aborted by user", "idle"),
    ]


@pytest.mark.parametrize("at", ["fail", "text"], ids=["request-error", "turn-stopping"])
def test_a_cancel_while_others_decide_ends_the_turn_aborted(stage, at):
    """
    C-TURN-5: aborted comes before any other reason.
    """
    it = stage(("model", "request-error", "turn-stopping"))
    it.play(f"followup a; {at}")

    assert it.play("cancel")[-2:] == ["end 1 aborted by user", "idle"]
    assert it.tells("error") == []


@pytest.mark.parametrize("answer", ["retry", "giveup", "throw request-error"])
def test_what_an_uncooperative_recovery_decides_after_a_cancel_is_ignored(stage, answer):
    """
    C-TURN-5: no second request, no error.
    """
    it = stage(("model", "request-error"), request_error="park")
    it.play("followup a; fail; cancel")

    assert it.play(answer) == ["close 1.1", "end 1 aborted by user", "idle"]
