"""
Generate pages from the specification: rules and races from their catalogues, each contract's loop from its rule book.

The loop is drawn from what the rules do: they are played as if they were a candidate, by the suite's own search with a
fixed seed, and each move from one phase to another is an edge.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, evolve, field
from loop_diagram import drawn
from sphinx.application import Sphinx

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.engine import Engine, search
from turnproof.races import Race, race, races
from turnproof.score import command_text
from turnproof.trial import Trial
from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS, rule_book
from turnproof_model.machine import Machine
from turnproof_model.observation import Observation, Profile
from turnproof_model.policies import POLICIES
from turnproof_model.rulebook import Phase
from turnproof_model.surroundings import Setting
from turnproof_model.vocabulary import Command

COMMANDS = 4_000
"""Commands after which every edge has been seen many times over."""

FAMILIES = {
    "window": "Contract `window`",
    "claim": "Contract `claim`",
    "core": "Rules of `core`, for any agent with a message queue",
}

INTRODUCTION = (
    "Generated from the rules as they are executed. A framed phase waits for the gate that is named in it; dashed",
    "lines go back up. Each phase is one function of the specification: one short move, that publishes one event at",
    "most, or opens a gate.",
)

Edges = dict[str, set[str]]


@define
class Lawful:
    """Be a candidate that does what the rules say, and note the moves of its loop."""

    contract: str
    edges: Edges = field(factory=dict)
    machine: Machine[Any] | None = None

    def initialize(self) -> Profile:
        """Declare all that the reference agent of the contract declares."""
        client = InProcessCandidate(REFERENCE_DRIVER, {"contract": self.contract}).connect()
        try:
            profile = client.initialize()
        finally:
            client.close()
        book = evolve(rule_book(self.contract))
        book.phases = {name: evolve(phase, run=self._noting(phase)) for name, phase in book.phases.items()}
        self.machine = Machine(book, Setting(dict(profile.capabilities), dict(profile.tools)))
        return profile

    def ask(self, request: Command) -> Observation:
        """Perform one request."""
        assert self.machine is not None
        return self.machine.ask(request)

    def _noting(self, phase: Phase) -> Any:
        def run(m: Any, s: Any) -> None:
            phase.run(m, s)
            if s.at != phase.name:
                self.edges.setdefault(phase.name, set()).add(s.at)

        return run


def loop_of(contract: str) -> Edges:
    """Find the moves of a contract's loop."""
    lawful = Lawful(contract)
    search(Engine(Trial.open(lawful), lambda _: True, COMMANDS), 1)
    return lawful.edges


# ------------------------------------------------------------------------------------------------ pages
def contract_page(contract: str) -> str:
    """Write the page of one contract's loop: the diagram, then its phases and freedoms as tables."""
    phases = rule_book(contract).phases
    edges = loop_of(contract)
    awaits = {name: phase.awaits for name, phase in phases.items()}
    lines = [
        f"# The loop of contract `{contract}`",
        "",
        *INTRODUCTION,
        "",
        "```{raw} html",
        f'<div class="loop-diagram">{drawn(edges, awaits)}</div>',
        "```",
        "",
        "## Phases",
        "",
        "| phase | waits for | what it does | rules | goes on to |",
        "|---|---|---|---|---|",
    ]
    for name, phase in phases.items():
        says, rules = _docstring(phase.run)
        following = ", ".join(f"`{each}`" for each in phases if each in edges.get(name, ()))
        gate = f"`{phase.awaits}`" if phase.awaits else ""
        lines.append(f"| `{name}` | {gate} | {says} | {_links(rules)} | {following} |")
    return "\n".join([*lines, *_freedoms(contract)]) + "\n"


def _freedoms(contract: str) -> Iterator[str]:
    """List the freedoms of a contract: what each leaves open, the observed way first."""
    yield from (
        "",
        "## Freedoms",
        "",
        "Where the documents leave one, every value conforms; an agent lives by one.",
        "",
    )
    yield from ("| freedom | values | meaning | rules |", "|---|---|---|---|")
    letter = contract[0].upper()
    for policy in POLICIES.values():
        if policy.rules[0].startswith(letter):
            values = ", ".join(f"`{value}`" for value in policy.values)
            yield f"| `{policy.name}` | {values} | {policy.meaning} | {_links(policy.rules)} |"


def _docstring(function: Any) -> tuple[str, tuple[str, ...]]:
    """Take the first sentence and the rules of a docstring."""
    text = inspect.getdoc(function) or ""
    cited = re.search(r"Rules: (.+)", text)
    return text.splitlines()[0] if text else "", tuple(cited.group(1).split(", ")) if cited else ()


def _links(rules: tuple[str, ...]) -> str:
    return ", ".join(f"[{rule}](#{rule.lower()})" for rule in rules)


def rules_page() -> str:
    """Write the reference of all rules, each with an anchor of its own and the clauses behind it."""
    lines = ["# Rules", "", "Generated from the catalogue; `turnproof rules ID` prints the same.", ""]
    for family, title in FAMILIES.items():
        lines += [f"## {title}", ""]
        for rule in catalogue.rules(family):
            lines += _rule(rule)
    return "\n".join(lines) + "\n"


def _rule(rule: catalogue.Rule) -> list[str]:
    lines = [f"({rule.id.lower()})=", f"### {rule.id}: {rule.title}", "", rule.statement, ""]
    facts = {
        "leaves a freedom": rule.latitude,
        "observed, not settled by the documents": rule.observed,
        "needs": rule.capabilities,
        "needs one of": rule.any_capability,
        "can't be seen from outside": (rule.untestable,) if rule.untestable else (),
    }
    lines += [f"- *{name}*: {', '.join(map(str, values))}" for name, values in facts.items() if values]
    clauses = catalogue.clauses(rule.id)
    if clauses:
        lines += ["", "Clauses behind it:", ""]
        lines += [f"- {clause.document}, {clause.section}: {clause.says}" for clause in clauses]
    return [*lines, ""]


# ------------------------------------------------------------------------------------------------ races
RACES = (
    "Named schedules in which something arrives at the one moment where agents have got it wrong. Each stands for a",
    "bug that was met in public, or in a real agent. `turnproof run AGENT --race NAME` plays one, `--race all` all of",
    "them; with pytest each is a test. A candidate that took another lawful way, or can't be driven to the moment, has",
    "not passed the race: it is *not exercised*, or *not applicable*, with the reason.",
)


def races_page() -> str:
    """Write the reference of all races, each with its schedule under each contract."""
    lines = ["# Races", "", *RACES, ""]
    for name in dict.fromkeys(one.name for one in races()):
        forms = race(name)
        lines += [f"(race-{name})=", f"## {name}", "", forms[0].story, ""]
        lines += [f"Met in {', '.join(map(_met, forms[0].sources))}.", ""]
        for form in forms:
            lines += [f"Contract `{form.contract}`, {_links(form.rules)}:", "", "```text", *_commands(form), "```", ""]
    return "\n".join(lines) + "\n"


def _met(source: str) -> str:
    """Link to where a bug was met."""
    kind, _, name = source.partition(" ")
    if kind == "deviation":
        return f"[`{name}`](deviations.md)"
    for sign, part in (("#", "issues"), ("@", "commit")):
        repository, found, number = source.partition(sign)
        if found:
            return f"[{source}](https://github.com/{repository}/{part}/{number})"
    raise ValueError(
        f"a source is owner/repository#issue, owner/repository@commit or 'deviation NAME' (got {source!r})"
    )


def _commands(form: Race) -> list[str]:
    """Write a schedule, one command a line."""
    return [command_text(command) for command in form.schedule]


def generate(app: Sphinx) -> None:
    """Write the generated pages before anything is read."""
    folder = Path(app.srcdir) / "_generated"
    folder.mkdir(exist_ok=True)
    pages: Mapping[str, str] = {f"_generated/{name}": contract_page(name) for name in CONTRACTS}
    for name, text in (pages | {"rules": rules_page(), "races": races_page()}).items():
        path = Path(app.srcdir) / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", generate)
    return {"parallel_read_safe": True}
