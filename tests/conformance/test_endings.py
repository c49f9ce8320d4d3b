"""What only the end of a schedule shows is a failure like every other: found, shrunk, kept, replayed."""

from __future__ import annotations

import json

import pytest
from attrs import evolve
from click.testing import CliRunner
from hypothesis import Phase, settings

from turnproof.agent_machine import AgentMachine
from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.capsule import Capsule, read_capsule, replay_capsule
from turnproof.cli import cli
from turnproof.engine import Engine, search
from turnproof.evidence import gather
from turnproof.expectations import Assessment
from turnproof.recorded import read_recording, replay_recording
from turnproof.runner import run
from turnproof.score import schedule_text
from turnproof.shrink import shrink
from turnproof.trial import RuleBrokenError, Trial
from turnproof_model import vocabulary as v
from turnproof_model.monitors import window
from turnproof_model.monitors.base import Finish, Issued, before
from turnproof_model.monitors.window_monitor import WindowMonitor
from turnproof_model.wire import to_wire

CANDIDATE = InProcessCandidate(REFERENCE_DRIVER, {"contract": "window"})


class NothingMayWait(WindowMonitor):
    """A rule that no contract has: at the end nothing is queued."""

    rule = "W-FIFO-7"

    @before(Finish)
    def _finished(self, _: Finish) -> None:
        self.expect(not self.view.queued, "something is queued at the end")


class NobodyMaySayD(WindowMonitor):
    """A rule that no contract has: no message is called d."""

    rule = "W-FIFO-7"

    @before(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        self.expect(issued.op.message.id != "d", "somebody said d")


@pytest.fixture
def client(monkeypatch):
    """A reference agent, watched by a monitor that objects at the end alone."""
    monkeypatch.setattr(window, "MONITORS", (*window.MONITORS, NothingMayWait))
    opened = CANDIDATE.connect()
    yield opened
    opened.close()


def quiet(name):
    return v.Send(v.Message(name, name), "next-turn", wakeup=False)


def given(trial, *commands):
    for command in commands:
        assert (trial.begin(command) if isinstance(command, v.Reset) else trial.do(command)) is None
    return trial.end()


LONG = (v.Reset(), v.Inspect(), quiet("a"), v.Inspect(), v.inject(v.Message("b", "b")), quiet("d"), v.Inspect())


def test_a_rule_that_is_broken_at_the_end_fails_the_schedule(client):
    """
    W-FIFO-7: the failure has the whole schedule, the last answer, and what the monitor said.
    """
    failure = given(Trial.open(client), *LONG)

    assert failure.rules == ("W-FIFO-7",)
    assert failure.schedule == LONG
    assert failure.observation.inbox.next_turn == ("a", "d")
    assert [violation.message for violation in failure.violations] == ["something is queued at the end"]
    assert failure.disagreement


def test_a_schedule_that_ends_well_has_no_failure(client):
    """The end is judged once, and counted once."""
    trial = Trial.open(client)

    assert given(trial, v.Reset(), v.Inspect()) is None
    assert trial.end() is None
    assert trial.watch.report.exercised["W-FIFO-7"] == 1


def test_the_end_adds_nothing_to_a_schedule_that_has_failed_already(monkeypatch):
    """After a failure an agent is in no known state, so what its end shows is no news."""
    monkeypatch.setattr(window, "MONITORS", (*window.MONITORS, NothingMayWait))
    client = InProcessCandidate(REFERENCE_DRIVER, {"contract": "window", "fault": "quiet-wakes"}).connect()
    trial = Trial.open(client)
    trial.begin(v.Reset())
    failure = trial.do(quiet("a"))
    client.close()

    assert "W-WAKE-2" in failure.rules
    assert trial.end() is None


def test_a_schedule_that_is_broken_off_is_not_judged_by_its_end(client):
    """A new reset before the end says that the schedule was left, not finished."""
    trial = Trial.open(client)
    trial.begin(v.Reset())
    trial.do(quiet("a"))

    assert trial.begin(v.Reset()) is None
    assert trial.end() is None


@pytest.mark.parametrize("broken_off", [False, True])
def test_a_patient_trial_finds_the_same_and_cuts_the_schedule_to_where_it_failed(broken_off, monkeypatch):
    """What monitors object to amid a schedule is found at its end, and if it is broken off, when they are asked."""
    monkeypatch.setattr(window, "MONITORS", (*window.MONITORS, NobodyMaySayD))
    failures = []
    for patient in (False, True):
        with CANDIDATE.connect() as opened:
            trial = Trial.open(opened)
            trial.patient = patient
            given = LONG if patient else LONG[:6]
            seen = [trial.begin(given[0]), *(trial.do(command) for command in given[1:])]
            seen.append(trial.tell_monitors() if broken_off else trial.end())
            failures.append([failure for failure in seen if failure is not None])
    (hasty,), (late,) = failures

    assert hasty == late
    assert late.schedule == LONG[:6]
    assert [violation.message for violation in late.violations] == ["somebody said d"]


def test_a_failure_of_the_end_shrinks_to_what_it_takes(client):
    """One quiet prompt is enough."""
    trial = Trial.open(client)
    shrunk = shrink(trial, given(trial, *LONG), 500)

    assert shrunk.reproduced
    assert schedule_text(shrunk.failure.schedule) == "reset · send a next-turn quiet"


def test_its_capsule_is_reproduced_and_its_evidence_ends_with_the_last_answer(client, tmp_path):
    """What is kept of it fails again, by the same rule, and shows every move."""
    trial = Trial.open(client)
    failure = given(trial, *LONG)
    path = Capsule.of(failure, "window", 1, trial.profile.implementation).save(tmp_path)
    evidence = gather(client, "window", failure.schedule)

    assert replay_capsule(read_capsule(path), client).verdict == "reproduced"
    assert [step.command for step in evidence.steps] == list(LONG)
    assert evidence.objections == (("W-FIFO-7", "something is queued at the end"),)


def test_a_sound_watch_replays_the_capsule_well(client, tmp_path, monkeypatch):
    """The foil: without the monitor that objects, the same commands end well."""
    trial = Trial.open(client)
    capsule = Capsule.of(given(trial, *LONG), "window", 1, trial.profile.implementation)
    monkeypatch.setattr(window, "MONITORS", window.MONITORS[:-1])

    assert replay_capsule(capsule, client).verdict == "passed"


def test_a_recording_differs_at_the_line_that_ends_its_schedule(client, tmp_path):
    """A reset inside a recording ends a schedule, and so does the end of the file."""
    profile = to_wire(client.initialize())
    lines = [{"request": {"method": "initialize", "params": {"protocol": 1}}, "observation": profile}]
    lines += [{"request": to_wire(command), "observation": to_wire(client.ask(command))} for command in (*LONG, *LONG)]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    replayed = replay_recording(read_recording(path))

    assert replayed.difference.rules == ("W-FIFO-7",)
    assert replayed.line == len(LONG) + 2  # after the profile and the schedule: the reset
    assert replayed.disagreement


def test_a_search_comes_upon_what_only_the_end_shows(client):
    """The engine ends each schedule, also one whose bytes are spent."""
    found = []
    search(Engine(Trial.open(client), lambda failure: bool(found.append(failure)), 2_000), seed=1)

    assert found[0].rules == ("W-FIFO-7",)
    assert found[0].difference is None


def test_a_run_in_which_only_a_monitor_objects_fails_and_says_so(client, tmp_path, monkeypatch):
    """Both judges count; that they differ is for turnproof to settle."""
    monkeypatch.chdir(tmp_path)
    result = run(CANDIDATE, commands=300, seed=1)
    shown = CliRunner().invoke(cli, ["run", "reference", "--contract", "window", "--commands", "300", "--seed", "1"])

    assert (result.rule("W-FIFO-7").verdict, result.verdict, result.exit_code) == ("failed", "fails", 1)
    assert shown.exit_code == 1
    assert "turnproof contradicts itself" in shown.output


def test_a_run_in_which_the_oracle_objects_too_fails(client):
    """One failure that is the agent's own is enough."""
    disputed = run(CANDIDATE, commands=300)
    failing = run(InProcessCandidate(REFERENCE_DRIVER, {"contract": "window", "fault": "newest-first"}), commands=300)
    both = evolve(failing, capsules=(*disputed.capsules, *failing.capsules))

    assert {failure.disagreement for failure in both.capsules} == {True, False}
    assert (both.verdict, both.exit_code) == ("fails", 1)
    assert Assessment(disputed, unexpected=disputed.capsules).verdict == "fails"


def test_a_state_machine_of_hypothesis_ends_its_schedules_too(client):
    """The failure is raised when a schedule is torn down."""

    class Watched(AgentMachine):
        trial = Trial.open(client)

    test = Watched.TestCase
    test.settings = settings(max_examples=60, stateful_step_count=8, database=None, phases=[Phase.generate])
    with pytest.raises(RuleBrokenError) as caught:
        test().runTest()

    assert caught.value.failure.rules == ("W-FIFO-7",)
    assert caught.value.failure.disagreement


def test_an_id_in_a_decision_may_stand_for_another_message_than_the_claimed_one():
    """C-PRE-1, K-SAME: of several that were sent under it the last one is meant, and its text is shown."""
    goal = v.Message("y", "y", v.Source("goal", {"round": 2}))
    steered = v.Batch((v.inject(goal), v.steer(v.Message("b", "b"))))
    again = (v.followup(goal), v.steer(goal), v.Replace("y", v.Message("y", "changed")), v.Resume("crash"), steered)
    trial = Trial.open(InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim"}).connect(), "claim")

    assert trial.begin(v.Reset()) is None
    for command in (*again, v.Release(v.Enter(("b", "y")), kind="pre-step")):
        assert trial.do(command) is None
