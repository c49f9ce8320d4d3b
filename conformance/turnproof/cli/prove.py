"""Prove the rules: ``turnproof prove``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click

from turnproof.cli.common import InputError, json_option, write_json
from turnproof_model.contracts import CONTRACTS
from turnproof_model.prove import proof as proofs
from turnproof_model.prove.faults import Kill, Shown, kill, prepare, show
from turnproof_model.prove.faults import faults as listed
from turnproof_model.prove.spacer import prove_by_spacer
from turnproof_model.vocabulary import Contract
from turnproof_reports.proofs import print_faults, print_proof

EXIT: Mapping[str, int] = {"proved": 0, "not-proved": 1, "unknown": 4}


@click.command(
    epilog="""\b
Examples:
  turnproof prove
  turnproof prove window --seed 7
  turnproof prove claim --json -
  turnproof prove window --smt2 queries
  turnproof prove claim --engine spacer --limit 900

\b
Ends with 0 where every rule is proved, 1 where one is not, 4 where the solver doesn't know.
"""
)
@click.argument("contract", required=False, type=click.Choice(CONTRACTS))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the solver.")
@click.option(
    "--engine",
    default="induction",
    show_default=True,
    type=click.Choice(("induction", "spacer")),
    help="Prove with the invariant that is written down, or with what a machine finds (z3's Spacer).",
)
@click.option(
    "--limit",
    default=600.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds for spacer to find out what holds and to check it; without a certificate nothing is known.",
)
@click.option("--needed", is_flag=True, help="Also drop each strengthening line in turn, and name those nothing needs.")
@click.option("--faults", is_flag=True, help="Also break the rules in every listed way, and show that it is noticed.")
@click.option("--smt2", "folder", metavar="DIR", help="Write the queries for other solvers, one file a path.")
@json_option
def prove(
    contract: Contract | None,
    seed: int,
    engine: str,
    limit: float,
    needed: bool,
    faults: bool,
    folder: str | None,
    json_file: str | None,
) -> None:
    """Prove the rules of a contract for any number of messages, turns, steps and tool calls."""
    if engine == "spacer" and (needed or faults or folder is not None):
        raise click.UsageError(
            "--needed, --faults and --smt2 belong to the proof by induction; leave out --engine spacer"
        )
    found: list[proofs.Proof] = []
    values: list[dict[str, Any]] = []
    survived = False
    for name in CONTRACTS if contract is None else (contract,):
        if folder is not None:
            _write_queries(name, Path(folder) / name)
        proof = _prove(name, seed, needed=needed) if engine == "induction" else _prove_unaided(name, seed, limit)
        prepared = prepare(name) if faults else 0.0
        broken = [(kill(name, fault), show(name, fault)) for fault in listed(name)] if faults else []
        if json_file != "-":
            print_proof(proof)
            print_faults(broken, prepared)
        found.append(proof)
        values.append({**proofs.to_json(proof), "faults": _faults(broken, prepared) if faults else None})
        survived = survived or any(not killed.killed for killed, _ in broken)
    write_json(values[0] if contract is not None else values, json_file)
    sys.exit(1 if survived else max((EXIT[proof.verdict] for proof in found), key=_severity))


def _faults(broken: Sequence[tuple[Kill, Shown]], prepared: float) -> dict[str, Any]:
    sums = [killed.seconds + shown.seconds for killed, shown in broken]
    return {
        "killed": sum(killed.killed for killed, _ in broken),
        "shown": sum(shown.commands is not None for _, shown in broken),
        "total": len(broken),
        "prepared_seconds": round(prepared, 3),
        "worst_seconds": round(max(sums), 3),
        "median_seconds": round(median(sums), 3),
        "each": [_fault(killed, shown) for killed, shown in broken],
    }


def _fault(killed: Kill, shown: Shown) -> dict[str, Any]:
    return {
        "name": killed.fault.name,
        "rule": killed.fault.rule,
        "says": killed.fault.says,
        "goal": None if killed.failure is None else killed.failure.goal.name,
        "proof_seconds": round(killed.seconds, 3),
        "breaks": list(shown.rules),
        "commands": shown.commands,
        "schedule_seconds": round(shown.seconds, 3),
        "seconds": round(killed.seconds + shown.seconds, 3),
    }


def _prove(contract: Contract, seed: int, **options: Any) -> proofs.Proof:
    try:
        return proofs.prove(contract, seed=seed, reach=True, **options)
    except ImportError as error:
        raise InputError(f"a proof needs the package z3-solver: {error}") from error


def _prove_unaided(contract: Contract, seed: int, limit: float) -> proofs.Proof:
    try:
        return prove_by_spacer(contract, seed=seed, limit=limit, reach=True)
    except ImportError as error:
        raise InputError(f"a proof needs the packages z3-solver and numpy: {error}") from error


def _write_queries(contract: Contract, folder: Path) -> None:
    """Write what a solver is asked; each answer has to be unsat."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in proofs.induction(contract).queries():
            (folder / f"{name}.smt2").write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: can't be written: {error}") from error


def _severity(code: int) -> int:
    """Order exit codes: what isn't proved is worse than what isn't known."""
    return (0, 4, 1).index(code)
