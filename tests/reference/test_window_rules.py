"""What the `window` agent does, rule by rule, seen through its driver."""

from __future__ import annotations

from window_plays import Play, started


def test_a_prompt_is_claimed_asked_about_told_and_run() -> None:
    """
    W-ADM-1, W-ADM-2: claim, status, question, dequeue; nothing is written before the prompt is allowed.
    """
    play = Play()

    assert play("followup a") == ["enqueue a queued", "status running", "open g1 prompt-submit", "dequeue a queued"]
    assert play("allow") == ["turn/start 1 message", "user/message a", "step/start 1 1", "request a", "open g2 model"]
    assert play("text") == ["assistant/message", "step/end 1 1", "open g3 turn-stopping"]
    assert play("continue") == ["turn/end 1 completed", "settled 1 completed", "status idle"]


def test_an_idle_injection_is_an_append_and_nothing_else() -> None:
    """
    W-ROUTE-3, W-ROUTE-4: no turn, no number, no status, no model.
    """
    play = Play()

    assert play("inject i") == ["user/message i"]
    assert play.seen["status"] == "idle"
    assert play("followup a; allow")[4:] == [
        "turn/start 1 message",
        "user/message a",
        "step/start 1 1",
        "request i a",
        "open g2 model",
    ]


def test_two_steers_of_one_idle_stack_are_two_turns() -> None:
    """
    W-ROUTE-5: both see the state before the admission.
    """
    play = Play()

    assert play("steer a & steer b")[:2] == ["enqueue a queued", "enqueue b queued"]
    assert play.inbox == (["b"], [])


def test_a_parked_prompt_goes_first_when_a_waking_one_follows() -> None:
    """
    W-WAKE-2, W-WAKE-3: quiet prompts wake nobody, and the queue is served from its head.
    """
    play = Play()

    assert play("quiet p") == ["enqueue p queued"]
    assert play.seen["whenIdle"] is True
    play("followup a & quiet q; allow; text; continue; allow; text; continue")
    assert play.inbox == (["q"], [])
    assert play.seen["status"] == "idle"


def test_input_for_one_boundary_reaches_the_next_request_in_order() -> None:
    """
    W-WIN-4, W-STEP-2: steering and context keep the order of their acceptance.
    """
    play = started()
    play("inject i; steer s; inject j")

    assert play("text") == [
        "assistant/message",
        "user/message i",
        "dequeue s steering",
        "steering/message 1 s",
        "user/message j",
        "step/end 1 1",
        "step/start 1 2",
        "request a <> i s j",
        "open g3 model",
    ]


def test_context_alone_is_written_but_forces_no_step() -> None:
    """
    W-STEP-5: the turn goes on to its end.
    """
    play = started()
    play("inject i")

    assert play("text") == ["assistant/message", "user/message i", "step/end 1 1", "open g3 turn-stopping"]


def test_steering_at_turn_stopping_keeps_the_turn_going_and_it_is_asked_again() -> None:
    """
    W-STEP-8: and what was staged before the steering goes along.
    """
    play = started()
    play("text; inject i; steer s")

    assert play("continue")[:4] == ["user/message i", "dequeue s steering", "steering/message 1 s", "step/start 1 2"]
    assert play("text") == ["assistant/message", "step/end 1 2", "open g5 turn-stopping"]


def test_steering_sent_while_the_last_context_is_written_still_gets_its_step() -> None:
    """
    W-STEP-8: no steering that the window accepted is left when a turn completes.
    """
    play = started()
    play("text; inject i; on user/message do steer s")

    assert play("continue") == [
        "user/message i",
        "enqueue s steering",
        "dequeue s steering",
        "steering/message 1 s",
        "step/start 1 2",
        "request a <> i s",
        "open g4 model",
    ]


def test_steering_sent_when_the_turn_ends_is_a_prompt_of_its_own() -> None:
    """
    W-WIN-1, W-WIN-3: the window closes just before the end of the turn is told.
    """
    play = started()
    play("text; on turn/end do steer s & inject i")

    assert play("continue") == [
        "turn/end 1 completed",
        "enqueue s queued",
        "user/message i",
        "settled 1 completed",
        "open g4 prompt-submit",
        "dequeue s queued",
    ]


def test_what_an_allowed_prompt_brings_stands_between_leftovers_and_newcomers() -> None:
    """
    W-ADM-3, W-ADM-7: retained input, prompt, contexts of the decision, then what this admission accepted.
    """
    play = Play()
    play("followup a; inject i; steer s; block")
    assert play.inbox == ([], ["i", "s"])

    play("followup b; steer t")
    assert play("allow c1 c2") == [
        "turn/start 1 message",
        "user/message i",
        "dequeue s steering",
        "steering/message 1 s",
        "user/message b",
        "user/message c1",
        "user/message c2",
        "dequeue t steering",
        "steering/message 1 t",
        "step/start 1 1",
        "request i s b c1 c2 t",
        "open g3 model",
    ]


def test_content_replaces_the_text_of_the_prompt_and_nothing_else() -> None:
    """
    W-ADM-4: identity and source stay.
    """
    play = Play()
    play("followup a")
    play.request("release", {"kind": "prompt-submit", "outcome": {"kind": "allow", "content": "better"}})

    committed = next(event for event in play.seen["events"] if event["type"] == "user/message")
    assert committed == {"kind": "session", "type": "user/message", "id": "a", "source": "user", "text": "better"}
    assert play.seen["events"][-2]["messages"] == [{"role": "user", "id": "a", "text": "better"}]


def test_a_blocked_prompt_leaves_nothing_and_the_next_one_is_served() -> None:
    """
    W-ADM-5, W-ADM-8: no turn, no number, neither the prompt nor the contexts of the decision.
    """
    play = Play()
    play("followup a & followup b")

    assert play("block c") == ["open g2 prompt-submit", "dequeue b queued"]
    assert play("throw prompt-submit") == ["status idle"]
    assert play("followup d; allow")[4] == "turn/start 1 message"


def test_context_beside_a_rejected_prompt_goes_to_the_log_unless_steering_is_there() -> None:
    """
    W-ADM-6, W-ADM-7: context alone is appended, outside any turn; beside steering all stays.
    """
    play = Play()

    assert play("followup a; inject i; inject j; block")[-3:] == ["user/message i", "user/message j", "status idle"]
    assert play("followup b; inject k; steer s; throw prompt-submit")[-1] == "status idle"
    assert play.inbox == ([], ["k", "s"])


def test_calls_of_one_kind_run_together_and_answer_in_call_order() -> None:
    """
    W-STEP-3, W-STEP-4: results wait for the earlier calls, contexts for the whole batch.
    """
    play = started()
    play("inject i")

    assert play("calls par:1 par:2 exc:3 nope:4")[1:] == [
        "tool/call par:1",
        "open g3 tool",
        "tool/call par:2",
        "open g4 tool",
    ]
    play.request("release", {"gate": "g4", "outcome": {"kind": "error", "additionalContexts": []}})
    assert play.seen["events"] == []
    assert play("result c1") == ["tool/result par:1", "tool/result par:2 error", "tool/call exc:3", "open g5 tool"]
    assert play("result c3") == [
        "tool/result exc:3",
        "tool/call nope:4",
        "tool/result nope:4 UNKNOWN_TOOL",
        "user/message i",
        "user/message c1",
        "user/message c3",
        "step/end 1 1",
        "step/start 1 2",
        "request a <par:1,par:2,exc:3,nope:4> par:1 par:2 exc:3 nope:4 i c1 c3",
        "open g6 model",
    ]


def test_a_concluding_result_ends_the_turn_and_leaves_later_steering_staged() -> None:
    """
    W-STEP-6, W-WIN-5: even steering doesn't keep it going, and what comes too late waits for the next turn.
    """
    play = started()
    play("calls exc:1; steer s; on step/end do steer t")

    assert play("concluded") == [
        "tool/result exc:1",
        "dequeue s steering",
        "steering/message 1 s",
        "step/end 1 1",
        "enqueue t steering",
        "turn/end 1 completed",
        "settled 1 completed",
        "status idle",
    ]
    assert play.inbox == ([], ["t"])


def test_a_failed_tool_concludes_nothing() -> None:
    """
    W-STEP-6: after a batch another request follows.
    """
    play = started()
    play("calls exc:1")
    play.request("release", {"kind": "tool", "outcome": {"kind": "error", "concludes": True}})

    assert play.gates == ["model"]


def test_a_retry_is_a_turn_of_its_own_with_the_whole_outbox_and_before_the_queue() -> None:
    """
    W-TURN-6: no admission, no prompt; only the last turn of the chain is settled.
    """
    play = started("flush")
    play("followup b; steer s; error; inject i")

    assert play("retry") == ["error 1 scripted model failure", "turn/end 1 error", "open g4 flush"]
    assert play("saved") == [
        "turn/start 2 retry",
        "dequeue s steering",
        "steering/message 2 s",
        "user/message i",
        "step/start 2 1",
        "request a s i",
        "open g5 model",
    ]
    assert play("text; continue; saved")[-3:] == ["settled 2 completed", "open g8 prompt-submit", "dequeue b queued"]


def test_a_decided_retry_can_be_withdrawn_until_its_turn_starts() -> None:
    """
    W-CAN-7: the failed turn stays an error and is settled.
    """
    play = started("flush")
    play("error; retry")

    assert play("keep") == ["cancel-requested user"]
    assert play("saved") == ["settled 1 error", "status idle"]


def test_a_failed_recovery_gives_up() -> None:
    """
    W-TURN-5: the error of the request is what is told.
    """
    play = started()

    assert play("error; throw request-error")[-4:] == [
        "error 1 scripted model failure",
        "turn/end 1 error",
        "settled 1 error",
        "status idle",
    ]


def test_a_hook_that_throws_fails_the_turn_and_strands_nothing() -> None:
    """
    W-WIN-5: what was staged enters the next turn before its prompt.
    """
    play = started("step")
    play("step; text; inject i; throw turn-stopping; followup b; allow")
    assert play("step")[-2:] == ["request a <> i b", "open g7 model"]

    play("calls exc:1; result")
    assert play("throw step") == ["error 2 scripted step failure", "turn/end 2 error", "settled 2 error", "status idle"]


def test_an_answer_at_the_ceiling_loses_its_calls_and_marks_the_turn() -> None:
    """
    W-TURN-5: whatever later steps say.
    """
    play = started()
    play("steer s; max")

    assert play("text; continue")[-3:] == ["turn/end 1 max-tokens", "settled 1 completed", "status idle"]


def test_the_next_admission_waits_for_the_checkpoint_failed_or_not() -> None:
    """
    W-TURN-4, W-STAT-1: status stays running meanwhile, and a failure is told.
    """
    play = started("flush")

    assert play("text; continue; followup b")[-1] == "enqueue b queued"
    assert (play.seen["status"], play.seen["acceptsNextStep"], play.seen["whenIdle"]) == ("running", False, False)
    assert play("unsaved") == [
        "error 1 scripted flush failure",
        "settled 1 completed",
        "open g5 prompt-submit",
        "dequeue b queued",
    ]


def test_a_discarded_wakeup_keeps_the_waiter_until_the_admission_is_off() -> None:
    """
    W-WAKE-1: the agent never became running, so nothing is told.
    """
    play = Play()

    assert play("followup a & cancel") == ["enqueue a queued", "cancel-requested user", "discard a"]
    assert play.seen["whenIdle"] is True


def test_an_idle_listener_that_sends_starts_a_new_interval() -> None:
    """
    W-STAT-1, W-STAT-2: and who waits for rest waits on.
    """
    play = started()
    play("text; on agent/status do followup b")

    assert play("continue")[2:] == [
        "status idle",
        "enqueue b queued",
        "status running",
        "open g4 prompt-submit",
        "dequeue b queued",
    ]
    assert play.seen["whenIdle"] is False
