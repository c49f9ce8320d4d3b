"""
Print a proof: rule by rule, what it rests on, what it can't say, and a state from which a goal fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from turnproof_model.prove.faults import Kill
from turnproof_model.prove.induction import Failure
from turnproof_model.prove.proof import Proof, Property
from turnproof_reports.terminal import console, safe

STYLES: Mapping[str, str] = {"proved": "green", "not-proved": "red", "unknown": "yellow"}

SHOWN = 5
"""How many failures are printed; a JSON result has all of them."""


def print_proof(proof: Proof) -> None:
    """Print the result of proving one contract."""
    out = console()
    table = Table(title=f"contract {proof.contract}, by {proof.method}", title_justify="left", box=None)
    for heading in ("rule", "verdict", "goals", "seconds", "says"):
        table.add_column(heading, justify="right" if heading in {"goals", "seconds"} else "left")
    for one in (*proof.properties, proof.strengthening):
        table.add_row(*_row(one))
    out.print(table)
    paths = proof.vacuity
    out.print(f"paths: {paths.paths}, of which {paths.satisfiable} can be taken; {len(paths.dead)} are dead")
    if proof.idle is not None:
        out.print(f"strengthening lines that nothing needs: {', '.join(proof.idle) or 'none'}")
    for failure in proof.failures[:SHOWN]:
        _print_failure(failure)
    if len(proof.failures) > SHOWN:
        out.print(f"… and {len(proof.failures) - SHOWN} more goals that weren't shown")
    out.print(f"not stated by an observer: {', '.join(proof.unspoken)}")
    for name, meaning in proof.uncarried.items():
        out.print(f"not carried: {name} ({meaning}); nothing else proves it yet")
    out.print(Text.assemble("verdict: ", _verdict(proof.verdict), f" in {proof.seconds:.1f} s"))


def print_kills(kills: Sequence[Kill]) -> None:
    """Print what the proof said to each fault, if any was tried."""
    out = console()
    for one in kills:
        goal = one.failure.goal.name if one.failure is not None else "nothing"
        out.print(safe(f"fault {one.fault.name} ({one.fault.rule}): {one.fault.says}; fails: {goal}"))
    if kills:
        out.print(f"faults: {sum(one.killed for one in kills)} of {len(kills)} fail the proof")


def _verdict(verdict: str) -> Text:
    return Text(verdict, style=STYLES[verdict])


def _row(one: Property) -> tuple[Text, Text, str, str, Text]:
    return safe(one.rule or "—"), _verdict(one.verdict), str(one.goals), f"{one.seconds:.2f}", safe(one.name)


def _print_failure(failure: Failure) -> None:
    """Print a goal that wasn't shown, and a state from which it fails, or that none is known."""
    out = console()
    events = ", ".join(failure.events) or "nothing"
    out.print(safe(f"not shown: {failure.goal.name} (at: {failure.action}; publishes {events})"))
    if not failure.known:
        out.print("  the solver doesn't know")
        return
    told = {name: value for name, value in failure.state.items() if value not in (False, 0, -1)}
    out.print(safe("  from: " + " · ".join(f"{name} = {value}" for name, value in told.items())))
