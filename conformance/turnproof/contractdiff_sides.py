"""
Hold what parts two contracts in one scenario: each side's facts, and the rules behind them.

The rules of a side are those that demand the event behind its first fact that the other side doesn't state; where no
event shows it, those of the family that the last move brings into play.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from turnproof.contractdiff_families import Family
from turnproof.contractdiff_moves import sends_of
from turnproof.contractdiff_play import Move, move_text
from turnproof.contractdiff_views import Fact, Story
from turnproof.score import JOIN
from turnproof_model import vocabulary as v
from turnproof_model.wire import to_wire


@frozen
class Side:
    """Hold what one contract does with a scenario: the story, a family's facts, and the rules behind them."""

    contract: v.Contract
    story: Story
    facts: tuple[Fact, ...]
    rules: tuple[str, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The facts in words."""
        return tuple(fact.text for fact in self.facts)

    @property
    def given(self) -> tuple[v.Command, ...]:
        """The commands of the scenario as this contract spells them, without what brings it to its rest."""
        return tuple(exchange.command for exchange in self.story if exchange.given)

    def to_json(self) -> dict[str, Any]:
        """Write the side as a JSON value."""
        return {
            "contract": self.contract,
            "facts": list(self.shown),
            "rules": list(self.rules),
            "commands": [to_wire(exchange.command) for exchange in self.story],
        }


@frozen
class Difference:
    """
    Hold one scenario on which two contracts differ as a family sees them.

    Attributes:
        also: the titles of other families that see them part here, for the same cause.
        freedoms: names of the freedoms by which an agent of one contract may do here as the other contract does.
    """

    family: Family
    moves: tuple[Move, ...]
    one: Side
    other: Side
    also: tuple[str, ...] = ()
    freedoms: tuple[str, ...] = ()

    @property
    def score(self) -> str:
        """The scenario in words that both contracts share."""
        return JOIN.join(map(move_text, self.moves))

    @property
    def signature(self) -> tuple[object, ...]:
        """What tells it from others: the family, the first facts apart, and how their messages were sent."""
        sent = {send.message.id: _manner(send) for move in self.moves for send in sends_of(move)}
        facts = (first_apart(self.one.facts, self.other.facts), first_apart(self.other.facts, self.one.facts))
        return (self.family.title, *(_nameless(fact, sent) for fact in facts))

    def to_json(self) -> dict[str, Any]:
        """Write the difference as a JSON value."""
        return {
            "family": self.family.title,
            "question": self.family.question,
            "scenario": self.score,
            "also": list(self.also),
            "freedoms": list(self.freedoms),
            "sides": [self.one.to_json(), self.other.to_json()],
        }


def apart(mine: tuple[Fact, ...], theirs: tuple[Fact, ...]) -> bool:
    """Tell whether two sides state different things."""
    return [fact.text for fact in mine] != [fact.text for fact in theirs]


def first_apart(mine: tuple[Fact, ...], theirs: tuple[Fact, ...]) -> Fact | None:
    """Find the first fact of mine that the other side doesn't state at its place; ``None`` where mine says less."""
    for number, fact in enumerate(mine):
        if number >= len(theirs) or theirs[number].text != fact.text:
            return fact
    return None


def _nameless(fact: Fact | None, sent: Mapping[str, str]) -> str:
    """Say how a message was sent in the place of its name."""
    if fact is None:
        return ""
    return re.sub(r"`([a-z])`|[0-9]+", lambda match: sent.get(match[1] or "", "_"), fact.text)


def _manner(send: v.Send) -> str:
    return "waking" if send.wakeup else send.preset or "quiet"


# ------------------------------------------------------------------------------------------------ rules
def side(contract: v.Contract, story: Story, facts: tuple[Fact, ...], others: tuple[Fact, ...], family: Family) -> Side:
    """Name the rules behind what one contract does and the other doesn't."""
    first = first_apart(facts, others)
    if first is None or first.at is None:
        return Side(contract, story, facts, _last_rules(story, family, contract))
    number, position = first.at
    rules = story[number].rules[position]
    named = _of_family(rules, family, contract)
    if family.about is not None or not named:
        named = (*_last_rules(story, family, contract), *(named or rules))
    return Side(contract, story, facts, tuple(dict.fromkeys(named)))


def _of_family(rules: tuple[str, ...], family: Family, contract: v.Contract) -> tuple[str, ...]:
    return tuple(rule for rule in rules if rule.startswith(tuple(family.rules[contract])))


def _last_rules(story: Story, family: Family, contract: v.Contract) -> tuple[str, ...]:
    """Name the family's rules that the last move brings into play, those of its first prefix before the others."""
    last = max(number for number, exchange in enumerate(story) if exchange.given)
    before = _at_work(story[:last])
    ranks = {prefix: rank for rank, prefix in enumerate(family.rules[contract])}
    ranked = sorted((rank, at, rule) for at, rule in enumerate(_at_work(story[last:])) for rank in _ranks(rule, ranks))
    return tuple(rule for _, _, rule in ranked if rule not in before) or tuple(rule for _, _, rule in ranked)


def _ranks(rule: str, ranks: Mapping[str, int]) -> list[int]:
    return [rank for prefix, rank in ranks.items() if rule.startswith(prefix)]


def _at_work(story: Story) -> dict[str, None]:
    return {rule: None for exchange in story for rules in (exchange.cited, *exchange.rules) for rule in rules}
