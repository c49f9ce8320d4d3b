"""
Measure commands per second: the engine against the state machine of Hypothesis in this process, by processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext

from attrs import define, field
from hypothesis import seed as with_seed
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from turnproof.agent_machine import AgentMachine
from turnproof.bench.judging import candidate
from turnproof.client import Client
from turnproof.collecting import collecting_seldom
from turnproof.engine import BudgetSpent, Engine, generating, search
from turnproof.trial import RuleFailure, Trial
from turnproof_model.contracts import CONTRACTS
from turnproof_model.observation import Observation, Profile
from turnproof_model.vocabulary import Command, Contract, Reset

ROUNDS = 3
"""Each side is timed this often, in turns; the fastest counts."""

SEED = 1


def go_on(_: RuleFailure) -> bool:
    """Take a failure, and let the search go on."""
    return True


# ---------------------------------------------------------------------------------------------------- in this process
@define
class Taped:
    """Keep what a client in this process is asked."""

    client: Client
    asked: list[Command] = field(factory=list)

    def initialize(self) -> Profile:
        """Open the conversation."""
        return self.client.initialize()

    def ask(self, request: Command) -> Observation:
        """Perform one request."""
        self.asked.append(request)
        return self.client.ask(request)


def measure(commands: int, rounds: int = ROUNDS) -> Iterator[str]:
    """
    Time engine and state machine on the reference agents, and what of it is left when the same commands are replayed.

    The rest is what searching costs by itself; agent and judging cost both sides the same.

    Args:
        commands: how many each side sends.
        rounds: how often each side runs.
    """
    for contract in CONTRACTS:
        timed = [[_timed(side, contract, commands) for side in (_engine, _machine)] for _ in range(rounds)]
        engine, machine = ([min(part) for part in zip(*side, strict=True)] for side in zip(*timed, strict=True))
        own, others = engine[0] - engine[1], machine[0] - machine[1]
        yield (
            f"throughput {contract}: {commands / engine[0]:.0f} commands/s of processor time with the engine, "
            f"{commands / machine[0]:.0f} with RuleBasedStateMachine: {machine[0] / engine[0]:.1f} times as fast"
        )
        yield (
            f"throughput {contract}: the search alone costs {micro(own, commands)} a command in the engine, "
            f"{micro(others, commands)} in RuleBasedStateMachine: {others / own:.1f} times as fast"
        )


def micro(seconds: float, commands: int) -> str:
    """Say how long one of these commands took."""
    return f"{seconds / commands * 1e6:.0f} µs"


def _timed(side: Callable[[Trial, int], None], contract: Contract, commands: int) -> tuple[float, float]:
    """
    Give the processor seconds of a search, and of its commands given once more.

    They are judged in the way of the side, so that all that an engine saves there isn't counted as a cheap search.
    """
    taped = Taped(candidate(contract).connect())
    trial = Trial.open(taped, contract)
    began = time.process_time()
    side(trial, commands)
    searched = time.process_time() - began
    taped.client.close()
    with candidate(contract).connect() as client, collecting_seldom() if trial.patient else nullcontext():
        again = Trial.open(client, contract)
        again.patient = trial.patient
        began = time.process_time()
        for command in taped.asked:
            if isinstance(command, Reset):
                again.begin(command)
            else:
                again.do(command)
        again.close()
        replayed = time.process_time() - began
    return searched, replayed


def _engine(trial: Trial, commands: int) -> None:
    search(Engine(trial, go_on, commands), SEED)


def _machine(trial: Trial, commands: int) -> None:
    known = {"trial": trial, "collector": staticmethod(go_on), "budget": commands}
    face = with_seed(SEED)(type("Face", (AgentMachine,), known))
    try:
        run_state_machine_as_test(face, settings=generating(commands))
    except (BudgetSpent, Flaky):  # an end amid a schedule may look to Hypothesis as though it drew otherwise
        if trial.commands < commands:
            raise
