"""
Print a proof: rule by rule, what it rests on, what it can't say, and a state from which a goal fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from turnproof.exploration import step_text
from turnproof.score import command_text
from turnproof_model.explore.counterexample import Counterexample
from turnproof_model.prove.faults import Kill, Shown
from turnproof_model.prove.induction import Failure
from turnproof_model.prove.proof import Certified, Proof, Property
from turnproof_reports.explored import print_steps
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
    if proof.certificate is not None:
        _print_certificate(proof.certificate)
    elif proof.method == "Spacer":
        out.print("time ran out before there was a certificate to check; give it more with --limit")
    _print_failures(proof)
    out.print(f"stated by monitors only, on real messages: {', '.join(proof.unspoken)}")
    for left in proof.uncarried:
        judge = "judged on real messages by the oracle and the monitors"
        by = judge if left.covered is None else f"checked within bounds by: {left.covered[1]}"
        out.print(safe(f"not carried: {left.name} ({left.says}); {by}"))
    out.print(Text.assemble("verdict: ", _verdict(proof.verdict), f" in {proof.seconds:.1f} s"))


def _print_certificate(found: Certified) -> None:
    """Print what a proof without hints rests on."""
    out = console()
    facts = ", ".join(f"{count} from {source}" for source, count in found.facts.items())
    out.print(f"lemmas guessed from states and kept by every step: {found.guessed}")
    out.print(f"goals left when clauses were learnt, too: {found.asked}, of which Spacer showed {found.shown}")
    out.print(f"certificate: {facts or 'no facts'}; checked from scratch in {found.seconds:.1f} s")


def print_faults(broken: Sequence[tuple[Kill, Shown]], prepared: float) -> None:
    """
    Print what the proof said to each fault, if any was tried, and the schedule that shows it, with their times.

    Args:
        broken: what was found, by fault.
        prepared: how long the rules as they are took, once for all faults, in processor seconds.
    """
    out = console()
    for killed, shown in broken:
        fault = killed.fault
        goal = killed.failure.goal.name if killed.failure is not None else "nothing"
        took = f"proof {killed.seconds:.2f} s, schedule {shown.seconds:.2f} s"
        out.print(safe(f"fault {fault.name} ({fault.rule}): {fault.says}; fails: {goal}; {_shown(shown)}; {took}"))
    if broken:
        count, of = sum(killed.killed for killed, _ in broken), len(broken)
        rules = sum(bool(shown.rules) for _, shown in broken)
        others = sum(shown.found is not None and not shown.rules for _, shown in broken)
        out.print(
            f"faults: {count} of {of} fail the proof; on real messages a short schedule breaks a rule for {rules}, "
            f"and shows another behaviour for {others}"
        )
        sums = sorted((killed.seconds + shown.seconds, killed.fault.name) for killed, shown in broken)
        (middle, _), (worst, slowest) = sums[len(sums) // 2], sums[-1]
        out.print(
            f"processor time of proof and schedule together: at worst {worst:.2f} s ({slowest}), in the middle "
            f"{middle:.2f} s; before, {prepared:.2f} s once to take the rules as they are apart and search them"
        )


def _shown(shown: Shown) -> str:
    """Write the schedule that shows a fault."""
    if shown.found is None:
        return "no schedule within the explorer's bounds shows it"
    if isinstance(shown.found, Counterexample):
        done = " · ".join(step_text(step) for step in shown.found.steps if step.op is not None)
    else:
        done = " · ".join(map(command_text, shown.found.commands))
    breaks = f"breaks {', '.join(shown.rules)}" if shown.rules else "breaks no rule, but behaves differently,"
    return f"{breaks} in {shown.commands} commands: {done}"


def _verdict(verdict: str) -> Text:
    return Text(verdict, style=STYLES[verdict])


def _row(one: Property) -> tuple[Text, Text, str, str, Text]:
    return safe(one.rule or "—"), _verdict(one.verdict), str(one.goals), f"{one.seconds:.2f}", safe(one.name)


def _print_failures(proof: Proof) -> None:
    """Print goals that weren't shown, and whether a schedule leads to a broken rule."""
    out = console()
    for failure in proof.failures[:SHOWN]:
        _print_failure(failure)
    if len(proof.failures) > SHOWN:
        out.print(f"… and {len(proof.failures) - SHOWN} more goals that weren't shown")
    if proof.reached is not None:
        out.print(safe(f"the explorer reaches a broken rule: {', '.join(proof.reached.rules)}"))
        print_steps(proof.reached.begins, proof.reached.steps)
    elif any(failure.known for failure in proof.failures):
        out.print("the explorer reaches no broken rule within its bounds: no schedule may lead to such a state")


def _print_failure(failure: Failure) -> None:
    """Print a goal that wasn't shown, and a state from which it fails, or that none is known."""
    out = console()
    events = ", ".join(failure.events) or "nothing"
    out.print(safe(f"not shown: {failure.goal.name} (at: {failure.action}; publishes {events})"))
    if not failure.known:
        out.print("  the solver doesn't know")
        return
    told = {name: value for name, value in failure.state.items() if value not in (False, 0, -1, "", None)}
    agent = [f"{name} = {value}" for name, value in told.items() if not name.startswith("g.")]
    seen = [f"{name.removeprefix('g.')} = {value}" for name, value in told.items() if name.startswith("g.")]
    out.print(safe("  an agent with: " + " · ".join(agent)))
    out.print(safe("  of which was seen: " + (" · ".join(seen) or "nothing")))
