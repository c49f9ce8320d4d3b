"""What the monitors of the step boundary catch, each beside a lawful stream."""

from __future__ import annotations

from model.monitors.claim_streams import assert_caught, broken, events, judge, stream


def test_a_batch_in_another_order_is_caught():
    """C-PRE-1: the entered batch opens the step, in order."""
    good = stream("inject i; followup a; enter")
    bad = good.swap("user(i)", "user(a)").change("request(i,a)", "request(a,i)")

    assert_caught("C-PRE-1", good, bad)


def test_a_batch_with_something_missing_or_more_is_caught():
    """C-PRE-1: exactly these messages."""
    good = stream("inject i; followup a; enter a")
    bad = (
        good.without("user(a)").change("request(a)", "request()"),
        good.put("user(i)", before="user(a)").change("request(a)", "request(i,a)"),
    )

    assert_caught("C-PRE-1", good, *bad)


def test_a_message_behind_the_request_is_caught():
    """C-PRE-1: the batch comes before the request, and nothing behind it."""
    good = stream("followup a; enter a +x")

    assert_caught("C-PRE-1", good, good.swap("user(x)", "request(a,x)").change("request(a,x)", "request(a)"))


def test_a_second_decision_at_one_boundary_is_caught():
    """C-PRE-1: at most one decision."""
    good = stream("followup a; enter")

    assert_caught("C-PRE-1", good, good.put("?pre-step@g9", before="step(1.1)"))


def test_a_decision_that_is_asked_after_a_cancel_is_caught():
    """C-PRE-1: none once a cancel came after the claim."""
    good = stream("on agent/inbox/claimed { cancel keep }; followup a; followup b; enter")
    bad = good.put("?pre-step@g1", after="claimed(a,1)")

    assert "?pre-step" not in good.tokens[: good.tokens.index("end(1,aborted:user)")]
    assert_caught("C-PRE-1", good, bad)


def test_a_step_after_a_rejection_is_caught():
    """C-PRE-2: no step opens, nothing is appended."""
    good = stream("followup a; reject")
    bad = good.put("step(1.1) user(a) request(a) assistant(1.1) step-end(1.1)", before="end(1,blocked)")

    assert_caught("C-PRE-2", good, bad, also="C-TURN-5")


def test_a_rejection_that_ends_well_is_caught():
    """C-PRE-2: the turn ends blocked, or in error where the decision failed."""
    good = stream("followup a; reject; followup b; throw pre-step")
    bad = (
        good.change("end(1,blocked)", "end(1,completed)"),
        good.change("end(2,error)", "end(2,blocked)").without("error(2.0)"),
    )

    assert_caught("C-PRE-2", good, *bad, also="C-TURN-5 C-PRE-3")


def test_an_empty_batch_that_opens_a_step_is_caught():
    """C-PRE-3: the first boundary opens none for it, a later one only with a result to answer."""
    good = stream("followup a; enter -")
    bad = good.put("step(1.1) request() assistant(1.1) step-end(1.1)", before="end(1,completed)")
    later = stream("followup a; enter; steer s; text; enter -")
    worse = later.put("step(1.2) request(a,>) assistant(1.2) step-end(1.2)", before="end(1,completed)")

    assert_caught("C-PRE-3", good, bad, also="C-STEP-4")
    assert_caught("C-PRE-3", later, worse, also="C-STEP-4")


def test_an_empty_batch_that_ends_in_error_is_caught():
    """C-PRE-3: such a turn counts as completed."""
    good = stream("followup a; enter -")

    assert_caught("C-PRE-3", good, good.change("end(1,completed)", "end(1,blocked)"), also="C-TURN-5")


def test_an_empty_batch_with_a_result_to_answer_goes_on():
    """C-PRE-3: a later boundary enters when the model owes a request."""
    good = stream("followup a; enter; tools c1:par; steer s; result; enter -")
    bad = good.show(events=tuple(events("end(1,completed) idle")), status="idle", gates=(), when_idle=True)

    assert "step(1.2)" in good.tokens
    assert_caught("C-PRE-3", good, bad, also="C-STEP-4")


def test_additions_that_change_their_order_are_caught():
    """C-PRE-4: what a decision adds follows return order."""
    good = stream("followup a; enter a +x +y; text")
    bad = good.swap("user(x)", "user(y)").change("request(a,x,y)", "request(a,y,x)")

    assert_caught("C-PRE-4", good, bad, also="C-PRE-1")


def test_an_addition_of_an_aborted_decision_leaves_no_trace():
    """C-PRE-4: what is returned comes to nothing when the turn is aborted."""
    good = stream("reset pre-step! model; followup a; cancel keep; enter a +x")
    bad = good.put("step(1.1) user(a) user(x) step-end(1.1)", before="end(1,aborted:user)")

    assert broken(bad) >= {"C-PRE-4", "C-CAN-4"}
    assert broken(good) == set()


def test_a_step_for_a_batch_that_was_claimed_before_a_cancel_is_caught():
    """C-CAN-4: it is neither appended nor put back."""
    good = stream("reset pre-step! model; followup a; cancel; enter")
    bad = good.put("step(1.1) user(a) step-end(1.1)", before="end(1,aborted:user)")

    assert_caught("C-CAN-4", good, bad, also="C-PRE-4")


def test_a_request_after_a_cancel_in_the_opening_of_its_step_is_caught():
    """C-CAN-4: a cancel inside step/start takes effect before the request."""
    good = stream("on step/start { cancel }; followup a; enter")
    bad = good.put("request(a)", after="user(a)")

    assert judge(good).exercised["C-CAN-4"]
    assert_caught("C-CAN-4", good, bad)


def test_a_snapshot_that_is_left_behind_is_caught():
    """C-XREF-1: the snapshot is returned in the prompt's own pre-step."""
    good = stream("reference a b; enter; text")
    bad = good.without("user(b)").change("request(a,b)", "request(a)")

    assert_caught("C-XREF-1", good, bad, also="C-PRE-1")


def test_a_reference_inside_an_event_that_is_held_back_may_find_the_agent_running():
    """C-XREF-1: the loop has run in the stack of the listener's send by then."""
    nested = "on agent/inbox/inserted { followup a }; on agent/inbox/inserted #2 { reference d e }; followup b"

    assert broken(stream(nested)) == set()


def test_a_snapshot_that_comes_behind_its_prompt_is_caught():
    """C-XREF-1: into a running turn the snapshot is injected first."""
    good = stream("followup a; enter; reference d b")
    bad = (
        good.swap("next-step[0]+b", "next-step[1]+d")
        .change("next-step[1]+d", "next-step[0]+d")
        .change("next-step[0]+b", "next-step[1]+b")
    )

    assert_caught("C-XREF-1", good, bad.swap("inserted(b)", "inserted(d)").show(step="d b"))


def test_what_is_sent_with_a_snapshot_may_be_meant_where_its_id_is_sent_twice():
    """C-PRE-1: which of the two came first isn't shown where both may come at any time."""
    late = "on agent/inbox/spliced +2 { reference b d; followup b }; "

    assert broken(stream(late + "inject a; enter")) == set()
