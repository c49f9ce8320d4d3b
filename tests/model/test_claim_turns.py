"""Decisions, turns, steps, tools and requests under contract ``claim``, rule by rule."""

from __future__ import annotations

import pytest
from claim_notation import play, words

from turnproof_model import events as e
from turnproof_model import vocabulary as v

RUNNING = "followup a; enter"
TOOLS = RUNNING + "; tools "


# ------------------------------------------------------------------------------------------------ pre-step
def test_the_claimed_batch_enters_by_default():
    """C-PRE-1: after step/start and before the request, in the order of the claim."""
    run = play("[inject i; followup a]; enter")

    assert run.last == "step(1.1) user(i) user(a) request(i,a) ?model"


def test_exactly_the_decided_batch_enters():
    """C-PRE-1, C-PRE-4: what is left out is gone, what is added enters in its place."""
    run = play("[inject i; followup a]; enter a +n")

    assert run.last == "step(1.1) user(a) user(n) request(a,n) ?model"
    assert (run.pending, "C-PRE-4" in run.cited) == (("", ""), True)


def test_an_id_names_the_message_that_was_sent_before():
    """C-PRE-1: not one of the same id that comes beside it or after it."""
    run = play("followup a; [enter a +a a; steer a]")
    entered = [(event.id, event.source) for event in run.now.events if isinstance(event, e.UserMessage)]

    assert entered == [("a", "user"), ("a", "plugin"), ("a", "plugin")]


def test_a_message_entered_with_another_text_shows_it():
    """C-PRE-1, C-LOG-1: the log and the request have the text that was let in."""
    run = play("followup a")
    run.machine.ask(v.Release(v.Enter((v.Message("a", "changed"),)), kind="pre-step"))
    _, committed, request, _ = (demand.event for demand in run.machine.demands)

    assert committed == e.UserMessage("a", "user", "changed")
    assert play("followup a; enter").now.events[1].admits(e.UserMessage("a", "user"))
    assert not committed.admits(e.UserMessage("a", "user"))
    assert isinstance(request, e.RequestMade)
    assert request.messages[0].text == "changed"


def test_no_decision_is_asked_for_once_a_cancel_came_after_the_claim():
    """C-PRE-1, C-CAN-4: also where it comes in the same stack."""
    run = play("[followup a; cancel keep]")

    assert run.last.endswith("claimed(a,1) end(1,aborted:user) idle")


def test_an_abort_between_the_decision_and_the_step_lets_nothing_in():
    """C-CAN-4: step/start isn't out, so the batch is neither appended nor put back."""
    run = play("reset model; on agent/inbox/claimed +1 { cancel keep }; followup a", 0, 0, 1)

    assert run.last.endswith("claimed(a,1) end(1,aborted:user) idle")
    assert run.pending == ("", "")


def test_a_rejected_batch_leaves_no_trace():
    """C-PRE-2: no step, nothing appended; what came after the claim is pending."""
    run = play("[inject i; followup a]; inject j; followup b; reject")

    assert (run.last, run.pending) == ("end(1,blocked) idle", ("b", "j"))
    assert run.machine.history.entries == ()


def test_a_failed_decision_fails_the_turn():
    """C-PRE-2, C-TURN-5: with the number of the last opened step; the batch stays removed."""
    run = play("followup a; throw pre-step")

    assert (run.last, run.pending) == ("error(1.0) end(1,error) idle", ("", ""))
    assert play(RUNNING + "; steer s; text; throw pre-step").last == "error(1.1) end(1,error) idle"


def test_an_empty_batch_at_the_first_boundary_closes_the_turn_without_a_step():
    """C-PRE-3: balanced, completed, no request."""
    run = play("followup a; enter -")

    assert run.last == "end(1,completed) idle"


@pytest.mark.parametrize("value", ["park", "continue"])
def test_what_is_pending_after_a_turn_without_a_step_is_a_freedom(value):
    """C-PRE-3: it waits, or starts the next turn."""
    run = play("[followup a; followup b]; enter -", after_empty=value)

    assert (run.last == "end(1,completed) idle") is (value == "park")
    assert ("turn(2) next-turn[0]-1 claimed(b,2)" in run.last) is (value == "continue")


def test_an_empty_batch_enters_a_later_step_only_where_the_model_owes_an_answer():
    """C-PRE-3: else it ends the turn, and the turn after it is no freedom."""
    owing = play(TOOLS + "x:par; inject i; result; enter -")
    content = play(RUNNING + "; steer s; text; followup b; enter -")

    assert owing.last == "step(1.2) request(a,>x,<x) ?model"
    assert content.last == "end(1,completed) turn(2) next-turn[0]-1 claimed(b,2) ?pre-step"


@pytest.mark.parametrize("ending", ["reject", "throw pre-step"])
@pytest.mark.parametrize(("value", "goes_on"), [("park", False), ("continue", True)])
def test_waking_input_after_a_blocked_or_failed_turn_is_a_freedom(ending, value, goes_on):
    """C-PRE-5: it waits, or starts the next turn."""
    run = play(f"[followup a; followup b]; {ending}", after_reject=value)

    assert ("turn(2)" in run.last) is goes_on
    assert ("C-PRE-5" in run.cited) is True


def test_quiet_input_never_starts_a_turn_after_a_blocked_one():
    """C-PRE-5: the freedom is about waking input."""
    run = play("[followup a; quiet b]; reject", after_reject="continue")

    assert (run.last, run.pending) == ("end(1,blocked) idle", ("b", ""))


# ------------------------------------------------------------------------------------------------ turns
def test_turns_are_numbered_on_and_never_nest():
    """C-TURN-1, C-TURN-4: the next one starts after the end of the one before."""
    run = play("reset model; [followup a; followup b; followup c]; text; text; text")
    turns = [event for event in run.log if isinstance(event, (e.TurnStart, e.TurnEnd))]

    assert [(type(t).__name__, t.turn) for t in turns] == [(n, i) for i in (1, 2, 3) for n in ("TurnStart", "TurnEnd")]


def test_input_is_committed_inside_a_turn_only():
    """C-TURN-2: between turns there are splices and nothing else of the log."""
    run = play("reset model; inject i; followup a; inject j; cancel; quiet q; steer s")
    inside = False
    for event in run.log:
        inside = (inside or isinstance(event, e.TurnStart)) and not isinstance(event, e.TurnEnd)
        assert inside or not isinstance(event, (e.UserMessage, e.StepStart, e.StepEnd, e.AssistantMessage))

    assert "C-TURN-2" in run.cited


@pytest.mark.parametrize(
    ("scenario", "end"),
    [
        (RUNNING + "; max; steer s; stop; reject; inspect", "end(1,blocked)"),
        (RUNNING + "; steer s; max; enter; text; stop", "end(1,max-tokens)"),
        (RUNNING + "; steer s; max; enter; error; give-up", "end(1,error)"),
        (RUNNING + "; max; throw turn-stopping", "end(1,error)"),
        (RUNNING + "; error; [give-up; cancel parent]", "end(1,aborted:parent)"),
        (RUNNING + "; on step/end { cancel }; error; give-up", "end(1,aborted:user)"),
        ("followup a; [reject; cancel]", "end(1,aborted:user)"),
        (RUNNING + "; text; stop", "end(1,completed)"),
    ],
)
def test_the_first_reason_that_applies_ends_the_turn(scenario, end):
    """C-TURN-5: aborted, error, blocked, max-tokens, completed."""
    assert end in play(scenario).all


def test_a_published_failure_is_the_reason_whatever_its_listener_cancels():
    """C-TURN-5, C-CAN-2: yet the cancel stops the driver, and what is kept waits for the next wake."""
    run = play(
        RUNNING + "; followup b; error; on agent/error { cancel keep }; give-up",
        after_reject="continue",
    )

    assert (run.last, run.pending) == ("step-end(1.1) error(1.1) end(1,error) idle", ("b", ""))


@pytest.mark.parametrize("ending", ["text", "max"])
def test_any_pending_input_starts_the_next_turn(ending):
    """C-TURN-6: quiet input too."""
    run = play(f"{RUNNING}; quiet q; {ending}; stop")

    assert run.last.endswith("turn(2) next-turn[0]-1 claimed(q,2) ?pre-step")


def test_a_candidate_may_leave_quiet_input_idle():
    """C-TURN-6: a freedom; waking input goes on all the same."""
    quiet = play(RUNNING + "; quiet q; text; stop", idle_context="waking")
    waking = play(RUNNING + "; followup b; text; stop", idle_context="waking")

    assert (quiet.last, quiet.pending) == ("end(1,completed) idle", ("q", ""))
    assert waking.last.endswith("turn(2) next-turn[0]-1 claimed(b,2) ?pre-step")


@pytest.mark.parametrize(
    ("scenario", "kind", "rule"),
    [
        ("followup a", e.TurnStart, "C-WAKE-1"),
        (RUNNING + "; followup b; text; stop", e.TurnStart, "C-TURN-6"),
        ("[followup a; followup b]; reject", e.TurnStart, "C-PRE-5"),
        ("followup a; throw pre-step", e.TurnEnd, "C-PRE-2"),
        ("followup a; reject", e.TurnEnd, "C-PRE-2"),
        ("followup a; enter -", e.TurnEnd, "C-PRE-3"),
        (RUNNING + "; text; stop", e.TurnEnd, "C-STEP-4"),
        (RUNNING + "; error; give-up", e.TurnEnd, "C-TURN-5"),
        (RUNNING + "; cancel", e.TurnEnd, "C-CAN-1"),
        (RUNNING + "; dispose", e.TurnEnd, "C-DIS-1"),
        ("quiet p", e.Spliced, "C-WAKE-2"),
        ("inject i", e.Spliced, "C-SEND-4"),
        ("followup a; quiet p", e.Spliced, "C-CLAIM-3"),
        (RUNNING + "; quiet p", e.Spliced, "C-SEND-2"),
        (RUNNING + "; dispose; inject i", e.Inserted, "C-SEND-4"),
    ],
)
def test_an_event_names_the_rule_that_demands_it_first(scenario, kind, rule):
    """The most specific rule is named first, since a failure cites it."""
    run = play(scenario, after_reject="continue")
    demand = next(demand for demand in reversed(run.machine.demands) if isinstance(demand.event, kind))

    assert demand.rules[0] == rule


@pytest.mark.parametrize(
    ("scenario", "rules"),
    [
        ("quiet a", "C-SEND-1 C-SEND-3 C-SEND-4 C-WAKE-1 C-WAKE-3 C-DIS-1 C-CLAIM-3"),
        (RUNNING + "; inject i", "C-SEND-4 C-WAKE-2 C-PRE-3 C-PRE-4 C-CAN-4"),
        (RUNNING + "; tools x:par; result", "C-STEP-5 C-STEP-3 C-SEND-3 C-PRE-3 C-WAKE-3"),
        (RUNNING + "; text; stop", "C-PRE-3 C-PRE-5 C-TURN-6 C-CAN-1 C-CAN-2 C-CAN-5 C-STEP-2"),
        (RUNNING + "; cancel", "C-CAN-2 C-CAN-3 C-CAN-4 C-DIS-1 C-PRE-5 C-TURN-6 C-WAKE-3"),
    ],
)
def test_a_rule_counts_as_exercised_only_where_its_premise_occurred(scenario, rules):
    """An unexercised rule is never called passed."""
    assert play(scenario).cited.isdisjoint(rules.split())


@pytest.mark.parametrize(
    ("scenario", "freedom"),
    [
        (TOOLS + "x:exc y:exc; result; result; enter; text; stop", ""),
        (TOOLS + "x:par y:par", "parallel-results"),
        (TOOLS + "x:par; inject k; result +k", ""),
        (TOOLS + "x:par; inject k; result +k +l", "refused-context"),
        (RUNNING + "; followup b; text; on turn/end { cancel keep }; stop", ""),
        (RUNNING + "; followup b; text; stop", ""),
        (RUNNING + "; quiet b; text; stop", "idle-context"),
        ("[followup a; quiet b]; reject", ""),
        ("[followup a; followup b]; reject", "after-reject"),
        ("followup a; enter -", ""),
        ("[followup a; quiet b]; enter -", "after-empty"),
        ("reset model!; followup a; cancel keep; inject i; cancel keep; text", ""),
        ("reset model!; followup a; cancel keep; followup b; cancel keep", "second-keep-cancel"),
        ("reset model!; followup a; cancel keep; followup b; text", "wake-after-abort"),
        (RUNNING + "; dispose; inject i", "disposed-send"),
    ],
)
def test_a_freedom_is_asked_for_only_where_it_matters(scenario, freedom):
    """A candidate is held to a value only by what shows it."""
    assert play(scenario).chooser.asked == ({freedom} if freedom else set())


@pytest.mark.parametrize("before", [RUNNING + "; max; stop", "followup a; reject", RUNNING + "; error; give-up"])
def test_what_a_turn_ended_with_is_no_reason_of_the_next(before):
    """C-TURN-5: each turn has its own."""
    assert play(before + "; followup b; enter; text; stop").last == "end(2,completed) idle"


def test_what_a_turn_left_owed_opens_no_step_of_the_next():
    """C-PRE-3, C-STEP-4: the answer that a rejected step kept back is not owed any more."""
    assert play(TOOLS + "x:par; result; reject; followup b; enter -").last == "end(2,completed) idle"


@pytest.mark.parametrize("scenario", [RUNNING + "; text", "followup a; reject"])
def test_a_claimed_batch_is_forgotten_once_it_is_dealt_with(scenario):
    """Equal situations are equal states: neither a closed step nor a closed turn holds on to its batch."""
    machine = play(scenario).machine

    assert (machine.s.claimed.ids, machine.s.prompt.ids, machine.s.due.ids) == ((), (), ())


def test_nothing_of_a_turn_outlives_it():
    """Equal situations are equal states: a turn leaves its number and its reason."""
    machine = play("reset model tool; [inject i; followup a]; tools x:par y:par; result; result; text").machine
    fresh = play("inspect").machine.s
    fresh.turn, fresh.step, fresh.reason = 1, 2, "completed"

    assert machine.s == fresh


# ------------------------------------------------------------------------------------------------ steps
def test_steps_count_from_one_in_each_turn():
    """C-STEP-1: one request each."""
    run = play("reset model; followup a; steer s; text; followup b; text; text")
    steps = [(event.turn, event.step) for event in run.log if isinstance(event, e.StepStart)]

    assert steps == [(1, 1), (1, 2), (2, 1)]
    assert sum(isinstance(event, e.RequestMade) for event in run.log) == 3


def test_a_retry_repeats_the_request_inside_the_step():
    """C-STEP-1: with the same history, although input has come meanwhile."""
    run = play(RUNNING + "; error; inject i; retry")

    assert (run.last, run.pending) == ("request(a) ?model", ("", "i"))


@pytest.mark.parametrize("decision", ["give-up", "throw request-error"])
def test_a_failed_request_fails_the_turn(decision):
    """C-TURN-5: after step/end, before turn/end; what the failed request streamed is gone."""
    run = play(f"{RUNNING}; partial so; error; steer s; {decision}")

    assert (run.last, run.pending) == ("step-end(1.1) error(1.1) end(1,error) idle", ("", "s"))


def test_streamed_text_is_part_of_the_answer():
    """C-REQ-1: the next request shows it whole."""
    run = play("reset model; followup a; partial so; partial me; text thing; followup b")

    assert run.last.endswith("request(a,>something,b) ?model") is True


def test_calls_of_an_answer_that_hit_the_ceiling_are_no_calls():
    """C-STEP-2: the assistant message has none, and nothing is owed."""
    run = play(RUNNING + "; max x:par")

    assert run.last == "assistant(reply) step-end(1.1) ?turn-stopping"


def test_a_parallel_group_runs_together_and_answers_in_call_order():
    """C-STEP-2: an exclusive call starts when all before it are answered."""
    run = play(TOOLS + "x:par y:par z:exc")

    assert run.last == "assistant(x,y,z) call(x) ?tool call(y) ?tool"
    assert run("result @g4") == ""
    assert run("result @g3") == "result(x) result(y) call(z) ?tool"
    assert run("fault") == "result(z:error) step-end(1.1) ?pre-step"


def test_how_a_parallel_group_interleaves_is_a_freedom():
    """C-STEP-2: all calls may be logged before a tool is asked, and results may wait for the whole group."""
    run = play(TOOLS + "x:par y:par", 1, parallel_results="together")

    assert run.last == "assistant(x,y) call(x) call(y) ?tool ?tool"
    assert [run("result"), run("result")] == ["", "result(x) result(y) step-end(1.1) ?pre-step"]


def test_an_unknown_tool_is_answered_by_the_agent():
    """C-STEP-2: it opens no gate, and the model is owed a request."""
    run = play(TOOLS + "x:nope y:par")

    assert run.last == "assistant(x,y) call(x) result(x:UNKNOWN_TOOL) call(y) ?tool"


def test_a_cancelled_batch_is_closed_in_call_order():
    """C-STEP-2: started calls settle first, a call not started gets call and result at once."""
    run = play(TOOLS + "x:par y:par z:exc; cancel")

    assert run.last == words("""
        !tool !tool result(x:ABORTED) result(y:ABORTED) call(z) result(z:ABORTED_BEFORE_DISPATCH)
        step-end(1.1) end(1,aborted:user) idle
    """)


def test_a_cancel_at_a_call_keeps_its_tool_from_being_asked():
    """C-STEP-2: what was asked before is waited for."""
    run = play("reset pre-step model tool!; " + RUNNING + "; on tool/call #2 { cancel }; tools x:par y:par z:exc")

    assert run.last == "assistant(x,y,z) call(x) ?tool call(y)"
    assert run("result") == words("""
        result(x:ABORTED) result(y:ABORTED_BEFORE_DISPATCH) call(z) result(z:ABORTED_BEFORE_DISPATCH)
        step-end(1.1) end(1,aborted:user) idle
    """)


def test_a_stubborn_failure_stays_what_it_is_and_a_success_does_not():
    """C-STEP-2: after the abort a result counts for closure only; contexts are kept, a conclusion is void."""
    run = play("reset pre-step model tool!; " + TOOLS + "x:par y:par; cancel; fault; result concludes +k")

    assert run.last == "result(y:ABORTED) next-step[0]+k inserted(k) step-end(1.1) end(1,aborted:user) idle"
    assert "result(x:error)" in run.all


@pytest.mark.parametrize(("ways", "shown"), [((), "result(y:ABORTED)"), ((0, 1), "result(y)")])
def test_a_success_that_came_before_the_abort_is_a_freedom(ways, shown):
    """C-STEP-2: nothing is said of one that is committed after it."""
    run = play(TOOLS + "x:par y:par; result @g4; cancel", *ways)

    assert shown in run.last.split()


def test_nothing_of_another_kind_lies_between_calls_and_results():
    """C-STEP-2: input sent meanwhile waits behind the last result; only its splices are there."""
    run = play("reset model tool; followup a; tools x:exc y:exc; steer s; result; inject i; result")

    assert run.last.endswith("claimed(i,1) step(1.2) user(s) user(i) request(a,>x.y,<x,<y,s,i) ?model")
    between = [event for event in run.log if event.kind == "session"]
    calls = [i for i, event in enumerate(between) if isinstance(event, (e.ToolCall, e.ToolResult))]
    assert {type(event) for event in between[calls[0] : calls[-1]]} <= {e.ToolCall, e.ToolResult, e.Spliced}


def test_contexts_follow_their_own_result():
    """C-STEP-3: FIFO with what callers sent, and visible to the model only after the whole batch."""
    run = play(TOOLS + "x:par y:par; inject i; result @g4 +l +m; result +k")

    assert run.last == words("""
        result(x) next-step[1]+k inserted(k) result(y) next-step[2]+l inserted(l) next-step[3]+m inserted(m)
        step-end(1.1) next-step[0]-4 claimed(i,1) claimed(k,1) claimed(l,1) claimed(m,1) ?pre-step
    """)


def test_a_pending_context_id_fails_the_turn_after_its_batch():
    """C-SEND-3, C-STEP-2: no further tool is asked, every call is answered, then the turn ends in error."""
    run = play(TOOLS + "x:par y:par z:exc; inject k; result +k +l")
    assert run.last == "result(x)"

    assert run("result +m") == words("""
        result(y) next-step[1]+m inserted(m) call(z) result(z:ABORTED_BEFORE_DISPATCH)
        step-end(1.1) error(1.1) end(1,error) idle
    """)


def test_what_a_tool_brought_behind_a_refused_context_is_a_freedom():
    """C-SEND-3, C-STEP-3: it is dropped, or enters."""
    run = play(TOOLS + "x:par; inject k; result +k +l", refused_context="rest-kept")

    assert run.last == "result(x) next-step[1]+l inserted(l) step-end(1.1) error(1.1) end(1,error) idle"


@pytest.mark.parametrize("op", ["steer s", "inject s"])
def test_pending_next_step_input_continues_the_turn(op):
    """C-STEP-4: steering and context alike; turn-stopping is not asked."""
    run = play(f"{RUNNING}; {op}; text")

    assert run.last == "assistant(reply) step-end(1.1) next-step[0]-1 claimed(s,1) ?pre-step"


@pytest.mark.parametrize("op", ["steer s", "inject s"])
def test_input_at_turn_stopping_runs_another_step(op):
    """C-STEP-4: and turn-stopping is asked again after it."""
    run = play(f"{RUNNING}; text; {op}; stop; enter; text")

    assert run.last == "assistant(reply) step-end(1.2) ?turn-stopping"


def test_a_failing_turn_stopping_fails_the_turn():
    """C-TURN-5: whatever is pending waits."""
    run = play(RUNNING + "; text; steer s; followup b; throw turn-stopping")

    assert (run.last, run.pending) == ("error(1.1) end(1,error) idle", ("b", "s"))


def test_results_are_owed_an_answer_whatever_an_earlier_step_hit():
    """C-STEP-4: a step after one that hit the ceiling is answered too."""
    run = play("reset model; followup a; steer s; max; tools x:par")

    assert run.last == "assistant(x) call(x) result(x) step-end(1.2) step(1.3) request(a,>reply,s,>x,<x) ?model"


def test_one_concluding_result_ends_the_turn():
    """C-STEP-5: anywhere in the batch, and the other calls still run."""
    run = play(TOOLS + "x:par y:exc; result concludes")
    assert run.last == "result(x) call(y) ?tool"

    assert run("result") == "result(y) step-end(1.1) ?turn-stopping"


def test_a_failed_result_never_concludes():
    """C-STEP-5: the model is owed a request."""
    run = play(TOOLS + "x:par; fault concludes")

    assert run.last == "result(x:error) step-end(1.1) ?pre-step"


def test_pending_input_outlives_a_conclusion():
    """C-STEP-5: the turn goes on with it, and its step may be left empty."""
    run = play(TOOLS + "x:par; result concludes +k")
    assert run.last == "result(x) next-step[0]+k inserted(k) step-end(1.1) next-step[0]-1 claimed(k,1) ?pre-step"

    assert run("enter -") == "end(1,completed) idle"


def test_a_request_shows_the_log_as_it_is_then():
    """C-REQ-1: messages, answers, calls and results, in log order."""
    run = play("reset model tool; [inject i; followup a]; tools x:par; fault; text hi; followup b")

    assert run.last.endswith("user(b) request(i,a,>x,<x!,>hi,b) ?model")
