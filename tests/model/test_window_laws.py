"""Laws that hold after every request of any schedule of contract ``window``, and what random schedules reach."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

import turnproof_model
from turnproof.generator import Generator
from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.machine import Machine
from turnproof_model.observation import Implementation, Observation, Profile
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser, MisuseError, Setting
from turnproof_model.window import BOOK

CAPABILITIES = (
    *("batch", "arm", "arm.defer", "arm.where", "gates.select", "onAbort.select", "inbox", "acceptsNextStep"),
    *("whenIdle", "keepInbox", "dispose", "resume", "fork", "compact", "flush", "step-gate", "request-error"),
    *("model.partial", "tools.parallel", "tools.exclusive", "tool.contexts", "tool.concludes"),
    *("prompt.content", "prompt.contexts", "goal", "reference"),
)
LENGTH = 25


@define
class Coin(Chooser):
    """Choose at random, but always the same value of one freedom."""

    random: random.Random
    lives: dict[str, str] = field(factory=dict)

    def policy(self, policy: Policy) -> str:
        return self.lives.setdefault(policy.name, self.random.choice(policy.values))

    def once(self, what: str, options: int) -> int:
        return self.random.randrange(options)


@define
class Walk:
    """Hold one random schedule: its machine and every answer, resets and resumes among them."""

    seed: int
    machine: Machine[Any]
    answers: list[tuple[v.Command, Observation]] = field(factory=list)
    cited: set[str] = field(factory=set)

    def take(self, command: v.Command) -> None:
        """Give a command that a driver can be given; misuse is left out."""
        twin = self.machine.copy(self.machine.chooser)
        try:
            answer = twin.ask(command)
        except MisuseError:
            return
        self.machine = twin
        self.answers.append((command, answer))
        self.cited.update(twin.cited, *(demand.rules for demand in twin.demands))


def walk(seed: int) -> Walk:
    """Give random commands to one machine."""
    source = random.Random(seed)
    capabilities = dict.fromkeys(CAPABILITIES, True) | {"sessionReentry": source.random() < 0.5}
    profile = Profile(Implementation("walk", "1"), "window", capabilities=capabilities)
    path = Walk(seed, Machine(BOOK, Setting(capabilities), Coin(source)))
    make = Generator(profile, lambda: path.machine, lambda options: source.choice(list(options)))
    kinds = (make.release,) * 9 + (make.send,) * 6 + (make.arm,) * 3 + (make.batch,) * 3 + (make.cancel,) * 2
    rare = (make.resume, make.reference, make.goal_message, v.Dispose, v.Goal)
    path.take(make.reset())
    for _ in range(LENGTH):
        command = source.choice((*kinds, source.choice(rare)))()
        if command is not None:
            path.take(command)
    return path


@pytest.fixture(scope="module", name="walks")
def _walks() -> list[Walk]:
    return [walk(seed) for seed in range(1500)]


def lives(path: Walk) -> Iterator[list[tuple[v.Command, Observation]]]:
    """Part a schedule into the lives of its agents."""
    life: list[tuple[v.Command, Observation]] = []
    for command, answer in path.answers:
        if isinstance(command, (v.Reset, v.Resume)):
            yield life
            life = []
        life.append((command, answer))
    yield life


def test_entries_are_exits_and_what_is_pending(walks: Sequence[Walk]) -> None:
    """W-FIFO-2: in both FIFOs, after every request, in order but for a claimed prompt that goes back to the head."""
    for path in walks:
        in_order = list if path.machine.chooser.lives.get("claimed-on-keep") != "requeued" else sorted
        for life in lives(path):
            queued: list[str] = []
            steering: list[str] = []
            for command, answer in life:
                if not isinstance(command, v.Resume):
                    _settle_ledger(answer.events, {"queued": queued, "steering": steering})
                kinds = answer.inbox.next_step_kinds or ()

                assert in_order(queued) == in_order(answer.inbox.next_turn)
                assert steering == [
                    i for i, kind in zip(answer.inbox.next_step, kinds, strict=True) if kind == "steering"
                ]


def _settle_ledger(events: Sequence[e.Event], outstanding: dict[str, list[str]]) -> None:
    """Enter what is enqueued, retire what is dequeued or discarded."""
    for event in events:
        if isinstance(event, e.Enqueue):
            outstanding[event.placement].append(event.id)
        elif isinstance(event, e.Dequeue):
            outstanding[event.placement].remove(event.id)
        elif isinstance(event, e.Discard):
            for message_id in event.ids:
                outstanding["queued" if message_id in outstanding["queued"] else "steering"].remove(message_id)


def test_turns_and_steps_are_balanced_and_numbered_on(walks: Sequence[Walk]) -> None:
    """W-TURN-1, W-STEP-1: never nested; a turn left open at a resume is closed by its repair."""
    for path in walks:
        turn, step, last = 0, 0, 0
        for command, answer in path.answers:
            if isinstance(command, v.Reset):
                turn = step = last = 0
            for event in answer.events:
                if isinstance(event, e.TurnStart):
                    assert (turn, step, event.turn) == (0, 0, last + 1)
                    turn, last, steps = event.turn, event.turn, 0
                elif isinstance(event, e.TurnEnd):
                    assert (event.turn, step) == (turn, 0)
                    turn = 0
                elif isinstance(event, e.StepStart):
                    assert (event.turn, step, event.step > steps) == (turn, 0, True)
                    step = steps = event.step
                elif isinstance(event, e.StepEnd):
                    assert (event.turn, event.step) == (turn, step)
                    step = 0
            if isinstance(command, v.Resume):
                turn = step = 0


def test_every_call_is_answered_once_before_its_step_ends(walks: Sequence[Walk]) -> None:
    """W-STEP-3: in call order, with nothing of another kind in between."""
    for path in walks:
        owed: list[str] = []
        for command, answer in path.answers:
            if isinstance(command, (v.Reset, v.Resume)):
                owed = []
                continue
            for event in answer.events:
                if isinstance(event, e.ToolResult):
                    assert owed
                    assert owed.pop(0) == event.call_id
                elif isinstance(event, e.AssistantMessage):
                    owed = list(event.tool_calls)
                elif event.kind in {"session", "request"}:
                    assert not owed or isinstance(event, e.ToolCall)


def test_status_events_alternate(walks: Sequence[Walk]) -> None:
    """W-STAT-1: and the last one is the status that is shown."""
    for path in walks:
        for life in lives(path):
            shown = ["idle"]
            for command, answer in life:
                if not isinstance(command, v.Resume):
                    shown += [event.status for event in answer.events if isinstance(event, e.StatusChanged)]

                assert answer.status == shown[-1]
            assert all(before != after for before, after in pairwise(shown))


def test_the_window_is_open_exactly_while_an_admission_or_a_turn_waits(walks: Sequence[Walk]) -> None:
    """W-WIN-1: at rest, some gate other than the checkpoint's is open."""
    for path in walks:
        for _, answer in path.answers:
            assert answer.accepts_next_step is any(gate.kind != "flush" for gate in answer.gates)


def test_idle_means_quiescence(walks: Sequence[Walk]) -> None:
    """W-WAKE-4, W-STAT-2: no gate, no waking prompt, and a waiter is released; quiet prompts and leftovers may wait."""
    for path in walks:
        for _, answer in path.answers:
            if answer.status == "idle":
                assert not answer.gates
                assert answer.when_idle is True


def test_at_rest_the_loop_holds_nothing_between_queue_and_log(walks: Sequence[Walk]) -> None:
    """W-FIFO-7: but the prompt in admission, and what was retained for its turn."""
    for path in walks:
        s = path.machine.s

        assert s.contexts.empty
        assert s.prompt is None
        assert s.due.empty or s.at == "admission"
        assert (s.claimed is not None) == (s.at == "admission")


def test_a_disposed_agent_never_moves_again(walks: Sequence[Walk]) -> None:
    """W-DIS-2: no claim, no status, nothing committed; at most a cancel drops what late senders left behind."""
    for path in walks:
        for life in lives(path):
            gone = False
            for command, answer in life:
                if gone and not isinstance(command, v.Resume):
                    assert {event.type for event in answer.events} <= {
                        *("dispose/resolved", "op-threw", "agent/cancel-requested", "agent/inbox/discard"),
                    }
                gone = gone or any(isinstance(event, e.Disposed) for event in answer.events)
                gone = gone and not isinstance(command, v.Resume)


def test_random_schedules_meet_the_premise_of_every_rule(walks: Sequence[Walk]) -> None:
    """Each rule that the modules of the contract name is cited by some walk: none of them is dead."""
    folder = Path(turnproof_model.__file__).parent
    named = {
        rule
        for module in folder.glob("window*.py")
        for rule in re.findall(r'"(W-[A-Z]+-\d)"', module.read_text("utf-8"))
    }

    assert named - {rule for path in walks for rule in path.cited} == set()


def test_random_schedules_reach_every_phase_and_value(walks: Sequence[Walk]) -> None:
    """Each waiting phase, each reason and each freedom of the contract occurs: the walks are no empty evidence."""
    reached = {path.machine.s.at for path in walks}
    ends = {
        event.reason for path in walks for _, a in path.answers for event in a.events if isinstance(event, e.TurnEnd)
    }
    free = {name for path in walks for name in path.machine.chooser.lives}

    assert reached >= {name for name, phase in BOOK.phases.items() if phase.awaits and phase.awaits != "step"}
    assert ends >= {"completed", "max-tokens", "aborted", "error", "disposed"}
    assert free >= {
        *("claimed-on-keep", "context-on-abort", "late-send", "beside-late-send", "sent-after-disposal"),
        *("gates-after-abort", "window-at-error"),
    }


def test_a_schedule_replays_to_the_same_state() -> None:
    """Equal seeds give equal answers and equal fingerprints."""
    one, other = walk(7), walk(7)

    assert one.answers == other.answers
    assert one.machine.fingerprint() == other.machine.fingerprint()
