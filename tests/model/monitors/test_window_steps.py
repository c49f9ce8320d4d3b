"""What the monitors of tool batches, progress and requests catch, each beside a lawful stream."""

from __future__ import annotations

import pytest
from model.monitors.streams import assert_caught, broken, stream

IN_TURN = "followup a; allow; "
BATCH = IN_TURN + "tools c:exc d:exc; done c; done d"
ABORTED = "reset tool! prompt-submit model tool; " + IN_TURN + "tools c:exc d:exc; cancel; done c"


@pytest.mark.parametrize(
    "edit",
    [
        lambda good: good.put("user z", after="result c"),
        lambda good: good.without("result d"),
        lambda good: good.put("result c", after="result c"),
        lambda good: good.put("result z", after="result c"),
        lambda good: good.put("call c", after="call c"),
        lambda good: good.without("call c"),
    ],
)
def test_a_batch_that_is_divided_or_not_closed_is_caught(edit):
    """W-STEP-3: one result for each call, in order, and nothing between."""
    good = stream(BATCH)

    assert "W-STEP-3" in broken(edit(good))
    assert_caught("W-STEP-3", good)


def test_results_out_of_call_order_are_caught():
    """W-STEP-3: a parallel group answers in call order."""
    good = stream(IN_TURN + "tools c:par d:par; done d; done c")
    bad = good.swap("result c", "result d")

    assert_caught("W-STEP-3", good, bad, also="W-REQ-1")


@pytest.mark.parametrize(
    ("token", "other"),
    [
        ("result c ABORTED", "result c"),
        ("result c ABORTED", "result c error"),
        ("result d ABORTED_BEFORE_DISPATCH", "result d ABORTED"),
    ],
)
def test_results_that_hide_an_abort_are_caught(token, other):
    """W-STEP-3: after a cancel a success is an error ABORTED, what wasn't started ABORTED_BEFORE_DISPATCH."""
    good = stream(ABORTED)

    assert_caught("W-STEP-3", good, good.change(token, other))


def test_context_that_forces_a_step_is_caught():
    """W-STEP-5: steering does, context alone does not."""
    good = stream(IN_TURN + "steer s; text; inject i; text; stop")
    bad = stream(IN_TURN + "inject i; text").put("step 1.2", after="step-end 1.1")

    assert_caught("W-STEP-5", good, bad)


def test_steering_taken_in_without_another_step_is_caught():
    """W-STEP-5: it makes the turn take another step."""
    good = stream(IN_TURN + "steer s; text; text; stop")
    bad = stream(IN_TURN + "text; stop").put("steering s", before="turn 1 completed")

    assert "W-STEP-5" in broken(bad)
    assert_caught("W-STEP-5", good)


def test_a_batch_that_nothing_follows_is_caught():
    """W-STEP-6: a request follows unless a result concludes."""
    good = stream(IN_TURN + "tools c:exc; done c; text; stop")
    bad = stream("reset prompt-submit model tool; " + IN_TURN + "tools c:exc; done c; inspect")
    bad = bad.without("step 1.2").without("request a A R:c").without("gate model", nth=2)
    bad = bad.put("turn 1 completed", after="step-end 1.1").put("settled 1 completed", after="turn 1 completed")
    bad = bad.put("idle", after="settled 1 completed")

    assert "W-STEP-6" in broken(bad)
    assert_caught("W-STEP-6", good)


def test_a_step_behind_a_conclusion_is_caught():
    """W-STEP-6: a concluding result ends the turn."""
    good = stream(IN_TURN + "tools c:exc; done c concludes")
    bad = good.put("step 1.2", after="step-end 1.1")

    assert "W-STEP-6" in broken(bad)
    assert_caught("W-STEP-6", good)


def test_a_completed_turn_that_never_asked_is_caught():
    """W-STEP-7: the last input was followed by a request."""
    good = stream(IN_TURN + "text; stop")
    bad = good.without("step 1.1").without("request a").without("assistant").without("step-end 1.1")

    assert "W-STEP-7" in broken(bad)
    assert_caught("W-STEP-7", good)


def test_a_turn_that_ends_with_steering_staged_is_caught():
    """W-STEP-8: at turn-stopping it runs another step."""
    good = stream(IN_TURN + "text; steer s; stop; text; stop")
    ended = stream(IN_TURN + "text; [stop; quiet s]").change("+s queued", "+s steering").show(queue="", staged="s")

    assert "W-STEP-8" in broken(ended)
    assert_caught("W-STEP-8", good)


def test_a_turn_that_ends_unasked_is_caught():
    """W-STEP-8: turn-stopping is asked again after each further step."""
    good = stream(IN_TURN + "text; stop")
    bad = stream("reset prompt-submit model; " + IN_TURN + "text")
    bad = bad.ask(stream("reset prompt-submit model turn-stopping; inspect").turns[0][0], at=0)

    assert_caught("W-STEP-8", good, bad)


@pytest.mark.parametrize("shown", ["i a A", "i a A b i", "i A a b", "i b A a", "a A b i", "i=else a A b"])
def test_a_request_that_shows_something_else_is_caught(shown):
    """W-REQ-1: exactly the log, in its order."""
    good = stream("inject i; followup a; allow; text; stop; followup b; allow")
    bad = good.change("request i a A b", f"request {shown}")

    assert_caught("W-REQ-1", good, bad, also="W-LOG-2")


def test_what_a_listener_of_the_step_stages_is_not_missed_in_its_request():
    """W-REQ-1: the request shows the log as it was when the step opened."""
    told = stream("on step/start { inject i }; followup a; allow; text; stop")

    assert broken(told) == set()
