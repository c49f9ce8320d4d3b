"""
Measure commands per second: the engine against the state machine of Hypothesis in this process, and against a bare
loop on a real driver.

In this process, processor time counts. A driver is another process, so there it is the time that passes: the bare
loop writes the very requests that the engine sent, reads each answer and does nothing with it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from attrs import define, field
from hypothesis import seed as with_seed
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from turnproof.agent_machine import AgentMachine
from turnproof.agents import agent, command
from turnproof.bench.judging import candidate
from turnproof.child import ChildClient
from turnproof.client import PROTOCOL, Client
from turnproof.collecting import collecting_seldom
from turnproof.engine import BudgetSpent, Engine, generating, search
from turnproof.runner import CHILD_LANES
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


def measure(commands: int) -> Iterator[str]:
    """
    Measure both, the real driver if it is installed.

    Args:
        commands: how many each side sends.
    """
    yield from measure_in_process(commands)
    dsh = agent("dsh")
    if dsh.installed:
        yield from measure_driver("dsh", command("dsh"), commands)
    else:
        yield f"throughput dsh: not measured, since it is {dsh.problem} (turnproof agents install dsh)"


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


def measure_in_process(commands: int, rounds: int = ROUNDS) -> Iterator[str]:
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
            f"throughput {contract}: the search alone costs {_micro(own, commands)} a command in the engine, "
            f"{_micro(others, commands)} in RuleBasedStateMachine: {others / own:.1f} times as fast"
        )


def _micro(seconds: float, commands: int) -> str:
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


# ---------------------------------------------------------------------------------------------------- a real driver
@define
class Sides:
    """Hold the seconds of each way of driving, and the processor's here and in the driver: the least of the rounds."""

    judged: float = float("inf")
    bare: float = float("inf")
    ours: float = float("inf")
    driver: float = float("inf")
    commands: int = 0


class Recorder(ChildClient):
    """Keep what is sent, as it goes over the wire."""

    def __init__(self, argv: Sequence[str]) -> None:
        super().__init__(argv)
        self.lines: list[bytes] = []

    def _send(self, method: str, params: Mapping[str, Any]) -> None:
        self.lines.append(_line(len(self.lines), method, params))
        super()._send(method, params)


def _line(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(request, separators=(",", ":")).encode() + b"\n"


def measure_driver(name: str, argv: Sequence[str], commands: int, rounds: int = ROUNDS) -> Iterator[str]:
    """
    Time the engine on a driver against a bare loop over the same requests, a line for the ratio.

    Args:
        name: of the agent.
        argv: command line of its driver.
        commands: how many each side sends.
        rounds: how often each side runs.
    """
    best = Sides()
    for _ in range(rounds):
        lines, judged, ours = _judge(argv, commands)
        bare, driver = _drive(argv, lines)
        best = Sides(
            min(best.judged, judged), min(best.bare, bare), min(best.ours, ours), min(best.driver, driver), len(lines)
        )
    judged, bare = best.commands / best.judged, best.commands / best.bare
    yield (
        f"throughput {name}: {judged:.0f} commands/s judged, on {CHILD_LANES} drivers; {bare:.0f} from one driver in a "
        f"bare loop: {judged / bare:.2f} of that (processor time a command: {_micro(best.ours, best.commands)} here, "
        f"{_micro(best.driver, best.commands)} in the driver)"
    )


def _judge(argv: Sequence[str], commands: int) -> tuple[list[bytes], float, float]:
    """Search with the engine; give the requests that went out, the seconds that took, and our processor's of them."""
    clients = [Recorder(argv) for _ in range(CHILD_LANES)]
    trials = [Trial.open(client) for client in clients]
    for client in clients:
        client.lines.clear()
    began, ours = time.perf_counter(), time.process_time()
    search(Engine(trials[0], go_on, commands, trials[1:]), SEED)
    spent, ours = time.perf_counter() - began, time.process_time() - ours
    lines = [line for client in clients for line in client.lines]
    for client in clients:
        client.close()
    return lines, spent, ours


def _drive(argv: Sequence[str], lines: Sequence[bytes]) -> tuple[float, float]:
    """
    Write requests to one driver, each after the answer to the one before.

    Returns:
        the seconds that took, and all of the driver's processor seconds, its start among them.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as driver:
        _exchange(driver, _line(0, "initialize", {"protocol": PROTOCOL}))
        began = time.perf_counter()
        for line in lines:
            _exchange(driver, line)
        spent = time.perf_counter() - began
        assert driver.stdin is not None
        driver.stdin.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _exchange(driver: subprocess.Popen[bytes], line: bytes) -> None:
    assert driver.stdin is not None
    assert driver.stdout is not None
    driver.stdin.write(line)
    driver.stdin.flush()
    driver.stdout.readline()
