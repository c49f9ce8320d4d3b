"""What the monitors of the ledger catch, each beside a lawful stream."""

from __future__ import annotations

from model.monitors.streams import assert_caught, broken, stream

from turnproof_model import vocabulary as v

IN_TURN = "followup a; allow; "


def test_an_entry_without_an_enqueue_is_caught():
    """W-FIFO-1: every send that enters a FIFO publishes one."""
    good = stream(IN_TURN + "followup b")

    assert_caught("W-FIFO-1", good, good.without("+b queued").show(queue=""))


def test_a_second_enqueue_for_one_send_is_caught():
    """W-FIFO-1: exactly one."""
    good = stream(IN_TURN + "followup b")
    bad = good.put("+b queued", after="+b queued").show(queue="b b")

    assert_caught("W-FIFO-1", good, bad)


def test_an_item_that_leaves_twice_is_caught():
    """W-FIFO-2: a claimed prompt isn't discarded as well."""
    good = stream("[followup a; followup b]; cancel")
    bad = good.change("drop b", "drop a b")

    assert_caught("W-FIFO-2", good, bad)


def test_a_pending_item_that_vanishes_is_caught():
    """W-FIFO-2: what entered and didn't leave is pending."""
    good = stream(IN_TURN + "[followup b; steer s]; dispose")
    bad = good.show(at=3, queue=""), good.show(at=3, staged="")

    assert_caught("W-FIFO-2", good, *bad)


def test_a_dequeue_out_of_turn_is_caught():
    """W-FIFO-3: the queue is served in order of entry."""
    good = stream("[followup a; followup b]")
    bad = good.change("-a queued", "-b queued").show(queue="a", gates=())

    assert_caught("W-FIFO-3", good, bad, also="W-ADM-1")


def test_a_discard_in_another_order_is_caught():
    """W-FIFO-3: a discard lists what is left in order."""
    good = stream(IN_TURN + "[followup b; followup d; steer s; steer t]; cancel")
    bad = good.change("drop b d s t", "drop d b s t"), good.change("drop b d s t", "drop b d t s")

    assert_caught("W-FIFO-3", good, *bad)


def test_a_discard_of_what_was_claimed_before_it_is_caught():
    """W-FIFO-3: a claim takes its item before its dequeue is out."""
    good = stream("on gate:prompt-submit { cancel }; [followup a; followup b]")
    bad = good.change("drop b", "drop a b")

    assert "W-FIFO-3" in broken(bad)
    assert_caught("W-FIFO-3", good)


def test_a_dequeue_with_another_placement_is_caught():
    """W-FIFO-4: it carries the placement of acceptance."""
    good = stream(IN_TURN + "steer s; text")
    bad = good.change("-s steering", "-s queued")

    assert "W-FIFO-4" in broken(bad)
    assert "W-FIFO-2" not in broken(bad)
    assert_caught("W-FIFO-4", good)


def test_context_that_shows_up_in_a_fifo_is_caught():
    """W-FIFO-5: injected input and a tool's contexts are in neither."""
    good = stream(IN_TURN + "inject i; tools c:exc; done c +x")
    bad = good.put("-i steering", before="user i")

    assert "W-FIFO-5" in broken(bad)
    assert_caught("W-FIFO-5", good)


def test_steering_that_is_not_written_at_once_is_caught():
    """W-FIFO-6: a dequeued steering item is the next thing in the log."""
    good = stream(IN_TURN + "inject i; steer s; text")
    bad = good.swap("user i", "steering s"), good.without("steering s")

    for told in bad:
        assert "W-FIFO-6" in broken(told)
    assert_caught("W-FIFO-6", good)


def test_an_admitted_prompt_that_vanishes_is_caught():
    """W-FIFO-6: it is in the turn that it opens."""
    good = stream("followup a; allow; text; stop")

    assert "W-FIFO-6" in broken(good.without("user a"))
    assert_caught("W-FIFO-6", good)


def test_a_prompt_written_twice_is_caught():
    """W-FIFO-6: none is written twice."""
    good = stream("followup a; allow; text; stop")
    bad = good.put("user a", after="user a").change("request a", "request a a")

    assert_caught("W-FIFO-6", good, bad, also="W-TURN-3")


def test_an_allowed_prompt_without_a_turn_is_caught():
    """W-FIFO-6: nothing but a block, a failure or an abort keeps it from its turn."""
    good = stream("followup a; block")
    bad = good.ask(v.Release(v.Allow(), kind="prompt-submit"), at=2)

    assert_caught("W-FIFO-6", stream("followup a; allow"), bad)


def test_an_entry_that_is_nowhere_in_the_end_is_caught():
    """W-FIFO-7: everything outstanding is visibly pending."""
    good = stream(IN_TURN + "[quiet q; steer s]")

    assert_caught("W-FIFO-7", good, good.show(queue=""), good.show(staged=""), also="W-FIFO-2")


def test_lists_that_are_shown_in_another_order_are_caught():
    """W-FIFO-7: what is pending is pending in the order of its acceptance."""
    good = stream(IN_TURN + "[followup b; followup c; steer s; inject i]")

    assert_caught("W-FIFO-7", good, good.show(queue="c b"), good.show(staged="i s"), also="W-FIFO-2")


def test_a_discard_that_nothing_caused_is_caught():
    """W-FIFO-8: a keeping cancel discards nothing, and nobody else may."""
    good = stream(IN_TURN + "followup b; cancel")
    keeping = good.ask(v.Cancel(keep_inbox=True), at=4)
    alone = stream(IN_TURN + "followup b; inspect").then(v.Inspect(), "drop b").show(queue="")

    assert_caught("W-FIFO-8", good, keeping, alone, also="W-CAN-3")


def test_a_discard_that_lists_steering_first_is_caught():
    """W-FIFO-8: queued items, then steering."""
    good = stream(IN_TURN + "[steer s; followup b]; cancel")

    assert_caught("W-FIFO-8", good, good.change("drop b s", "drop s b"))


def test_an_empty_discard_is_caught():
    """W-FIFO-8: nothing is discarded for nothing."""
    good = stream(IN_TURN + "followup b; cancel")
    bad = stream(IN_TURN + "cancel").put("drop", after="cancel user")

    assert_caught("W-FIFO-8", good, bad)


def test_a_prompt_may_have_the_id_of_context_that_may_have_been_dropped():
    """W-FIFO-6: what is written may be either, but no more is missing than there is."""
    told = stream("reset model; followup b; [cancel; inject g]; [cancel keep; cancel; followup g]")

    assert broken(told) == set()


def test_a_prompt_that_a_keeping_cancel_put_back_is_followed():
    """W-CAN-3: what was claimed may return to the head of the queue, without an event."""
    put_back = stream("[followup a; followup b]; cancel keep; allow", claimed_on_keep="requeued")

    assert broken(put_back) == set()
