"""
Measure what a check sees: logs of random runs are changed in one place at random, and checked.

Agents are driven by random schedules; what they do is written down in every format, session logs with sequence numbers
and without. Then one event is removed, written twice, or swapped with the next. The figures say how many edits are
reported, and in how many of those the blame names the edited event. An edit that only cuts the last event off a
session log, or swaps two that are alike, doesn't change the history and isn't made.

::

    python -m turnproof.check.experiment --runs 1000 --edits 10000 --seed 1
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, Literal, NamedTuple, TypeAlias

from attrs import define, field

from turnproof.check.checking import check_lines
from turnproof.check.harness import HarnessReader
from turnproof.check.lines import Lines
from turnproof.check.missing import UNKNOWN
from turnproof.check.recording import Document, as_log, as_session, as_trace, recorded, text_of
from turnproof.check.results import FileResult
from turnproof.check.sessions import Exchange
from turnproof.check.words import entry_words, record_words
from turnproof.dice import SCHEDULE_BYTES
from turnproof.naming import find_candidate
from turnproof.score import event_text
from turnproof_model.observation import Profile
from turnproof_model.trace_lines import record_from_wire
from turnproof_model.vocabulary import Contract
from turnproof_model.wire import event_from_wire

Kind: TypeAlias = Literal["remove", "repeat", "swap"]
KINDS: tuple[Kind, ...] = ("remove", "repeat", "swap")

AGENTS: tuple[tuple[str, Contract], ...] = (("reference", "window"), ("reference", "claim"), ("dsh", "claim"))

Writer: TypeAlias = Callable[[Profile, Sequence[Exchange]], Document]

FORMATS: Mapping[str, Writer] = {
    "session log": lambda profile, exchanges: as_log(profile, exchanges, numbered=True),
    "session log, no seq": lambda profile, exchanges: as_log(profile, exchanges, numbered=False),
    "trace": as_trace,
    "driver session": as_session,
}


class Place(NamedTuple):
    """Be one event of a document: its line, and its place in that line's observation where it has one."""

    line: int
    event: int | None


@define
class Tally:
    """Count edits of one kind in one format."""

    made: int = 0
    reported: int = 0
    named: int = 0
    silent: Counter[str] = field(factory=Counter)


def places(document: Document) -> list[Place]:
    """List the events of a document, behind its header."""
    out: list[Place] = []
    for line, value in enumerate(document[1:], 1):
        events = value.get("observation", {}).get("events")
        out += [Place(line, None)] if events is None else [Place(line, n) for n in range(len(events))]
    return out


def _at(document: Document, place: Place) -> Any:
    line = document[place.line]
    return line if place.event is None else line["observation"]["events"][place.event]


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two events say the same, their sequence numbers aside."""
    return {k: v for k, v in one.items() if k != "seq"} == {k: v for k, v in other.items() if k != "seq"}


def edited(document: Document, kind: Kind, at: int) -> Document | None:
    """
    Change one event.

    Args:
        document: the log; it stays as it is.
        kind: of the edit.
        at: which of its ``places``.

    Returns:
        The changed log; None where the edit wouldn't change the history.
    """
    found = places(document)
    place, last = found[at], at == len(found) - 1
    if last and (kind == "swap" or (kind == "remove" and document[0].get("type") == "session")):
        return None
    out = copy.deepcopy(document)
    if kind == "swap":
        return _swapped(out, place, found[at + 1])
    holder = out if place.event is None else out[place.line]["observation"]["events"]
    where = place.line if place.event is None else place.event
    if kind == "remove":
        del holder[where]
    else:
        holder.insert(where, copy.deepcopy(holder[where]))
    return out


def _swapped(out: Document, one: Place, other: Place) -> Document | None:
    first, second = _at(out, one), _at(out, other)
    if _alike(first, second):
        return None
    for place, event in ((one, second), (other, first)):
        if place.event is None:
            out[place.line] = event
        else:
            out[place.line]["observation"]["events"][place.event] = event
    return out


# ------------------------------------------------------------------------------------------------ judging
def check(document: Document) -> FileResult:
    """Check a document."""
    return check_lines("log", Lines(BytesIO(text_of(document))))


def names(result: FileResult, document: Document, kind: Kind, at: int) -> bool:
    """
    Tell whether the result names the edited event as what was done to the log.

    Args:
        result: of the changed log.
        document: the log as it was.
        kind: of the edit.
        at: which of its places.
    """
    found = places(document)
    event = _at(document, found[at])
    if "seq" in event:
        return any(damage.kind == _DAMAGE[kind] and damage.seq == event["seq"] for damage in result.damage)
    words = _words(document)
    wanted = {words[found[at]]} | ({words[found[at + 1]]} if kind == "swap" else set())
    said = {edit.event for item in result.violations if item.blame is not None for edit in item.blame.edits}
    return any(_same(one, other) for one in wanted for other in said)


def _same(wanted: str, said: str) -> bool:
    """Tell whether two names mean one event; the id of a lost message may be shown nowhere."""
    before, unknown, behind = said.partition(UNKNOWN)
    return wanted == said or (bool(unknown) and wanted.startswith(before) and wanted.endswith(behind))


_DAMAGE: Mapping[Kind, str] = {"remove": "hole", "repeat": "duplicate", "swap": "moved"}


def _words(document: Document) -> dict[Place, str]:
    """Name the events of a document as a blame does."""
    if "request" in document[0]:
        return {place: event_text(event_from_wire(_at(document, place))) for place in places(document)}
    if "trace" in document[0]:
        return {
            Place(line, None): record_words(record)
            for line, value in enumerate(document[1:], 1)
            if (record := record_from_wire(line, value)) is not None
        }
    lines = Lines(BytesIO(text_of(document[1:])))
    return {Place(entry.line, None): entry_words(entry) for entry in HarnessReader(lines)}


# ------------------------------------------------------------------------------------------------ the experiment
def documents(agent: str, contract: Contract, runs: int, seed: int) -> Iterator[dict[str, Document]]:
    """
    Let an agent run, and write each run down in every format.

    Args:
        agent: its name, as ``turnproof run`` takes it.
        contract: that it is to serve.
        runs: how many schedules.
        seed: where they come from.
    """
    dice = random.Random(seed)
    client = find_candidate(agent, contract=contract).connect()
    try:
        for profile, exchanges in recorded(client, contract, [dice.randbytes(SCHEDULE_BYTES) for _ in range(runs)]):
            yield {name: write(profile, exchanges) for name, write in FORMATS.items()}
    finally:
        client.close()


@define
class Experiment:
    """
    Check logs and edit them.

    Attributes:
        dice: where the edits come from.
        broken: how many logs, as they were recorded, break each rule, by agent and format.
        tallies: of the edits, by agent, format and kind.
    """

    dice: random.Random
    logs: Counter[tuple[str, str]] = field(factory=Counter)
    broken: dict[tuple[str, str], Counter[str]] = field(factory=dict)
    tallies: dict[tuple[str, str, Kind], Tally] = field(factory=dict)

    def take(self, agent: str, name: str, document: Document, edits: int) -> None:
        """Check one log as it is; edit it where it conforms, since only then an alarm is about the edit."""
        self.logs[agent, name] += 1
        result = check(document)
        for rule in {item.rule for item in result.violations}:
            self.broken.setdefault((agent, name), Counter())[rule] += 1
        if result.verdict == "conforms":
            for _ in range(edits):
                self._edit(agent, name, document)

    def _edit(self, agent: str, name: str, document: Document) -> None:
        kind, count = self.dice.choice(KINDS), len(places(document))
        at = self.dice.randrange(count) if count else 0
        changed = edited(document, kind, at) if count else None
        if changed is None:
            return
        tally = self.tallies.setdefault((agent, name, kind), Tally())
        tally.made += 1
        result = check(changed)
        if result.verdict == "conforms":
            tally.silent[str(_at(document, places(document)[at])["type"])] += 1
        else:
            tally.reported += 1
            tally.named += names(result, document, kind, at)

    def figures(self) -> Iterator[str]:
        """Say what came out, line by line."""
        for (agent, name), count in self.logs.items():
            broken = self.broken.get((agent, name), Counter())
            rules = ", ".join(f"{rule} in {n}" for rule, n in sorted(broken.items())) or "no rule broken"
            yield f"{agent:20} {name:20} {count} logs as recorded: {rules}"
        for (agent, name, kind), tally in sorted(self.tallies.items()):
            share = f"{tally.named / tally.reported:.1%}" if tally.reported else "-"
            silent = ", ".join(f"{event} {n}" for event, n in tally.silent.most_common(4))
            line = f"{agent:20} {name:20} {kind:6} {tally.made:6} made {tally.reported:6} reported {share:>6} named"
            yield f"{line}{'   unreported: ' + silent if silent else ''}"
        counts = [(tally.made, tally.reported, tally.named) for tally in self.tallies.values()]
        made, reported, named = map(sum, zip(*counts, strict=True))
        yield f"{made} edits, {reported} reported, {named / max(reported, 1):.1%} of those named"


def run(runs: int, edits: int, seed: int, agents: Sequence[tuple[str, Contract]] = AGENTS) -> Experiment:
    """
    Make the experiment.

    Args:
        runs: of each agent.
        edits: of all logs together, about.
        seed: where schedules and edits come from.
        agents: with the contract that each is to serve.
    """
    experiment = Experiment(random.Random(seed))
    each = max(edits // (runs * len(agents) * len(FORMATS)), 1)
    for agent, contract in agents:
        for written in documents(agent, contract, runs, seed):
            for name, document in written.items():
                if document:
                    experiment.take(f"{agent} {contract}", name, document, each)
    return experiment


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Edit logs of random runs and see what a check says.")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", default=[], nargs="*", help="agents to leave out")
    chosen = parser.parse_args()
    agents = [item for item in AGENTS if item[0] not in chosen.without]
    for line in run(chosen.runs, chosen.edits, chosen.seed, agents).figures():
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
