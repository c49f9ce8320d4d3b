"""How monitors are told a stream: operations in order, what can't be seen left open, what can't be judged named."""

from __future__ import annotations

import pytest
from model.monitors.streams import broken, judge, profile, stream
from window_notation import token

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.catalogue import rules
from turnproof_model.monitors.base import DRIVEN, Issued, Monitor, Report, after, before, sight
from turnproof_model.monitors.stage import Stage
from turnproof_model.monitors.watch import Watch
from turnproof_model.monitors.window import MONITORS
from turnproof_model.monitors.window_view import WindowView


class Notes(Monitor[WindowView]):
    """Note everything that is told, and where the stream stands."""

    rule = "W-TURN-1"
    told: list[str]

    def _start(self) -> None:
        self.told = []

    @before(v.Send, v.Cancel, v.Dispose)
    def _operation(self, issued: Issued[v.Operation]) -> None:
        op = issued.op
        self.told.append(f"{op.method} {op.message.id if isinstance(op, v.Send) else ''}".strip())

    @before(e.Event)
    def _before(self, event: e.Event) -> None:
        self.told.append(token(event))
        self.seen_before = len(self.view.queued)

    @after(e.Enqueue)
    def _after(self, _: e.Enqueue) -> None:
        self.told.append(f"queued {self.seen_before}→{len(self.view.queued)}")


def notes(scenario: str) -> list[str]:
    """Tell a scenario to a monitor that notes what it is told by its last request."""
    told = stream(scenario)
    report = Report()
    stage = Stage(WindowView(profile(), DRIVEN), [Notes], report)
    monitor = stage.monitors[0]
    assert isinstance(monitor, Notes)
    for command, observation in told.turns:
        monitor.told = []
        stage.begin(command, observation)
        for event in observation.events:
            stage.event(event)
        stage.observe(observation)
    return [note for note in monitor.told if not note.startswith("gate")]


def test_operations_of_a_stack_are_told_between_what_they_publish():
    """Each operation comes behind the events of the one before it."""
    assert notes("followup a; allow; [followup b; inject i; cancel; steer s]")[:8] == [
        *("followup b", "+b queued", "queued 0→1", "inject i", "cancel", "cancel user", "drop b", "steer s"),
    ]


def test_armed_operations_are_told_right_after_their_event():
    """And before the rest of the stack that published it."""
    assert notes("on agent/inbox/enqueue { inject j }; [followup a; followup b]")[:6] == [
        *("followup a", "+a queued", "queued 0→1", "inject j", "user j", "followup b"),
    ]


def test_deferred_operations_are_heard_of_though_their_neighbours_wait_for_a_mark():
    """The cancel of a listener drops all, so that the one around it publishes no discard of its own."""
    arms = (
        "on agent/cancel-requested { cancel }; on agent/inbox/enqueue { cancel }; on agent/inbox/enqueue +1 { quiet q }"
    )

    assert broken(stream(f"quiet a; {arms}; quiet b")) == set()


def test_a_monitor_sees_the_view_before_and_after_an_event():
    """``before`` looks at what was true, ``after`` at what is."""
    assert notes("quiet q; quiet r")[-1] == "queued 1→2"


def test_a_violation_names_the_request_and_the_event():
    """Positions count all events of the stream from 0."""
    told = stream("followup a; block").put("idle", after="idle")
    violation = judge(told).violations[0]

    assert (violation.rule, violation.request) == ("W-STAT-1", 2)
    assert [token(event) for _, o in told.turns for event in o.events][violation.events[0]] == "idle"


def test_an_operation_that_may_have_been_refused_is_left_open():
    """Two sends of which one threw: which of them entered isn't held against either."""
    good = stream("followup a; allow; [followup b; followup d]")
    told = good.without("+b queued").show(queue="d", events=(e.Enqueue("d", "queued"), e.OpThrew("followup")))

    assert broken(told) == set()


def test_deferred_operations_are_left_open_until_their_request_ends():
    """Their moment has no mark in the stream."""
    told = stream("on turn/end +3 { steer s; inject i; cancel keep }; followup a; allow; text; stop; inspect")

    assert broken(told) == set()


def test_a_recording_without_gate_events_is_judged_by_its_observations():
    """W-TURN-4: a checkpoint that an observation shows is known to be pending."""
    told = stream("reset prompt-submit model flush; followup a; allow; text; followup b")
    for index, (_, observation) in enumerate(told.turns):
        silent = tuple(event for event in observation.events if not isinstance(event, e.GateOpened))
        told = told.show(at=index, events=silent)
    bad = told.show(queue="", events=(e.Enqueue("b", "queued"), e.Dequeue("b", "queued")))

    assert broken(told, DRIVEN - {"log"} | {"lists", "window"}) == set()
    assert broken(told) == set()
    assert "W-TURN-4" in broken(bad)


def test_a_log_alone_is_judged_by_what_it_holds():
    """Rules that need more are not applicable, and never passed."""
    watch = Watch(profile(), frozenset({"log"}))
    told = stream("followup a; allow; tools c:exc; done c; text; stop")
    for _, observation in told.turns:
        for event in observation.events:
            if event.kind == "session":
                watch.event(event)
    watch.event(e.TurnStart(7))
    report = watch.finish()

    assert report.broken() == ("W-TURN-1",)
    assert report.exercised["W-STEP-3"]
    assert report.not_applicable["W-REQ-1"] == "the stream doesn't record request"
    assert not {"W-REQ-1", "W-FIFO-1"} & set(report.exercised)


def test_a_rule_whose_capability_is_missing_is_not_applicable():
    """It names the capability."""
    watch = Watch(profile("batch arm prompt.contexts"))

    assert watch.report.not_applicable["W-CAN-3"] == "no capability keepInbox"
    assert watch.report.not_applicable["W-STAT-2"] == "the stream doesn't record idle"
    assert "W-ADM-4" not in watch.report.not_applicable
    assert Watch(profile("batch")).report.not_applicable["W-ADM-4"] == "no capability prompt.content or prompt.contexts"


def test_probes_are_seen_where_they_are_declared():
    """Lists, window and idle belong to capabilities."""
    assert sight(profile("inbox whenIdle")) - DRIVEN == {"lists", "idle"}


def test_a_resumed_agent_starts_without_the_old_ones_input():
    """Queued and staged input of the old agent is gone, its log is not."""
    told = stream("followup a; allow; [followup b; steer s]; resume crash; followup d; allow")

    assert broken(told) == set()
    assert judge(told).exercised["W-LOG-4"] == 1


@pytest.mark.parametrize("mode", ["clean", "compact", "fork", "crash"])
def test_a_resume_in_the_middle_of_a_batch_is_lawful(mode):
    """Calls without a result are repaired, whether that is published or not."""
    told = stream(f"followup a; allow; tools c:exc d:exc; inject i; resume {mode}; followup b; allow; text; stop")

    assert broken(told) == set()


def test_every_rule_has_a_monitor():
    """In the order of no list, but for every rule of the contract."""
    assert {kind.rule for kind in MONITORS} == {rule.id for rule in rules("window")}
