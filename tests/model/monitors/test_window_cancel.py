"""What the monitors of cancel and disposal catch, each beside a lawful stream."""

from __future__ import annotations

import pytest
from model.monitors.streams import assert_caught, broken, stream

from turnproof_model import vocabulary as v

IN_TURN = "followup a; allow; "
WAITING = IN_TURN + "[followup b; steer s; inject i]; "
FAILED = "reset prompt-submit model request-error flush; followup a; allow; error; "


# ------------------------------------------------------------------------------------------------ what it aborts
@pytest.mark.parametrize(
    "edit",
    [
        lambda good: good.put("assistant", after="cancel user"),
        lambda good: good.put("step 1.2", after="step-end 1.1"),
        lambda good: good.without("cancel user").without("step-end 1.1").without("turn 1 aborted"),
    ],
)
def test_a_turn_that_goes_on_after_its_cancel_is_caught(edit):
    """W-CAN-1: the open step closes and the turn ends."""
    good = stream(IN_TURN + "cancel")

    assert "W-CAN-1" in broken(edit(good))
    assert_caught("W-CAN-1", good)


def test_a_cancelled_admission_that_opens_its_turn_is_caught():
    """W-CAN-1: an admission aborted before its turn writes nothing of its prompt."""
    good = stream("followup a; cancel; followup b; allow")
    written = good.put("user a", after="user b").change("request b", "request b a")
    opened = stream("followup a; cancel").put("turn 1", before="idle")

    assert "W-CAN-1" in broken(written)
    assert "W-CAN-1" in broken(opened)
    assert_caught("W-CAN-1", good)


def test_what_streamed_before_the_cancel_may_be_an_interrupted_message():
    """W-CAN-1: only text that came before the cancel is kept."""
    assert broken(stream(IN_TURN + "partial hi; cancel")) == set()


def test_aborted_without_a_cancel_is_caught():
    """W-CAN-5: it needs a cancel of that turn."""
    good = stream(IN_TURN + "cancel")
    bad = stream(IN_TURN + "text; stop").change("turn 1 completed", "turn 1 aborted")

    assert_caught("W-CAN-5", good, bad, also="W-TURN-5")


def test_a_later_cause_that_wins_is_caught():
    """W-CAN-5: the first cause does."""
    parked = "reset prompt-submit tool! model; " + IN_TURN + "tools c:exc; "
    cancelled, disposed = stream(parked + "cancel; dispose; done c"), stream(parked + "dispose; done c")

    assert_caught("W-CAN-5", cancelled, cancelled.change("turn 1 aborted", "turn 1 disposed"))
    assert_caught("W-CAN-5", disposed, disposed.change("turn 1 disposed", "turn 1 aborted"), also="W-TURN-5 W-DIS-1")


def test_a_drain_that_ignores_the_cancel_is_caught():
    """W-CAN-6: it stops after the item that is being published."""
    good = stream(IN_TURN + "[steer s; inject i; steer t]; on agent/inbox/dequeue { cancel keep }; text")
    steered = good.put("steering t", after="steering s").put("-t steering", after="steering s").show(staged="i")
    appended = good.put("user i", after="steering s").show(staged="t")

    assert_caught("W-CAN-6", good, steered, appended, also="W-STEP-2")


def test_context_of_a_drain_that_ignores_the_cancel_is_caught():
    """W-CAN-6: behind a batch that was whole before the cancel, context isn't free."""
    good = stream(IN_TURN + "tools c:exc; steer s; on agent/inbox/dequeue { cancel keep }; done c +x")
    bad = good.put("user x", after="steering s").show(staged="")

    assert_caught("W-CAN-6", good, bad)


def test_a_claim_between_a_cancel_and_the_end_of_its_turn_is_caught():
    """W-CAN-6: nothing leaves the queue."""
    good = stream(IN_TURN + "followup b; cancel keep")
    bad = good.swap("step-end 1.1", "-b queued")

    assert "W-CAN-6" in broken(bad)
    assert_caught("W-CAN-6", good)


def test_an_opening_cut_short_by_a_cancel_is_caught():
    """W-CAN-6: what was retained, the prompt and its contexts are one unit."""
    good = stream("followup z; [inject i; steer s]; block; on turn/start { cancel keep }; followup a; allow +h")
    bad = good.without("user h"), good.without("user i").show(staged="i")

    for told in bad:
        assert "W-CAN-6" in broken(told)
    assert_caught("W-CAN-6", good)


@pytest.mark.parametrize("way", ["appended", "staged"])
def test_context_behind_an_aborted_batch_is_free(way):
    """W-CAN-6: with no steering staged it may be appended or stay staged."""
    told = stream(
        "reset tool! prompt-submit model; " + IN_TURN + "tools c:exc; inject i; cancel keep; done c +x",
        context_on_abort=way,
    )

    assert broken(told) == set()


def test_a_retry_that_survives_a_cancel_is_caught():
    """W-CAN-7: until its turn/start a cancel withdraws it."""
    good = stream(FAILED + "retry; cancel; saved")
    survived = stream(FAILED + "retry; inspect; saved").ask(v.Cancel(), at=5)
    unsettled = good.without("settled 1 error")

    assert "W-CAN-7" in broken(survived)
    assert_caught("W-CAN-7", good, unsettled, also="W-STAT-1 W-TURN-6")


# ------------------------------------------------------------------------------------------------ what it drops
def test_pending_input_that_a_cancel_leaves_is_caught():
    """W-CAN-2: without keepInbox everything queued and staged is dropped, in one discard."""
    good = stream(WAITING + "cancel; followup d; allow")
    some = good.change("drop b s", "drop b").show(at=4, staged="s")
    none = good.without("drop b s").show(at=4, queue="b", staged="s")

    for told in (some, none):
        assert "W-CAN-2" in broken(told)
    assert_caught("W-CAN-2", good)


def test_context_that_outlives_its_cancel_is_caught():
    """W-CAN-2: staged context is dropped without an event."""
    good = stream(IN_TURN + "inject i; cancel; followup d; allow")
    bad = good.put("user i", after="turn 2").change("request a d", "request a i d")

    assert "W-CAN-2" in broken(bad)
    assert_caught("W-CAN-2", good)


def test_a_keeping_cancel_that_drops_is_caught():
    """W-CAN-3: it discards nothing, and what is staged stays in order."""
    good = stream(IN_TURN + "[followup b; inject i; inject j]; cancel keep")
    bad = (
        good.put("drop b", after="cancel user"),
        good.show(staged="i"),
        good.show(staged="j i"),
    )

    for told in bad:
        assert "W-CAN-3" in broken(told)
    assert_caught("W-CAN-3", good)


def test_a_cancel_published_for_nothing_is_caught():
    """W-CAN-4: with nothing to abort or drop it leaves no trace."""
    good = stream("cancel; followup a; allow; cancel")
    idle = good.put("cancel user", before="+a queued").ask(v.Batch((v.Cancel(), v.followup(v.Message("a", "a")))), at=2)
    ended = stream(IN_TURN + "on turn/end { cancel }; text; stop").put("cancel user", after="turn 1 completed")

    assert_caught("W-CAN-4", good, idle, ended)


def test_a_cancel_published_twice_is_caught():
    """W-CAN-4: one call is published once at most."""
    good = stream(IN_TURN + "cancel")
    bad = good.put("cancel user", after="cancel user")

    assert_caught("W-CAN-4", good, bad)


def test_an_abort_without_a_cancel_is_caught():
    """W-CAN-5: a gate hears of an abort only where something was cancelled or disposed of."""
    good = stream(IN_TURN + "cancel keep")
    bad = good.without("cancel user")

    assert "W-CAN-5" in broken(bad)
    assert_caught("W-CAN-5", good)


def test_a_cancel_remembered_for_later_is_caught():
    """W-CAN-4: one that found nothing aborts no later turn."""
    good = stream("cancel; followup a; allow")
    bad = stream("cancel; followup a; allow; text; stop").change("turn 1 completed", "turn 1 aborted")

    assert_caught("W-CAN-4", good, bad, also="W-TURN-5 W-CAN-5")


def test_a_second_cancel_with_nothing_to_drop_is_caught():
    """W-CAN-4: of a turn that is cancelled already it is published only if it drops something."""
    good = stream("reset tool! prompt-submit model; " + IN_TURN + "tools c:exc; cancel; cancel")
    bad = good.then(v.Cancel(), "cancel user")

    assert_caught("W-CAN-4", good, bad)


def test_a_discard_ahead_of_its_cancel_is_caught():
    """W-CAN-4: cancel-requested comes first."""
    good = stream(IN_TURN + "followup b; cancel")
    bad = good.swap("cancel user", "drop b")

    assert_caught("W-CAN-4", good, bad, also="W-FIFO-8 W-CAN-2")


def test_what_a_listener_of_the_cancel_sends_is_dropped_with_the_rest():
    """W-CAN-4: and what a listener of the discard sends is new work."""
    good = stream(IN_TURN + "on agent/cancel-requested { followup b }; cancel")
    kept = good.without("drop b").show(queue="b")
    new_work = stream(IN_TURN + "followup b; on agent/inbox/discard { followup d }; cancel")

    assert "W-CAN-4" in broken(kept)
    assert_caught("W-CAN-4", good)
    assert broken(new_work) == set()


# ------------------------------------------------------------------------------------------------ disposal
def test_pending_input_that_a_disposal_leaves_is_caught():
    """W-DIS-1: everything pending is discarded."""
    good = stream(IN_TURN + "followup b; dispose")
    bad = good.without("drop b").show(queue="b")

    assert_caught("W-DIS-1", good, bad)


def test_a_turn_that_a_disposal_ends_for_another_reason_is_caught():
    """W-DIS-1: it ends as disposed."""
    good = stream(IN_TURN + "dispose")

    assert_caught("W-DIS-1", good, good.change("turn 1 disposed", "turn 1 completed"), also="W-TURN-5 W-STEP-8")


def test_a_turn_that_starts_after_dispose_is_caught():
    """W-DIS-2: from the call on none starts."""
    good = stream("followup a; dispose")
    bad = good.put("turn 1", before="disposed")

    assert "W-DIS-2" in broken(bad)
    assert_caught("W-DIS-2", good)


def test_a_disposal_that_doesnt_wait_for_the_checkpoint_is_caught():
    """W-DIS-2: it resolves after the last one."""
    good = stream("reset prompt-submit model flush; " + IN_TURN + "text; dispose; saved")
    bad = good.then(v.Inspect())
    bad = stream("reset prompt-submit model flush; " + IN_TURN + "text; dispose").then(v.Inspect(), "dispose/resolved")

    assert_caught("W-DIS-2", good, bad)


def test_anything_that_happens_after_the_disposal_is_caught():
    """W-DIS-2: a send has no effect and no event."""
    good = stream("dispose")
    bad = good.then(v.inject(v.Message("i", "i")), "user i")

    assert_caught("W-DIS-2", good, bad)


@pytest.mark.parametrize("way", ["admitted", "discarded", "refused"])
def test_a_late_send_is_free(way):
    """W-DIS-2: refused, discarded at once, or claimed by an admission that is aborted."""
    told = stream(
        "reset prompt-submit tool! model; followup a; allow; tools c:exc; dispose; followup z; done c", late_send=way
    )

    assert broken(told) == set()


def test_a_disposal_that_was_called_again_after_a_cancel_may_have_been_the_first_cause():
    """W-CAN-5: the first one came some breaks after an event, and nothing tells when."""
    arms = "on step/start +2 { dispose }; "
    told = stream("reset step model!; steer b; " + arms + "hook; inject i; cancel; dispose; text")

    assert "turn/end" in [event.type for event in told.turns[-1][1].events]
    assert broken(told) == set()


def test_context_that_bears_the_id_of_a_prompt_may_be_what_the_opening_wrote():
    """W-CAN-2: the other of the two isn't the one that a cancel inside the opening dropped."""
    twice = "reset prompt-submit; quiet e; on steering/message { cancel parent }; followup g; "
    told = stream(twice + "[cancel keep; followup i; inject e; steer j]; allow", claimed_on_keep="requeued")

    assert broken(told) == set()
