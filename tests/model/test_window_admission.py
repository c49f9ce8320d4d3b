"""Admission, turns, steps, tools, requests and the log of contract ``window``, rule by rule."""

from __future__ import annotations

from itertools import product

from window_notation import play, show

from turnproof_model import vocabulary as v
from turnproof_model.goals import goal_text

RUNNING = "followup a; allow"
TOOLS = RUNNING + "; tools "


# ------------------------------------------------------------------------------------------------ admission
def test_an_admission_claims_opens_its_gate_and_then_dequeues():
    """W-ADM-1: one prompt, the head of the queue; status before the gate, the gate before the dequeue."""
    run = play("[followup a; followup b]")

    assert show(run.now.events, gates=True) == "+a queued · +b queued · running · gate prompt-submit · -a queued"
    assert run.now.gates[0].message == "a"


def test_a_cancel_at_running_leaves_the_hook_unasked():
    """W-ADM-1: prompt-submit is not asked, and the dequeue is published still."""
    run = play("on agent/status { cancel }; followup a")

    assert show(run.now.events, gates=True) == "+a queued · running · cancel user · -a queued · idle"


def test_nothing_is_in_the_log_before_the_hook_allows():
    """W-ADM-2: prompt-submit runs before any turn exists."""
    run = play("followup a")

    assert run.machine.history.entries == ()
    assert run("allow").startswith("turn 1 · user a")


def test_an_allowed_turn_opens_with_what_was_retained_then_the_prompt_then_the_rest():
    """W-ADM-3: retained outbox, prompt, contexts of the decision, input of this admission; then the request."""
    run = play("followup a; [steer s; inject i]; block; followup b; inject j; allow +h +k")

    assert run.last == (
        "turn 1 · -s steering · steering s · user i · user b · user h · user k · user j · step 1.1"
        " · request s i b h k j"
    )


def test_an_admission_replaces_the_content_only():
    """W-ADM-4: identity and source stay; contexts are messages of their own, in their order."""
    run = play("followup a; allow changed +h")
    prompt, context = run.now.events[1:3]

    assert run.last == "turn 1 · user a as 'changed' · user h · step 1.1 · request a h"
    assert (prompt.source, context.source) == ("user", "plugin")
    assert run.machine.history.messages[0].text == "changed"


def test_a_blocked_admission_leaves_no_trace():
    """W-ADM-5: no turn, no number, neither the prompt nor what the hook added."""
    run = play("followup a; block +h; followup b; allow")

    assert run.last == "turn 1 · user b · step 1.1 · request b"


def test_a_failed_admission_leaves_no_trace():
    """W-ADM-5: a hook that throws blocks."""
    run = play("followup a; throw prompt-submit")

    assert run.last == "idle"
    assert run.machine.s.turn == 0


def test_context_staged_alone_is_committed_when_the_admission_is_rejected():
    """W-ADM-6: at once, in order, outside any turn."""
    assert play("followup a; [inject i; inject j]; block").last == "user i · user j · idle"


def test_context_of_a_rejected_admission_is_committed_whole():
    """W-ADM-6: it has left staging, so a cancel by a listener of the first doesn't drop the second."""
    run = play("followup a; [inject i; inject j]; on user/message { cancel }; block")

    assert run.last == "user i · user j · idle"


def test_steering_keeps_the_context_beside_it_staged():
    """W-ADM-7: nothing is appended; the next admitted turn takes both before its prompt."""
    run = play("followup a; [inject i; steer s]; block")

    assert (run.last, run.pending) == ("idle", ("", "i s"))
    assert run("followup b; allow") == "turn 1 · user i · -s steering · steering s · user b · step 1.1 · request i s b"


def test_a_rejected_admission_is_followed_by_the_next_waking_prompt():
    """W-ADM-8: or by idle."""
    assert play("[followup a; followup b]; block").last == "-b queued"


# ------------------------------------------------------------------------------------------------ turns
def test_turns_are_numbered_on_across_a_resume():
    """W-TURN-1: numbers rise by one."""
    run = play(RUNNING + "; text; stop; resume clean; followup b; allow")

    assert run.last.startswith("turn 2 · user b")


def test_a_turn_takes_one_prompt():
    """W-TURN-3: the second of one stack waits for a turn of its own."""
    run = play("[followup a; followup b]; allow; text; stop; allow")

    assert run.last == "turn 2 · user b · step 2.1 · request a A b"


def test_no_admission_starts_beside_a_pending_checkpoint():
    """W-TURN-4: neither claim nor window nor hook before the checkpoint settled, well or not."""
    run = play("reset prompt-submit model flush; followup a; allow; text")

    assert run("followup b") == "+b queued"
    assert (run.gates, run.now.accepts_next_step) == ("flush", False)
    assert run("unsaved") == "error 1.1 · settled 1 completed · -b queued"


def test_no_retry_starts_beside_a_pending_checkpoint():
    """W-TURN-4: the next turn of the chain waits for the checkpoint of the failed one."""
    run = play("reset model request-error flush; followup a; error; retry")

    assert run.last == "error 1.1 · turn 1 error"
    assert run("saved").startswith("turn 2 retry")


def test_one_truncated_step_marks_the_whole_turn():
    """W-TURN-5: max-tokens once any step hit the ceiling, whatever the last one said."""
    assert play(RUNNING + "; steer s; max-tokens; text; stop").last.startswith(
        "turn 1 max-tokens · settled 1 completed"
    )


def test_an_error_outweighs_the_ceiling_and_an_abort_outweighs_both():
    """W-TURN-5: aborted, error, max-tokens, completed; the first that applies."""
    truncated = RUNNING + "; max-tokens; "

    assert "turn 1 error" in play(truncated + "throw turn-stopping").last
    assert "turn 1 aborted" in play("reset turn-stopping!; followup a; steer s; [throw turn-stopping; cancel]").last


def test_a_retry_is_a_turn_without_a_message_of_its_own():
    """W-TURN-6: it takes the outbox, comes before anything queued, and only the last of the chain is settled."""
    run = play(RUNNING + "; error; [steer s; inject i; followup b]; retry")

    assert run.last == (
        "error 1.1 · turn 1 error · turn 2 retry · -s steering · steering s · user i · step 2.1 · request a s i"
    )
    assert run("error; retry") == "error 2.1 · turn 2 error · turn 3 retry · step 3.1 · request a s i"
    assert run("text; stop") == "turn 3 completed · settled 3 completed · -b queued"


def test_a_recovery_hook_that_throws_gives_up():
    """W-TURN-6: no retry was decided, so the failed turn is settled."""
    assert play(RUNNING + "; error; throw request-error").last == "error 1.1 · turn 1 error · settled 1 error · idle"


# ------------------------------------------------------------------------------------------------ steps
def test_the_hook_before_a_step_still_reaches_its_request():
    """W-STEP-2: what it stages is drained before the step opens."""
    run = play("reset prompt-submit step model; followup a; allow; [inject i; steer s]; hook")

    assert run.last == "user i · -s steering · steering s · step 1.1 · request a i s"


def test_a_step_hook_that_throws_fails_the_turn():
    """W-STEP-1: no step opens; W-WIN-5: what is staged stays staged."""
    run = play("reset prompt-submit step model; followup a; allow; inject i; throw step")

    assert run.last == "error 1.1 · turn 1 error · settled 1 error · idle"
    assert run.pending == ("", "i")


def test_what_comes_during_a_drain_waits_for_the_next_boundary():
    """W-STEP-2: a drain takes what was staged when it began."""
    run = play(RUNNING + "; steer s; on agent/inbox/dequeue { steer t; inject i }; text")

    assert run.last == (
        "assistant · -s steering · +t steering · steering s · step-end 1.1 · -t steering · steering t · user i"
        " · step 1.2 · request a A s t i"
    )


def test_exclusive_calls_run_one_after_the_other():
    """W-STEP-3: results in call order, nothing of another kind in between, though steering and context wait."""
    run = play(TOOLS + "x:exc y:exc")

    assert run.last == "assistant x y · call x"
    assert run("[steer s; inject i]; done x") == "result x · call y"
    assert run("done y") == (
        "result y · -s steering · steering s · user i · step-end 1.1 · step 1.2 · request a A R:x R:y s i"
    )


def test_parallel_calls_run_together_and_are_answered_in_call_order():
    """W-STEP-3: a result that is in early waits for those before it."""
    run = play(TOOLS + "x:par y:par z:exc")

    assert run.last == "assistant x y z · call x · call y"
    assert run("done y") == ""
    assert run("done x") == "result x · result y · call z"


def test_a_result_that_is_in_may_be_committed_before_the_next_call_of_its_group_starts():
    """W-STEP-3: how calls and results of a parallel group interleave is free."""
    scenario = "reset model turn-stopping; followup a; tools x:par y:par"

    assert "call x · call y · result x · result y" in play(scenario).last
    assert "call x · result x · call y · result y" in play(scenario, picks=(1,)).last


def test_an_unknown_tool_is_answered_without_a_gate():
    """W-STEP-3: every call gets exactly one result."""
    run = play(TOOLS + "u:nope x:exc")

    assert (run.last, run.gates) == ("assistant u x · call u · result u UNKNOWN_TOOL · call x", "tool")
    assert run("fail x").startswith("result x error · step-end 1.1 · step 1.2")


def test_contexts_of_a_tool_share_the_outbox_with_what_callers_staged():
    """W-STEP-4: staged after that tool's result, in order."""
    run = play(TOOLS + "x:exc y:exc; inject i; done x +c +d; inject j; fail y +e")

    assert run.last.startswith("result y error · user i · user c · user d · user j · user e · step-end 1.1")


def test_steering_forces_another_step_and_context_alone_does_not():
    """W-STEP-5: the request shows the steering; late context is committed and the turn may stop."""
    assert play(RUNNING + "; steer s; text").last.endswith("step 1.2 · request a A s")
    assert play(RUNNING + "; inject i; text").last == "assistant · user i · step-end 1.1"


def test_a_tool_batch_is_followed_by_another_request():
    """W-STEP-6: unless a result concludes the turn."""
    assert play(TOOLS + "x:exc; done x").last == "result x · step-end 1.1 · step 1.2 · request a A R:x"


def test_a_conclusion_ends_the_turn_even_with_steering_drained():
    """W-STEP-6: the other calls run still; turn-stopping isn't asked."""
    run = play(TOOLS + "x:exc y:exc; done x concludes; steer s; done y")

    assert run.last == (
        "result y · -s steering · steering s · step-end 1.1 · turn 1 completed · settled 1 completed · idle"
    )


def test_a_failure_does_not_conclude():
    """W-STEP-6: only a successful result does."""
    assert play(TOOLS + "x:exc; fail x concludes").last.endswith("step 1.2 · request a A R:x")


def test_steering_left_behind_a_conclusion_waits_for_the_next_prompt():
    """W-WIN-5: staged after the drain of the last step, it wakes nothing."""
    run = play(TOOLS + "x:exc; on step/end { steer s }; done x concludes")

    assert run.last.endswith("step-end 1.1 · +s steering · turn 1 completed · settled 1 completed · idle")
    assert run("followup b; allow").startswith("turn 2 · -s steering · steering s · user b")


def test_turn_stopping_is_asked_again_after_another_step():
    """W-STEP-8: steering staged by then runs another step of the same turn."""
    run = play(RUNNING + "; text; [inject i; steer s]; stop")

    assert run.last == "user i · -s steering · steering s · step 1.2 · request a A i s"
    assert (run("text"), run.gates) == ("assistant · step-end 1.2", "turn-stopping")


def test_steering_that_comes_while_the_last_context_is_drained_runs_another_step_too():
    """W-STEP-8: the turn doesn't close over steering."""
    run = play(RUNNING + "; text; inject i; on user/message { steer s }; stop")

    assert run.last == "user i · +s steering · -s steering · steering s · step 1.2 · request a A i s"


def test_nothing_lands_between_the_last_look_at_the_outbox_and_the_end():
    """W-STEP-8, W-WIN-1: late steering comes in time for another step, or is queued behind the turn."""
    late = RUNNING + "; text; inject i; on user/message +1 { steer s }; stop"
    ways = {play(late, picks=picks).last for picks in product(range(2), repeat=6)}

    in_time, queued = ({way for way in ways if said in way} for said in ("+s steering", "+s queued"))
    assert in_time
    assert queued == ways - in_time
    assert all("-s steering" in way for way in in_time)


def test_context_that_comes_during_the_last_drain_is_committed_or_waits():
    """W-WIN-5: free; it forces no step either way."""
    scenario = RUNNING + "; text; inject i; on user/message { inject j }; stop"

    assert play(scenario, context_at_stop="staged").last == "user i · turn 1 completed · settled 1 completed · idle"
    assert play(scenario, context_at_stop="appended").last == (
        "user i · user j · turn 1 completed · settled 1 completed · idle"
    )


def test_a_turn_stopping_hook_that_throws_fails_the_turn():
    """W-TURN-5: staged input stays staged, in order (W-WIN-5)."""
    run = play(RUNNING + "; text; [inject i; steer s]; throw turn-stopping")

    assert (run.last, run.pending) == ("error 1.1 · turn 1 error · settled 1 error · idle", ("", "i s"))


def test_a_truncated_reply_owes_no_tool_calls():
    """W-STEP-3: the calls of a reply that hit the ceiling are dropped."""
    run = play(RUNNING + "; max-tokens x:exc")

    assert (run.last, run.gates) == ("assistant · step-end 1.1", "turn-stopping")


def test_streamed_text_is_part_of_the_reply():
    """W-LOG-1: partial text goes on in the message that completes it."""
    run = play(RUNNING + "; partial hel; partial lo; text")

    assert run.now.events[0].text == "helloreply"


# ------------------------------------------------------------------------------------------------ log
def test_a_crash_closes_the_open_turn_and_answers_its_calls():
    """W-LOG-3: everything before is kept, between-turn input too; what was only in memory is gone."""
    run = play("inject i; " + TOOLS + "x:exc y:exc; [followup b; steer s]; resume crash; followup c; allow")

    assert run.last == "turn 2 · user c · step 2.1 · request i a A R:x R:y c"


def test_compaction_keeps_input_between_turns():
    """W-LOG-3: each run of turns becomes one summary."""
    run = play(RUNNING + "; text; stop; inject i; resume compact; followup b; allow")

    assert run.last == "turn 2 · user b · step 2.1 · request compaction-1 i b"


def test_a_resumed_agent_derives_the_same_history():
    """W-LOG-4: the next request shows the log as it was."""
    before = play(RUNNING + "; text; stop").machine.history.messages

    assert play(RUNNING + "; text; stop; resume fork").machine.history.messages == before


# ------------------------------------------------------------------------------------------------ references
def test_a_reference_outside_the_window_travels_in_the_admission():
    """W-XREF-1: after the other contexts of the decision; a blocked prompt takes it along."""
    run = play("reference a snap; allow +h")

    assert run.last == "turn 1 · user a · user h · user snap · step 1.1 · request a h snap"
    assert play("reference a snap; block").last == "idle"


def test_a_reference_inside_the_window_is_injected_beside_steering():
    """W-XREF-1: the snapshot first."""
    run = play(RUNNING + "; reference s snap; text")

    assert run.last.endswith("user snap · -s steering · steering s · step-end 1.1 · step 1.2 · request a A snap s")


def test_the_goal_is_folded_from_the_log():
    """W-GOAL-1: a round-zero message carries the whole change, and says the same in its text."""
    run = play()
    change = {"objective": "ship"}
    run.machine.ask(v.inject(v.Message("g", goal_text(change), v.Source("goal", {"round": 0, "change": change}))))

    run("goal")

    assert run.now.goal == {"state": change, "rounds": 0}


def test_a_goal_whose_text_and_source_disagree_is_refused():
    """W-GOAL-1: a loud error, never a guess."""
    run = play()
    run.machine.ask(
        v.inject(v.Message("g", "goal {}", v.Source("goal", {"round": 0, "change": {"objective": "ship"}})))
    )

    run("goal")

    assert run.now.refused is not None
