"""
Measure the check of a session log against a bare loop over the same lines with the JSON library that is used.

The log is generated: turns of a few steps, most lines chunks of streamed text, tool results of up to six thousand
characters, as in the logs of real sessions. Each side runs in a process of its own, so that its memory can be told.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import define, field

from turnproof_model.vocabulary import Contract

MEGABYTE = 1_000_000

SIZE = 200 * MEGABYTE
"""Bytes of the log when no size is given; the figures don't depend on it."""

PROSE = "a model writes one word after the other, and most of them are short; 'quotes', \\ and \n make them longer. "

BARE = """
import json, sys, time, resource
begun, count = time.process_time(), 0
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        json.loads(line)
        count += 1
print(time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, count, "read")
"""

CHECK = """
import sys, time, resource
from turnproof.check import check_file
begun = time.process_time()
result = check_file(sys.argv[1])
print(time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, result.events, result.verdict)
"""


@define
class _Log:
    """Write lines with their sequence numbers."""

    contract: Contract
    dice: random.Random = field(factory=lambda: random.Random(1))
    seq: int = 0

    def line(self, kind: str, /, **data: Any) -> str:
        """Write one line."""
        event = {"type": kind, "seq": self.seq, "time": 1_784_522_140_646 + self.seq, "data": data}
        self.seq += 1
        return json.dumps(event, separators=(",", ":")) + "\n"

    def prose(self, most: int) -> str:
        """Write some text."""
        length = self.dice.randint(1, most)
        return (PROSE * (length // len(PROSE) + 1))[:length]

    def turn(self, number: int) -> Iterator[str]:
        """Write one turn."""
        message = {"role": "user", "id": f"m{number}", "source": {"kind": "user"}, "content": self._text(800)}
        if self.contract == "claim":
            yield self.line("agent/inbox/spliced", target="next-turn", start=0, inserted=[message])
            yield self.line("turn/start", turn=number)
            yield self.line("agent/inbox/spliced", target="next-turn", start=0, removedCount=1, inserted=[])
        else:
            yield self.line("turn/start", turn=number, trigger={"kind": "message"})
            yield self.line("user/message", **message)
        steps = self.dice.randint(1, 8)
        for step in range(1, steps + 1):
            opening = message if self.contract == "claim" and step == 1 else None
            yield from self.step({"turn": number, "step": step}, opening, last=step == steps)
        yield self.line("turn/end", turn=number, reason={"kind": "completed"})

    def step(self, place: dict[str, int], opening: dict[str, Any] | None, *, last: bool) -> Iterator[str]:
        """Write one step."""
        yield self.line("step/start", **place)
        if opening is not None:
            yield self.line("user/message", **opening)
        for _ in range(self.dice.randint(5, 60)):
            chunk = {"type": "text-delta", "index": 0, "text": self.prose(12)}
            yield self.line("assistant/chunk", **place, chunk=chunk)
        calls = [] if last else [f"c{place['turn']}.{place['step']}.{n}" for n in range(self.dice.randint(1, 3))]
        blocks = [{"type": "tool-call", "id": call, "name": "read", "arguments": self.prose(60)} for call in calls]
        content = [*self._text(400), *blocks]
        yield self.line("assistant/message", **place, message={"role": "assistant", "content": content})
        for call in calls:
            yield self.line("tool/call", **place, callId=call, name="read", arguments=self.prose(60))
            block = {"type": "tool-result", "toolCallId": call, "isError": False, "content": self._text(6000)}
            yield self.line("tool/result", **place, message={"role": "user", "content": [block]})
        yield self.line("step/end", **place)

    def _text(self, most: int) -> list[dict[str, str]]:
        return [{"type": "text", "text": self.prose(most)}]


def write_log(path: Path, contract: Contract, size: int) -> None:
    """
    Write a lawful session log of at least this size.

    Args:
        path: of the file.
        contract: that it is recorded under.
        size: in bytes.
    """
    log = _Log(contract)
    with path.open("w", encoding="utf-8") as file:
        written = file.write('{"type":"session","version":0,"id":"generated"}\n')
        turn = 0
        while written < size:
            turn += 1
            written += sum(map(file.write, log.turn(turn)))


def _run(program: str, path: Path) -> tuple[float, float, str]:
    """Run one side; give its seconds of processor time, its memory in megabytes, and what it says at the end."""
    found = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    seconds, memory, _, said = found.stdout.split()
    return float(seconds), float(memory) * 1024 / MEGABYTE, said


def measure(size: int = SIZE, rounds: int = 3) -> Iterator[str]:
    """
    Measure both contracts, a line for each.

    Args:
        size: of the log, in bytes.
        rounds: how often each side runs, in turns; the fastest counts.
    """
    contracts: tuple[Contract, ...] = ("window", "claim")
    with tempfile.TemporaryDirectory() as folder:
        for contract in contracts:
            path = Path(folder) / f"{contract}.jsonl"
            write_log(path, contract, size)
            runs = [(_run(BARE, path), _run(CHECK, path)) for _ in range(rounds)]
            bare, check = (min(side) for side in zip(*runs, strict=True))
            assert check[2] == "conforms", check[2]
            ratio, speed = bare[0] / check[0], size / MEGABYTE / check[0]
            yield (
                f"check {contract}: {ratio:.2f} of the speed of a bare line loop with json"
                f" ({size // MEGABYTE} MB, {speed:.0f} MB/s of processor time, {check[1]:.0f} MB of memory)"
            )
            path.unlink()


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser("python -m turnproof.bench.check_speed", description="Print speed ratios.")
    parser.add_argument("--megabytes", type=int, default=SIZE // MEGABYTE)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    for line in measure(chosen.megabytes * MEGABYTE, chosen.rounds):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
