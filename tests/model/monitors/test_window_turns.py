"""What the monitors of turns, steps and the outbox catch, each beside a lawful stream."""

from __future__ import annotations

import pytest
from model.monitors.streams import assert_caught, broken, stream

from turnproof_model import vocabulary as v

IN_TURN = "followup a; allow; "
ENDED = IN_TURN + "text; stop"
FAILED = IN_TURN + "error; "


# ------------------------------------------------------------------------------------------------ staging
def test_input_of_one_boundary_split_over_two_requests_is_caught():
    """W-WIN-4: steering and context accepted for one boundary reach the same request."""
    good = stream(IN_TURN + "[inject i; steer s; inject j]; text")
    bad = good.without("user j").change("request a A i s j", "request a A i s").show(staged="j")

    assert_caught("W-WIN-4", good, bad)


def test_staged_input_that_leaves_between_turns_is_caught():
    """W-WIN-5: what outlives its turn enters the next admitted one."""
    good = stream(IN_TURN + "[inject i; steer s]; error; give-up; followup b; allow")
    bad = good.put("user i", after="turn 1 error").show(at=5, staged="s")

    assert "W-WIN-5" in broken(bad)
    assert_caught("W-WIN-5", good)


def test_staged_input_that_is_gone_after_its_turn_is_caught():
    """W-WIN-5: it stays staged, in order."""
    good = stream(IN_TURN + "[inject i; inject j]; error; give-up")

    assert_caught("W-WIN-5", good, good.show(staged="i"), good.show(staged="j i"), also="W-FIFO-7")


def test_staged_input_that_wakes_the_agent_is_caught():
    """W-WIN-5: it wakes nothing."""
    good = stream(IN_TURN + "inject i; error; give-up; inspect")
    bad = good.then(v.Inspect(), "running", status="running", when_idle=False)

    assert_caught("W-WIN-5", good, bad)


def test_context_of_the_same_id_as_the_prompt_is_drained_in_its_order():
    """W-STEP-2: only ids are told apart, so what is left may be the prompt."""
    busy = "steer b; allow; followup b; tools c1:par c2:par; "
    told = stream(busy + "[done c1 +b +x; cancel keep; reference d e; done c2 +y +z]; allow")

    assert broken(told) == set()


def test_context_that_is_sent_after_a_disposal_may_be_dropped():
    """W-STEP-2: what a tool brings along later doesn't overtake it."""
    held = "reset tool! model prompt-submit; followup a; allow; tools c1:par; dispose; "
    told = stream(held + "[reference n o; fail c1 +x]", late_send="discarded")

    assert broken(told) == set()


def test_context_of_the_decision_may_have_the_id_of_what_is_staged():
    """W-STEP-2: the first of the two to be written may be either."""
    twice = "followup b; block; followup d; cancel keep; [cancel; followup j; inject k; steer l]; allow +k +x"

    assert broken(stream(twice, claimed_on_keep="requeued")) == set()


def test_an_outbox_drained_out_of_order_is_caught():
    """W-STEP-2: in the order of acceptance."""
    good = stream(IN_TURN + "[inject i; inject j]; text")
    bad = good.swap("user i", "user j")

    assert_caught("W-STEP-2", good, bad)


def test_an_outbox_drained_in_part_is_caught():
    """W-STEP-2: the whole of it at one boundary."""
    good = stream(IN_TURN + "[inject i; inject j]; tools c:exc; done c")
    bad = good.without("user j").show(staged="j")

    assert_caught("W-STEP-2", good, bad, also="W-REQ-1")


def test_tool_contexts_ahead_of_their_result_or_out_of_order_are_caught():
    """W-STEP-4: behind the tool's result, as it returned them."""
    good = stream(IN_TURN + "tools c:exc; done c +x +y")
    early, turned = good.swap("result c", "user x"), good.swap("user x", "user y")

    assert_caught("W-STEP-4", good, turned, also="W-STEP-2 W-REQ-1")
    assert "W-STEP-4" in broken(early)


@pytest.mark.parametrize(
    "scenario",
    [
        "tools x:par y:par; done y +r +i; inject i; done x",
        "tools x:par y:par; inject i; done y +r +i; done x",
        "tools x:par y:par; done y +r +i; done x +i",
        "tools x:par; done x +i +r +i",
        "tools x:par y:par; done y +r +i; reference p i; done x",
    ],
)
def test_a_context_that_is_also_staged_otherwise_is_no_alarm(scenario):
    """W-STEP-4: by their ids alone the two can't be told apart."""
    assert broken(stream(IN_TURN + scenario)) == set()


# ------------------------------------------------------------------------------------------------ turns
@pytest.mark.parametrize(
    "edit",
    [
        lambda good: good.change("turn 2", "turn 3").change("turn 2 completed", "turn 3 completed"),
        lambda good: good.without("turn 1 completed"),
        lambda good: good.put("turn 2 completed", after="turn 2 completed"),
    ],
)
def test_turns_that_skip_a_number_or_arent_balanced_are_caught(edit):
    """W-TURN-1: balanced, not nested, each number one more."""
    good = stream("followup a; allow; text; stop; followup b; allow; text; stop")

    assert "W-TURN-1" in broken(edit(good))
    assert_caught("W-TURN-1", good)


@pytest.mark.parametrize("token", ["steering s", "assistant", "result c", "step-end 1.1", "call c"])
def test_execution_between_turns_is_caught(token):
    """W-TURN-2: only input and plugin events lie there."""
    good = stream(ENDED)
    bad = good.put(token, after="turn 1 completed")

    assert "W-TURN-2" in broken(bad)
    assert_caught("W-TURN-2", good)


def test_plugin_events_may_lie_anywhere():
    """W-TURN-2: they answer to their plugin."""
    good = stream(IN_TURN + "tools c:exc; done c; text; stop")
    told = good.put("plugin note", after="call c").put("plugin note", after="turn 1 completed")

    assert broken(told) == set()


def test_a_second_prompt_in_a_turn_is_caught():
    """W-TURN-3: one queued prompt at most."""
    good = stream("[followup a; followup b]; allow; text")
    bad = good.put("user b", after="user a").change("request a", "request a b")

    assert_caught("W-TURN-3", good, bad, also="W-FIFO-6")


def test_an_admission_before_the_checkpoint_settled_is_caught():
    """W-TURN-4: it waits for the turn before, and for its checkpoint."""
    good = stream("reset prompt-submit model flush; [followup a; followup b]; allow; text; saved")
    bad = good.move("-b queued", after="gate flush").show(at=3, queue="", accepts_next_step=True)

    assert_caught("W-TURN-4", good, bad, also="W-ADM-1")


def test_an_admission_inside_a_turn_is_caught():
    """W-TURN-4: the next claim comes after turn/end."""
    good = stream("[followup a; followup b]; allow; text; stop")
    bad = good.swap("turn 1 completed", "-b queued")

    assert "W-TURN-4" in broken(bad)
    assert_caught("W-TURN-4", good)


@pytest.mark.parametrize(
    ("scenario", "token", "other"),
    [
        (ENDED, "turn 1 completed", "turn 1 max-tokens"),
        (IN_TURN + "max-tokens; stop", "turn 1 max-tokens", "turn 1 completed"),
        (FAILED + "give-up", "turn 1 error", "turn 1 completed"),
        (IN_TURN + "cancel", "turn 1 aborted", "turn 1 completed"),
        (IN_TURN + "steer s; max-tokens; text; stop", "turn 1 max-tokens", "turn 1 completed"),
    ],
)
def test_a_turn_ended_for_another_reason_is_caught(scenario, token, other):
    """W-TURN-5: the first reason that applies."""
    good = stream(scenario)

    assert_caught("W-TURN-5", good, good.change(token, other), also="W-STEP-8")


def test_a_cancel_of_a_failing_turn_leaves_its_reason_open():
    """W-TURN-5: while the failure is announced the reason may be fixed or not."""
    told = stream(IN_TURN + "followup b; on agent/error { cancel }; error; give-up")

    assert broken(told) | broken(told.change("turn 1 error", "turn 1 aborted")) == set()


def test_a_retry_that_is_overtaken_or_lost_is_caught():
    """W-TURN-6: the retry is the next turn, ahead of anything queued."""
    good = stream("[followup a; followup b]; allow; error; retry")
    overtaken = good.put("-b queued", before="turn 2 retry")
    lost = stream("followup a; allow; error; give-up").ask(v.Release(v.Retry(), kind="request-error"), at=4)

    assert "W-TURN-6" in broken(overtaken)
    assert_caught("W-TURN-6", good, lost)


def test_a_failure_that_is_announced_twice_is_caught():
    """W-TURN-5: once in the turn that fails."""
    good = stream(FAILED + "give-up")
    bad = good.put("error", after="error 1.1")

    assert_caught("W-TURN-5", good, bad)


def test_a_turn_that_is_settled_twice_or_never_is_caught():
    """W-TURN-6: the last turn of a chain is settled, once, before the next claim and before idle."""
    good = stream("[followup a; followup b]; allow; text; stop")
    twice = good.put("settled 1 completed", after="settled 1 completed")
    never = good.without("settled 1 completed")

    assert_caught("W-TURN-6", good, twice, never)


def test_a_turn_that_is_not_settled_when_the_agent_rests_is_caught():
    """W-TURN-6: nothing is left that could settle it."""
    good = stream("followup a; allow; text; stop")

    assert "W-TURN-6" in broken(good.without("settled 1 completed"))
    assert broken(good) == set()


def test_a_retry_that_leaves_staged_input_behind_is_caught():
    """W-TURN-6: it takes the whole outbox first."""
    good = stream(IN_TURN + "inject i; error; retry")
    bad = good.without("user i").change("request a i", "request a").show(staged="i")

    assert_caught("W-TURN-6", good, bad)


def test_a_failed_turn_settled_before_its_retry_is_caught():
    """W-TURN-6: only the last turn of a chain is settled."""
    good = stream(FAILED + "retry")

    assert_caught("W-TURN-6", good, good.put("settled 1 error", after="turn 1 error"))


def test_a_retry_that_nobody_decided_is_caught():
    """W-TURN-6: a retry comes of a failed request."""
    good = stream(FAILED + "retry")
    bad = stream("followup a; allow").change("turn 1", "turn 1 retry")

    assert "W-TURN-6" in broken(bad)
    assert_caught("W-TURN-6", good)


@pytest.mark.parametrize("stack", ["[retry; give-up]", "[give-up; retry]"])
def test_a_retry_that_may_have_been_decided_some_requests_ago_is_no_alarm(stack):
    """W-TURN-6: one of the two releases was refused, and nothing tells which, until the checkpoint is over."""
    told = stream(
        "reset prompt-submit model request-error flush; followup a; allow; error; " + stack + "; cancel keep; saved"
    )
    retried = stream("reset prompt-submit model request-error flush; followup a; allow; error; " + stack + "; saved")

    assert broken(told) | broken(retried) == set()


def test_a_retry_that_cannot_have_been_decided_any_more_is_caught():
    """W-TURN-6: the turn was settled, so whatever was released before made no retry."""
    good = stream(
        "reset prompt-submit model request-error; followup a; allow; error; [give-up; retry]; followup b; allow"
    )

    assert_caught("W-TURN-6", good, good.change("turn 2", "turn 2 retry"))


@pytest.mark.parametrize(
    "edit",
    [
        lambda good: good.change("step 1.2", "step 1.3").change("step-end 1.2", "step-end 1.3"),
        lambda good: good.without("step-end 1.1"),
        lambda good: good.put("request a A s", after="request a A s"),
        lambda good: good.without("request a A s"),
    ],
)
def test_steps_that_are_misnumbered_open_or_without_their_request_are_caught(edit):
    """W-STEP-1: balanced, numbered from 1, one request each."""
    good = stream(IN_TURN + "steer s; text; text; stop")

    assert "W-STEP-1" in broken(edit(good))
    assert_caught("W-STEP-1", good)
