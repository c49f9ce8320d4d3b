"""How input enters the inbox, and when it makes the agent run."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("preset", "target", "wakeup"),
    [("followup", "next-turn", True), ("steer", "next-step", True), ("inject", "next-step", False)],
)
@pytest.mark.parametrize("before", ["inspect", "followup z", "followup z; cancel keep"])
def test_a_preset_does_what_the_send_does_that_it_abbreviates(stage, preset, target, wakeup, before):
    """
    C-SEND-1: followup, steer and inject equal their send, whatever the agent is doing.
    """
    short, long = stage(model="park"), stage(model="park")
    message = {"id": "a", "text": "hello", "source": {"kind": "user"}}
    for each in (short, long):
        each.play(before)

    short.perform(preset, {"message": message})
    long.perform("send", {"message": message, "target": target, "wakeup": wakeup})

    assert short.told == long.told
    assert short.seen == long.seen


def test_an_insertion_is_logged_and_then_told(stage):
    """
    C-SEND-2: one splice at the end of the named list, then one inserted.
    """
    it = stage()

    it.play("park a; inject b; park c")

    assert it.told == [
        *("next-turn[0:0]=(a)", "inserted a"),
        *("next-step[0:0]=(b)", "inserted b"),
        *("next-turn[1:1]=(c)", "inserted c"),
    ]


def test_waking_input_that_finds_the_turn_aborted_joins_the_next_turn_list(stage):
    """
    C-SEND-2: a waking send to an aborted activity changes its list, a quiet one doesn't.
    """
    it = stage(model="park")

    it.play("followup a; cancel keep; steer late; inject quiet")

    assert it.waiting == (["late"], ["quiet"])


@pytest.mark.parametrize("again", ["followup a", "steer a", "inject a", "park a", "prepend next-step a", "replace b a"])
def test_an_id_that_is_pending_is_refused_and_nothing_changes(stage, again):
    """
    C-SEND-3: the second message of an id is refused wherever it wants to go.
    """
    it = stage()
    it.play("followup z; park a; inject b")

    assert it.play(again) == []
    assert "'a'" in it.seen["refused"]
    assert it.waiting == (["a"], ["b"])


def test_an_id_may_be_used_again_once_its_message_was_claimed(stage):
    """
    C-SEND-3: an id that has left the inbox is free.
    """
    it = stage()

    it.play("followup a; followup a")

    assert it.waiting == (["a"], [])


def test_a_message_may_be_replaced_under_its_own_id(stage):
    """
    C-SEND-3: the id that leaves with the same splice is free.
    """
    it = stage()

    assert it.play("park a; replace a a") == ["next-turn[0:1]=(a)!", "discarded a", "inserted a"]


def test_a_refused_context_of_a_tool_fails_the_turn_after_its_batch_was_closed(stage):
    """
    C-SEND-3, C-STEP-2: running calls settle, waiting ones are closed without a start, then the turn fails.
    """
    it = stage()
    it.play("followup a; inject x; tools c1=par c2=par c3=exc")

    it.play("result y:plugin x:plugin z:plugin")
    assert it.gates == ["tool"]
    assert it.play("result") == [
        *("result c2 ok", "call c3", "result c3 ABORTED_BEFORE_DISPATCH"),
        *("close 1.1", "error 1.1", "end 1 error", "idle"),
    ]
    assert it.waiting == ([], ["x", "y"])


def test_injected_input_waits_for_somebody_else_to_wake_the_agent(stage):
    """
    C-SEND-4: inject never starts the loop; its message enters with the next prompt.
    """
    it = stage()

    it.play("inject i")
    assert (it.seen["status"], it.seen["whenIdle"], it.waiting) == ("idle", True, ([], ["i"]))

    it.play("followup a")
    assert it.tells("user") == ["user i", "user a"]


def test_injected_input_that_is_canceled_stays_in_the_history_of_the_inbox(stage):
    """
    C-SEND-4: both the insertion and the discard are logged.
    """
    it = stage()

    it.play("inject i; cancel; followup a")

    assert it.tells("next-step") == ["next-step[0:0]=(i)", "next-step[0:1]=()!"]
    assert it.tells("user") == ["user a"]


def test_the_first_claim_is_made_before_the_waking_send_returns(stage):
    """
    C-WAKE-1: of two steers in one stack the first enters the first step and the second waits for the next boundary.
    """
    it = stage()

    it.play("[steer a; steer b]; text")

    assert it.tells("turn", "step", "user") == ["turn 1", "step 1.1", "user a", "step 1.2", "user b"]


def test_a_wake_stands_when_a_listener_discards_its_message(stage, all_gates):
    """
    C-WAKE-1: one turn opens, claims what there is and closes without a step.
    """
    it = stage(all_gates)
    it.on("agent/inbox/inserted", "remove a")

    assert it.play("followup a")[-3:] == ["running", "turn 1", "open pre-step"]
    assert it.play("enter") == ["end 1 completed", "idle"]


def test_a_quiet_prompt_rides_along_at_its_place(stage):
    """
    C-WAKE-2: it stays parked alone, and comes before the waking prompt that was sent after it.
    """
    it = stage()

    it.play("park q")
    assert (it.seen["status"], it.seen["whenIdle"]) == ("idle", True)

    it.play("followup a; text")
    assert it.tells("user") == ["user q", "user a"]
    assert it.tells("turn") == ["turn 1", "turn 2"]


@pytest.mark.parametrize("late", ["followup b", "steer b"])
def test_waking_input_between_a_cancel_and_the_end_of_its_turn_restarts_the_agent(stage, late):
    """
    C-WAKE-3: idle and running are told in one stack, and the late message gets a turn.
    """
    it = stage(model="park")
    it.play(f"followup a; cancel keep; {late}")

    told = it.play("text")

    assert told[:5] == ["close 1.1", "end 1 aborted by user", "idle", "running", "turn 2"]
    assert it.seen["whenIdle"] is False


def test_quiet_input_between_a_cancel_and_the_end_of_its_turn_stays_parked(stage):
    """
    C-WAKE-3: only waking input is late.
    """
    it = stage(model="park")

    it.play("followup a; cancel keep; inject i; park q; text")

    assert (it.seen["status"], it.waiting) == ("idle", (["q"], ["i"]))


def test_removing_the_late_message_takes_its_restart_back(stage):
    """
    C-WAKE-3, C-STAT-2: quiet input beside it doesn't run in its place.
    """
    it = stage(model="park")

    it.play("followup a; cancel keep; steer late; inject quiet; remove late; text")

    assert (it.seen["status"], it.waiting) == ("idle", ([], ["quiet"]))


def test_a_quiet_message_under_the_id_of_a_removed_late_one_is_not_late(stage):
    """
    C-WAKE-3: lateness belongs to the message, not to its id.
    """
    it = stage(model="park")

    it.play("followup a; cancel keep; steer late; remove late; inject late; text")

    assert (it.seen["status"], it.waiting) == ("idle", ([], ["late"]))


def test_a_replacement_inherits_lateness(stage):
    """
    C-WAKE-3: correcting a late message doesn't cost its restart.
    """
    it = stage(model="park")

    it.play("followup a; cancel keep; steer late; replace late better; text")

    assert it.tells("user") == ["user a", "user better"]


@pytest.mark.parametrize(("second", "restarts"), [("cancel keep", True), ("cancel", False)])
def test_a_second_cancel_takes_lateness_back_unless_it_keeps_the_inbox(stage, second, restarts):
    """
    C-WAKE-3: latitude second-keep-cancel, observed: a keeping one doesn't.
    """
    it = stage(model="park")

    it.play(f"followup a; cancel keep; followup late; {second}; text")

    assert (it.seen["status"] == "running") == restarts


def test_what_a_discard_listener_sends_runs_after_the_cancel(stage):
    """
    C-WAKE-3: a waking send while a cancel is discarding is late.
    """
    it = stage()
    it.play("followup a; followup b")
    it.on("agent/inbox/discarded", "followup c")

    told = it.play("cancel")

    assert told[:4] == ["next-turn[0:1]=()!", "discarded b", "next-turn[0:0]=(c)", "inserted c"]
    assert it.tells("end", "user") == ["user a", "end 1 aborted by user", "user c"]


def test_a_cancel_between_running_and_the_turn_leaves_the_restart_to_later_input(stage):
    """
    C-WAKE-3, C-CAN-1: the loop stops without a turn; what was sent after the cancel in the same stack restarts it.
    """
    it = stage()
    it.on("agent/status", "cancel keep")

    it.play("[followup a; followup b]")

    assert it.tells("running", "idle", "turn", "claimed") == ["running", "idle", "running", "turn 1", "claimed a"]


def test_input_that_was_late_for_one_interval_is_parked_by_a_cancel_of_the_next(stage):
    """
    C-WAKE-3, C-CAN-2: the restart served it; a keeping cancel then parks it like everything else.
    """
    it = stage(model="park")

    it.play("followup a; cancel keep; followup b; followup c; text; cancel keep; text")

    assert it.tells("user") == ["user a", "user b"]
    assert (it.seen["status"], it.waiting) == ("idle", (["c"], []))
