"""Write `docs/power.md` from the record, the review and the kill matrix; no number in it is typed in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mutants.judging import HANG, KILLED, STILLBORN, SURVIVED
from mutants.record import DATA, KINDS, Entry, Review, read, review
from mutants.stages import QUICK, THOROUGH

FAULTS: Final = DATA / "faults.json"
PAGE: Final = Path(__file__).parents[2] / "docs" / "power.md"
ALIVE: Final = "alive"
FATES: Final = (KILLED, ALIVE, *KINDS, STILLBORN)


def page(entries: Sequence[Entry], reviews: Sequence[Review], matrix: Mapping[str, Any] | None) -> str:
    """
    Write the whole page.

    Args:
        entries: the record.
        reviews: what is said about those that live.
        matrix: the document of `turnproof faults`, where there is one.
    """
    kinds = {key: each.kind for each in reviews for key in each.mutants}
    killed, counted = share(entries, kinds)
    rules = Counter(entry.verdict.rules[0] for entry in entries if entry.verdict.rules)
    loader = FileSystemLoader(Path(__file__).parent)
    # Markdown, not HTML: nothing is to be escaped.
    environment = Environment(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701
    return environment.get_template("power.md.j2").render(
        killed=killed,
        counted=counted,
        score=_percent(killed, counted),
        strict=_percent(killed, sum(fate(entry, kinds) not in {KINDS[0], STILLBORN} for entry in entries)),
        own=sum(entry.verdict.stage == THOROUGH[-1].name for entry in entries),
        all=len(entries),
        by_module=_by(entries, kinds, "module", lambda entry: f"`{entry.mutant.module}`"),
        by_operator=_by(entries, kinds, "change", lambda entry: f"`{entry.mutant.operator}`"),
        by_stage=_stages(entries),
        rules_first=len(rules),
        rules=", ".join(f"{rule} ({count})" for rule, count in sorted(rules.items(), key=lambda it: (-it[1], it[0]))),
        explained=list(_explained(entries, reviews)),
        alive=[entry.mutant for entry in entries if fate(entry, kinds) == ALIVE],
        faults=None if matrix is None else _faults(matrix),
    )


def fate(entry: Entry, kinds: Mapping[str, str]) -> str:
    """Say what a mutant counts as."""
    verdict = entry.verdict.verdict
    return kinds.get(entry.mutant.key, ALIVE) if verdict == SURVIVED else verdict


def share(entries: Iterable[Entry], kinds: Mapping[str, str]) -> tuple[int, int]:
    """Count the killed, and all that a driver could tell from the agent that they were made of."""
    fates = Counter(fate(entry, kinds) for entry in entries)
    return fates[KILLED], fates[KILLED] + fates[ALIVE]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _by(entries: Sequence[Entry], kinds: Mapping[str, str], title: str, name: Callable[[Entry], str]) -> str:
    """Tabulate what became of the mutants of each name."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(name(entry), []).append(entry)
    rows = [_row(group, members, kinds) for group, members in sorted(groups.items())]
    return table((title, "made", *FATES, "score"), [*rows, _row("**all**", entries, kinds)])


def _row(name: str, members: Sequence[Entry], kinds: Mapping[str, str]) -> tuple[str, ...]:
    fates = Counter(fate(entry, kinds) for entry in members)
    return (name, str(len(members)), *(str(fates[each] or "") for each in FATES), _percent(*share(members, kinds)))


def _stages(entries: Sequence[Entry]) -> str:
    """Tabulate what killed, in the order of the stages."""
    rows = []
    for name, about in [*((stage.name, stage.about) for stage in (*QUICK, *THOROUGH)), (HANG, "it never came back")]:
        sent = [entry.verdict.commands for entry in entries if entry.verdict.stage == name]
        if sent:
            rows.append((name, about, str(len(sent)), "" if name == HANG else f"{median(sent):.0f}"))
    return table(("stage", "what it does", "killed", "commands, median"), rows)


def _explained(entries: Sequence[Entry], reviews: Sequence[Review]) -> Iterable[dict[str, Any]]:
    """Give what the review says, with the mutants that it is about."""
    by_key = {entry.mutant.key: entry for entry in entries}
    for each in reviews:
        found = [by_key[key].mutant for key in each.mutants if key in by_key]
        if found:
            yield {"kind": each.kind, "why": each.why, "mutants": found}


def _faults(matrix: Mapping[str, Any]) -> dict[str, Any]:
    """Sum up the kill matrix by the families of the rules that the defects were made for."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for row in matrix["faults"]:
        families.setdefault(row["rule"].rpartition("-")[0], []).append(row)
    head = ("family", "defects", "killed every time", "by a race", "on the tour", "commands, median", "worst")
    return {
        "all": len(matrix["faults"]),
        "killed": sum(row["killed"] for row in matrix["faults"]),
        "seeds": len(matrix["seeds"]),
        "budget": matrix["budget"],
        "median": matrix["median"],
        "worst": matrix["worst"],
        "nothing": matrix["rules_that_kill_nothing"],
        "by_family": table(head, [_family(f"`{name}`", rows) for name, rows in families.items()]),
    }


def _family(name: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    medians = [row["commands_to_kill"] for row in rows if row["commands_to_kill"] is not None]
    worst = max((row["worst"] for row in rows if row["worst"] is not None), default="")
    counts = [sum(bool(row[part]) for row in rows) for part in ("killed", "races", "tour")]
    return (name, str(len(rows)), *map(str, counts), f"{median(medians):g}" if medians else "", str(worst))


def matrix_on_record() -> Any:
    """Read the kill matrix, if it was kept."""
    return json.loads(FAULTS.read_text(encoding="utf-8")) if FAULTS.exists() else None


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; columns of numbers stand to the right."""
    lines = [head, ["---" if name in TEXTS else "---:" for name in head], *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


TEXTS: Final = frozenset({"family", "module", "change", "stage", "what it does"})


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(read(), review(), matrix_on_record()), encoding="utf-8")


if __name__ == "__main__":
    main()
