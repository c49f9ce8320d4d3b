"""
Measure what judging costs: the same schedules given to a candidate alone, to oracle and monitors alone, and to both.

The schedules come from one search with a fixed seed and are recorded first, so that all sides are given the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from turnproof.candidate import InProcessCandidate
from turnproof.generator import Generator
from turnproof.oracle import Oracle
from turnproof.trial import Trial
from turnproof_model.monitors.watch import Watch
from turnproof_model.observation import Observation, Profile
from turnproof_model.vocabulary import Command, Contract, Reset

Exchange = tuple[Command, Observation]
Option = TypeVar("Option")

ROUNDS = 3
"""Each side is timed this often, in turns; the fastest counts."""

SCHEDULE = 40
"""Commands of one schedule."""


class Dice:
    """Pick options by a linear congruence: the same on every machine, and cheap."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def __call__(self, options: Sequence[Option]) -> Option:
        """Pick one option."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return options[(self._state >> 33) % len(options)]


def candidate(contract: Contract) -> InProcessCandidate:
    """Name the embedded reference agent."""
    return InProcessCandidate("turnproof_reference.driver:Driver", {"contract": contract})


def record(contract: Contract, commands: int) -> tuple[Profile, list[Exchange]]:
    """Drive the reference agent through schedules of everyday commands, and keep what was asked and answered."""
    client = candidate(contract).connect()
    trial = Trial.open(client, contract)
    dice = Dice(1)
    exchanges: list[Exchange] = []
    while len(exchanges) < commands:
        generator = Generator(trial.profile, lambda: trial.machine, dice)
        trial.begin(Reset())
        exchanges.append((Reset(), Observation()))
        for _ in range(SCHEDULE):
            command = generator.release() or generator.send()
            failure = trial.do(command)
            if failure is not None:
                raise RuntimeError(f"the reference agent of {contract} must conform: {failure.rules}")
            exchanges.append((command, Observation()))
    client.close()
    return trial.profile, _answered(contract, exchanges)


def _answered(contract: Contract, exchanges: list[Exchange]) -> list[Exchange]:
    client = candidate(contract).connect()
    client.initialize()
    answered = [(command, client.ask(command)) for command, _ in exchanges]
    client.close()
    return answered


def measure(commands: int) -> Iterator[str]:
    """
    Time the sides in turns and give one line for each ratio.

    Args:
        commands: how many each side is given; ≥ 1.
    """
    contracts: tuple[Contract, ...] = ("window", "claim")
    for contract in contracts:
        profile, exchanges = record(contract, commands)
        sides: dict[str, Callable[[], None]] = {
            "candidate": lambda c=contract, x=exchanges: _ask(c, x),  # type: ignore[misc]  # bound per contract
            "oracle": lambda p=profile, x=exchanges: _judge(p, x),  # type: ignore[misc]
            "monitors": lambda p=profile, x=exchanges: _watch(p, x),  # type: ignore[misc]
        }
        best = dict.fromkeys(sides, float("inf"))
        for _ in range(ROUNDS):
            for name, side in sides.items():
                began = time.perf_counter()
                side()
                best[name] = min(best[name], time.perf_counter() - began)
        for name in ("oracle", "monitors"):
            ratio = best[name] / best["candidate"]
            each = best[name] / len(exchanges) * 1e6
            yield f"{contract}: {name} / reference agent in process = {ratio:.2f} ({each:.0f} µs a command)"


def _ask(contract: Contract, exchanges: list[Exchange]) -> None:
    client = candidate(contract).connect()
    client.initialize()
    for command, _ in exchanges:
        client.ask(command)
    client.close()


def _judge(profile: Profile, exchanges: list[Exchange]) -> None:
    oracle = Oracle(profile, profile.contract)
    for command, observation in exchanges:
        oracle.judge(command, observation)


def _watch(profile: Profile, exchanges: list[Exchange]) -> None:
    watch = Watch(profile)
    for command, observation in exchanges:
        watch.feed(command, observation)
    watch.finish()
