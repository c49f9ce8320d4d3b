"""Delivery, waking, the inbox and its edits under contract ``claim``, rule by rule."""

from __future__ import annotations

import pytest
from claim_notation import parse, person, play, words

from turnproof_model import vocabulary as v

RUNNING = "followup a; enter"
ABORTED = "reset model! pre-step; followup a; enter; cancel keep"


# ------------------------------------------------------------------------------------------------ send
@pytest.mark.parametrize(
    ("preset", "spelled"),
    [
        ("followup a", v.Send(person("a"), "next-turn", wakeup=True)),
        ("steer a", v.Send(person("a"), "next-step", wakeup=True)),
        ("quiet a", v.Send(person("a"), "next-turn", wakeup=False)),
    ],
)
@pytest.mark.parametrize("before", ["inspect", RUNNING, ABORTED])
def test_a_preset_behaves_as_the_send_it_abbreviates(before, preset, spelled):
    """C-SEND-1: in every state of the driver."""
    short, long = play(before), play(before)
    short(preset)
    answer = long.machine.ask(spelled)

    assert short.now == answer


def test_a_send_is_logged_where_it_joins_and_published_once():
    """C-SEND-2: the insertion is durable at once, then one live event, whatever the driver is doing."""
    run = play(RUNNING)

    assert run("followup b") == "next-turn[0]+b inserted(b)"
    assert run("quiet c") == "next-turn[1]+c inserted(c)"
    assert run("steer s") == "next-step[0]+s inserted(s)"
    assert run("inject i") == "next-step[1]+i inserted(i)"
    assert run.pending == ("b c", "s i")


def test_a_waking_send_to_an_aborted_activity_joins_next_turn():
    """C-SEND-2: whatever it named; a quiet one keeps its list."""
    run = play(ABORTED + "; steer s; inject i; quiet q")

    assert run.pending == ("s q", "i")


def test_a_pending_id_is_refused_and_nothing_changes():
    """C-SEND-3: in either list; an id that has left the inbox may be used again."""
    run = play(RUNNING + "; inject b")
    state = run.machine.fingerprint()
    refusals = [run.machine.ask(command).refused for command in parse("followup b; steer b; prepend next-turn b")]

    assert refusals == ["message 'b' is pending already"] * 3
    assert run.pending == ("", "b")
    assert run.machine.fingerprint()[0] == state[0]
    assert run("followup a") == "next-turn[0]+a inserted(a)"


def test_a_refusal_inside_a_batch_is_an_event():
    """C-SEND-3: the other operations of the stack are performed."""
    run = play("[inject i; inject i; quiet q]")

    assert run.last == "next-step[0]+i inserted(i) refused(inject) next-turn[0]+q inserted(q)"
    assert "C-SEND-3" in run.cited


def test_an_idle_inject_waits_for_waking_work():
    """C-SEND-4: it stays pending and the model doesn't see it before."""
    run = play("inject i; inspect")

    assert (run.last, run.now.status, run.pending) == ("", "idle", ("", "i"))
    assert run("reset model; inject i; followup a").endswith("step(1.1) user(i) user(a) request(i,a) ?model")


def test_an_idle_inject_may_be_discarded_before():
    """C-SEND-4: the queue history shows the insertion and the removal."""
    run = play("inject i; cancel")

    assert run.all == "next-step[0]+i inserted(i) next-step[0]-1! discarded(i)"


# ------------------------------------------------------------------------------------------------ wake
def test_a_wake_claims_before_the_send_returns():
    """C-WAKE-1: two steers of one stack make one turn and two steps."""
    run = play("reset model; [steer a; steer b]")

    assert run.last == words("""
        next-step[0]+a inserted(a) running turn(1) next-step[0]-1 claimed(a,1)
        next-step[0]+b inserted(b) step(1.1) user(a) request(a) ?model
    """)
    assert run("text hi") == words("""
        assistant(hi) step-end(1.1) next-step[0]-1 claimed(b,1) step(1.2) user(b) request(a,>hi,b) ?model
    """)


def test_the_decision_is_asked_for_after_the_stack_of_the_wake():
    """C-WAKE-1: the claim belongs to the stack of the send, the pre-step doesn't."""
    run = play("[followup a; followup b]")

    assert run.last.endswith("claimed(a,1) next-turn[0]+b inserted(b) ?pre-step")


def test_a_wake_stands_when_its_message_is_discarded_by_then():
    """C-WAKE-1: one turn opens, claims what there is, and closes without a step."""
    run = play("on agent/inbox/inserted { remove a }; followup a")

    assert run.last == "next-turn[0]+a inserted(a) next-turn[0]-1! discarded(a) running turn(1) ?pre-step"
    assert run("enter") == "end(1,completed) idle"


def test_a_disposal_inside_the_insertion_keeps_the_wake_from_happening():
    """C-WAKE-1, C-DIS-1: no turn starts after the call."""
    run = play("on agent/inbox/inserted { dispose }; followup a")

    assert run.last == "next-turn[0]+a inserted(a) next-turn[0]-1! discarded(a) disposed dispose-resolved"


def test_a_quiet_prompt_rides_along_at_its_place():
    """C-WAKE-2: alone it stays parked; the next waking send finds it ahead in the FIFO."""
    run = play("reset model; quiet p; quiet q")
    assert (run.now.status, run.pending) == ("idle", ("p q", ""))

    assert run("steer s").endswith("claimed(s,1) claimed(p,1) step(1.1) user(s) user(p) request(s,p) ?model")
    assert run("text hi").endswith("turn(2) next-turn[0]-1 claimed(q,2) step(2.1) user(q) request(s,p,>hi,q) ?model")


def test_late_input_restarts_the_driver_after_convergence():
    """C-WAKE-3: idle and running in one stack; then it is claimed like any other input."""
    run = play(ABORTED + "; steer s; inject i; text")

    assert run.last == words("""
        step-end(1.1) end(1,aborted:user) idle running turn(2)
        next-step[0]-1 next-turn[0]-1 claimed(i,2) claimed(s,2) ?pre-step
    """)
    assert run.now.when_idle is False


def test_late_input_may_stay_parked():
    """C-WAKE-3: where a candidate parks after an abort, the next wake takes it."""
    run = play(ABORTED + "; followup b; text", wake_after_abort="parked")

    assert (run.last, run.pending) == ("step-end(1.1) end(1,aborted:user) idle", ("b", ""))
    assert not run.machine.s.next_turn.has_late
    assert run("steer s").endswith("claimed(s,2) claimed(b,2) ?pre-step")


def test_lateness_leaves_with_the_message():
    """C-WAKE-3: a quiet message that is left over restarts nothing."""
    run = play(ABORTED + "; inject i; followup b; remove b; text")

    assert (run.last, run.pending) == ("step-end(1.1) end(1,aborted:user) idle", ("", "i"))


def test_a_replacement_inherits_lateness():
    """C-WAKE-3: replace hands it on."""
    run = play(ABORTED + "; followup b; replace b c; text")

    assert run.last.endswith("idle running turn(2) next-turn[0]-1 claimed(c,2) ?pre-step")


def test_input_between_the_last_turn_end_and_idle_is_late():
    """C-WAKE-3: a send that lands there restarts the driver."""
    run = play("reset model; on turn/end +1 { followup b }; followup a; text", 0, 1)

    assert run.last.startswith("assistant(reply) step-end(1.1) end(1,completed) next-turn[0]+b inserted(b)")
    assert "idle running turn(2)" in run.last


def test_input_from_a_discard_listener_is_late():
    """C-WAKE-3: a cancel that is discarding hasn't aborted yet, so it keeps its list, and restarts the driver."""
    run = play("reset model pre-step; followup a; enter; followup b; on agent/inbox/discarded { steer s }; cancel")

    assert run.last == words("""
        next-turn[0]-1! discarded(b) next-step[0]+s inserted(s) !model
        step-end(1.1) end(1,aborted:user) idle running turn(2) next-step[0]-1 claimed(s,2) ?pre-step
    """)


def test_a_discard_makes_nothing_late_that_comes_after_it():
    """C-WAKE-3, C-PRE-5: in the next activity a turn is rejected, and what is left waits."""
    run = play(RUNNING + "; inject i; cancel; [followup b; followup c]; reject")

    assert (run.last, run.pending) == ("end(2,blocked) idle", ("c", ""))


@pytest.mark.parametrize(("value", "restarts"), [("lateness-kept", True), ("lateness-lost", False)])
def test_a_later_keeping_cancel_may_take_lateness_back(value, restarts):
    """C-WAKE-3: a freedom; without keep_inbox there is nothing left to be late."""
    run = play(ABORTED + "; followup b; cancel keep; text", second_keep_cancel=value)

    assert ("running" in run.last) is restarts
    assert play(ABORTED + "; followup b; cancel; text").last == "step-end(1.1) end(1,aborted:user) idle"


def test_input_at_a_turn_end_that_is_not_the_last_is_not_late():
    """C-WAKE-3, C-PRE-5: what the next turn leaves behind waits, as if it had come before."""
    run = play(
        RUNNING + "; followup b; text; on turn/end { followup c }; stop; reject",
        can="sessionReentry",
    )

    assert (run.last, run.pending) == ("end(2,blocked) idle", ("c", ""))


def test_an_activity_begun_by_the_idle_listener_decides_about_its_own_late_input():
    """C-WAKE-3: the convergence that published idle restarts nothing any more."""
    run = play("reset model; followup a; on agent/status status=idle { steer b; cancel keep; followup c }; text")

    assert run.last == words("""
        assistant(reply) step-end(1.1) end(1,completed) idle next-step[0]+b inserted(b)
        running turn(2) next-step[0]-1 claimed(b,2) next-turn[0]+c inserted(c) end(2,aborted:user) idle
        running turn(3) next-turn[0]-1 claimed(c,3) step(3.1) user(c) request(a,>reply,c) ?model
    """)


def test_a_restart_uses_lateness_up():
    """C-WAKE-3, C-CAN-2: a keeping cancel of the restarted activity leaves the message waiting for the next wake."""
    run = play(ABORTED + "; followup b; on agent/status status=running { cancel keep }; text")

    assert (run.last, run.pending) == ("step-end(1.1) end(1,aborted:user) idle running idle", ("b", ""))


# ------------------------------------------------------------------------------------------------ claim
def test_a_first_boundary_claims_next_step_whole_then_one_prompt():
    """C-CLAIM-1, C-TURN-3: in this order, as pure deletions, then one live event each."""
    run = play("inject i; quiet p; quiet q; inject j; steer s")

    assert run.last == words("""
        next-step[2]+s inserted(s) running turn(1) next-step[0]-3 next-turn[0]-1
        claimed(i,1) claimed(j,1) claimed(s,1) claimed(p,1) ?pre-step
    """)
    assert run.now.gates[0].claimed == ("i", "j", "s", "p")
    assert run.pending == ("q", "")


def test_a_later_boundary_claims_no_prompt():
    """C-CLAIM-1, C-TURN-3: the prompt waits for a turn of its own."""
    run = play(RUNNING + "; followup b; steer s; text")

    assert run.last == "assistant(reply) step-end(1.1) next-step[0]-1 claimed(s,1) ?pre-step"
    assert run.pending == ("b", "")


def test_a_claim_that_finds_nothing_logs_nothing():
    """C-CLAIM-1: the decision is asked for all the same."""
    run = play(RUNNING + "; tools x:par; result")

    assert run.last == "result(x) step-end(1.1) ?pre-step"
    assert run.now.gates[0].claimed == ()


def test_a_claim_once_begun_completes_under_a_cancel():
    """C-CLAIM-1, C-CAN-4: both splices and every live event follow; then nothing of the batch is appended."""
    run = play("inject i; on agent/inbox/spliced removedCount=1 { cancel keep }; followup a")

    expected = words("""
        turn(1) next-step[0]-1 next-turn[0]-1 claimed(i,1) claimed(a,1) end(1,aborted:user) idle
    """)
    assert run.last.endswith(expected)


def test_the_turn_starts_before_its_first_claim():
    """C-CLAIM-2: a cancel in between keeps the claim from beginning, and all stays pending."""
    run = play("on turn/start { cancel keep }; followup a")

    assert run.last == "next-turn[0]+a inserted(a) running turn(1) end(1,aborted:user) idle"
    assert run.pending == ("a", "")


def test_what_comes_after_a_claim_waits_for_the_next_boundary():
    """C-CLAIM-3: even from a listener of the claim itself, and even with the id just claimed."""
    run = play("reset model; inject i; on agent/inbox/claimed { inject n; followup a }; followup a")

    expected = words("""
        claimed(i,1) next-step[0]+n inserted(n) next-turn[0]+a inserted(a) claimed(a,1)
        step(1.1) user(i) user(a) request(i,a) ?model
    """)
    assert run.last.endswith(expected)
    assert "C-CLAIM-3" in run.cited


def test_a_claimed_message_is_out_of_reach_of_edits():
    """C-CLAIM-3, C-EDIT-1: remove and replace answer that it isn't pending."""
    run = play("followup a")

    assert [run("remove a"), run.now.answer] == ["", False]
    assert [run("replace a b"), run.now.answer] == ["", False]


def test_every_message_leaves_once():
    """C-CLAIM-4: claimed, or discarded with a splice of its own outcome."""
    run = play("[inject i; inject j; quiet p]; remove j; followup a; cancel")

    assert run.all.count("-1!") == 1 + 1  # one by remove, one by cancel
    assert [run.all.count(f"claimed({m},1)") + run.all.count(f"discarded({m})") for m in "ijpa"] == [1, 1, 1, 1]


# ------------------------------------------------------------------------------------------------ edits
def test_a_replacement_swaps_in_place():
    """C-EDIT-1: the old one is discarded, the new one inserted, in one splice."""
    run = play("inject i; inject j; inject k; replace j n")

    assert run.last == "next-step[1]-1+n! discarded(j) inserted(n)"
    assert (run.pending, run.now.answer) == (("", "i n k"), True)


def test_a_replacement_may_keep_its_id_but_not_take_another():
    """C-EDIT-1, C-SEND-3: an id that is pending beside it is refused."""
    run = play("inject i; inject j; replace i i")
    assert (run.last, run.now.answer) == ("next-step[0]-1+i! discarded(i) inserted(i)", True)

    run("replace i j")
    assert (run.now.refused, run.pending) == ("message 'j' is pending already", ("", "i j"))


def test_a_removal_discards_from_the_middle():
    """C-EDIT-1: with the position that it had."""
    run = play("inject i; inject j; inject k; remove j")

    assert (run.last, run.now.answer) == ("next-step[1]-1! discarded(j)", True)
    assert run.pending == ("", "i k")


def test_a_prepended_message_comes_first_and_wakes_nobody():
    """C-EDIT-2: a splice at the head."""
    run = play("inject i; prepend next-step n")

    assert (run.last, run.now.status) == ("next-step[0]+n inserted(n)", "idle")
    assert run.pending == ("", "n i")


@pytest.mark.parametrize("op", ["followup b", "inject b", "cancel", "dispose", "remove i", "replace i j"])
def test_a_listener_of_a_durable_event_is_refused_what_changes_the_log(op):
    """C-EDIT-2, C-CAN-1, C-DIS-1: as a whole, so nothing of it happens."""
    run = play(f"{RUNNING}; inject i; on assistant/message {{ {op} }}; text")

    assert f"assistant(reply) refused({op.split()[0]}) step-end(1.1)" in run.last
    assert run.last.endswith("claimed(i,1) ?pre-step")


def test_a_listener_of_a_durable_event_may_do_what_changes_no_list():
    """C-EDIT-2: edits of what isn't pending, and a cancel that discards nothing."""
    run = play(f"{RUNNING}; on assistant/message {{ remove z; replace z y; cancel }}; text")

    assert run.last == "assistant(reply) step-end(1.1) end(1,aborted:user) idle"


def test_a_listener_of_a_splice_sees_the_old_list():
    """C-EDIT-2: the inserted message isn't pending yet, the claimed one still is."""
    inserting = play("on agent/inbox/spliced { remove i; cancel }; inject i")
    claiming = play("reset model; on agent/inbox/spliced removedCount=1 { remove a }; followup a")

    assert (inserting.last, inserting.pending) == ("next-step[0]+i inserted(i)", ("", "i"))
    assert "next-turn[0]-1 refused(remove) claimed(a,1)" in claiming.last


def test_an_agent_with_session_reentry_changes_its_lists_before_it_publishes():
    """C-EDIT-2: its listeners may send and remove, and the splices still replay to the lists."""
    run = play("on agent/inbox/spliced { inject j; remove i }; inject i", can="sessionReentry")
    claim = play(
        "inject i; on agent/inbox/spliced removedCount=1 { inject n; cancel }; followup a", can="sessionReentry"
    )

    assert run.last == "next-step[0]+i next-step[1]+j inserted(j) next-step[0]-1! discarded(i) inserted(i)"
    assert run.pending == ("", "j")
    expected = words("""
        next-step[0]-1 next-step[0]+n inserted(n) next-step[0]-1! discarded(n) next-turn[0]-1
        claimed(i,1) claimed(a,1) end(1,aborted:user) idle
    """)
    assert claim.last.endswith(expected)
