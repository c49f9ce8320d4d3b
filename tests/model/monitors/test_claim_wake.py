"""What the monitors of waking and idleness catch, each beside a lawful stream."""

from __future__ import annotations

import pytest
from claim_notation import person
from model.monitors.claim_streams import assert_caught, broken, judge, stream

from turnproof_model import vocabulary as v

IN_STEP = "followup a; enter; "


def test_an_injection_that_wakes_is_caught():
    """C-SEND-4: an injection wakes nobody."""
    good = stream("inject i")
    bad = good.put("running turn(1) next-step[0]-1 claimed(i,1) ?pre-step@g1", after="inserted(i)")

    assert_caught("C-SEND-4", good, bad.show(step="", status="running", when_idle=False))


def test_a_quiet_prompt_that_wakes_is_caught():
    """C-WAKE-2: a quiet prompt stays parked."""
    good = stream("quiet p")
    bad = good.put("running turn(1) next-turn[0]-1 claimed(p,1) ?pre-step@g1", after="inserted(p)")

    assert_caught("C-WAKE-2", good, bad.show(turn="", status="running", when_idle=False))


def test_input_whose_place_among_others_of_its_stack_is_open_is_not_surely_late():
    """C-WAKE-3: one of two sends was refused, so the cancel behind them may have come before or after the other."""
    restarted = "reset pre-step model!; followup a; enter; cancel keep; followup b; text; enter; "
    told = stream(restarted + "[followup q; followup q; cancel keep]; text")

    assert told.turns[-1][1].inbox.next_turn == ("q",)
    assert broken(told) == set()


@pytest.mark.parametrize("sent", ["quiet", "followup", "steer"])
def test_a_replacement_by_what_is_sent_again_in_its_stack_is_no_send(sent):
    """C-EDIT-1, C-SEND-2: the send is refused, since the id is pending by then."""
    told = stream(f"quiet o; [{sent} a; {sent} b; replace b d; {sent} d]; cancel")

    assert "op-threw" in [event.type for event in told.turns[2][1].events]
    assert broken(told) == set()


def test_a_replacement_of_what_is_sent_in_its_stack_is_no_return_of_what_was_claimed():
    """C-CLAIM-3: sending the id anew is another matter."""
    told = stream("followup a; enter; text; stop; [inject a; cancel keep; inject a; replace a a]")

    assert broken(told) == set()


def test_a_cancel_behind_a_send_whose_listener_was_refused_may_come_after_what_that_did():
    """C-TURN-5: the listener of the send disposes, and sends in vain; the cancel is the second cause."""
    told = stream(
        IN_STEP + "on agent/inbox/inserted { dispose; inject i }; [inject j; cancel]", disposed_send="refused"
    )

    assert "op-threw" in [event.type for event in told.turns[-1][1].events]
    assert broken(told) == set()


def test_a_lost_wake_is_caught():
    """C-WAKE-1: a waking send starts an idle driver."""
    good = stream("followup a")
    bad = stream("quiet a").ask(v.followup(person("a")), at=1)

    assert_caught("C-WAKE-1", good, bad, also="C-STAT-2")


def test_a_send_that_returns_before_the_driver_has_started_is_caught():
    """C-WAKE-1: the next operation of that stack finds it running."""
    good = stream("[steer a; steer b]; enter")
    both = v.Batch((v.steer(person("a")), v.steer(person("b"))))

    assert_caught("C-WAKE-1", good, stream("[inject a; steer b]").ask(both, at=1))


def test_a_cancel_behind_a_wake_leaves_open_what_becomes_of_it():
    """C-WAKE-1: nothing is claimed of a wake that is taken back in its own stack."""
    assert broken(stream("[followup a; cancel]")) == set()


def test_a_restart_for_nobody_is_caught():
    """C-WAKE-3: only late input that is still pending restarts the driver."""
    good = stream("reset pre-step model!; followup a; enter; cancel keep; quiet p; steer s; text")
    bad = stream("reset pre-step model!; followup a; enter; cancel keep; quiet p; steer s; remove s; text").put(
        "running turn(2) next-turn[0]-1 claimed(p,2) ?pre-step@g3", after="idle"
    )

    assert_caught("C-WAKE-3", good, bad.show(turn="", status="running", when_idle=False))


def test_late_input_may_stay_parked():
    """C-WAKE-3: latitude wake-after-abort."""
    told = stream(
        "reset pre-step model!; followup a; enter; cancel keep; steer s; text; followup b", wake_after_abort="parked"
    )

    assert judge(told).exercised["C-WAKE-3"]
    assert broken(told) == set()


def test_late_input_that_is_treated_both_ways_is_caught():
    """C-WAKE-3: an agent restarts for late input or doesn't; replace hands lateness on."""
    again = "; enter; cancel keep; followup t; replace t r; "
    good = stream("reset pre-step model!; followup a; enter; cancel keep; steer s; text" + again + "text")
    bad = (
        good.without("turn(3)", "claimed(r,3)", "?pre-step")
        .without("next-turn[0]-1", nth=3)
        .without("running", nth=3)
        .show(turn="r", status="idle", gates=(), when_idle=True)
    )

    assert_caught("C-WAKE-3", good, bad)


def test_late_input_that_runs_on_within_the_aborted_activity_is_caught():
    """C-WAKE-3: the driver goes idle before it starts again."""
    good = stream("reset pre-step model!; followup a; enter; cancel keep; steer s; text")

    assert_caught("C-WAKE-3", good, good.without("idle").without("running", nth=2))


def test_a_prompt_that_is_forgotten_after_a_turn_is_caught():
    """C-TURN-6: after a turn that ended well, what waits is next."""
    good = stream(IN_STEP + "followup b; text; stop")
    bad = (
        good.without("turn(2)", "claimed(b,2)")
        .change("next-turn[0]-1", "idle", nth=2)
        .without("?pre-step", nth=2)
        .show(turn="b", status="idle", gates=(), when_idle=True)
    )

    assert_caught("C-TURN-6", good, bad, also="C-STAT-2")


def test_quiet_input_may_wait_after_a_turn():
    """C-TURN-6: latitude idle-context."""
    for value in ("any", "waking"):
        told = stream(IN_STEP + "quiet p; text; stop", idle_context=value)

        assert judge(told).exercised["C-TURN-6"]
        assert broken(told) == set()


def test_a_driver_that_hangs_after_a_rejected_turn_is_caught():
    """C-PRE-5: it parks or it goes on."""
    good = stream("followup a; followup b; reject")
    bad = good.without("idle").show(status="running", when_idle=False)

    assert_caught("C-PRE-5", good, bad)
    assert broken(stream("followup a; followup b; reject", after_reject="continue")) == set()


def test_a_status_that_is_no_change_is_caught():
    """C-STAT-1: status is published on a change only."""
    good = stream(IN_STEP + "text; stop")

    assert_caught("C-STAT-1", good, good.put("running", after="running"), good.put("idle", after="idle"))


def test_an_idle_inside_a_turn_is_caught():
    """C-STAT-1: idle means that no turn is open."""
    good = stream(IN_STEP + "text; stop")

    assert_caught("C-STAT-1", good, good.swap("end(1,completed)", "idle"))


def test_a_waiter_that_resolves_in_a_running_agent_is_caught():
    """C-STAT-1: whoever waits for idleness is released there and not before."""
    good = stream(IN_STEP + "text; stop")

    assert_caught("C-STAT-1", good, good.show(at=2, when_idle=True), good.show(when_idle=False))


def test_a_restart_releases_no_waiter():
    """C-STAT-1: an idle that is followed at once by running isn't one."""
    good = stream("reset pre-step model!; followup a; enter; cancel keep; steer s; text")

    assert_caught("C-STAT-1", good, good.show(when_idle=True))


def test_a_waiter_may_resolve_while_what_was_to_wake_the_agent_is_refused():
    """C-STAT-1: the agent rests until something that comes later wakes it."""
    late = "inject e; on agent/inbox/discarded +1 { followup d }; [cancel; inject e; steer e]"

    assert broken(stream(late)) == broken(stream(late).show(when_idle=True)) == set()


def test_a_status_that_was_never_published_is_caught():
    """C-STAT-1: what is shown is what was published."""
    good = stream("followup a")

    assert_caught("C-STAT-1", good, good.without("running"), also="C-WAKE-1")


def test_waking_input_that_waits_at_idle_for_no_reason_is_caught():
    """C-STAT-2: only what the rules park may wait."""
    good = stream("reset pre-step model!; followup a; enter; followup b; cancel keep; text")
    bad = stream("quiet a").ask(v.Send(person("a"), "next-turn", wakeup=True), at=1)

    assert_caught("C-STAT-2", good, bad, also="C-WAKE-1")


def test_input_that_a_cancel_kept_may_wait():
    """C-STAT-2: kept by a cancel, left by a turn that failed, or resumed."""
    for scenario in (
        IN_STEP + "followup b; cancel keep",
        IN_STEP + "steer s; followup b; error; give-up",
        "followup a; followup b; reject",
        IN_STEP + "followup b; resume crash",
        IN_STEP + "followup b; dispose",
    ):
        told = stream(scenario).then(v.Inspect())

        assert judge(told).exercised["C-STAT-2"], scenario
        assert broken(told) == set(), scenario


def test_an_injection_inside_a_running_turn_is_no_occasion():
    """C-SEND-4: the premise is an idle agent."""
    assert judge(stream(IN_STEP + "inject i")).exercised["C-SEND-4"] == 0
    assert judge(stream("inject i; inject j")).exercised["C-SEND-4"] == 2
