"""
Print results on a terminal with colour and tables, and as plain lines into a pipe. Nothing is judged here again.

What a candidate says is untrusted text: it is printed without markup and without control characters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from turnproof.expectations import Assessment
from turnproof.faults import Fault
from turnproof.parting import Parting
from turnproof.results import RuleResult
from turnproof.score import schedule_text
from turnproof_reports.comparing import Comparison
from turnproof_reports.summary import (
    WORDS,
    counts,
    coverage_lines,
    entries,
    expectation_of,
    race_counts,
    race_entries,
    replay_line,
)

DISAGREEMENT = (
    "only a monitor objects here, not the oracle: turnproof contradicts itself;"
    " the rule counts as failed, but please report it"
)
"""What is said of a failure that one judge alone sees."""

COLOURS = {
    "passed": "green",
    "conforms": "green",
    "accepted": "green",
    "failed": "red",
    "fails": "red",
    "differs": "red",
    "reproduced": "red",
    "driver-fault": "magenta",
    "inconclusive": "yellow",
    "not-exercised": "yellow",
    "not-applicable": "dim",
    "unobservable": "dim",
}


def console() -> Console:
    """Make the console for stdout: colour on a terminal, plain and unwrapped in a pipe."""
    made = Console(highlight=False, soft_wrap=False)
    return made if made.is_terminal else Console(highlight=False, soft_wrap=True, width=10_000)


def safe(value: object) -> Text:
    """Show untrusted text: no markup, control characters made visible."""
    return Text("".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in str(value)))


def verdict_text(verdict: str) -> Text:
    """Colour a verdict."""
    return Text(verdict, style=COLOURS.get(verdict, ""))


@contextmanager
def search_progress(name: str, budget: int) -> Iterator[Callable[[int, int, int], None]]:
    """Show how far a search is, on stderr."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} commands"),
        TextColumn("{task.fields[found]} failures"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=budget, found=0)

        def update(sent: int, total: int, found: int) -> None:
            bar.update(task, completed=sent, total=total, found=found)

        yield update


def print_run(assessment: Assessment) -> None:
    """Print a finished run: what failed first, then the count of each verdict."""
    out = console()
    result = assessment.result
    for fault in result.driver_faults:
        print_fault(fault)
    for capsule in result.capsules:
        out.print(safe(capsule.text))
        met = f"met {capsule.occurrences} times" if capsule.occurrences > 1 else "met once"
        out.print(safe(f"  replay    {replay_line(assessment, capsule) or 'not kept'}   ({met})"))
        if (reason := expectation_of(assessment, capsule)) is not None:
            out.print(Text("  expected  ", style="yellow").append_text(safe(reason)))
        if not capsule.reproduced:
            out.print(Text("  flaky: the same commands did not fail again", style="magenta"))
        out.print()
        if capsule.disagreement:
            out.print(f"  {DISAGREEMENT}\n", markup=False)
    _print_expectations(out, assessment)
    _print_races(out, assessment)
    _print_quiet_rules(out, result.rules)
    counted = counts(entries(assessment))
    summary = " · ".join(f"{count} {WORDS[outcome]}" for outcome, count in counted.items())
    out.print(safe(f"{result.agent.name} {result.agent.version} · contract {result.contract} · seed {result.seed}"))
    sent = f"{result.commands} commands in " if result.commands else ""  # races alone are no search
    out.print(f"{sent}{result.seconds:.1f} s · {summary}", markup=False)
    if measured := coverage_lines(result):
        out.print(f"coverage: {' · '.join(measured)}", markup=False)
    for name, values in result.latitude.items():
        out.print(f"latitude {name}: {' or '.join(values)}", markup=False)
    out.print(Text("verdict: ").append_text(verdict_text(assessment.verdict)))


def _print_expectations(out: Console, assessment: Assessment) -> None:
    """Name the expectations that nothing met, and those that may be met or not."""
    for expectation in assessment.stale:
        words = f"{expectation.rule} is expected to fail and did not ({expectation.words})"
        out.print(Text("stale: ", style="red").append_text(safe(words)))
    for expectation in assessment.unmet:
        out.print(Text("not met: ", style="yellow").append(f"{expectation.rule} was not exercised"))
    for expectation, met in assessment.flaky:
        words = f"{expectation.rule} met {met} failures ({expectation.words})"
        out.print(Text("flaky: ", style="magenta").append_text(safe(words)))


def _print_races(out: Console, assessment: Assessment) -> None:
    """Count how the races of a run went, and name those that weren't passed."""
    listed = race_entries(assessment)
    for entry in listed:
        if entry.outcome != "passed":
            shown = f" {entry.name}: {entry.why}" + (f" ({entry.failure.name})" if entry.failure else "")
            out.print(Text("race ").append_text(verdict_text(entry.outcome)).append_text(safe(shown)))
    if listed:
        out.print(f"races: {race_counts(listed)}", markup=False)


def print_comparison(comparison: Comparison) -> None:
    """Print what changed from one run to another, what is worse first."""
    out = console()
    before, after = comparison.before.result.agent, comparison.after.result.agent
    out.print(safe(f"{before.name} {before.version} → {after.name} {after.version}"))
    for failure in comparison.new:
        out.print(Text("new failure ", style="red").append_text(safe(failure.text)))
    for failure in comparison.fixed:
        out.print(Text("fixed ", style="green").append_text(safe(f"{', '.join(failure.rules)}: {failure.score}")))
    listed = {
        "newly failing": comparison.newly_failing,
        "mended": comparison.mended,
        "no longer exercised": comparison.lost,
        "newly exercised": comparison.gained,
    }
    for words, failures in (("found later", comparison.found_later), ("still there", comparison.not_met)):
        for failure in failures:
            out.print(Text(f"{words} ", style="dim").append_text(safe(f"{', '.join(failure.rules)}: {failure.score}")))
    for words, rules in listed.items():
        if rules:
            out.print(f"{words}: {' '.join(rules)}", markup=False)
    for name, was, now in comparison.less_covered:
        out.print(f"coverage lost: {name} {was} → {now}", markup=False)
    out.print("worse" if comparison.worse else "no worse")


def _print_quiet_rules(out: Console, rules: Sequence[RuleResult]) -> None:
    """Name the rules that this run says nothing about."""
    for verdict in ("not-exercised", "not-applicable", "unobservable"):
        named = [rule.id for rule in rules if rule.verdict == verdict]
        if named:
            out.print(Text(f"{verdict}: ").append(" ".join(named), style="dim"))


def print_parting(parting: Parting | None, one: str, other: str) -> None:
    """Print the schedule on which two agents differ, what each did, and who decides."""
    out = console()
    if parting is None:
        out.print("no difference found", markup=False)
        return
    out.print(safe(schedule_text(parting.schedule)))
    label = "" if parting.where == "events" else f" ({parting.where.replace('_', ' ')})"
    for name, side in ((one, parting.one), (other, parting.other)):
        out.print(safe(f"  {name}: {side.shown}{label}"))
        if side.rules:
            out.print(Text("    broke ", style="red").append(", ".join(side.rules)))
    decided = {
        "both": "the contract is silent: both keep it",
        "neither": "both break the contract",
        "one": f"decided for {one} by {', '.join(parting.decides)}",
        "other": f"decided for {other} by {', '.join(parting.decides)}",
    }[parting.keeps]
    out.print(safe(decided))
    if parting.freedoms:
        out.print(f"taken differently: {', '.join(parting.freedoms)}", markup=False)
    plain = (
        "no shorter schedule of plain commands tells them apart"
        if parting.shortest
        else "made short, not proved shortest"
    )
    out.print(f"{len(parting.schedule)} commands; {plain}", markup=False)


LAST_REQUESTS = 6
"""How many of the requests before a breakdown are shown."""


def print_fault(fault: Fault) -> None:
    """Print a breakdown of the driver with its last requests and the tail of its stderr."""
    out = console()
    head = f"driver fault ({fault.kind} at {fault.stage}, after {fault.answered} answers): "
    out.print(Text(head, style="magenta").append_text(safe(fault.message)))
    for exchange in fault.exchanges[-LAST_REQUESTS:]:
        out.print(safe(f"  request {exchange.method} {json.dumps(exchange.params, ensure_ascii=False)}"))
    if fault.received:
        out.print(safe(f"  received {fault.received}"))
    for line in fault.stderr.splitlines():
        out.print(safe(f"  stderr | {line}"))


def print_replay(capsule: Any, outcomes: Sequence[Any], agent: str) -> None:
    """Print what a capsule's replay showed."""
    out = console()
    last = outcomes[-1]
    if last.failure is not None:
        from turnproof.score import failure_text  # noqa: PLC0415  # only a failing replay needs the words

        out.print(safe(failure_text(last.failure)))
    verdicts = {o.verdict: sum(p.verdict == o.verdict for p in outcomes) for o in outcomes}
    line = Text(f"{', '.join(capsule.rules) or 'the schedule'} on {agent}: ")
    for verdict, count in verdicts.items():
        line.append_text(verdict_text(verdict)).append(f" {count} of {len(outcomes)} ")
    out.print(line)
    if last.stopped:
        out.print(safe(f"the schedule could not go on: {last.stopped}"))


def print_recorded(replayed: Sequence[Any]) -> None:
    """Print one line for each recording, and what differs."""
    from turnproof.score import value_text  # noqa: PLC0415  # only differing recordings need the words

    out = console()
    for item in replayed:
        difference = item.difference
        verdict = "accepted" if difference is None else "differs"
        where = "" if difference is None else f" at line {item.line}: {', '.join(difference.rules)}"
        out.print(verdict_text(verdict).append(f" {item.path}{where}", style="default"))
        if difference is not None:
            out.print(safe(f"    expected  {value_text(difference.expected)}"))
            out.print(safe(f"    observed  {value_text(difference.observed)}"))
    accepted = sum(item.difference is None for item in replayed)
    out.print(f"{accepted} of {len(replayed)} accepted", markup=False)


def print_rules(rules: Sequence[Any]) -> None:
    """Print a table of rules."""
    out = console()
    if not out.is_terminal:
        for rule in rules:
            out.print(f"{rule.id}\t{rule.strength}\t{rule.title}", markup=False)
        return
    table = Table("rule", "strength", "title", box=None, pad_edge=False)
    for rule in rules:
        table.add_row(rule.id, rule.strength, rule.title)
    out.print(table)


def print_rule(rule: Any, clauses: Sequence[Any]) -> None:
    """Print one rule with what is behind it."""
    out = console()
    out.print(Text(f"{rule.id} ", style="bold").append(rule.title))
    out.print(f"  {rule.statement}", markup=False)
    out.print(f"  strength: {rule.strength}", markup=False)
    if rule.latitude:
        out.print(f"  latitude: {', '.join(rule.latitude)}", markup=False)
    if rule.capabilities:
        out.print(f"  needs: {', '.join(rule.capabilities)}", markup=False)
    if rule.untestable:
        out.print(f"  untestable: {rule.untestable}", markup=False)
    for clause in clauses:
        out.print(f"  clause {clause.id} ({clause.section}): {clause.says}", markup=False)


def print_agents(agents: Sequence[Any]) -> None:
    """Print the bundled agents."""
    out = console()
    for info in agents:
        state = "ready" if info.installed else f"not installed: {info.problem}"
        out.print(safe(f"{info.name}\t{info.version}\t{', '.join(info.contracts)}\t{info.language}\t{state}"))


def print_probes(probes: Sequence[Any]) -> None:
    """Print the probes of a driver."""
    out = console()
    for probe in probes:
        out.print(verdict_text(probe.verdict).append(f"  {probe.title}", style="default"))
        if probe.verdict == "failed":
            out.print(safe(f"    {probe.evidence}"))
