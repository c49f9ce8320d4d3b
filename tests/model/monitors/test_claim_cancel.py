"""What the monitors of cancels and disposal catch, each beside a lawful stream."""

from __future__ import annotations

from model.monitors.claim_streams import assert_caught, broken, judge, stream

from turnproof_model import vocabulary as v

IN_STEP = "followup a; enter; "
FULL = IN_STEP + "[steer s; inject i; followup b]; "


def test_a_cancel_that_drops_in_another_order_is_caught():
    """C-CAN-1: next-step first, each list in one splice."""
    good = stream(FULL + "cancel")
    turned = good.without("next-turn[0]-1!", "discarded(b)").put(
        "next-turn[0]-1! discarded(b)", before="next-step[0]-2!"
    )
    halves = good.change("next-step[0]-2!", "next-step[0]-1! discarded(s) next-step[0]-1!").without(
        "discarded(s)", nth=2
    )

    assert_caught("C-CAN-1", good, turned, halves)


def test_a_cancel_that_leaves_something_is_caught():
    """C-CAN-1: without keepInbox all that is pending is discarded."""
    good = stream(FULL + "cancel")

    assert_caught("C-CAN-1", good, good.without("next-turn[0]-1!", "discarded(b)").show(turn="b"), also="C-STAT-2")


def test_gates_that_hear_of_a_cancel_out_of_order_are_caught():
    """C-CAN-1: the open gates hear it in opening order, after the discards."""
    good = stream(IN_STEP + "tools c1:par c2:par; inject i; cancel")
    gates = [gate.id for gate in good.turns[-2][1].gates]
    named = good.change("!tool", f"!tool@{gates[0]}").change("!tool", f"!tool@{gates[1]}", nth=2)
    turned = good.change("!tool", f"!tool@{gates[1]}").change("!tool", f"!tool@{gates[0]}", nth=2)
    early = named.without("next-step[0]-1!", "discarded(i)").put(
        "next-step[0]-1! discarded(i)", before="result(c1:ABORTED)"
    )

    assert_caught("C-CAN-1", named, turned, early)


def test_a_gate_that_does_not_hear_of_a_cancel_is_caught():
    """C-CAN-1: a cancel aborts what is running."""
    good = stream("reset pre-step model!; followup a; enter; cancel")
    gate = good.turns[-1][1].gates[0]
    deaf = type(gate)(gate.id, gate.kind)

    assert_caught("C-CAN-1", good, good.show(gates=(deaf,)))


def test_a_turn_behind_a_cancel_between_turns_is_caught():
    """C-CAN-1: between turns a cancel stops the driver."""
    good = stream(IN_STEP + "followup b; on turn/end { cancel keep }; text; stop")
    bad = good.change("idle", "turn(2) next-turn[0]-1 claimed(b,2) ?pre-step@g9").show(
        turn="", status="running", when_idle=False
    )

    assert_caught("C-CAN-1", good, bad)


def test_a_cancel_that_keeps_nothing_it_should_keep_is_caught():
    """C-CAN-2: keepInbox keeps both lists."""
    good = stream(FULL + "cancel keep")
    bad = good.put("next-turn[0]-1! discarded(b)", before="!model").show(turn="")

    assert_caught("C-CAN-2", good, bad)


def test_kept_input_that_starts_by_itself_is_caught():
    """C-CAN-2: what was kept waits for the next wake."""
    good = stream(FULL + "cancel keep")
    bad = good.then(
        v.Inspect(),
        "running turn(2) next-step[0]-2 next-turn[0]-1 claimed(s,2) claimed(i,2) claimed(b,2) ?pre-step@g9",
        status="running",
        when_idle=False,
    ).show(turn="", step="")

    assert_caught("C-CAN-2", good, bad)


def test_a_cancel_of_nothing_that_leaves_a_trace_is_caught():
    """C-CAN-3: idle and empty, a cancel publishes nothing."""
    good = stream("cancel")

    assert_caught("C-CAN-3", good, good.then(v.Cancel(), "error(1.1)"))


def test_an_abort_that_nobody_asked_for_is_caught():
    """C-CAN-5: aborted needs a cancel of that turn."""
    good = stream(IN_STEP + "cancel; followup b; enter; text; stop")
    bad = good.change("end(2,completed)", "end(2,aborted:user)")

    assert_caught("C-CAN-5", good, bad)


def test_a_claim_behind_a_cancel_is_caught():
    """C-CAN-5: no claim begins between a cancel and the end of its turn."""
    good = stream("reset pre-step model!; followup a; enter; cancel; inject i; text")
    bad = good.put("next-step[0]-1 claimed(i,1)", after="step-end(1.1)").show(step="")

    assert_caught("C-CAN-5", good, bad)


def test_a_claim_that_had_begun_completes():
    """C-CAN-5: a cancel inside a claim lets it finish."""
    told = stream("inject i; on agent/inbox/spliced removedCount=1 { cancel keep }; followup a")

    assert "end(1,aborted:user)" in told.tokens
    assert broken(told) == set()


def test_a_turn_behind_a_disposal_is_caught():
    """C-DIS-1: no turn starts after the call."""
    good = stream(IN_STEP + "dispose")
    bad = good.put("running turn(2) end(2,aborted:disposed) idle", before="disposed")

    assert_caught("C-DIS-1", good, bad, also="C-CAN-5 C-TURN-5 C-WAKE-3 C-PRE-3")


def test_a_disposal_that_leaves_something_is_caught():
    """C-DIS-1: what is pending is discarded."""
    good = stream(FULL + "dispose")

    assert_caught("C-DIS-1", good, good.without("next-turn[0]-1!", "discarded(b)").show(turn="b"))


def test_a_disposed_agent_that_goes_on_is_caught():
    """C-DIS-1: agent/disposed follows the last idle, once."""
    good = stream(IN_STEP + "dispose")
    bad = (
        good.swap("idle", "disposed"),
        good.put("disposed", after="disposed"),
        good.put("request(a)", after="disposed"),
    )

    assert_caught("C-DIS-1", good, *bad, also="C-STEP-1 C-STAT-1")


def test_a_disposal_that_ends_its_turn_otherwise_is_caught():
    """C-DIS-1: the open turn ends aborted."""
    good = stream(IN_STEP + "dispose")

    assert_caught("C-DIS-1", good, good.change("end(1,aborted:disposed)", "end(1,completed)"), also="C-TURN-5 C-STEP-4")


def test_an_earlier_cause_stands():
    """C-DIS-1: a cancel that came first is the cause."""
    told = stream("reset pre-step model!; followup a; enter; cancel; dispose; text")

    assert "end(1,aborted:user)" in told.tokens
    assert broken(told) == set()


def test_a_refused_disposal_that_changes_something_is_caught():
    """C-DIS-1: a disposal that is refused changes nothing."""
    good = stream(IN_STEP + "dispose")
    bad = stream(IN_STEP + "inject i").then(v.Dispose(), "next-step[0]-1! discarded(i)", refused="busy").show(step="")

    assert_caught("C-DIS-1", good, bad)


def test_a_disposal_that_is_refused_and_happens_is_caught():
    """C-DIS-1: nor is the agent gone."""
    good = stream("inject i; on agent/inbox/spliced { dispose }; inject j; dispose")
    bad = good.put("disposed", after="next-step[1]+j")

    assert "refused(dispose)" in good.tokens
    assert_caught("C-DIS-1", good, bad)


def test_what_comes_late_and_unseen_accuses_nobody():
    """A cancel some breaks after an event may have come at any time: no rule relies on it."""
    told = stream("on turn/end +3 { cancel }; " + IN_STEP + "followup b; text; stop")

    assert judge(told).violations == []


def test_a_cancel_inside_what_a_discard_lets_a_listener_send_may_be_the_first():
    """C-CAN-1, C-TURN-5: the cancel that discards aborts only then."""
    held = "reset pre-step model tool!; on agent/inbox/discarded { quiet g }; followup e; enter; tools c1:par"
    told = stream(held + "; followup f; on agent/inbox/inserted { cancel keep parent }; cancel; result c1")

    assert broken(told) == set()
    assert broken(told.change("end(1,aborted:parent)", "end(1,aborted:user)")) == set()


def test_a_cancel_inside_a_loop_that_a_listener_started_is_not_at_its_place():
    """C-CAN-1, C-CAN-5: the agent holds it back until the listener's event is out, and the loop has run by then."""
    nested = "on agent/status status=idle #2 { steer f }; cancel; followup i; on agent/status #2 { cancel }; cancel"

    assert broken(stream("followup b; " + nested)) == set()
