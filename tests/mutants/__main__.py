"""
Run mutants: `python -m mutants run` plays all and writes the record, `survivors` lists who lives unexplained.

`run --new` plays only those that the record doesn't know, `run --survivors` only those that live unexplained, and
`run KEY…` the named ones; each of these changes only their lines of the record. `again KEY…` puts some before the fast
stages and changes nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

from mutants import record
from mutants.judging import SURVIVED, judge, sound, warm
from mutants.mutant import Mutant
from mutants.record import Entry, play
from mutants.stages import QUICK

EVERY = 50
"""Mutants between two lines of progress."""


def run(arguments: argparse.Namespace) -> int:
    """Play the chosen mutants and write the record."""
    for contract in ("window", "claim"):
        if objection := sound(contract, QUICK):
            raise SystemExit(
                f"the sound {contract} agent must pass (the suite names {objection.rules}); mend that first"
            )
    entries = {entry.mutant.key: entry for entry in record.read()}
    every = _every(arguments, entries)
    chosen = [mutant for mutant in every if _chosen(mutant, entries.get(mutant.key), arguments)]
    say(f"{len(every)} mutants, {len(chosen)} of them to play")
    with ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("spawn"), warm) as pool:
        for count, entry in enumerate(pool.map(play, chosen), 1):
            entries[entry.mutant.key] = entry
            if entry.verdict.verdict == SURVIVED:
                say(f"lives: {entry.mutant.key} {entry.mutant.text}")
            if count % EVERY == 0:
                _keep(every, entries)
                say(f"{count} of {len(chosen)} played")
    _keep(every, entries)
    return 0


def _keep(every: list[Mutant], entries: dict[str, Entry]) -> None:
    """Write what is known of the mutants that there are; what is said about others is forgotten."""
    record.write([entries[mutant.key] for mutant in every if mutant.key in entries])


def _every(arguments: argparse.Namespace, entries: dict[str, Entry]) -> list[Mutant]:
    """Make all mutants, or take those that the record knows where no others are asked for."""
    if arguments.keys or arguments.survivors:
        return [entry.mutant for entry in entries.values()]
    from mutants.making import mutants  # needs the mutation tool, which is not there in a test run

    return mutants()


def _chosen(mutant: Mutant, known: Entry | None, arguments: argparse.Namespace) -> bool:
    if arguments.keys:
        return mutant.key in arguments.keys
    if arguments.survivors:
        return known is not None and known.verdict.verdict == SURVIVED and mutant.key not in record.reviewed()
    return known is None or not arguments.new


def survivors(_arguments: argparse.Namespace) -> int:
    """List who lives unexplained; the status tells whether anybody does."""
    alive = record.open_questions(record.read())
    for entry in alive:
        say(f"{entry.mutant.key} {entry.mutant.text}")
    return int(bool(alive))


def again(arguments: argparse.Namespace) -> int:
    """Put some mutants of the record before the fast stages again and say what became of each."""
    known = {entry.mutant.key: entry.mutant for entry in record.read()}
    warm()
    for key in arguments.keys:
        say(f"{key} {judge(known[key], QUICK).verdict}")
    return 0


def say(line: str) -> None:
    """Print one line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--jobs", type=int, default=2)
    runs.add_argument("--new", action="store_true")
    runs.add_argument("--survivors", action="store_true")
    runs.add_argument("keys", nargs="*", metavar="KEY")
    runs.set_defaults(do=run)
    agains = commands.add_parser("again")
    agains.add_argument("keys", nargs="+", metavar="KEY")
    agains.set_defaults(do=again)
    commands.add_parser("survivors").set_defaults(do=survivors)
    arguments = parser.parse_args()
    return int(arguments.do(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
