"""What the monitors of waking, status and idle waiters catch, each beside a lawful stream."""

from __future__ import annotations

from model.monitors.streams import assert_caught, broken, judge, stream

from turnproof_model import vocabulary as v


def test_a_waking_send_to_an_idle_agent_that_starts_nothing_is_caught():
    """W-WAKE-1: an admission follows."""
    good = stream("followup a")
    bad = stream("quiet a").ask(v.followup(v.Message("a", "a")), at=1)

    assert_caught("W-WAKE-1", good, bad, also="W-WAKE-4")


def test_an_idle_waiter_that_resolves_before_the_admission_settles_is_caught():
    """W-WAKE-1: who waits for idle right after a waking send waits for its admission."""
    good = stream("followup a")

    assert_caught("W-WAKE-1", good, good.show(when_idle=True))


def test_a_quiet_prompt_that_starts_the_agent_is_caught():
    """W-WAKE-2: alone in the queue it stays parked."""
    good = stream("quiet q; inspect")
    bad = stream("followup q").ask(v.Send(v.Message("q", "q"), wakeup=False), at=1)

    assert_caught("W-WAKE-2", good, bad)


def test_an_agent_that_is_never_idle_with_a_quiet_prompt_is_caught():
    """W-WAKE-2: idle waiters resolve beside a parked prompt."""
    good = stream("quiet q")

    assert_caught("W-WAKE-2", good, good.show(when_idle=False), also="W-STAT-2")


def test_a_waking_prompt_that_overtakes_a_parked_one_is_caught():
    """W-WAKE-3: a parked prompt in front of a waking one has its turn first."""
    good = stream("[quiet q; followup a]")
    bad = good.change("-q queued", "-a queued").show(queue="q", gates=())

    assert_caught("W-WAKE-3", good, bad, also="W-FIFO-3 W-ADM-1")


def test_a_parked_prompt_served_behind_the_last_waking_one_is_caught():
    """W-WAKE-3: with nothing waking left it stays parked."""
    good = stream("[followup a; quiet q]; block")
    bad = good.change("idle", "-q queued").show(queue="", status="running", when_idle=False)
    bad = bad.show(gates=stream("followup q").turns[1][1].gates, accepts_next_step=True)

    assert_caught("W-WAKE-3", good, bad)


def test_an_agent_that_goes_idle_on_waking_work_is_caught():
    """W-WAKE-4: at idle nothing waking is queued."""
    good = stream("[followup a; followup b]; block; block")
    bad = good.put("idle", before="gate prompt-submit", nth=2).put("running", before="gate prompt-submit", nth=2)

    assert_caught("W-WAKE-4", good, bad)


def test_steering_left_staged_is_no_lost_wake():
    """W-WAKE-4: what a rejected admission retained waits for the next admitted prompt."""
    report = judge(stream("followup a; steer s; block"))

    assert report.violations == []
    assert report.exercised["W-WAKE-4"]


def test_a_repeated_status_is_caught():
    """W-STAT-1: status is published on a change."""
    good = stream("followup a; block")

    assert_caught("W-STAT-1", good, good.put("running", before="-a queued"), good.put("idle", after="idle"))


def test_idle_before_the_checkpoint_has_settled_is_caught():
    """W-STAT-1: a turn runs until its checkpoint has settled, gated or not."""
    gated = stream("reset prompt-submit model flush; followup a; allow; text; saved")
    early = gated.move("idle", after="turn 1 completed").show(at=4, status="idle", when_idle=True)
    ungated = stream("followup a; allow; text; stop")

    assert_caught("W-STAT-1", gated, early, ungated.swap("idle", "settled 1 completed"), also="W-STAT-2")


def test_a_status_shown_other_than_published_is_caught():
    """W-STAT-1: what is shown is what was published last."""
    good = stream("followup a; block")

    assert "W-STAT-1" in broken(good.show(status="running"))
    assert_caught("W-STAT-1", good)


def test_a_waiter_released_too_early_or_never_is_caught():
    """W-STAT-2: idle quiescence releases waiters, and nothing else does."""
    good = stream("followup a; allow; text; stop; inspect")

    assert_caught("W-STAT-2", good, good.show(at=2, when_idle=True), good.show(when_idle=False))


def test_a_waiter_that_would_hang_the_agent_is_caught():
    """W-STAT-2: asking for idle must not hang."""
    good = stream("followup a; allow; text; stop")

    assert_caught("W-STAT-2", good, good.show(at=1, when_idle="would-spin"))


def test_a_waiter_released_by_an_idle_that_was_left_again_is_lawful():
    """W-STAT-2: an idle that a deferred send ends at once releases it too."""
    restarted = stream("on agent/status status=idle +2 { followup b }; followup a; block").show(when_idle=True)

    assert broken(restarted) == set()
