"""Cancel, dispose, status, resume and references under contract ``claim``, rule by rule."""

from __future__ import annotations

import pytest
from claim_notation import play, words

from turnproof_model import events as e
from turnproof_model.concrete import ConcreteReading

RUNNING = "followup a; enter"


# ------------------------------------------------------------------------------------------------ cancel
def test_a_cancel_discards_both_lists_then_aborts():
    """C-CAN-1: next-step with one splice, then next-turn; then the gates hear it and the step closes."""
    run = play(RUNNING + "; followup b; inject i; steer s; followup c; cancel")

    assert run.last == words("""
        next-step[0]-2! discarded(i) discarded(s) next-turn[0]-2! discarded(b) discarded(c)
        !model step-end(1.1) end(1,aborted:user) idle
    """)


def test_a_cancel_discards_what_a_list_holds_when_its_turn_comes():
    """C-CAN-1: what a listener adds to next-turn meanwhile goes with it."""
    run = play(RUNNING + "; inject i; on agent/inbox/discarded { followup b }; cancel")

    assert run.last == words("""
        next-step[0]-1! discarded(i) next-turn[0]+b inserted(b) next-turn[0]-1! discarded(b)
        !model step-end(1.1) end(1,aborted:user) idle
    """)


def test_a_cancel_doesnt_concern_what_its_listeners_start():
    """C-CAN-1: an idle cancel aborts nothing, not even the activity begun inside it."""
    run = play("inject i; on agent/inbox/discarded { followup a }; cancel")

    assert run.last == words("""
        next-step[0]-1! discarded(i) next-turn[0]+a inserted(a) running turn(1) next-turn[0]-1 claimed(a,1) ?pre-step
    """)


@pytest.mark.parametrize("keep", ["", " keep"])
def test_a_cancel_before_the_turn_only_stops_the_driver(keep):
    """C-CAN-1: no turn opens."""
    run = play(f"on agent/status status=running {{ cancel{keep} }}; followup a")

    assert "turn(1)" not in run.last
    assert run.last.endswith("idle")
    assert run.pending == ("a" if keep else "", "")


def test_a_cancel_at_turn_end_only_stops_the_driver():
    """C-CAN-1, C-CAN-2: the turn has its reason, and what is kept waits for the next wake."""
    run = play(RUNNING + "; followup b; text; on turn/end { cancel keep }; stop")

    assert (run.last, run.pending) == ("end(1,completed) idle", ("b", ""))
    assert "C-TURN-6" not in run.cited


def test_the_gates_hear_a_cancel_in_opening_order():
    """C-CAN-1: the cooperative ones settle, the others stay open and say that they know."""
    run = play("reset model tool!; followup a; tools x:par y:par; cancel")

    assert (run.last, run.gates) == ("", "tool! tool!")
    assert run("result @g3") == ""
    assert run("result").endswith("end(1,aborted:user) idle")


def test_a_gate_that_opens_after_the_cancel_hears_it_at_once():
    """C-CAN-1: a cancel between the request and its gate, or inside the opening of the gate."""
    between = play("reset model; on request { cancel }; followup a")
    inside = play("on gate:pre-step { cancel keep; inject i }; followup a")

    assert between.last.endswith("request(a) ?model !model step-end(1.1) end(1,aborted:user) idle")
    assert inside.last.endswith("?pre-step next-step[0]+i inserted(i) !pre-step end(1,aborted:user) idle")


def test_text_streamed_before_the_cancel_is_kept_as_interrupted():
    """C-CAN-1: what comes after it is dropped."""
    run = play("reset pre-step model!; " + RUNNING + "; partial so; cancel; text much")

    assert run.last == "interrupted(so) step-end(1.1) end(1,aborted:user) idle"


def test_an_answer_released_beside_the_cancel_is_dropped():
    """C-CAN-1: the loop looks at the cause before it takes the answer, and asks about no error."""
    assert play(RUNNING + "; [text; cancel]").last == "step-end(1.1) end(1,aborted:user) idle"
    assert play(RUNNING + "; [error; cancel]").last == "step-end(1.1) end(1,aborted:user) idle"


@pytest.mark.parametrize("op", ["inspect", "text; cancel keep", "error; cancel keep"])
def test_every_wait_ends_in_an_aborted_turn(op):
    """C-CAN-1: a model, turn-stopping or request-error gate alike."""
    run = play(f"{RUNNING}; {op}; cancel keep")

    assert "end(1,aborted:user) idle" in run.all


def test_a_keeping_cancel_keeps_both_lists_in_order():
    """C-CAN-2: they wait for the next waking send, which finds them ahead of itself."""
    run = play(RUNNING + "; followup b; steer s; inject i; cancel keep")
    assert (run.last, run.pending) == ("!model step-end(1.1) end(1,aborted:user) idle", ("b", "s i"))
    assert (run("inspect"), run.now.status) == ("", "idle")

    run("followup c; enter")
    assert run.last == "step(2.1) user(s) user(i) user(b) request(a,s,i,b) ?model"


def test_an_idle_cancel_of_nothing_leaves_no_trace():
    """C-CAN-3: and none for later work."""
    run = play("cancel; cancel keep")
    assert (run.all, run.pending) == ("", ("", ""))

    assert run("followup a").endswith("claimed(a,1) ?pre-step")


@pytest.mark.parametrize("keep", ["", " keep"])
def test_a_batch_claimed_before_the_cancel_is_lost(keep):
    """C-CAN-4: neither appended nor put back; an uncooperative decision doesn't count."""
    run = play(f"reset pre-step! model; [inject i; followup a]; cancel{keep}; enter")

    assert (run.last, run.pending) == ("end(1,aborted:user) idle", ("", ""))
    assert run.machine.history.entries == ()


@pytest.mark.parametrize("on", ["step/start", "user/message"])
def test_a_cancel_inside_the_opening_of_a_step_takes_effect_before_the_request(on):
    """C-CAN-4: step/start and its batch are one publication, which is finished."""
    run = play(f"[inject i; followup a]; on {on} {{ cancel }}; enter")

    assert run.last == "step(1.1) user(i) user(a) step-end(1.1) end(1,aborted:user) idle"


def test_the_first_cause_ends_the_turn():
    """C-CAN-1, C-TURN-5: a later cancel or disposal changes nothing of it."""
    run = play("reset pre-step model!; " + RUNNING + "; cancel parent; cancel; dispose; text")

    assert run.last == "step-end(1.1) end(1,aborted:parent) idle disposed dispose-resolved"


def test_no_turn_is_aborted_by_the_cancel_of_another():
    """C-CAN-5: the restarted activity ends by itself; between a cancel and the end of its turn nothing is claimed."""
    run = play("reset model!; followup a; cancel keep; steer s; text; text")
    cancelled = run.all.index("inserted(s)")

    assert "claimed" not in run.all[cancelled : run.all.index("end(1,aborted:user)")]
    assert run.last.endswith("end(2,completed) idle")


# ------------------------------------------------------------------------------------------------ dispose
def test_a_disposal_cancels_for_good():
    """C-DIS-1: cause disposed, everything pending discarded, agent/disposed after the last idle."""
    run = play(RUNNING + "; followup b; inject i; dispose")

    assert run.last == words("""
        next-step[0]-1! discarded(i) next-turn[0]-1! discarded(b) !model
        step-end(1.1) end(1,aborted:disposed) idle disposed dispose-resolved
    """)


def test_an_idle_disposal_discards_what_is_pending():
    """C-DIS-1: there is no turn to end."""
    run = play("inject i; dispose")

    assert run.last == "next-step[0]-1! discarded(i) disposed dispose-resolved"


@pytest.mark.parametrize("op", ["followup b", "steer b", "inject b"])
@pytest.mark.parametrize("then", ["", "; text"])
def test_input_after_the_disposal_stays_pending_or_is_refused(op, then):
    """C-DIS-1: it starts nothing, before the disposal resolves and after it."""
    pending = play(f"reset pre-step model!; {RUNNING}; dispose{then}; {op}; inspect")
    refused = play(f"reset pre-step model!; {RUNNING}; dispose{then}; {op}", disposed_send="refused")

    assert sorted(pending.pending) == ["", "b"]
    assert (refused.now.refused, refused.pending) == ("the agent is disposed of and takes no input", ("", ""))
    assert "turn(2)" not in pending.all + pending("text" if not then else "inspect")


def test_no_late_wake_restarts_a_disposed_agent():
    """C-DIS-1: neither one sent before the disposal nor one sent after it."""
    run = play("reset pre-step model!; " + RUNNING + "; cancel keep; followup b; dispose; followup c; text")

    assert run.last == "step-end(1.1) end(1,aborted:user) idle disposed dispose-resolved"
    assert run.pending == ("c", "")


def test_a_second_disposal_only_waits_for_the_first():
    """C-DIS-1: it discards nothing and both resolve; so does a third one later."""
    run = play("reset pre-step model!; " + RUNNING + "; dispose; followup b; dispose; text")

    assert run.last == "step-end(1.1) end(1,aborted:disposed) idle disposed dispose-resolved dispose-resolved"
    assert (run("dispose"), run.pending) == ("dispose-resolved", ("b", ""))


def test_a_refused_disposal_changes_nothing():
    """C-DIS-1: the turn goes on, and so does the agent."""
    run = play(RUNNING + "; inject i; on assistant/message { dispose }; text; enter; text; stop")
    assert "refused(dispose)" in run.all
    assert run.last == "end(1,completed) idle"

    assert run("followup b").endswith("claimed(b,2) ?pre-step")


def test_a_disposal_that_discards_nothing_is_accepted_inside_a_durable_event():
    """C-DIS-1, C-EDIT-2: the first with nothing pending, and a later one whatever is pending."""
    first = play(RUNNING + "; on assistant/message { dispose }; text")
    later = play(
        "reset pre-step model!; " + RUNNING + "; dispose; inject i; on step/end { dispose }; text",
    )

    assert first.last == "assistant(reply) step-end(1.1) end(1,aborted:disposed) idle disposed dispose-resolved"
    assert later.last.endswith("idle disposed dispose-resolved dispose-resolved")


# ------------------------------------------------------------------------------------------------ status
def test_status_is_published_on_change_only():
    """C-STAT-1: one running interval spans consecutive turns, and a waiter is released at its end."""
    run = play("reset model; [followup a; followup b]; text")
    assert (run.now.status, run.now.when_idle) == ("running", False)

    run("text")
    assert [event.status for event in run.log if isinstance(event, e.StatusChanged)] == ["running", "idle"]
    assert (run.now.status, run.now.when_idle) == ("idle", True)


def test_a_send_from_the_idle_listener_begins_a_new_interval():
    """C-STAT-1, C-CAN-1: a cancel there has nothing to abort."""
    run = play("reset model; on agent/status status=idle { cancel; followup b }; followup a; text")

    assert run.last == words("""
        assistant(reply) step-end(1.1) end(1,completed) idle next-turn[0]+b inserted(b)
        running turn(2) next-turn[0]-1 claimed(b,2) step(2.1) user(b) request(a,>reply,b) ?model
    """)
    assert run.now.when_idle is False


def test_at_idle_nothing_waking_is_pending_but_what_is_parked():
    """C-STAT-2: kept by a cancel, or left by a rejected or failed turn."""
    kept = play(RUNNING + "; followup b; cancel keep")
    left = play("[followup a; followup b]; reject")
    done = play("reset model; [followup a; followup b; steer s]; text; text; text")

    assert (kept.pending, left.pending, done.pending) == (("b", ""), ("b", ""), ("", ""))
    assert {"C-STAT-2"} <= kept.cited & left.cited & done.cited


# ------------------------------------------------------------------------------------------------ log
def test_message_values_are_the_same_everywhere():
    """C-LOG-1, C-LOG-2: supplementary input is told by its source alone."""
    run = play("[inject i; followup a]; enter")
    committed = [event for event in run.log if isinstance(event, e.UserMessage)]

    assert [(m.id, m.source, m.text) for m in committed] == [("i", "plugin", "i"), ("a", "user", "a")]
    assert [seen.text for seen in run.machine.history.messages] == ["i", "a"]


@pytest.mark.parametrize("mode", ["crash", "fork"])
def test_a_resumed_agent_finds_the_inbox_and_goes_on_counting(mode):
    """C-LOG-3, C-LOG-4, C-TURN-1: pending input stays pending, and wakes nothing by itself."""
    run = play(f"{RUNNING}; followup b; steer s; resume {mode}")
    assert (run.last, run.now.status, run.pending, run.gates) == ("", "idle", ("b", "s"), "")

    assert run("inject i").endswith("inserted(i)")
    run("followup c")
    assert run.last.endswith("turn(2) next-step[0]-2 next-turn[0]-1 claimed(s,2) claimed(i,2) claimed(b,2) ?pre-step")


def test_a_crash_answers_open_calls_and_interrupts_the_turn():
    """C-LOG-3: calls without a result get an error result first."""
    run = play("reset model tool; followup a; tools x:par y:exc; inject i; resume crash; steer s")

    assert run.last.endswith("request(a,>x.y,<x!,<y!,i,s) ?model")


@pytest.mark.parametrize(
    ("until", "repairs"),
    [
        ("followup a", "end"),
        (RUNNING, "step-end end"),
        (RUNNING + "; tools x:par", "result step-end end"),
        (RUNNING + "; error", "step-end end"),
        (RUNNING + "; text", "end"),
        (RUNNING + "; text; stop", ""),
    ],
)
def test_a_crash_closes_what_is_open_from_the_inside_out(until, repairs, monkeypatch):
    """C-LOG-3, C-STEP-1: results, then the step, then the turn."""
    added: list[e.Event] = []
    monkeypatch.setattr(ConcreteReading, "repair", lambda _, event: added.append(event))
    play(until + "; resume crash")
    words = {e.ToolResult: "result", e.StepEnd: "step-end", e.TurnEnd: "end"}

    assert " ".join(words[type(event)] for event in added) == repairs


def test_a_crash_leaves_no_turn_open():
    """C-LOG-3: it is closed as interrupted before the new agent begins."""
    assert play(RUNNING).machine.history.in_turn
    assert not play(RUNNING + "; resume crash").machine.history.in_turn


def test_a_crash_loses_what_was_claimed():
    """C-LOG-3, C-CLAIM-3: a claimed message never returns to the inbox."""
    run = play("followup a; resume crash; followup b; enter")

    assert run.last == "step(2.1) user(b) request(b) ?model"


def test_a_clean_resume_disposes_of_the_old_agent_first():
    """C-LOG-3, C-DIS-1: what is pending then is discarded, and the new agent takes input."""
    run = play(RUNNING + "; followup b; resume clean")
    assert run.last == "next-turn[0]-1! discarded(b) !model step-end(1.1) end(1,aborted:disposed) idle disposed"

    assert run("followup c; enter") == "step(2.1) user(c) request(a,c) ?model"


def test_a_resumed_agent_forgets_lateness():
    """C-LOG-3, C-WAKE-3: it isn't in the log."""
    run = play("reset pre-step model!; " + RUNNING + "; cancel keep; followup b; resume crash")

    assert (run.last, run.pending) == ("", ("b", ""))
    assert run("inspect") == ""


# ------------------------------------------------------------------------------------------------ references
def test_an_idle_reference_enters_behind_its_prompt():
    """C-XREF-1: the pre-step that claimed the prompt returns the snapshot."""
    run = play("inject i; reference a snap; enter")

    assert run.last == "step(1.1) user(i) user(a) user(snap) request(i,a,snap) ?model"


@pytest.mark.parametrize("entered", ["i", "-"])
def test_a_snapshot_goes_with_its_prompt(entered):
    """C-XREF-1: a batch without the prompt has no snapshot."""
    run = play(f"inject i; reference a snap; enter {entered}")

    assert "snap" not in run.last


def test_a_running_reference_is_injected_before_its_prompt():
    """C-XREF-1: then the prompt is sent as steering."""
    run = play(RUNNING + "; reference b snap")

    assert run.last == "next-step[0]+snap inserted(snap) next-step[1]+b inserted(b)"


def test_a_reference_is_accepted_as_a_whole():
    """C-XREF-1, C-DIS-1: a disposal inside its first insertion comes after it."""
    run = play(RUNNING + "; on agent/inbox/inserted { dispose }; reference b snap", disposed_send="refused")

    assert run.now.refused is None
    assert run.pending == ("b", "")


def test_a_reference_doesnt_double_what_its_own_listener_sent():
    """C-SEND-3: an id is pending once, even where that leaves the snapshot alone."""
    run = play(RUNNING + "; on agent/inbox/inserted { inject b }; reference b snap")

    assert (run.now.refused, run.pending) == ("message 'b' is pending already", ("", "snap b"))


@pytest.mark.parametrize(("before", "name"), [("inject b", "b"), ("inject snap", "snap")])
def test_a_refused_reference_changes_nothing(before, name):
    """C-XREF-1, C-SEND-3: whichever of its two ids is pending."""
    run = play(f"{RUNNING}; {before}; reference b snap")

    assert run.now.refused == f"message {name!r} is pending already"
    assert (run.last, run.pending) == ("", ("", name))


def test_an_abort_inside_the_news_of_another_tells_no_gate_ahead_of_its_turn():
    """C-CAN-1: the abort that is under way goes on to the next gate when the listener is done."""
    run = play("reset model tool; followup a; tools x:par y:par; on gate/aborted { cancel; steer m }; dispose")

    assert run.last.startswith("!tool next-turn[0]+m inserted(m) !tool ")
