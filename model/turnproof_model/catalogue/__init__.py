"""
List the rules: what each asks for, how binding it is, what it needs to be seen, and which clauses are behind it.

The one truth about rules for code, reports and documents. Ids are stable. Two kinds of text stand behind a rule: its
``statement`` in our words, and *clauses*, the sentences of the design documents that it was drawn from. The data is
TOML, one file a contract, and one table of clauses (tab-separated).
"""

from __future__ import annotations

import csv
import difflib
import tomllib
from collections.abc import Collection
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias

import attrs
from attrs import frozen

__all__ = ["Clause", "Family", "Rule", "UnknownRuleError", "clauses", "rule", "rules", "to_json"]

Family: TypeAlias = Literal["window", "claim", "core"]
"""A set of rules: one of the two contracts, or what any agent with a message queue owes."""

FAMILIES: tuple[Family, ...] = ("window", "claim", "core")


@frozen
class Rule:
    """
    Be one numbered rule.

    Attributes:
        strength: ``must``, or ``latitude`` where the documents leave a freedom; ``latitude`` names the freedoms.
        observed: the parts of the statement that the documents don't settle and that record what an agent does; who
            differs only there is reported, not failed.
        capabilities: what the candidate must declare, all of it; any_capability: one of these is enough.
        needs: the parts of a stream that must be recorded for the rule to be judged from outside.
        untestable: why nothing of the rule shows in a protocol; None where it does.
    """

    id: str
    family: Family
    title: str
    statement: str
    needs: frozenset[str]
    strength: Literal["must", "latitude"] = "must"
    latitude: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    any_capability: tuple[str, ...] = ()
    untestable: str | None = None

    def missing(self, declared: Collection[str]) -> tuple[str, ...]:
        """
        Name the capabilities that a candidate lacks for this rule to apply; empty if it applies.

        Args:
            declared: names of the capabilities that the candidate declares.
        """
        lacking = tuple(name for name in self.capabilities if name not in declared)
        if self.any_capability and not any(name in declared for name in self.any_capability):
            lacking += (" or ".join(self.any_capability),)
        return lacking


@frozen
class Clause:
    """
    Be one sentence of a design document, in our words.

    ``document`` is the number of the document, ``section`` where in it the sentence stands, ``rules`` the ids of the
    rules that carry it.
    """

    id: str
    document: str
    section: str
    says: str
    rules: tuple[str, ...]


class UnknownRuleError(KeyError):
    """Say that no rule has this id; ``near`` lists the ids that look like it."""

    def __init__(self, rule_id: str, near: tuple[str, ...]) -> None:
        hint = f"did you mean {' or '.join(near)}?" if near else "list the ids without an argument"
        super().__init__(f"a rule id must be one of the catalogue (got {rule_id!r}); {hint}")
        self.rule_id = rule_id
        self.near = near


def rules(family: str | None = None) -> tuple[Rule, ...]:
    """
    List the rules of a contract or of ``core``, in the order of their documents; of all three without an argument.

    Raises:
        ValueError: no such family.
    """
    if family is None:
        return tuple(one for name in FAMILIES for one in _load(name))
    known = next((name for name in FAMILIES if name == family), None)
    if known is None:
        raise ValueError(f"rules come from one of {', '.join(FAMILIES)} (got {family!r})")
    return _load(known)


def rule(rule_id: str) -> Rule:
    """
    Find a rule by its id.

    Raises:
        UnknownRuleError: no rule has it; the message names the nearest ids.
    """
    known = _by_id()
    try:
        return known[rule_id]
    except KeyError:
        wanted = rule_id.upper()
        near = [wanted] if wanted in known else difflib.get_close_matches(wanted, known, n=3, cutoff=0.6)
        raise UnknownRuleError(rule_id, tuple(near)) from None


def clauses(rule_id: str | None = None) -> tuple[Clause, ...]:
    """
    List the clauses behind a rule; all clauses without an argument.

    Raises:
        UnknownRuleError: no rule has this id.
    """
    if rule_id is None:
        return _clauses()
    wanted = rule(rule_id).id
    return tuple(clause for clause in _clauses() if wanted in clause.rules)


def to_json(one: Rule) -> dict[str, object]:
    """Write a rule with the ids of its clauses as a JSON value."""
    out = attrs.asdict(one)
    out["needs"] = sorted(one.needs)
    out["clauses"] = [clause.id for clause in clauses(one.id)]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in out.items()}


@cache
def _by_id() -> dict[str, Rule]:
    return {one.id: one for one in rules()}


@cache
def _load(family: Family) -> tuple[Rule, ...]:
    tables = tomllib.loads(_text(f"{family}.toml"))["rule"]
    return tuple(_rule(family, table) for table in tables)


def _rule(family: Family, table: dict[str, object]) -> Rule:
    """Make a rule of its table; lists become tuples, an unknown field is an error of the data."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    needs = frozenset(str(name) for name in table["needs"])  # type: ignore[attr-defined]  # a list, by the data's test
    return Rule(**{**fields, "family": family, "needs": needs})  # type: ignore[arg-type]  # names are those of Rule


@cache
def _clauses() -> tuple[Clause, ...]:
    rows = csv.DictReader(_text("clauses.tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(
        Clause(row["clause"], row["document"], row["section"], row["says"], tuple(row["rules"].split())) for row in rows
    )


def _text(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
