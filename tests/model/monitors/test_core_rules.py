"""The rules of ``core`` clause by clause, where the cases of real agents don't reach."""

from __future__ import annotations

import pytest
from model.monitors.core_traces import ALL, DONE, TURN, broken, judged

from turnproof_model import catalogue
from turnproof_model import trace as t
from turnproof_model.monitors.core import MONITORS, judge_trace
from turnproof_model.vocabulary import Source

TOOLS = TURN + "assistant c1 c2; call c1; call c2; "


def test_every_rule_of_core_has_a_monitor():
    """No rule of the catalogue goes unjudged."""
    assert sorted({monitor.rule for monitor in MONITORS}) == sorted(rule.id for rule in catalogue.rules("core"))


def test_a_plain_turn_is_lawful():
    """The trace that the others are made of."""
    report = judged(TURN + DONE + "waited; pending")

    assert report.violations == []
    assert not report.not_applicable


@pytest.mark.parametrize(
    "trace",
    [
        "-m queued; turn 1; user m; end 1 completed",
        "+m steering; -m queued; turn 1; user m; end 1 completed",
        "+m queued; -m queued; turn 1; user m; end 1 completed; drop m :removal",
        "drop m :removal",
        "<m queued; pending m",
    ],
)
def test_an_exit_without_an_entry_is_caught(trace):
    """K-LEDGER: an entry leaves its list, once."""
    assert "K-LEDGER" in broken(trace, "inbox log")


def test_a_claim_may_be_settled_by_a_requeue_or_a_discard():
    """K-LEDGER: that is no second exit."""
    back = "+m queued; running; -m queued; fail m; idle; +m queued; running; -m queued; ask m; <m queued; -m queued; "

    assert broken(back + "turn 1; user m; step 1.1; request m; " + DONE) == set()
    assert broken("+m queued; running; -m queued; cancel; drop m; idle; pending") == set()


def test_a_requeue_goes_to_the_head_and_several_keep_their_order():
    """K-FIFO: what returns is served before what was behind it."""
    start = TURN + "+n queued; +s steering; +r steering; "
    back = DONE.replace("idle; ", "") + "<s queued; <r queued; "

    assert broken(start + back + "-s queued; turn 2; user s; end 2 error", "inbox log") == set()
    assert broken(start + back + "-r queued; turn 2; user r; end 2 error", "inbox log") == {"K-FIFO"}
    assert broken(start + back + "-n queued; turn 2; user n; end 2 error", "inbox log") == {"K-FIFO"}


def test_an_entry_at_a_place_is_served_there():
    """K-FIFO: a list is in the order of its places."""
    placed = [t.InboxEnqueue("a", "next-turn", wakeup=True), t.InboxEnqueue("b", "next-turn", wakeup=True, at=0)]

    head = t.Header("core", ("inbox",))
    lawful = [*placed, t.InboxDequeue("b", "next-turn"), t.InboxDequeue("a", "next-turn")]
    assert judge_trace(head, enumerate(lawful)).violations == []
    assert judge_trace(head, enumerate([*placed, t.InboxDequeue("a", "next-turn")])).broken() == ("K-FIFO",)


def test_what_was_passed_over_is_reported_once():
    """K-FIFO: an entry that waits isn't blamed again for all that follows."""
    report = judged("+a queued; +b queued; +c queued; -b queued; -c queued; -a queued", "inbox")

    assert [violation.events for violation in report.violations] == [(2, 3, 5)]


@pytest.mark.parametrize("reason", ["aborted", "error", "interrupted", "blocked"])
def test_a_claim_may_be_lost_with_its_turn(reason):
    """K-COMMIT: a recorded abort or failure of the turn settles it."""
    told = f"+m queued; running; -m queued; turn 1; cancel; end 1 {reason}; idle; pending"

    assert "K-COMMIT" not in broken(told)


@pytest.mark.parametrize(
    "trace",
    [
        "+m queued; running; -m queued; turn 1; step 1.1; request; assistant; step-end 1.1; end 1 completed",
        "+m queued; running; -m queued; idle",
        "+m queued; -m queued; pending",
        TURN + "user m; " + DONE,
        "turn 1; user z; user z; end 1 error",
    ],
)
def test_a_claim_that_is_not_committed_once_is_caught(trace):
    """K-COMMIT: each dequeued item is committed exactly once, or visibly settled."""
    assert "K-COMMIT" in broken(trace)


def test_a_trace_may_stop_in_the_middle_of_an_admission():
    """K-COMMIT: what is still at work isn't lost."""
    assert broken("+m queued; running; -m queued; ask m; pending") == set()


def test_what_a_decision_lets_in_beside_the_claimed_is_committed_once():
    """K-COMMIT: contexts of an admission, even under an id that was used before."""
    told = TURN + DONE + "+n queued; running; -n queued; ask n; allow n m; turn 2; user n; user m; "

    assert broken(told + "step 2.1; request m A n m; assistant; step-end 2.1; end 2 completed; idle") == set()
    assert broken(told + "user m; step 2.1; request m A n m m; assistant; step-end 2.1; end 2 completed; idle") == {
        "K-COMMIT"
    }


def test_the_end_may_not_name_what_is_gone():
    """K-END: no more and no less."""
    assert broken(TURN + DONE + "pending m") == {"K-END"}


def test_turns_that_do_not_match_are_caught():
    """K-TURN: balanced, and an open turn isn't idle at the end."""
    assert "K-TURN" in broken("end 1 completed", "log")
    assert "K-TURN" in broken("turn 1; end 2 completed", "log")
    assert "K-TURN" in broken("running; turn 1; idle", "log status")
    assert broken("running; turn 1", "log status") == set()


def test_a_resume_closes_an_open_turn():
    """K-TURN: as interrupted, and numbers go on."""
    assert broken("turn 1; user m; resume; turn 2; end 2 error", "log") == set()
    assert broken("turn 1; user m; resume; turn 1; end 1 error", "log") == {"K-TURN"}


@pytest.mark.parametrize(
    "trace",
    [
        "turn 1; step 1.1; step-end 1.1; assistant; end 1 error",
        "turn 1; step 2.1; end 1 error",
        "turn 1; step 1.1; step-end 1.2; end 1 error",
        "steering s",
        "call c1",
    ],
)
def test_execution_outside_its_turn_or_step_is_caught(trace):
    """K-ENCLOSE: execution lies in its turn, step-scoped events in their step."""
    assert "K-ENCLOSE" in broken(trace, "log")


def test_a_step_that_is_never_closed_is_caught():
    """K-ENCLOSE: a step ends before the next one and before its turn, unless a resume closes them together."""
    begun = "turn 1; step 1.1; "
    assert broken(begun + "step 1.2; step-end 1.2; end 1 error", "log") == {"K-ENCLOSE"}
    assert broken(begun + "end 1 error", "log") == {"K-ENCLOSE"}
    assert broken(begun + "end 1 interrupted; resume", "log") == set()


def test_quiet_context_may_be_committed_between_turns():
    """K-ENCLOSE: prompts and steering may not."""
    assert broken("+x? steering; -x steering; user x", "inbox log") == set()
    assert "K-ENCLOSE" in broken("+s steering; -s steering; user s", "inbox log")


def test_a_request_with_an_open_batch_is_caught():
    """K-BATCH: no request is made with an unanswered call, nor shows one."""
    assert "K-BATCH" in broken(TOOLS + "result c1; request m A:c1,c2 c1#")
    assert "K-BATCH" in broken("turn 1; request m c1#; end 1 error", "log request")


def test_a_result_of_an_unknown_call_is_caught():
    """K-BATCH: a result answers a call of the batch before it."""
    assert broken(TOOLS + "result c1; result c3; result c2; step-end 1.1; end 1 error") == {"K-BATCH"}


@pytest.mark.parametrize("shown", ["", "m n", "n", "m A"])
def test_a_request_that_shows_another_history_is_caught(shown):
    """K-REQ: the committed messages, in log order, nothing else."""
    assert "K-REQ" in broken(TURN.replace("request m", f"request {shown}") + DONE)


def test_a_difference_is_told_once():
    """K-REQ: after it the shown history is taken for granted."""
    told = TURN.replace("request m", "request m n") + "assistant c1; call c1; result c1; step-end 1.1; step 1.2; "
    report = judged(told + "request m n A:c1 c1#; assistant; step-end 1.2; end 1 completed; idle")

    assert [violation.message for violation in report.violations] == [
        "message 2 of the request is n, where the log holds nothing more"
    ]


def test_a_compacted_history_is_what_requests_show():
    """K-REQ: a resume may bring another history."""

    head = t.Header("core", ("log", "request"))
    told = [
        *(t.TurnStart(1), t.UserMessage("m"), t.Requested((("user", "m"),)), t.TurnEnd(1, "error")),
        t.SessionResume((("user", "short"),)),
        *(t.TurnStart(2), t.UserMessage("n"), t.Requested((("user", "short"), ("user", "n"))), t.TurnEnd(2, "error")),
    ]

    assert judge_trace(head, enumerate(told)).violations == []


def test_contexts_of_a_veto_never_show():
    """K-VETO: what its hook added is vetoed with the prompt."""
    told = (
        "+m queued; running; -m queued; ask m; block m x; idle; +n queued; running; -n queued; ask n; allow n; turn 1; "
    )

    assert broken(told + "user n; user x; step 1.1; request n x; " + DONE) == {"K-VETO"}
    assert broken(told + "user n; step 1.1; request n; " + DONE) == set()


def test_an_id_that_is_sent_again_may_show():
    """K-VETO: it is a message of its own."""
    told = "+m queued; running; -m queued; ask m; block m; idle; " + TURN.replace(
        "-m queued; ", "-m queued; ask m; allow m; "
    )

    assert broken(told + DONE) == set()


def test_a_request_for_nothing_is_caught():
    """K-PROGRESS: no request repeats without new input, new results or a retry."""
    again = TURN + "step-end 1.1; step 1.2; request m; assistant; step-end 1.2; end 1 completed; idle"

    assert broken(again) == {"K-PROGRESS"}
    assert broken(again.replace("step 1.2", "retry; step 1.2")) == set()


def test_a_conclusion_excuses_an_unanswered_result():
    """K-PROGRESS: unless a concluding result came after the last request."""
    assert broken(TOOLS + "result c1; result c2; step-end 1.1; end 1 completed; idle") == {"K-PROGRESS"}
    assert broken(TOOLS + "result c1.; result c2; step-end 1.1; end 1 completed; idle") == set()


@pytest.mark.parametrize(
    "trace",
    [
        TURN + "+n queued; cancel keep; step-end 1.1; end 1 aborted; idle; waited; pending n",
        TURN + "+n queued; step-end 1.1; end 1 error; idle; waited; pending n",
        TURN + "+s steering; cancel keep; step-end 1.1; end 1 aborted; idle; pending s",
        TURN + "cancel; +s steering; step-end 1.1; end 1 aborted; idle; pending s",
        "+m queued; +n queued; running; -m queued; ask m; block m; idle; pending n",
        "+m queued; running; -m queued; ask m; +s steering; fail m; idle; pending s",
        TOOLS + "result c1.; +s steering; result c2; step-end 1.1; end 1 completed; idle; pending s",
        "dispose; +m queued; running; idle; pending m",
        "+m queued; resume; idle; waited; pending m",
    ],
)
def test_excused_input_may_wait_at_idle(trace):
    """K-QUIET: kept by a cancel, left by a failure, a veto or a conclusion, or the agent is gone."""
    assert broken(trace) == set()


def test_what_was_kept_runs_with_the_next_wake():
    """K-QUIET: the excuse lasts until the next dequeue."""
    kept = (
        TURN + "+n queued; +p queued; cancel keep; step-end 1.1; end 1 aborted; idle; +o queued; running; -n queued; "
    )
    told = kept + "turn 2; user n; step 2.1; request m n; assistant; step-end 2.1; end 2 completed; idle; pending p o"

    assert broken(told) == {"K-QUIET"}


def test_an_idle_that_is_followed_by_running_is_a_restart():
    """K-QUIET: after an aborted turn."""
    told = TURN + "cancel; +n queued; step-end 1.1; end 1 aborted; idle; "

    assert broken(told + "pending n") == {"K-QUIET"}
    assert (
        broken(
            told + "running; -n queued; turn 2; user n; step 2.1; request m n; assistant; step-end 2.1; "
            "end 2 completed; idle"
        )
        == set()
    )


def test_an_idle_inside_a_turn_is_caught():
    """K-QUIET: no turn is open at idle; nor does a waiter resolve there."""
    assert "K-QUIET" in broken(TURN + "idle; assistant; step-end 1.1; end 1 completed")
    assert broken(TURN + "waited; " + DONE) == {"K-WAIT"}


def test_an_idle_inside_an_admission_is_caught_when_it_is_decided():
    """K-QUIET: only then it is certain that the agent was at work."""
    told = "+m queued; running; -m queued; ask m; idle; "

    assert broken(told) == set()
    assert broken(told + "allow m; turn 1; user m; step 1.1; request m; assistant; step-end 1.1; end 1 completed") == {
        "K-QUIET"
    }


def test_late_input_of_claim_is_its_own_matter():
    """K-QUIET: contract claim says itself what becomes of late input."""
    told = "+m next-turn; running; -m next-turn; turn 1; user m; step 1.1; request m; cancel keep; +n next-turn; "
    rest = "step-end 1.1; end 1 aborted; idle; pending n"

    assert broken(told + rest) == {"K-QUIET"}
    assert broken(told + rest, contract="claim") == set()


@pytest.mark.parametrize(
    "trace",
    [
        TURN + "step-end 1.1; end 1 aborted",
        TURN + "cancel 7; step-end 1.1; end 1 aborted",
        TURN + "+n queued; cancel; step-end 1.1; end 1 aborted; -n queued; turn 2; user n; end 2 error",
        TURN + "cancel keep; assistant; step-end 1.1; end 1 completed",
        TURN + "+n queued; cancel keep; -n queued; <n queued; step-end 1.1; end 1 aborted",
        TURN + "+s steering; cancel keep; -s steering; step-end 1.1; end 1 aborted",
    ],
)
def test_a_cancel_that_is_not_obeyed_is_caught(trace):
    """K-CANCEL: it ends its own turn, and touches nothing else."""
    assert "K-CANCEL" in broken(trace)


@pytest.mark.parametrize(
    "trace",
    [
        TURN + "assistant; step-end 1.1; cancel keep; end 1 completed; idle",
        TURN + "cancel keep; +s steering; -s steering; steering s; step-end 1.1; end 1 aborted; idle",
        TURN + "dispose; step-end 1.1; end 1 aborted; idle",
        TURN + "cancel; step-end 1.1; end 1 error; idle",
        "+i next-step; +m next-turn; running; turn 1; -i next-step; cancel keep; -m next-turn; end 1 aborted; idle",
    ],
)
def test_a_cancel_that_came_in_time_or_too_late_is_obeyed(trace):
    """K-CANCEL: an outcome that was reached stands, steering that is taken is committed, a begun claim completes."""
    assert broken(trace) == set()


@pytest.mark.parametrize(
    ("trace", "caught"),
    [
        ("+m queued; drop m :removal", False),
        ("+m queued; dispose; drop m", False),
        ("+m queued; cancel; drop m", False),
        ("+m queued; cancel; +n queued; drop m n", False),
        ("+m queued; cancel keep; drop m", True),
        ("+m queued; drop m :cancel", True),
        ("+m queued; drop m :disposal", True),
        ("cancel; running; idle; +m queued; drop m", True),
    ],
)
def test_a_discard_needs_a_recorded_cause(trace, caught):
    """K-DISCARD: a cancel without keepInbox, a removal, a disposal."""
    assert ("K-DISCARD" in broken(trace)) is caught


def test_a_source_that_changed_is_caught():
    """K-SAME: source as well as content; a log may show the kind alone."""

    def told(committed: Source) -> list[t.Record]:
        sent = Source("plugin", {"plugin": "p"})
        return [
            t.InboxEnqueue("m", "queued", wakeup=True, content="x", source=sent),
            *(t.InboxDequeue("m", "queued"), t.TurnStart(1), t.UserMessage("m", "x", committed), t.TurnEnd(1, "error")),
        ]

    head = t.Header("core", ("inbox", "log"))
    assert judge_trace(head, enumerate(told(Source("plugin")))).violations == []
    assert judge_trace(head, enumerate(told(Source("user")))).broken() == ("K-SAME",)
    assert judge_trace(head, enumerate(told(Source("plugin", {"plugin": "q"})))).broken() == ("K-SAME",)


def test_an_admission_may_replace_the_content():
    """K-SAME: where that is recorded."""

    def told(content: str) -> list[t.Record]:
        return [
            t.InboxEnqueue("m", "queued", wakeup=True, content="x"),
            *(t.InboxDequeue("m", "queued"), t.AdmissionStart("m"), t.AdmissionAllow("m", content="y")),
            *(t.TurnStart(1), t.UserMessage("m", content), t.TurnEnd(1, "error")),
        ]

    head = t.Header("core", ("inbox", "log", "admission"))
    assert judge_trace(head, enumerate(told("y"))).violations == []
    assert judge_trace(head, enumerate(told("x"))).broken() == ("K-SAME",)


@pytest.mark.parametrize("missing", ALL)
def test_a_rule_without_its_kinds_is_not_applicable(missing):
    """A rule applies only where the trace holds the kinds it needs; it is never passed otherwise."""
    held = " ".join(kind for kind in ALL if kind != missing)
    report = judged(TURN + DONE + "pending", held)
    needing = {monitor.rule for monitor in MONITORS if missing in monitor.kinds}

    assert set(report.not_applicable) == needing
    assert not needing & set(report.exercised)
