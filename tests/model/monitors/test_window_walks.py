"""Random lawful schedules of contract ``window``: no monitor raises an alarm, and every rule is met."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
from attrs import define, field
from model.monitors.streams import SETTING, profile

from turnproof.generator import Generator
from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.catalogue import rules
from turnproof_model.machine import Machine
from turnproof_model.monitors import window
from turnproof_model.monitors.base import Report, Sight, Violation
from turnproof_model.monitors.watch import Watch
from turnproof_model.observation import Observation
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser, MisuseError
from turnproof_model.window import BOOK

SEEDS = range(24)
SCHEDULES = 16
LENGTH = 30
RARE = {"W-GOAL-1", "W-CAN-7"}
"""Reading the goal is no part of these schedules, and a cancel hits the gap before a retry too seldom to count on."""
KINDS = (*("send",) * 4, *("release",) * 7, "cancel", "batch", "batch", "arm", "arm", "resume", "dispose", "reference")


@define
class Coin(Chooser):
    """Live by random values of the freedoms, and by none of the known deviations."""

    random: random.Random
    lives: dict[str, str] = field(factory=dict)

    def policy(self, policy: Policy) -> str:
        lawful = policy.values[:1] if policy.deviation else policy.values
        return self.lives.setdefault(policy.name, self.random.choice(lawful))

    def once(self, what: str, options: int) -> int:
        return self.random.randrange(options)


def command(made: Generator, coin: random.Random) -> v.Command | None:
    """Make the next command, or none where this kind of command has nothing to do."""
    kind = coin.choice(KINDS)
    if kind == "dispose":
        return v.Dispose() if coin.random() < 0.15 else None
    if kind == "resume" and coin.random() < 0.7:
        return None
    made_command: v.Command | None = getattr(made, kind)()
    return made_command


Answers = tuple[tuple[v.Command, Observation], ...]


def schedule(coin: random.Random) -> Answers:
    """Walk one schedule, as the machine of the rules answers it."""
    chooser = Coin(coin)
    machine = Machine(BOOK, SETTING, chooser)
    made = Generator(profile(), lambda: machine, lambda options: coin.choice(list(options)))
    told: v.Command | None = made.reset()
    answers: list[tuple[v.Command, Observation]] = []
    for _ in range(LENGTH):
        twin = machine.copy(chooser)
        try:
            answer = None if told is None else twin.ask(told)
        except MisuseError:
            answer = None
        if told is not None and answer is not None:
            machine = twin
            answers.append((told, answer))
        told = command(made, coin)
    return tuple(answers)


@cache
def schedules(seed: int) -> tuple[Answers, ...]:
    """Walk some schedules of one seed."""
    coin = random.Random(seed)
    return tuple(schedule(coin) for _ in range(SCHEDULES))


@cache
def reports(seed: int) -> tuple[Report, ...]:
    """Tell the schedules of one seed to all monitors of the contract."""
    out = []
    for answers in schedules(seed):
        watch = Watch(profile())
        for told, answer in answers:
            watch.feed(told, answer)
        out.append(watch.finish())
    return tuple(out)


def recorded(event: e.Event) -> Sight:
    """Name the part of a stream that an event belongs to."""
    if event.kind == "session":
        return "log"
    if event.kind != "live":
        return "request" if event.kind == "request" else "gates"
    if "inbox" in event.type:
        return "inbox"
    return "status" if event.type == "agent/status" else "live"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lawful_schedule_raises_no_alarm(seed):
    """Re-entrant, deferred, stacked and uncooperative as it may be, under any value of any freedom."""
    alarms = [violation for report in reports(seed) for violation in report.violations if violation.rule[0] == "W"]

    assert alarms == []


def test_every_rule_is_met_by_some_schedule():
    """A premise that never occurs would leave its rule unjudged."""
    met: Counter[str] = Counter()
    for seed in SEEDS:
        for report in reports(seed):
            met += report.exercised

    assert [rule.id for rule in rules("window") if not met[rule.id] and rule.id not in RARE] == []


@pytest.mark.parametrize(
    "sees",
    [{"log"}, {"log", "request"}, {"log", "inbox"}, {"log", "inbox", "status"}, {"log", "inbox", "status", "live"}],
)
def test_a_part_of_a_lawful_stream_raises_no_alarm(sees):
    """What isn't recorded is left open: a log without its callers is judged by what it holds."""
    alarms: list[Violation] = []
    for answers in (answers for seed in SEEDS for answers in schedules(seed)):
        if any(isinstance(told, v.Resume) for told, _ in answers):
            continue  # nothing in the events alone says where another agent began
        report = Report()
        judge = window.judge(profile(), frozenset(sees), report)
        for event in (event for _, answer in answers for event in answer.events):
            if recorded(event) in sees:
                judge.event(event)
        judge.finish()
        alarms += report.violations

    assert alarms == []
