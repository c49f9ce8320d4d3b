"""Cancel, disposal and abort of contract ``window``, rule by rule."""

from __future__ import annotations

from window_notation import play, show

RUNNING = "followup a; allow"
TOOLS = RUNNING + "; tools "
PARKED = "reset prompt-submit! model! tool! turn-stopping! request-error!; followup a; "
ENDED = "turn 1 aborted · settled 1 aborted · idle"


# ------------------------------------------------------------------------------------------------ cancel
def test_a_cancel_closes_the_open_step_and_the_turn():
    """W-CAN-1: the model's reply is dropped with its gate."""
    assert play(RUNNING + "; cancel").last == "cancel user · aborted model · step-end 1.1 · " + ENDED


def test_a_reply_that_arrives_after_the_cancel_is_dropped():
    """W-CAN-1: no assistant message, though the gate did not care for the abort."""
    run = play(PARKED + "allow; cancel")

    assert (run.last, run.gates) == ("cancel user", "model!")
    assert run("text") == "step-end 1.1 · " + ENDED


def test_text_streamed_before_the_cancel_is_kept_as_interrupted():
    """W-CAN-1: what was said is said; what comes after the abort isn't."""
    assert play(RUNNING + "; partial hel; cancel").last == (
        "cancel user · aborted model · assistant interrupted 'hel' · step-end 1.1 · " + ENDED
    )
    assert play(PARKED + "allow; partial hel; cancel; partial lo").last.startswith("assistant interrupted 'hel' ·")


def test_an_aborted_admission_writes_nothing_of_its_prompt():
    """W-CAN-1: whatever an uncooperative hook decides afterwards."""
    assert play(PARKED + "cancel; allow +h").last == "idle"


def test_a_decision_and_a_cancel_in_one_stack_abort_the_admission():
    """W-CAN-1: the loop hadn't taken the decision up."""
    assert play("followup a; [allow; cancel]").last == "cancel user · idle"


def test_a_cancel_at_step_start_leaves_the_step_without_a_request():
    """W-CAN-1: the open step closes, then the turn."""
    run = play("followup a; on step/start { cancel }; allow")

    assert run.last == "turn 1 · user a · step 1.1 · cancel user · step-end 1.1 · " + ENDED


def test_a_model_gate_that_opens_under_a_known_abort_is_aborted_at_once():
    """W-CAN-1: a listener of the request cancelled."""
    run = play("followup a; on request { cancel }; allow")

    assert show(run.now.events, gates=True).endswith(
        "request a · cancel user · gate model · aborted model · step-end 1.1 · " + ENDED
    )


def test_a_plain_cancel_drops_what_is_pending_and_work_sent_afterwards_runs():
    """W-CAN-2: one discard; context is dropped silently."""
    run = play(RUNNING + "; [steer s; inject i; followup b]; [cancel; followup c]")

    assert run.last == (
        "cancel user · drop b s · aborted model · +c queued · step-end 1.1 · turn 1 aborted · settled 1 aborted"
        " · -c queued"
    )
    assert run.pending == ("", "")


def test_a_keep_inbox_cancel_keeps_everything_in_order():
    """W-CAN-3: no discard; waking queued work runs after the abort, staged input before its prompt."""
    run = play(RUNNING + "; [steer s; inject i; followup b]; cancel keep; allow")

    assert "drop" not in run.all
    assert run.last == "turn 2 · -s steering · steering s · user i · user b · step 2.1 · request a s i b"


def test_the_claimed_prompt_of_a_kept_cancel_is_lost_or_goes_back_to_the_head():
    """W-CAN-3: free."""
    scenario = "[followup a; followup b]; cancel keep"

    assert play(scenario, claimed_on_keep="dropped").last == "cancel user · aborted prompt-submit · -b queued"
    again = play(scenario, claimed_on_keep="requeued")
    assert again.last == "cancel user · aborted prompt-submit · +a queued · -a queued"
    assert again.pending == ("b", "")


def test_a_later_plain_cancel_takes_the_claimed_prompt_too():
    """W-CAN-2: it goes back to no queue, and that is something the cancel does."""
    scenario = "reset prompt-submit!; followup a; cancel keep; cancel parent; allow"

    assert play(scenario, claimed_on_keep="requeued").all.endswith("cancel user · cancel parent · idle")
    assert play(scenario, claimed_on_keep="dropped").all.endswith("cancel user · idle")


def test_a_cancel_with_nothing_to_do_leaves_no_trace():
    """W-CAN-4: idle with nothing pending, a kept inbox, a turn that is aborted already or over."""
    assert play("cancel").last == ""
    assert play("quiet q; cancel keep").last == ""
    assert play(PARKED + "allow; cancel; cancel parent").last == ""
    assert (
        play(RUNNING + "; text; on turn/end { cancel }; stop").last == "turn 1 completed · settled 1 completed · idle"
    )


def test_a_second_cancel_that_drops_something_is_published():
    """W-CAN-4: the abort stays the first one's."""
    run = play(PARKED + "allow; cancel keep; steer s; cancel parent")

    assert run.last == "cancel parent · drop s"


def test_a_cancel_that_drops_context_alone_does_something():
    """W-CAN-4: published, though nothing is discarded."""
    run = play(RUNNING + "; inject i; cancel keep; cancel")

    assert (run.last, run.pending) == ("cancel user", ("", ""))


def test_what_a_cancel_listener_sends_is_dropped_and_what_a_discard_listener_sends_is_new():
    """W-CAN-4: cancel-requested precedes the discard."""
    run = play(RUNNING + "; on agent/cancel-requested { followup b }; on agent/inbox/discard { followup c }; cancel")

    assert run.last == (
        "cancel user · +b queued · drop b · +c queued · aborted model · step-end 1.1 · turn 1 aborted"
        " · settled 1 aborted · -c queued"
    )


def test_a_cancel_after_the_outcome_is_fixed_aborts_nothing():
    """W-CAN-4: a failure that agent/error announces stays a failure."""
    assert play(RUNNING + "; error; on agent/error { cancel }; give-up").last == (
        "error 1.1 · turn 1 error · settled 1 error · idle"
    )


def test_the_first_cause_wins():
    """W-CAN-5: a disposal doesn't change an aborted turn, a cancel doesn't change a disposed one."""
    assert "turn 1 aborted" in play(PARKED + "allow; cancel; dispose; text").last
    assert "turn 1 disposed" in play(PARKED + "allow; dispose; cancel; text").last


def test_an_abort_doesn_t_outlive_its_turn():
    """W-CAN-5: the next turn is not aborted."""
    run = play(RUNNING + "; cancel; followup b; allow; text; stop")

    assert run.last == "turn 2 completed · settled 2 completed · idle"


def test_a_drain_stops_after_the_item_being_published():
    """W-CAN-6: between a cancel and the end of its turn nothing leaves the outbox."""
    run = play(RUNNING + "; [steer s; inject i; steer t]; on steering/message { cancel keep }; text")

    assert run.last == "assistant · -s steering · steering s · cancel user · step-end 1.1 · " + ENDED
    assert run.pending == ("", "i t")


def test_the_opening_of_a_turn_is_one_unit():
    """W-CAN-6: retained, prompt and contexts are written under an abort; what this admission staged is not."""
    run = play("followup a; steer s; block; followup b; inject i; on turn/start { cancel keep }; allow +h")

    assert run.last == "turn 1 · cancel user · -s steering · steering s · user b · user h · " + ENDED
    assert run.pending == ("", "i")


def test_a_plain_cancel_drops_what_an_opening_has_not_published_yet():
    """W-CAN-6: the retained rest goes, the prompt is written."""
    run = play("followup a; [steer s; steer t]; block; followup b; on steering/message { cancel }; allow")

    assert run.last == "turn 1 · -s steering · steering s · cancel user · drop t · user b · " + ENDED


def test_a_retry_drains_like_any_other_turn():
    """W-CAN-6: a cancel at its start leaves the outbox staged."""
    run = play(RUNNING + "; error; steer s; on turn/start { cancel keep }; retry")

    assert (
        run.last == "error 1.1 · turn 1 error · turn 2 retry · cancel user · turn 2 aborted · settled 2 aborted · idle"
    )
    assert run.pending == ("", "s")


def test_context_behind_an_aborted_batch_may_be_appended():
    """W-CAN-6: free, where no steering is staged beside it."""
    scenario = PARKED + "allow; tools x:exc; cancel; inject i; done x"

    assert play(scenario, context_on_abort="appended").last == "result x ABORTED · user i · step-end 1.1 · " + ENDED
    assert play(scenario, context_on_abort="staged").pending == ("", "i")
    assert play(scenario.replace("inject i", "[inject i; steer s]")).pending == ("", "i s")


def test_input_after_a_cancel_is_routed_by_the_window():
    """W-CAN-6: it stays open up to the end of the aborted turn."""
    assert play(PARKED + "allow; cancel; steer s").last == "+s steering"


def test_started_calls_settle_and_the_rest_is_skipped():
    """W-STEP-3: every call gets its result, in call order, whatever had arrived before the cancel."""
    run = play(PARKED + "allow; tools x:par y:par z:exc; done y; cancel")

    assert (run.last, run.gates) == ("cancel user", "tool!")
    assert run("done x concludes") == (
        "result x ABORTED · result y ABORTED · call z · result z ABORTED_BEFORE_DISPATCH · step-end 1.1 · " + ENDED
    )


def test_a_failure_stays_itself_under_an_abort():
    """W-STEP-3: an error is no success to be taken back."""
    assert play(PARKED + "allow; tools x:exc; cancel; fail x").last.startswith("result x error · step-end 1.1")


def test_a_cooperative_tool_returns_an_aborted_result():
    """W-STEP-3: its gate settles by itself."""
    run = play(TOOLS + "x:exc y:exc; cancel")

    assert run.last == (
        "cancel user · aborted tool · result x ABORTED · call y · result y ABORTED_BEFORE_DISPATCH · step-end 1.1 · "
        + ENDED
    )


def test_a_call_whose_own_listener_cancels_never_starts():
    """W-STEP-3: its tool is not asked, even an unknown one."""
    run = play(RUNNING + "; on tool/call { cancel }; tools x:nope y:exc")

    assert show(run.now.events, gates=True) == (
        "assistant x y · call x · cancel user · result x ABORTED_BEFORE_DISPATCH · call y"
        " · result y ABORTED_BEFORE_DISPATCH · step-end 1.1 · " + ENDED
    )


def test_a_conclusion_before_the_cancel_doesn_t_complete_the_turn():
    """W-TURN-5: aborted comes first; W-CAN-6: the staged steering stays."""
    run = play(TOOLS + "x:exc; steer s; on tool/result { cancel keep }; done x concludes")

    assert run.last == "result x · cancel user · step-end 1.1 · " + ENDED
    assert run.pending == ("", "s")


def test_turn_stopping_reached_under_an_abort_is_asked_or_passed_over():
    """W-CAN-1: free; where it is asked it opens and is aborted at once."""
    scenario = RUNNING + "; on step/end { cancel }; text"

    assert play(scenario, gates_after_abort="asked").last == (
        "assistant · step-end 1.1 · cancel user · aborted turn-stopping · " + ENDED
    )
    assert play(scenario, gates_after_abort="skipped").last == "assistant · step-end 1.1 · cancel user · " + ENDED


def test_a_hook_before_the_next_step_is_asked_or_passed_over_alike():
    """W-CAN-1: an aborted batch would have been followed by another step."""
    scenario = "reset model step tool; followup a; hook; tools x:exc; cancel"

    assert " · aborted step · turn 1 aborted" in play(scenario, gates_after_abort="asked").last
    assert " · step-end 1.1 · turn 1 aborted" in play(scenario, gates_after_abort="skipped").last


def test_a_failed_request_is_not_recovered_under_an_abort():
    """W-TURN-5: the turn is aborted, not failed, and nobody is asked."""
    assert play(RUNNING + "; on step/end { cancel }; error").last == "step-end 1.1 · cancel user · " + ENDED
    assert play(PARKED + "allow; error; cancel; retry").last == ENDED


def test_a_decided_retry_is_withdrawn_by_a_cancel():
    """W-CAN-7: until its turn starts; the failed turn stays failed and is settled."""
    run = play("reset model request-error flush; followup a; error; retry; cancel keep")

    assert run.last == "cancel user"
    assert run("saved") == "settled 1 error · idle"


def test_a_decided_retry_is_withdrawn_by_a_disposal():
    """W-CAN-7: and no later turn starts."""
    run = play("reset model request-error flush; followup a; error; retry; dispose; saved")

    assert run.last == "settled 1 error · idle · disposed · dispose/resolved"


# ------------------------------------------------------------------------------------------------ disposal
def test_a_disposal_ends_the_turn_and_discards_what_is_pending():
    """W-DIS-1: without cancel-requested; it resolves after the last checkpoint."""
    run = play("reset model flush; followup a; [steer s; followup b; inject i]; dispose")

    assert run.last == "drop b s · aborted model · step-end 1.1 · turn 1 disposed"
    assert run("saved") == "settled 1 aborted · idle · disposed · dispose/resolved"


def test_a_disposal_while_idle_resolves_at_once():
    """W-DIS-1: quiet items and staged leftovers go too."""
    run = play("quiet q; dispose")

    assert run.last == "drop q · disposed · dispose/resolved"


def test_a_second_disposal_resolves_with_the_first():
    """W-DIS-2: the agent is disposed of once."""
    assert play(PARKED + "dispose; dispose; allow").last == "idle · disposed · dispose/resolved · dispose/resolved"
    assert play("dispose; dispose").last == "dispose/resolved"


def test_no_turn_starts_after_the_call_of_dispose():
    """W-DIS-2: the decision of an uncooperative hook comes too late."""
    assert play(PARKED + "dispose; allow").last == "idle · disposed · dispose/resolved"


def test_a_late_send_is_admitted_only_to_be_aborted():
    """W-DIS-2: as soon as its dequeue is published; observed."""
    run = play(PARKED + "dispose; followup z; allow")

    assert (run.last, run.gates) == ("-z queued", "prompt-submit!")
    assert run("allow") == "idle · disposed · dispose/resolved"


def test_a_late_send_may_be_discarded_or_refused():
    """W-DIS-2: free until the disposal resolves."""
    scenario = PARKED + "dispose; [followup z; inject i]"

    assert play(scenario, late_send="discarded").last == "+z queued · drop z"
    assert play(scenario, late_send="refused").last == "threw followup · threw inject"


def test_what_lies_beside_a_late_send_is_discarded_or_kept():
    """W-DIS-2: free."""
    scenario = "[dispose; followup y; quiet z]"

    assert "drop z" in play(scenario, beside_late_send="discarded").last
    assert play(scenario, beside_late_send="kept").pending == ("z", "")


def test_a_send_after_the_disposal_has_no_effect():
    """W-DIS-2: refused, or without an event."""
    run = play("dispose; followup z", sent_after_disposal="refused")

    assert (run.last, run.now.refused) == ("", "the agent is disposed of")
    assert play("dispose; followup z", sent_after_disposal="ignored").last == ""


def test_a_disposal_inside_a_claim_aborts_that_admission():
    """W-DIS-2: and what its listener sent after it is a late send."""
    run = play("on agent/inbox/dequeue { dispose }; [followup a; followup b]")

    assert run.last == (
        "+a queued · +b queued · running · -a queued · drop b · aborted prompt-submit · idle · disposed"
        " · dispose/resolved"
    )
