"""Random lawful schedules of contract ``claim``: no monitor raises an alarm, and every rule is met."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
from attrs import define, field
from model.monitors.claim_streams import CAPABILITIES, profile

from turnproof.generator import Generator
from turnproof_model.catalogue import rules
from turnproof_model.claim import BOOK
from turnproof_model.machine import Machine
from turnproof_model.monitors.base import Report
from turnproof_model.monitors.watch import Watch
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser, MisuseError, Setting

SEEDS = range(16)
SCHEDULES = 12
LENGTH = 30


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


def schedule(coin: random.Random) -> Report:
    """Tell one schedule to all monitors, as the machine of the rules answers it."""
    chooser = Coin(coin)
    machine, watch = Machine(BOOK, Setting(dict.fromkeys(CAPABILITIES.split(), True)), chooser), Watch(profile())
    made = Generator(profile(), lambda: machine, lambda options: options[coin.randrange(len(options))])
    told = made.reset()
    for _ in range(LENGTH):
        twin = machine.copy(chooser)
        try:
            answer = twin.ask(told)
        except MisuseError:
            answer = None
        if answer is not None:
            machine = twin
            watch.feed(told, answer)
        told = made.command()
    return watch.finish()


@cache
def reports(seed: int) -> tuple[Report, ...]:
    """Walk some schedules of one seed."""
    coin = random.Random(seed)
    return tuple(schedule(coin) for _ in range(SCHEDULES))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lawful_schedule_raises_no_alarm(seed):
    """Re-entrant, deferred, stacked and uncooperative as it may be, under any value of any freedom."""
    alarms = [violation for report in reports(seed) for violation in report.violations]

    assert alarms == []


def test_every_rule_is_met_by_some_schedule():
    """A premise that never occurs would leave its rule unjudged."""
    met: Counter[str] = Counter()
    for seed in SEEDS:
        for report in reports(seed):
            met += report.exercised

    assert [rule.id for contract in ("claim", "core") for rule in rules(contract) if not met[rule.id]] == []
