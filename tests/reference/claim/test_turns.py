"""Turns, steps and tool batches."""

from __future__ import annotations

import pytest


def test_a_prompt_becomes_one_turn_of_one_step(stage, all_gates):
    """
    C-TURN-1, C-STEP-1, C-PRE-1: the whole life of a message, in order.
    """
    it = stage(all_gates)

    it.play("followup a; enter; text; stop")

    assert it.told == [
        *("next-turn[0:0]=(a)", "inserted a", "running", "turn 1", "next-turn[0:1]=()", "claimed a", "open pre-step"),
        *("step 1.1", "user a", "request a", "open model"),
        *("answer", "close 1.1", "open turn-stopping"),
        *("end 1 completed", "idle"),
    ]


def test_pending_input_of_any_kind_starts_the_next_turn_after_a_success(stage):
    """
    C-TURN-6, C-TURN-4: quiet input too, observed.
    """
    it = stage()

    it.play("followup a; park q; text")

    assert it.tells("turn", "end") == ["turn 1", "end 1 completed", "turn 2"]


def test_the_ceiling_decides_the_reason_of_the_whole_turn(stage):
    """
    C-TURN-5: a later step that went well doesn't undo it.
    """
    it = stage()

    it.play("followup a; steer s; ceiling; text")

    assert it.tells("end") == ["end 1 max-tokens"]


def test_calls_of_an_answer_that_hit_the_ceiling_are_not_run(stage):
    """
    C-STEP-4: they may be incomplete, so the answer has none and owes nothing.
    """
    it = stage()

    assert it.play("followup a; ceiling c1=par") == ["answer", "close 1.1", "end 1 max-tokens", "idle"]


def test_results_are_answered_even_in_a_turn_that_hit_the_ceiling(stage):
    """
    C-STEP-4: the model is owed a request whatever an earlier step's finish was.
    """
    it = stage()

    it.play("followup a; steer s; ceiling; tools c1=par")

    assert it.play("result")[-3:] == ["step 1.3", "request a answer s answer c1", "open model"]


@pytest.mark.parametrize("keep", ["cancel", "cancel keep"])
def test_a_failure_that_was_told_stays_the_reason(stage, keep):
    """
    C-TURN-5, C-CAN-2: a cancel by the listener of the error changes nothing about it, and its own effect holds.
    """
    it = stage()
    it.play("followup a; followup b")
    it.on("agent/error", keep)

    it.play("fail")

    assert it.tells("end") == ["end 1 error"]
    assert (it.seen["status"], it.waiting) == ("idle", (["b"] if "keep" in keep else [], []))


@pytest.mark.parametrize(
    "failure", ["followup a; fail", "followup a; text; throw turn-stopping"], ids=["request", "turn-stopping"]
)
def test_waking_input_is_parked_after_a_failed_turn(stage, failure):
    """
    C-PRE-5: latitude after-reject, observed.
    """
    it = stage(("model", "turn-stopping"))

    it.play(failure.replace("a;", "a; followup b;", 1))

    assert it.tells("error", "end") == ["error 1.1", "end 1 error"]
    assert (it.seen["status"], it.waiting) == ("idle", (["b"], []))


def test_a_retry_repeats_the_request_inside_the_step(stage):
    """
    C-STEP-1: observed; input that came meanwhile waits for the boundary.
    """
    it = stage(("model", "request-error"))

    it.play("followup a; fail; inject i")

    assert it.play("retry") == ["request a", "open model"]
    assert it.play("text")[:2] == ["answer", "close 1.1"]


@pytest.mark.parametrize("answer", ["giveup", "throw request-error"])
def test_a_request_that_failed_for_good_fails_the_turn_after_its_step(stage, answer):
    """
    C-TURN-5: the step closes, the error is told, the turn ends.
    """
    it = stage(("model", "request-error"))

    assert it.play(f"followup a; fail; {answer}") == ["close 1.1", "error 1.1", "end 1 error", "idle"]


def test_calls_and_results_are_in_call_order(stage):
    """
    C-STEP-2: whichever tool answers first.
    """
    it = stage()
    it.play("followup a; tools c1=par c2=par")

    second = it.seen["gates"][1]["id"]
    it.perform("release", {"gate": second, "outcome": {"kind": "result"}})
    assert it.tells("result") == []

    it.play("result")
    assert it.tells("call", "result") == ["call c1", "call c2", "result c1 ok", "result c2 ok"]


def test_an_exclusive_call_runs_alone(stage):
    """
    C-STEP-2: parallel calls side by side, exclusive ones by themselves.
    """
    it = stage()

    it.play("followup a; tools c1=par c2=par c3=exc c4=par")
    assert it.tells("call") == ["call c1", "call c2"]
    it.play("result; result")
    assert it.tells("call") == ["call c1", "call c2", "call c3"]
    it.play("result")
    assert it.tells("call") == ["call c1", "call c2", "call c3", "call c4"]


def test_an_unknown_tool_is_an_error_for_the_model_to_read(stage):
    """
    C-STEP-2: one call, one result, no gate.
    """
    it = stage()

    assert it.play("followup a; tools c1=nobody")[:4] == ["answer c1", "call c1", "result c1 UNKNOWN_TOOL", "close 1.1"]


def test_the_context_of_a_tool_waits_behind_what_was_sent_before_it(stage):
    """
    C-STEP-3, C-STEP-2: after its own result, FIFO with the rest, in the log only after the whole batch.
    """
    it = stage()
    it.play("followup a; tools c1=par c2=par; inject i")

    assert it.play("result x:tool y:tool") == [
        *("result c1 ok", "next-step[1:1]=(x)", "inserted x", "next-step[2:2]=(y)", "inserted y")
    ]
    assert it.play("result")[:2] == ["result c2 ok", "close 1.1"]
    assert it.tells("user") == ["user a", "user i", "user x", "user y"]


def test_context_alone_continues_the_turn(stage, all_gates):
    """
    C-STEP-4: as steering does; turn-stopping is asked when nothing is left, and again after each further step.
    """
    it = stage(all_gates)
    it.play("followup a; enter; inject i; text")
    assert it.gates == ["pre-step"]

    it.play("enter; text")
    assert it.gates == ["turn-stopping"]

    it.play("inject j; stop; enter; text")
    assert it.gates == ["turn-stopping"]
    assert it.tells("step") == ["step 1.1", "step 1.2", "step 1.3"]


@pytest.mark.parametrize(
    ("results", "ends"),
    [
        ("result concludes; result", True),
        ("result; result concludes", True),
        ("toolfails concludes; result", False),
        ("result; result", False),
    ],
)
def test_one_successful_conclusion_anywhere_in_the_batch_ends_the_turn(stage, results, ends):
    """
    C-STEP-5: the other calls still run, and an error never concludes.
    """
    it = stage()

    it.play(f"followup a; tools c1=exc c2=exc; {results}")

    assert it.tells("call") == ["call c1", "call c2"]
    assert (it.tells("end") == ["end 1 completed"]) == ends


def test_pending_input_outlives_a_conclusion(stage):
    """
    C-STEP-5: observed; the turn goes on with the input, and the request shows the result.
    """
    it = stage()

    it.play("followup a; tools c1=par; steer s")

    assert it.play("result concludes")[-4:] == ["step 1.2", "user s", "request a answer c1 s", "open model"]


def test_the_request_shows_the_log(stage):
    """
    C-REQ-1: across turns, in log order, failures and interruptions included.
    """
    it = stage()

    it.play("followup a; tools c1=par; toolfails; partial some; cancel; followup b")

    assert it.tells("request")[-1] == "request a answer c1 answer b"
