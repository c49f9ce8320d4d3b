"""Routing, ledger, waking and status of contract ``window``, rule by rule."""

from __future__ import annotations

from window_notation import REENTRANT, play

RUNNING = "followup a; allow"


# ------------------------------------------------------------------------------------------------ routing
def test_presets_are_the_sends_they_abbreviate():
    """W-SEND-1: followup queues a prompt, steer joins the running turn, inject supplies context."""
    run = play(RUNNING)

    assert run("[followup b; steer s; inject i]") == "+b queued · +s steering"
    assert run.pending == ("b", "s i")


def test_a_next_turn_send_joins_the_queue_even_inside_the_window():
    """W-ROUTE-1: waking or quiet, next-turn input is queued."""
    run = play(RUNNING)

    assert run("[followup b; quiet q]") == "+b queued · +q queued"
    assert run.pending == ("b q", "")


def test_a_steer_outside_the_window_is_a_waking_prompt():
    """W-ROUTE-2: outside the window next-step input that wakes is queued and gets a turn of its own."""
    assert play("steer s").last == "+s queued · running · -s queued"


def test_an_injection_inside_the_window_is_staged_without_an_event():
    """W-ROUTE-3: staged in the outbox; nothing is committed yet."""
    run = play(RUNNING)

    assert run("inject i") == ""
    assert run.pending == ("", "i")


def test_an_injection_outside_the_window_is_only_an_append():
    """W-ROUTE-4: no turn, no number, no status, no request."""
    run = play("inject i")

    assert run.all == "user i"
    assert (run.now.status, run.machine.s.turn) == ("idle", 0)


def test_an_injection_is_refused_where_the_log_can_not_be_appended_to():
    """W-ROUTE-3: a session without re-entry refuses an append inside a durable event; nothing is written or staged."""
    run = play(RUNNING + "; text; on turn/end { inject i }; stop")

    assert run.last == "turn 1 completed · threw inject · settled 1 completed · idle"
    assert run.pending == ("", "")


def test_an_injection_inside_a_durable_event_is_written_where_the_session_allows_it():
    """W-ROUTE-3: with re-entry the append happens at once."""
    run = play(RUNNING + "; text; on turn/end { inject i }; stop", REENTRANT)

    assert run.last == "turn 1 completed · user i · settled 1 completed · idle"


def test_an_injection_inside_a_durable_event_is_staged_while_the_window_is_open():
    """W-ROUTE-3: staging changes no log, so it is never refused."""
    run = play(RUNNING + "; on assistant/message { inject i }; text")

    assert run.last == "assistant · user i · step-end 1.1"


def test_two_steers_of_one_idle_stack_are_two_turns():
    """W-ROUTE-5: the first of them does not open a window that would take the second."""
    run = play("[steer a; steer b]")

    assert run.last == "+a queued · +b queued · running · -a queued"
    assert run.pending == ("b", "")


# ------------------------------------------------------------------------------------------------ ledger
def test_a_steer_from_a_turn_stopping_listener_publishes_its_entry():
    """W-FIFO-1: every entry publishes an enqueue with its placement, whoever sends it."""
    run = play(RUNNING + "; on gate:turn-stopping { steer s }; text")

    assert run.last == "assistant · step-end 1.1 · +s steering"


def test_one_id_may_be_outstanding_twice():
    """W-FIFO-3: a dequeue retires the earlier entry; the other keeps its turn."""
    run = play("[followup a; followup a]; allow; text; stop")

    assert run.last == "turn 1 completed · settled 1 completed · -a queued"
    assert run.pending == ("", "")


def test_context_appears_in_no_inbox_event():
    """W-FIFO-5: staged, committed or dropped, context is never enqueued, dequeued or discarded."""
    run = play(RUNNING + "; inject i; text; inject j; cancel")

    assert run.all == (
        "+a queued · running · -a queued · turn 1 · user a · step 1.1 · request a · assistant · user i · step-end 1.1"
        " · cancel user · aborted turn-stopping · turn 1 aborted · settled 1 aborted · idle"
    )


def test_a_steering_item_is_written_as_soon_as_it_is_dequeued():
    """W-FIFO-6: its own listener can't make it vanish."""
    run = play(RUNNING + "; steer s; on agent/inbox/dequeue { cancel }; text")

    assert run.last == (
        "assistant · -s steering · cancel user · steering s · step-end 1.1 · turn 1 aborted · settled 1 aborted · idle"
    )


def test_a_discard_lists_queued_then_steering_each_in_order():
    """W-FIFO-8: one list, never empty, because of a cancel or a disposal only."""
    run = play(RUNNING + "; [steer s; followup b; steer t; quiet q; inject i]; cancel")

    assert run.last.startswith("cancel user · drop b q s t · aborted model")


def test_what_an_event_listener_does_sees_the_state_after_the_event():
    """W-PUB-1: at ``running`` the prompt has left the queue already, so a cancel there doesn't discard it."""
    run = play("on agent/status { cancel }; [followup a; followup b]")

    assert run.last == "+a queued · +b queued · running · cancel user · drop b · -a queued · idle"
    assert "W-PUB-1" in run.cited


# ------------------------------------------------------------------------------------------------ waking
def test_a_waking_prompt_that_its_own_listener_discards_starts_nothing():
    """W-WAKE-1: the admission follows unless the item is discarded first."""
    run = play("on agent/inbox/enqueue { cancel }; followup a")

    assert run.last == "+a queued · cancel user · drop a"
    assert run.now.when_idle is True


def test_a_quiet_prompt_alone_stays_parked():
    """W-WAKE-2: status idle, waiters released, nothing started."""
    run = play("quiet q")

    assert run.last == "+q queued"
    assert (run.now.status, run.now.when_idle, run.pending) == ("idle", True, ("q", ""))


def test_a_parked_prompt_ahead_of_a_waking_one_gets_its_own_turn_first():
    """W-WAKE-3: the queue is served from its head; what lies behind the last waking item stays parked."""
    run = play("[quiet q; followup a; quiet r]; allow; text; stop; allow; text; stop")

    assert "turn 1 · user q" in run.all
    assert "turn 2 · user a" in run.all
    assert run.last.endswith("settled 2 completed · idle")
    assert run.pending == ("r", "")


def test_an_idle_listener_that_sends_gets_an_admission():
    """W-WAKE-4: no waking item is left in the queue of an idle agent."""
    run = play("on agent/status status=idle { followup b }; followup a; block")

    assert run.last == "idle · +b queued · running · -b queued"


# ------------------------------------------------------------------------------------------------ window
def test_the_window_is_open_from_admission_to_the_end_of_the_turn():
    """W-WIN-1: open while prompt-submit decides and through the turn, closed while the checkpoint is pending."""
    run = play("reset prompt-submit model turn-stopping flush")

    opened = [run(op) and run.now.accepts_next_step for op in ("followup a", "allow", "text", "stop", "saved")]

    assert opened == [True, True, True, False, False]


def test_a_rejected_admission_closes_the_window():
    """W-WIN-1: closed at every other time."""
    assert play("followup a; block").now.accepts_next_step is False


def test_acceptance_and_status_differ_during_settlement():
    """W-WIN-2: the agent still runs, but next-step input would be queued."""
    run = play("reset model flush; followup a; text")

    assert (run.now.status, run.now.accepts_next_step) == ("running", False)
    assert run("steer s") == "+s queued"


def test_a_steer_from_a_turn_end_listener_is_a_queued_turn():
    """W-WIN-3: the window closes before turn/end is published."""
    run = play(RUNNING + "; text; on turn/end { steer s }; stop")

    assert run.last == "turn 1 completed · +s queued · settled 1 completed · -s queued"


def test_while_a_failure_is_announced_the_window_may_be_open_or_closed():
    """W-WIN-1: free; where it is still open, steering joins the outbox of the turn that fails."""
    scenario = RUNNING + "; error; on agent/error { steer s }; give-up"

    assert (
        play(scenario, window_at_error="open").last == "error 1.1 · +s steering · turn 1 error · settled 1 error · idle"
    )
    assert "+s queued" in play(scenario, window_at_error="closed").last


# ------------------------------------------------------------------------------------------------ status
def test_one_running_interval_spans_consecutive_turns():
    """W-STAT-1: status is published only on a change."""
    run = play("[followup a; followup b]; allow; text; stop; block")

    assert run.all.count("running") == 1
    assert run.all.count("idle") == 1


def test_waiters_are_released_at_quiescence():
    """W-STAT-2: not while an admission, a turn or a checkpoint is pending."""
    run = play("reset prompt-submit model flush")

    waited = [run(op) and run.now.when_idle for op in ("followup a", "allow", "text", "saved")]

    assert waited == [False, False, False, True]
