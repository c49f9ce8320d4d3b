"""Play capsules and recordings again: ``turnproof replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnproof.capsule import CapsuleError, read_capsule, replay_capsule
from turnproof.cli.common import InputError, candidate, contract_option, json_option, write_json
from turnproof.faults import DriverFault
from turnproof.recorded import RecordingError, read_recording, recorded_json, replay_recording
from turnproof_reports.terminal import print_fault, print_recorded, print_replay


@click.command(
    epilog="""\b
Examples:
  turnproof replay .turnproof/capsules/C-STAT-2-1a2b3c4d.json dsh
  turnproof replay capsule.json mine -- node my-driver.mjs
  turnproof replay --recorded session.jsonl --json -
"""
)
@click.argument("words", nargs=-1, required=True, metavar="CAPSULE AGENT [-- CMD…] | FILE…", type=click.UNPROCESSED)
@click.option("--recorded", is_flag=True, help="Read recorded driver sessions, and judge them without any agent.")
@contract_option
@click.option("--fault", help="Replay on the reference agent with this deliberate defect.")
@click.option("--times", default=1, show_default=True, type=click.IntRange(1), help="Replay this many times.")
@json_option
@click.pass_context
def replay(
    context: click.Context,
    words: tuple[str, ...],
    recorded: bool,
    contract: str | None,
    fault: str | None,
    times: int,
    json_file: str | None,
) -> None:
    """
    Play a CAPSULE on AGENT, or hold recorded sessions against the rules.

    A capsule that reproduces ends with status 1, one that passes with 0.
    """
    if recorded:
        context.exit(_recorded(words, json_file))
    if len(words) < 2:
        raise InputError("replay takes a capsule and an agent; recordings need --recorded")
    context.exit(_capsule(Path(words[0]), words[1], words[2:], contract, fault, times, json_file))


def _recorded(names: tuple[str, ...], json_file: str | None) -> int:
    replayed, unreadable = [], 0
    for name in names:
        try:
            replayed.append(replay_recording(read_recording(Path(name))))
        except RecordingError as error:
            unreadable += 1
            click.echo(f"turnproof: {error}", err=True)
    document = recorded_json(replayed)
    if json_file != "-":
        print_recorded(replayed)
    write_json(document, json_file)
    return 2 if unreadable else int(document["verdict"] == "differs")


def _capsule(
    path: Path,
    agent: str,
    command: tuple[str, ...],
    contract: str | None,
    fault: str | None,
    times: int,
    json_file: str | None,
) -> int:
    try:
        capsule = read_capsule(path)
    except CapsuleError as error:
        raise InputError(str(error)) from error
    chosen = candidate(agent, command, contract or capsule.contract, fault)
    outcomes = []
    for _ in range(times):
        client = chosen.connect()
        try:
            outcomes.append(replay_capsule(capsule, client))
        except DriverFault as error:
            print_fault(error.fault)
            return 3
        except ValueError as error:
            raise InputError(str(error)) from error
        finally:
            client.close()
    document: dict[str, Any] = {
        "schema": "turnproof/replay/1",
        "capsule": str(path),
        "agent": agent,
        "verdicts": [outcome.verdict for outcome in outcomes],
        "rules": [list(outcome.failure.rules) if outcome.failure else [] for outcome in outcomes],
    }
    if json_file != "-":
        print_replay(capsule, outcomes, agent)
    write_json(document, json_file)
    return 0 if all(outcome.verdict == "passed" for outcome in outcomes) else 1
