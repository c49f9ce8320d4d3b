"""A driver session as a trace: what the bridge writes down, and that the rules of ``core`` judge it."""

from __future__ import annotations

from itertools import product

import pytest
from model.monitors import claim_streams, streams
from window_notation import show

from turnproof_model import trace as t
from turnproof_model.monitors.base import Report, sight
from turnproof_model.monitors.core import TraceJudge
from turnproof_model.monitors.core_session import core_judge
from turnproof_model.trace_lines import record_to_wire

ARMED = "on gate:prompt-submit "
LATE = "reset model; on agent/status status=idle +1 { cancel }; "
CLAIM = "followup a; enter; "
WINDOW = "followup a; allow; "


@pytest.fixture
def written(monkeypatch):
    """Note the records that a session is turned into."""
    told: list[t.Record] = []
    take = TraceJudge.take

    def note(self: TraceJudge, record: t.Record, place: int, index: int = 0) -> None:
        told.append(record)
        take(self, record, place, index)

    monkeypatch.setattr(TraceJudge, "take", note)
    return told


def judged(told: claim_streams.Stream | streams.Stream) -> Report:
    """Judge a session by the rules of ``core`` alone."""
    profile = claim_streams.profile() if isinstance(told, claim_streams.Stream) else streams.profile()
    report = Report()
    judge = core_judge(profile, sight(profile), report)
    for command, observation in told.turns:
        judge.begin(command, observation)
        for event in observation.events:
            judge.event(event)
        judge.observe(observation)
    judge.finish()
    return report


def types(records: list[t.Record]) -> list[str]:
    """Name records by type and what they are about."""
    out = []
    for record in records:
        wire = record_to_wire(record)
        about = wire.get("id") or wire.get("ids") or wire.get("callId") or wire.get("reason") or wire.get("status")
        out.append(wire["type"] + (f" {about if isinstance(about, str) else ' '.join(about)}" if about else ""))
    return out


def test_a_claim_session_reads_as_a_trace(written):
    """Splices are entries and exits, a decision admits what it enters and blocks the rest."""
    report = judged(claim_streams.stream("inject i; followup a; enter a; text; stop"))

    assert report.violations == []
    assert types(written) == [
        *("idle/resolved", "inbox/enqueue i", "idle/resolved", "inbox/enqueue a", "status running", "turn/start"),
        *("inbox/dequeue i", "inbox/dequeue a", "admission/start i", "admission/start a"),
        *("admission/block i", "admission/allow a", "step/start", "user/message a", "request", "assistant/message"),
        *("step/end", "turn/end completed", "status idle", "idle/resolved", "end"),
    ]


def test_a_window_session_reads_as_a_trace(written):
    """An admission lies between the dequeue of a prompt and its turn."""
    report = judged(streams.stream("followup a; steer b; block; followup d; allow"))

    assert report.violations == []
    assert [name for name in types(written) if name.startswith(("inbox", "adm", "turn", "ste", "user"))] == [
        *("inbox/enqueue a", "inbox/dequeue a", "admission/start a", "inbox/enqueue b", "admission/block a"),
        *("inbox/enqueue d", "inbox/dequeue d", "admission/start d", "admission/allow d", "turn/start"),
        *("inbox/dequeue b", "steering/message b", "user/message d"),
        "step/start",
    ]


@pytest.mark.parametrize(
    "scenario",
    [
        "followup a; reject; followup b; throw pre-step; followup d; enter -; followup f; cancel keep",
        "reset pre-step! model; [inject i; followup a]; cancel keep; enter; followup b; enter",
        CLAIM + "tools c1:par c2:exc; result +x; cancel; followup b",
        CLAIM + "error; retry; text; steer s; stop; enter",
        CLAIM + "[steer s; inject i; followup b]; replace s r; remove i; prepend next-step h; text; enter; text; stop",
        CLAIM + "followup b; dispose; inspect",
        CLAIM + "tools c1:par; [steer s; followup b]; resume crash; followup d; enter; text; stop; enter",
        "reference a b; enter; reference d f; text; enter",
        "inject i; on agent/inbox/spliced removedCount=1 { cancel keep }; followup a; followup b; enter",
        "on agent/inbox/spliced { cancel }; " + CLAIM + "text; stop",
        "on step/end +2 { cancel }; " + CLAIM + "followup b; text",
        "on agent/inbox/discarded { followup d }; " + CLAIM + "followup b; cancel; inspect",
        "[followup a; followup b; cancel]; followup d; enter",
        CLAIM + "followup a; text; stop; enter a",
        "quiet b; inject q; on agent/inbox/discarded { steer b; steer n }; cancel; enter",
        "inject d; quiet e; on agent/inbox/discarded { cancel keep parent; reference m n }; cancel; enter; text; stop",
        "inject e; on agent/inbox/inserted { replace e f; quiet g }; on agent/inbox/inserted { cancel }; quiet a",
        LATE + "on agent/inbox/discarded { steer j }; followup d; quiet f; [inject m; inject l]; cancel keep",
    ],
)
def test_a_lawful_claim_session_raises_no_alarm(scenario):
    """Whatever lies open is written down in the way that accuses nobody."""
    report = judged(claim_streams.stream(scenario))

    assert report.violations == []
    assert not report.not_applicable


@pytest.mark.parametrize(
    "scenario",
    [
        "followup a; block; followup b; cancel; followup d; throw prompt-submit",
        WINDOW + "[steer s; inject i; followup b]; cancel keep; allow; text",
        WINDOW + "tools c1:par c2:exc; inject i; steer s; done; done; text; stop",
        WINDOW + "error; retry; text; stop",
        "inject x; inject x; followup x; allow; text; stop",
        "on agent/status status=running { cancel }; [followup a; followup b]; followup d; allow",
        "on turn/end { steer s }; " + WINDOW + "text; stop; allow",
        WINDOW + "text; stop; inject i; resume compact; followup b; allow",
        WINDOW + "[steer s; followup b]; resume crash; followup d; allow",
        "reference a b; allow; text; stop",
        WINDOW + "[steer s; followup b]; dispose",
        "followup a; [steer s; inject k]; block; followup k; allow changed",
        "on gate:prompt-submit { allow changed }; followup a; text; stop",
        "on gate:prompt-submit { cancel keep; allow changed }; followup a; followup b; allow; text",
        "reset prompt-submit! model; [followup a; followup b]; on gate:prompt-submit { allow new }; cancel keep; allow",
    ],
)
def test_a_lawful_window_session_raises_no_alarm(scenario):
    """Contexts are no entries, a claimed prompt is out of reach, volatile input is gone with its agent."""
    report = judged(streams.stream(scenario))

    assert report.violations == []
    assert not report.not_applicable


def test_a_prompt_that_a_keeping_cancel_puts_back_enters_again():
    """Latitude claimed-on-keep."""
    for value in ("dropped", "requeued"):
        told = streams.stream("followup a; followup b; cancel keep; allow; text; stop", claimed_on_keep=value)

        assert judged(told).violations == []


@pytest.mark.parametrize(
    "scenario",
    [
        ARMED + "+1 { cancel keep parent }; " + ARMED + "{ cancel }; steer f",
        ARMED + "{ steer f }; " + ARMED + "{ cancel }; followup a",
        "followup h; allow; " + ARMED + "+2 { cancel }; text; " + ARMED + "{ cancel }; stop; steer k",
    ],
)
def test_cancels_that_wait_for_the_same_event_are_told_apart(scenario):
    """K-CANCEL: one that comes at once is at its place."""
    for picks in product(range(2), repeat=6):
        assert judged(streams.stream(scenario, picks=picks)).violations == []


@pytest.mark.parametrize("picks", [(0, 0, 0, 0, 2, 1), (0, 2, 0, 0, 1, 0), (0, 1, 0, 0, 0, 0)])
def test_of_two_cancels_that_may_come_at_any_time_one_may_drop(picks):
    """K-DISCARD: in whatever order they come."""
    late = "on steering/message +2 { cancel }; on steering/message +1 { cancel keep }; "
    told = streams.stream(late + "followup a; steer l; throw prompt-submit; followup n; followup o; allow", picks=picks)

    assert judged(told).violations == []
    assert "drop o" in show(told.turns[-1][1].events)


def test_a_prompt_that_may_have_been_sent_unseen_is_put_back_to_the_head():
    """K-FIFO: its first enqueue told that it was sent; the next one is no other send's."""
    late = "on agent/settled +3 { quiet d; followup e }; followup f; allow"
    told = streams.stream(
        late + "; on gate:prompt-submit { cancel keep parent }; cancel keep", claimed_on_keep="requeued"
    )

    assert judged(told).violations == []


def test_a_prompt_whose_id_is_injected_unseen_is_put_back_to_the_head():
    """K-FIFO: context enters no queue, so what enters there is the prompt."""
    late = "on agent/inbox/dequeue +2 { cancel keep; inject k }; "
    told = streams.stream(late + "[followup k; followup l]", claimed_on_keep="requeued")

    assert judged(told).violations == []
    assert show(told.turns[-1][1].events).count("+k queued") == 2


def test_a_prompt_that_may_as_well_be_sent_anew_is_put_back_to_the_head():
    """K-FIFO: a listener's send of its id may come at any time, and nobody is accused of either place."""
    late = "reset prompt-submit model; on agent/cancel-requested +3 { steer k; quiet l }; "
    told = streams.stream(late + "[quiet k; followup m]; cancel keep", claimed_on_keep="requeued")

    assert judged(told).violations == []
    assert show(told.turns[-1][1].events).count("+k") == 2


def test_a_cancel_beside_a_refusal_is_at_its_first_discard():
    """K-CANCEL: the turn that a listener starts in its discards isn't cancelled, whatever was cancelled before."""
    inside = "reset request-error; on agent/inbox/discarded { steer v; prepend next-turn w }; cancel; "
    told = claim_streams.stream(inside + "inject l; quiet m; [followup m; cancel]")

    assert judged(told).violations == []


def test_cancels_of_a_listener_come_before_what_the_stack_sends_next():
    """K-CANCEL: they drop nothing that enters after the abort they are issued in."""
    twice = "reset prompt-submit step flush; on gate/aborted { cancel parent; cancel parent }; followup d; allow; "
    told = streams.stream(twice + "[followup i; cancel parent; reference j k]; followup l; saved; allow")

    assert judged(told).violations == []


def test_a_prompt_that_is_being_claimed_is_canceled_once():
    """K-CANCEL: what listeners of its cancel cancel publishes nothing, and comes before what the stack sends next."""
    inside = "on agent/status status=running { cancel; steer a }; on agent/cancel-requested { cancel; cancel parent }; "

    assert judged(streams.stream(inside + "steer b; followup d; allow")).violations == []


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("K-COMMIT", claim_streams.stream(CLAIM + "text; stop").without("user(a)").change("request(a)", "request()")),
        ("K-FIFO", claim_streams.stream("[quiet p; followup a]").change("next-turn[0]-1", "next-turn[1]-1")),
        ("K-END", claim_streams.stream(CLAIM + "followup b").show(turn="")),
        ("K-REQ", claim_streams.stream(CLAIM + "text").change("request(a)", "request(z)")),
        ("K-STATUS", claim_streams.stream("followup a").put("running", after="running")),
        ("K-CANCEL", claim_streams.stream(CLAIM + "cancel").change("end(1,aborted:user)", "end(1,completed)")),
        ("K-WAIT", claim_streams.stream("followup a").show(when_idle=True)),
        (
            "K-DISCARD",
            claim_streams.stream(CLAIM + "inject i").put("next-step[0]-1!", after="inserted(i)").show(step=""),
        ),
        ("K-SAME", claim_streams.stream(CLAIM + "text").change("user(a)", "user(a=other)")),
        (
            "K-ONE",
            streams.stream(WINDOW + "followup b").put("user b", after="user a").put("-b queued", before="user a"),
        ),
        ("K-VETO", streams.stream("followup a; block").put("user a", before="idle")),
        ("K-TURN", streams.stream(WINDOW + "text; stop").without("turn 1 completed")),
        ("K-LEDGER", streams.stream("[followup a; followup b]; cancel").change("drop b", "drop b b")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_session_that_breaks_a_rule_of_core_is_caught(rule, told):
    """The findings name the request and the events of the session."""
    violations = [violation for violation in judged(told).violations if violation.rule == rule]
    last = sum(len(observation.events) for _, observation in told.turns)

    assert violations
    assert all(0 <= violation.request < len(told.turns) for violation in violations)
    assert all(place < last for violation in violations for place in violation.events)


def test_each_reset_begins_a_trace_of_its_own():
    """Nothing of a dropped agent is held against the next one."""
    told = claim_streams.stream(CLAIM + "followup b; reset; followup a; enter; text; stop")

    assert judged(told).violations == []
