"""What the `window` agent does when somebody cancels or disposes of it, rule by rule."""

from __future__ import annotations

from window_plays import Play, started


def test_a_cancel_drops_closes_and_lets_later_work_run() -> None:
    """
    W-CAN-1, W-CAN-2, W-FIFO-8: queued items first, then steering; context goes without a word.
    """
    play = started()
    play("steer s; followup b; inject i; quiet q")

    assert play("cancel & followup c") == [
        "cancel-requested user",
        "discard b,q,s",
        "aborted g2 model",
        "enqueue c queued",
        "step/end 1 1",
        "turn/end 1 aborted",
        "settled 1 aborted",
        "open g3 prompt-submit",
        "dequeue c queued",
    ]
    assert play("allow")[-2] == "request a c"


def test_a_cancel_that_keeps_the_inbox_keeps_all_of_it_in_order() -> None:
    """
    W-CAN-3, W-WIN-5: staged input enters the next turn before its prompt.
    """
    play = started()
    play("steer s; inject i; followup b")

    assert play("keep")[-1] == "dequeue b queued"
    assert play("allow")[-2] == "request a s i b"


def test_a_cancel_with_nothing_to_do_leaves_no_trace() -> None:
    """
    W-CAN-4: neither idle, nor for the next turn, nor while the checkpoint is pending.
    """
    play = Play("flush")

    assert play("cancel; quiet q; keep") == ["enqueue q queued"]
    assert play("cancel") == ["cancel-requested user", "discard q"]
    assert play("followup a; allow; text; continue; cancel")[-2:] == ["turn/end 1 completed", "open g4 flush"]
    assert play("saved") == ["settled 1 completed", "status idle"]


def test_the_first_cause_wins_and_the_second_cancel_tells_only_what_it_drops() -> None:
    """
    W-CAN-4, W-CAN-5: one abort a turn.
    """
    play = started(on_abort={"model": "park"})
    play("steer s")

    assert play("keep user; keep parent") == ["cancel-requested user"]
    assert play("cancel parent") == ["cancel-requested parent", "discard s"]
    assert play.gates == ["model!"]
    assert play("text") == ["step/end 1 1", "turn/end 1 aborted", "settled 1 aborted", "status idle"]


def test_what_a_listener_sends_inside_a_cancel_shares_the_fate_of_the_moment() -> None:
    """
    W-CAN-4: before the drop it is dropped with the rest, after it it is new work.
    """
    play = started()
    play("on agent/cancel-requested do steer s; on agent/inbox/discard do followup b")

    assert play("cancel")[:5] == [
        "cancel-requested user",
        "enqueue s steering",
        "discard s",
        "enqueue b queued",
        "aborted g2 model",
    ]
    assert play.gates == ["prompt-submit"]


def test_text_streamed_before_an_abort_is_kept_as_interrupted() -> None:
    """
    W-CAN-1: what the model says later is dropped.
    """
    play = started(on_abort={"model": "park"})
    play("partial; cancel")

    assert play("text") == [
        "assistant/message interrupted",
        "step/end 1 1",
        "turn/end 1 aborted",
        "settled 1 aborted",
        "status idle",
    ]


def test_an_aborted_batch_is_closed_with_errors() -> None:
    """
    W-STEP-3: what had arrived but was not committed is an error too, a failure stays itself.
    """
    play = started(on_abort={"tool": "park"})
    play("calls par:1 par:2 par:3 exc:4")
    play.request("release", {"gate": "g4", "outcome": {"kind": "result", "concludes": True}})
    play("keep")

    assert play("fail c1") == ["tool/result par:1 error", "tool/result par:2 ABORTED"]
    assert play("result c3") == [
        "tool/result par:3 ABORTED",
        "tool/call exc:4",
        "tool/result exc:4 ABORTED_BEFORE_DISPATCH",
        "user/message c1",
        "user/message c3",
        "step/end 1 1",
        "turn/end 1 aborted",
        "settled 1 aborted",
        "status idle",
    ]


def test_context_of_an_aborted_batch_stays_beside_steering() -> None:
    """
    W-CAN-6: from the cancel to the end of the turn nothing leaves the outbox then.
    """
    play = started(on_abort={"tool": "park"})
    play("calls exc:1; keep; steer s")

    assert play("result c1")[:2] == ["tool/result exc:1 ABORTED", "step/end 1 1"]
    assert play.inbox == ([], ["s", "c1"])


def test_what_comes_while_the_context_of_an_aborted_batch_is_written_waits() -> None:
    """
    W-CAN-6: also where a cancel drops the rest of it and a listener injects something in its place.
    """
    play = started(on_abort={"tool": "park"})
    play("calls par:1; cancel; on user/message do cancel parent & inject d")

    assert play("result c1 c2")[:4] == [
        "tool/result par:1 ABORTED",
        "user/message c1",
        "cancel-requested parent",
        "step/end 1 1",
    ]
    assert play.inbox == ([], ["d"])


def test_a_cancel_stops_a_drain_after_the_item_at_hand() -> None:
    """
    W-CAN-6, W-FIFO-6: the steering that was dequeued is written, the rest is not.
    """
    play = started()
    play("steer s; inject i; steer t; on agent/inbox/dequeue do keep")

    assert play("text") == [
        "assistant/message",
        "dequeue s steering",
        "cancel-requested user",
        "steering/message 1 s",
        "step/end 1 1",
        "turn/end 1 aborted",
        "settled 1 aborted",
        "status idle",
    ]
    assert play.inbox == ([], ["i", "t"])


def test_the_opening_of_a_turn_is_one_unit() -> None:
    """
    W-CAN-6: a cancel inside it keeps neither the leftovers nor the prompt from being written.
    """
    play = Play()
    play("followup a; steer s; steer t; block; followup b; inject i; on turn/start do keep")

    assert play("allow c1") == [
        "turn/start 1 message",
        "cancel-requested user",
        "dequeue s steering",
        "steering/message 1 s",
        "dequeue t steering",
        "steering/message 1 t",
        "user/message b",
        "user/message c1",
        "turn/end 1 aborted",
        "settled 1 aborted",
        "status idle",
    ]
    assert play.inbox == ([], ["i"])


def test_a_cancel_in_the_opening_drops_leftovers_that_are_not_yet_written() -> None:
    """
    W-CAN-6: but never the prompt.
    """
    play = Play()
    play("followup a; steer s; steer t; block; followup b; on steering/message do cancel")

    assert play("allow")[1:6] == [
        "dequeue s steering",
        "steering/message 1 s",
        "cancel-requested user",
        "discard t",
        "user/message b",
    ]


def test_a_cancel_by_a_listener_of_running_asks_nobody_and_still_tells_the_claim() -> None:
    """
    W-ADM-1, W-FIFO-3: the claimed prompt counts as dequeued and isn't discarded.
    """
    play = Play()
    play("on agent/status do cancel")

    assert play("followup a & followup b") == [
        "enqueue a queued",
        "enqueue b queued",
        "status running",
        "cancel-requested user",
        "discard b",
        "dequeue a queued",
        "status idle",
    ]


def test_an_aborted_admission_ignores_a_late_decision() -> None:
    """
    W-CAN-1, W-CAN-3: with the inbox kept, the queue is served on.
    """
    play = Play(on_abort={"prompt-submit": "park"})
    play("followup a; followup b; keep")

    assert play("allow c") == ["open g2 prompt-submit", "dequeue b queued"]
    assert play("allow & cancel") == ["cancel-requested user", "status idle"]


def test_a_disposal_ends_the_turn_discards_what_waits_and_refuses_what_comes_later() -> None:
    """
    W-DIS-1, W-DIS-2: it resolves after the last checkpoint.
    """
    play = started("flush")
    play("followup b; steer s")

    assert play("dispose") == [
        "discard b,s",
        "aborted g2 model",
        "step/end 1 1",
        "turn/end 1 disposed",
        "open g3 flush",
    ]
    assert play("saved") == ["settled 1 aborted", "status idle", "disposed", "dispose/resolved"]
    assert play("followup c") == []
    assert play.seen["refused"] == (
        "send is refused: the agent must not be disposed (it is); message 'c' was not accepted"
    )
    assert play("cancel; dispose") == ["dispose/resolved"]


def test_a_prompt_sent_during_the_disposal_gets_no_turn() -> None:
    """
    W-DIS-2: it is claimed, told and aborted.
    """
    play = started(on_abort={"tool": "park"})
    play("calls exc:1; dispose; followup z")

    assert play("result")[-6:] == [
        "open g4 prompt-submit",
        "dequeue z queued",
        "aborted g4 prompt-submit",
        "status idle",
        "disposed",
        "dispose/resolved",
    ]


def test_a_disposal_after_a_cancel_leaves_its_cause_standing() -> None:
    """
    W-DIS-1, W-CAN-5: the turn ends aborted.
    """
    play = started(on_abort={"model": "park"})

    assert play("cancel; dispose; text")[-5:-3] == ["turn/end 1 aborted", "settled 1 aborted"]
