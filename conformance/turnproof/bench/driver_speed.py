"""
Measure commands per second of a real driver: judged by the engine, and fed by a bare loop.

A driver is another process, so it is the time that passes which counts. The bare loop writes the very requests that the
engine sent, lane by lane on one agent, waits for each answer and does nothing with it. Both sides are timed from when
the driver has introduced itself.
"""

from __future__ import annotations

import json
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define

from turnproof.agents import agent, command
from turnproof.bench.throughput import ROUNDS, SEED, go_on, micro
from turnproof.child import ChildClient
from turnproof.client import PROTOCOL
from turnproof.engine import Engine, search
from turnproof.lanes import side_by_side
from turnproof.trial import Trial

A_RUN = 20_000
"""Commands of a run by default; the runtime of a driver takes some thousands until it is up to speed."""


@define
class Cost:
    """Hold the seconds that one side took, and those of processors here and in the drivers, their start among them."""

    passed: float
    ours: float
    drivers: float


def measure(commands: int = A_RUN) -> Iterator[str]:
    """
    Measure the real driver that is bundled, if it is installed.

    Args:
        commands: how many each side sends.
    """
    dsh = agent("dsh")
    if dsh.installed:
        yield from measure_driver("dsh", command("dsh"), commands)
    else:
        yield f"throughput dsh: not measured, since it is {dsh.problem} (turnproof agents install dsh)"


def measure_driver(name: str, argv: Sequence[str], commands: int, rounds: int = ROUNDS) -> Iterator[str]:
    """
    Time the engine on a driver against a bare loop over the same requests.

    Args:
        name: of the agent.
        argv: command line of its driver.
        commands: how many each side sends.
        rounds: how often each side runs.
    """
    sides: list[tuple[Cost, Cost]] = []
    for _ in range(rounds):
        lines, judged = _judge(argv, commands)
        sides.append((judged, _drive(argv, lines)))
    judged, bare = (min(side, key=lambda cost: cost.passed) for side in zip(*sides, strict=True))
    yield (
        f"throughput {name}: {commands / judged.passed:.0f} commands/s judged, {commands / bare.passed:.0f} in a bare "
        f"loop: {bare.passed / judged.passed:.2f} of that (processor time a command: {micro(judged.ours, commands)} "
        f"to judge and {micro(judged.drivers, commands)} in the driver, {micro(bare.drivers, commands)} there in the "
        "bare loop)"
    )


class Recorder(ChildClient):
    """Keep what is sent; it is written as lines when the clock has stopped."""

    def __init__(self, argv: Sequence[str]) -> None:
        super().__init__(argv)
        self.lanes: dict[int, list[tuple[str, Mapping[str, Any]]]] = {}

    def _send(self, method: str, params: Mapping[str, Any], lane: int) -> None:
        self.lanes.setdefault(lane, []).append((method, params))
        super()._send(method, params, lane)


def _line(method: str, params: Mapping[str, Any]) -> bytes:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(request, separators=(",", ":")).encode() + b"\n"


def _judge(argv: Sequence[str], commands: int) -> tuple[list[bytes], Cost]:
    """Search with the engine; give the requests that went out, lane by lane, and what that took."""
    clients: list[Recorder] = []

    def another() -> Trial:
        clients.append(Recorder(argv))
        return Trial.open(clients[-1])

    drivers = _children()
    first, *beside = side_by_side(another)
    for client in clients:
        client.lanes.clear()
    began, ours = time.perf_counter(), time.process_time()
    search(Engine(first, go_on, commands, beside), SEED)
    passed, ours = time.perf_counter() - began, time.process_time() - ours
    lines = [_line(*request) for client in clients for lane in client.lanes.values() for request in lane]
    for client in clients:
        client.close()
    return lines, Cost(passed, ours, _children() - drivers)


def _children() -> float:
    """Tell the processor seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _drive(argv: Sequence[str], lines: Sequence[bytes]) -> Cost:
    """Write requests to one driver, each after the answer to the one before."""
    drivers = _children()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as driver:
        _exchange(driver, _line("initialize", {"protocol": PROTOCOL}))
        began, ours = time.perf_counter(), time.process_time()
        for line in lines:
            _exchange(driver, line)
        passed, ours = time.perf_counter() - began, time.process_time() - ours
        assert driver.stdin is not None
        driver.stdin.close()
    return Cost(passed, ours, _children() - drivers)


def _exchange(driver: subprocess.Popen[bytes], line: bytes) -> None:
    assert driver.stdin is not None
    assert driver.stdout is not None
    driver.stdin.write(line)
    driver.stdin.flush()
    driver.stdout.readline()
