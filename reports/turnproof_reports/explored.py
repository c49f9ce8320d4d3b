"""
Print an exploration: counts, what became of every rule, what can always go on, and schedules as scores.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from turnproof.exploration import Exploration, score
from turnproof.score import command_text
from turnproof_model.explore.checks import Checked
from turnproof_model.explore.counterexample import Counterexample
from turnproof_model.explore.liveness import FAIRNESS
from turnproof_model.explore.replay import Played
from turnproof_model.explore.symmetry import Symmetry
from turnproof_model.explore.witness import Witness
from turnproof_model.vocabulary import Reset
from turnproof_reports.terminal import console, safe


def print_exploration(exploration: Exploration) -> None:
    """Print all that came of an exploration."""
    out, found = console(), exploration.found
    bounds = ", ".join(f"{name} {amount}" for name, amount in found.bounds.items())
    out.print(safe(f"{found.contract}: {bounds}"))
    state = "complete" if found.complete else f"incomplete ({found.ended})"
    out.print(
        f"{found.states} states, {found.transitions} transitions, depth {found.depth}, {state}, "
        f"{found.seconds:.1f} s, {found.bytes_per_state:.0f} bytes a state"
    )
    if exploration.symmetry is not None:
        _print_symmetry(exploration, exploration.symmetry)
    if exploration.witness is not None:
        _print_witness(exploration.witness, complete=not exploration.ended)
    elif exploration.checked is None:
        out.print("no rules were checked")
    else:
        _print_checked(exploration.checked)
        _print_liveness(exploration)


def _print_symmetry(exploration: Exploration, names: Symmetry) -> None:
    cut = [f"{name} {amount}" for name, amount in names.bounds.items() if amount != exploration.found.bounds[name]]
    where = f", counted with {', '.join(cut)}" if cut else ""
    console().print(f"if messages had names: {names.states_without_symmetry} states instead of {names.states}{where}")


def _print_checked(checked: Checked) -> None:
    out = console()
    for one in checked.passes:
        bounds = ", ".join(f"{name} {amount}" for name, amount in one.within.bounds.items() if amount)
        ended = f", ended early ({one.ended})" if one.ended else ""
        out.print(safe(f"checked {one.name} ({bounds}): {one.pairs} pairs, {one.transitions} transitions{ended}"))
    out.print(safe(f"rules checked: {len(checked.rules)}: {', '.join(checked.rules)}"))
    if checked.violation is not None:
        _print_violation(checked.violation)
    elif not checked.ended:
        out.print("no rule is broken")


def _print_violation(found: Counterexample) -> None:
    out = console()
    out.print(safe(f"broke {', '.join(found.rules)}"))
    if found.within.tags:
        out.print("  messages are followed one by one: which ones, the bounds of the search say")
    print_steps(found.begins, found.steps)


def print_steps(begins: Reset, steps: Sequence[Played]) -> None:
    """Print a schedule as a score: what was done, and what was seen."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_row(safe(command_text(begins)), "")
    for done, seen in score(steps):
        table.add_row(safe(done), safe(seen))
    console().print(table)


def _print_liveness(exploration: Exploration) -> None:
    out = console()
    if exploration.alive is None:
        out.print("liveness wasn't asked for: not all was seen, a rule is broken, or there are too many states")
        return
    out.print(f"liveness, provided that {FAIRNESS}:")
    for one in exploration.alive:
        holds = "holds" if one.about.holds else f"violated in {one.about.violating} states"
        out.print(safe(f"  {one.about.name} ({one.about.says}): {holds}"))
        if one.steps:
            print_steps(Reset(), one.steps)


def _print_witness(witness: Witness, *, complete: bool) -> None:
    out = console()
    if witness.begins is not None:
        out.print(safe(f"reached: {witness.predicate}"))
        print_steps(witness.begins, witness.steps)
    elif complete:
        out.print(safe(f"never within these bounds: {witness.predicate}"))
    else:
        out.print(safe(f"not met until the search ended: {witness.predicate}"))
