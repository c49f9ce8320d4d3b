"""What the monitors of routing and of the window catch, each beside a lawful stream."""

from __future__ import annotations

import attrs
from model.monitors.streams import assert_caught, broken, stream

from turnproof_model import vocabulary as v

IN_TURN = "followup a; allow; "


def test_an_abbreviation_that_enters_elsewhere_is_caught():
    """W-SEND-1: a followup stands for a next-turn send, whatever goes on."""
    good = stream(IN_TURN + "followup b")

    bad = good.change("+b queued", "+b steering").show(queue="", staged="b")

    assert_caught("W-SEND-1", good, bad, also="W-ROUTE-1")


def test_an_id_that_nobody_gave_is_caught():
    """W-SEND-1: events and log entries name a message by the id of its caller."""
    good = stream("inject i")
    bad = good.change("user i", "user i2")

    assert_caught("W-SEND-1", good, bad, also="W-ROUTE-3 W-WIN-2")


def test_a_next_turn_send_that_becomes_steering_is_caught():
    """W-ROUTE-1: a quiet next-turn send joins the queue inside the window too."""
    good = stream(IN_TURN + "quiet q")

    bad = good.change("+q queued", "+q steering").show(queue="", staged="q")

    assert_caught("W-ROUTE-1", good, bad)


def test_a_next_turn_send_refused_for_no_reason_is_caught():
    """W-ROUTE-1: nothing stands against a next-turn send."""
    good = stream(IN_TURN + "quiet q")
    bad = stream(IN_TURN).then(v.Send(v.Message("q", "q"), wakeup=False), refused="not now")

    assert_caught("W-ROUTE-1", good, bad)


def test_steering_that_is_queued_inside_the_window_is_caught():
    """W-ROUTE-2: waking next-step input inside the window is steering."""
    good = stream(IN_TURN + "steer s")
    bad = good.change("+s steering", "+s queued").show(queue="s", staged="")

    assert_caught("W-ROUTE-2", good, bad, also="W-WIN-2")


def test_a_steer_that_is_staged_outside_the_window_is_caught():
    """W-ROUTE-2: waking next-step input outside the window is a queued prompt."""
    good = stream("[steer s; quiet q]; allow")
    bad = good.change("+s queued", "+s steering")

    assert "W-ROUTE-2" in broken(bad)
    assert_caught("W-ROUTE-2", good)


def test_an_injection_written_while_the_window_is_open_is_caught():
    """W-ROUTE-3: inside the window an injection is staged."""
    good = stream(IN_TURN + "inject i")
    bad = stream(IN_TURN).then(v.inject(v.Message("i", "i")), "user i")

    assert_caught("W-ROUTE-3", good, bad, also="W-WIN-2")


def test_an_injection_that_is_lost_outside_the_window_is_caught():
    """W-ROUTE-3: outside the window an injection is appended before the send returns."""
    good = stream("inject i")

    assert_caught("W-ROUTE-3", good, good.without("user i"), also="W-WIN-2")


def test_an_injection_appended_late_is_caught():
    """W-ROUTE-3: it stands at the log position at which it was made."""
    good = stream("followup a; on agent/settled { inject i }; allow; text; [stop; followup b]; allow")
    bad = good.move("user i", after="turn 2")

    assert_caught("W-ROUTE-3", good, bad, also="W-REQ-1 W-ADM-3 W-CAN-6")


def test_an_injection_that_wakes_is_caught():
    """W-ROUTE-4: outside the window it appends and does nothing else."""
    good = stream("inject i")
    bad = good.put("running", after="user i").put("idle", after="running")

    assert_caught("W-ROUTE-4", good, bad)


def test_a_stack_whose_first_send_is_claimed_before_it_ends_is_caught():
    """W-ROUTE-5: two steers in one stack at idle are two queued turns."""
    good = stream("[steer s; steer t]")
    bad = good.move("+t queued", after="-s queued").change("+t queued", "+t steering").show(queue="", staged="t")

    assert_caught("W-ROUTE-5", good, bad, also="W-ROUTE-2")


def test_an_enqueue_published_before_the_event_it_was_sent_in_is_caught():
    """W-PUB-1: all listeners see what happens in one order."""
    good = stream("on agent/inbox/enqueue { followup b }; followup a")
    bad = good.swap("+a queued", "+b queued")

    assert_caught("W-PUB-1", good, bad, also="W-FIFO-3")


def test_a_cancel_inside_an_enqueue_that_misses_the_entry_is_caught():
    """W-PUB-1: the state changes before its event is published."""
    good = stream("quiet q; on agent/inbox/enqueue { cancel }; followup a")
    bad = good.change("drop q a", "drop q").show(queue="a")

    assert_caught("W-PUB-1", good, bad, also="W-CAN-2 W-WAKE-1 W-WAKE-4 W-STAT-2")


def test_a_window_shown_open_between_turns_is_caught():
    """W-WIN-1: while a checkpoint is pending the window is closed."""
    good = stream("reset prompt-submit model flush; followup a; allow; text")

    assert_caught("W-WIN-1", good, good.show(accepts_next_step=True))


def test_a_window_shown_closed_in_an_admission_is_caught():
    """W-WIN-1: the window opens before the hook is asked."""
    good = stream("followup a")

    assert_caught("W-WIN-1", good, good.show(accepts_next_step=False))


def test_a_window_that_doesnt_tell_the_routing_is_caught():
    """W-WIN-2: what it says is how the next send is routed."""
    good = stream(IN_TURN + "steer s; inject i")
    bad = good.show(at=2, accepts_next_step=False), good.show(at=3, accepts_next_step=False)

    assert_caught("W-WIN-2", good, *bad, also="W-WIN-1")


def test_steering_of_a_turn_end_listener_that_joins_the_ended_turn_is_caught():
    """W-WIN-3: it is a queued turn of its own."""
    good = stream("on turn/end { steer s }; followup a; allow; text; stop")
    bad = good.change("+s queued", "+s steering").without("-s queued").without("gate prompt-submit", nth=2)
    bad = bad.put("idle", after="settled 1 completed")
    bad = bad.show(staged="s", status="idle", gates=(), accepts_next_step=False, when_idle=True)

    assert_caught("W-WIN-3", good, bad, also="W-ROUTE-2")


def test_what_the_agent_may_do_while_it_is_disposed_of_is_not_judged_as_routing():
    """W-DIS-2: a send between dispose and its resolution is free in where it goes."""
    late = stream("reset prompt-submit model! flush; followup a; allow; dispose; steer s")

    assert broken(late) == set()


def test_what_may_have_been_refused_is_appended_ahead_of_what_is_sent_next():
    """W-ROUTE-3: a refusal may be of either of two injections."""
    told = stream("quiet h; on agent/inbox/discard { inject o }; [inject s; inject t; dispose]", late_send="refused")
    batch = told.turns[-1][0]
    assert isinstance(batch, v.Batch)
    first, second, last = batch.ops
    assert isinstance(second, v.Send)

    assert broken(told.ask(v.Batch((first, attrs.evolve(second, preset=None), last)), at=-1)) == set()
