"""What the monitors of turns and steps catch, each beside a lawful stream."""

from __future__ import annotations

from model.monitors.claim_streams import assert_caught, broken, judge, stream

IN_STEP = "followup a; enter; "
TOOLS = IN_STEP + "tools c1:exc c2:exc; "


def test_a_turn_number_with_a_gap_is_caught():
    """C-TURN-1: numbers rise by one."""
    good = stream(IN_STEP + "text; stop; followup b")

    assert_caught("C-TURN-1", good, good.change("turn(2)", "turn(3)").change("claimed(b,2)", "claimed(b,3)"))


def test_a_turn_that_ends_twice_is_caught():
    """C-TURN-1: turns are balanced."""
    good = stream(IN_STEP + "text; stop")

    assert_caught("C-TURN-1", good, good.put("end(1,completed)", after="end(1,completed)"))


def test_execution_between_turns_is_caught():
    """C-TURN-2: execution lies inside a turn, and names it."""
    good = stream(IN_STEP + "text; stop; followup b")

    assert_caught("C-TURN-2", good, good.put("user(z)", after="end(1,completed)"))
    assert_caught("C-TURN-2", good, good.change("assistant(reply)", "assistant(2.1)"), also="C-STEP-1")


def test_a_second_prompt_in_a_turn_is_caught():
    """C-TURN-3: a turn claims one next-turn message."""
    good = stream("quiet p; quiet q; followup a; enter")
    bad = (
        good.change("next-turn[0]-1", "next-turn[0]-2")
        .put("claimed(q,1)", after="claimed(p,1)")
        .put("user(q)", after="user(p)")
        .change("request(p)", "request(p,q)")
        .show(at=3, turn="a")
        .show(turn="a")
    )

    assert_caught("C-TURN-3", good, bad, also="C-CLAIM-1 C-PRE-1")


def test_a_turn_inside_a_turn_is_caught():
    """C-TURN-4: turn n+1 starts after the end of turn n."""
    good = stream(IN_STEP + "followup b; text; stop")
    bad = good.swap("end(1,completed)", "turn(2)")

    assert "C-TURN-4" in broken(bad)
    assert judge(good).exercised["C-TURN-4"] == 1


def test_a_cancelled_turn_that_ends_well_is_caught():
    """C-TURN-5: aborted comes first."""
    good = stream(IN_STEP + "cancel")

    assert_caught("C-TURN-5", good, good.change("end(1,aborted:user)", "end(1,completed)"), also="C-STEP-4")


def test_a_later_cause_is_caught():
    """C-TURN-5: the first cause stands."""
    good = stream("reset pre-step model!; followup a; enter; cancel; cancel parent; text")

    assert_caught("C-TURN-5", good, good.change("end(1,aborted:user)", "end(1,aborted:parent)"), also="C-CAN-1")


def test_a_failure_that_is_not_announced_is_caught():
    """C-TURN-5: agent/error comes before the end of a failed turn, and fixes its reason."""
    good = stream(IN_STEP + "error; give-up")

    assert_caught(
        "C-TURN-5", good, good.without("error(1.1)"), good.change("end(1,error)", "end(1,completed)"), also="C-STEP-4"
    )


def test_a_ceiling_that_is_forgotten_is_caught():
    """C-TURN-5: max-tokens once any step hit it."""
    good = stream(IN_STEP + "max; stop; followup b; enter; text; stop")
    bad = (
        good.change("end(1,max-tokens)", "end(1,completed)"),
        good.change("end(2,completed)", "end(2,max-tokens)"),
        good.change("end(2,completed)", "end(2,blocked)"),
    )

    assert_caught("C-TURN-5", good, *bad)


def test_a_cancel_in_a_listener_of_a_failure_leaves_the_reason():
    """C-TURN-5: a failure is fixed once it is announced."""
    told = stream("on agent/error { cancel }; " + IN_STEP + "error; give-up")

    assert "end(1,error)" in told.tokens
    assert broken(told) == set()


def test_a_step_out_of_number_is_caught():
    """C-STEP-1: steps are numbered from 1 in their turn."""
    good = stream(TOOLS + "result; result; enter; text")
    bad = good.change("step(1.2)", "step(1.3)").change("step-end(1.2)", "step-end(1.3)")

    assert_caught("C-STEP-1", good, bad.change("assistant(reply)", "assistant(1.3)"))


def test_a_second_request_in_a_step_is_caught():
    """C-STEP-1: one request each, repeated by a retry only."""
    good = stream(IN_STEP + "error; retry")

    assert_caught("C-STEP-1", good, good.put("request(a)", after="request(a)", nth=2))


def test_output_outside_its_step_is_caught():
    """C-STEP-1: what belongs to a step lies in it."""
    good = stream(IN_STEP + "text; stop")

    assert_caught("C-STEP-1", good, good.swap("assistant(reply)", "step-end(1.1)"))


def test_input_inside_a_tool_batch_is_caught():
    """C-STEP-2: between calls and results nothing else is appended."""
    good = stream(TOOLS + "result; result")
    bad = good.put("user(z)", after="result(c1)")

    assert_caught("C-STEP-2", good, bad, also="C-PRE-1")


def test_a_call_without_its_result_is_caught():
    """C-STEP-2: every call has one result before the step ends, also after a cancel."""
    good = stream(TOOLS + "result; result; enter")

    assert_caught(
        "C-STEP-2", good, good.without("result(c2)").change("request(a,>c1.c2,<c1,<c2)", "request(a,>c1.c2,<c1)")
    )

    cancelled = stream(TOOLS + "cancel")
    assert_caught("C-STEP-2", cancelled, cancelled.without("call(c2)", "result(c2:ABORTED_BEFORE_DISPATCH)"))


def test_results_out_of_call_order_are_caught():
    """C-STEP-2: in call order, once."""
    good = stream(IN_STEP + "tools c1:par c2:par; [result; result]; enter")
    bad = (
        good.swap("result(c1)", "result(c2)").change("request(a,>c1.c2,<c1,<c2)", "request(a,>c1.c2,<c2,<c1)"),
        good.swap("call(c1)", "call(c2)"),
        good.put("result(c1)", after="result(c1)").change("request(a,>c1.c2,<c1,<c2)", "request(a,>c1.c2,<c1,<c1,<c2)"),
    )

    assert_caught("C-STEP-2", good, *bad)


def test_a_result_before_its_call_is_caught():
    """C-STEP-2: a call not started gets both at once, the call first."""
    good = stream(TOOLS + "cancel")

    assert_caught("C-STEP-2", good, good.swap("call(c2)", "result(c2:ABORTED_BEFORE_DISPATCH)"))


def test_a_context_before_its_result_is_caught():
    """C-STEP-3: what a tool brings along enters behind its result."""
    good = stream(IN_STEP + "tools c1:par; result +x")
    bad = good.without("result(c1)").put("result(c1)", after="inserted(x)")

    assert_caught("C-STEP-3", good, bad)


def test_a_context_that_is_lost_or_misplaced_is_caught():
    """C-STEP-3: each enters next-step, at the end, in order."""
    good = stream(TOOLS + "steer s; result +x +y")
    bad = (
        good.without("next-step[2]+y", "inserted(y)").show(step="s x"),
        good.change("next-step[2]+y", "next-step[0]+y").show(step="y s x"),
        good.change("next-step[1]+x", "next-step[1]+y").change("next-step[2]+y", "next-step[2]+x").show(step="s y x"),
    )

    assert_caught("C-STEP-3", good, *bad, also="C-SEND-2")


def test_a_turn_that_ends_over_steering_is_caught():
    """C-STEP-4: while next-step input waits, the turn goes on."""
    good = stream(IN_STEP + "steer s; text; enter; text; stop")
    bad = good.put("?turn-stopping@g9", before="next-step[0]-1", nth=1)

    assert_caught("C-STEP-4", good, good.put("?turn-stopping@g9", after="step-end(1.1)"), bad)


def test_a_turn_that_leaves_a_result_unanswered_is_caught():
    """C-STEP-4: the model owes a request while a result of the last step is unanswered."""
    good = stream(TOOLS + "result; result; enter; text; stop")
    cut = stream(TOOLS + "result; result").without("?pre-step", nth=2)

    assert_caught("C-STEP-4", good, cut.put("?turn-stopping@g9", after="step-end(1.1)").show(gates=()))


def test_a_ceiling_does_not_excuse_an_unanswered_result():
    """C-STEP-4: whatever an earlier step's finish was."""
    good = stream(IN_STEP + "steer s; max; enter; tools c1:par; result; enter; text; stop")
    cut = stream(IN_STEP + "steer s; max; enter; tools c1:par; result").without("?pre-step", nth=3)
    bad = cut.put("end(1,max-tokens) idle", after="step-end(1.2)").show(gates=(), status="idle", when_idle=True)

    assert_caught("C-STEP-4", good, bad)


def test_a_turn_that_does_not_ask_before_it_stops_is_caught():
    """C-STEP-4: turn-stopping is asked again after each further step."""
    good = stream(IN_STEP + "text; steer s; stop; enter; text; stop")
    bad = good.without("?turn-stopping", nth=2)

    assert_caught("C-STEP-4", good, bad)


def test_a_step_after_a_conclusion_is_caught():
    """C-STEP-5: a concluding result ends the turn unless next-step input waits."""
    good = stream(IN_STEP + "tools c1:par; result concludes")
    bad = good.change("?turn-stopping", "step(1.2) request(a,>c1,<c1) ?model@g9").show(gates=())

    assert_caught("C-STEP-5", good, bad)
    assert broken(stream(IN_STEP + "tools c1:par; steer s; result concludes; enter; text; stop")) == set()


def test_an_error_that_concludes_is_caught():
    """C-STEP-5: an error never concludes."""
    good = stream(IN_STEP + "tools c1:par; fault concludes; enter; text; stop")
    cut = stream(IN_STEP + "tools c1:par; fault concludes").without("?pre-step", nth=2)
    bad = cut.put("end(1,completed) idle", after="step-end(1.1)").show(gates=(), status="idle", when_idle=True)

    assert_caught("C-STEP-5", good, bad, also="C-STEP-4")


def test_a_request_that_differs_from_the_log_is_caught():
    """C-REQ-1: exactly the log's messages, in log order."""
    good = stream(TOOLS + "result; result; steer s; enter; text; enter")
    bad = (
        good.change("request(a,>c1.c2,<c1,<c2)", "request(a,>c1.c2,<c2,<c1)"),
        good.change("request(a,>c1.c2,<c1,<c2)", "request(a,>c1.c2,<c1)"),
        good.change("request(a,>c1.c2,<c1,<c2)", "request(a,>c1.c2,<c1,<c2,z)"),
        good.change("request(a)", "request(a=other)"),
    )

    assert_caught("C-REQ-1", good, *bad)
