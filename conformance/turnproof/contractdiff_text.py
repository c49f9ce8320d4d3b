"""
Write what parts two contracts for a person: as lines for a terminal, and as the page of a migration guide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from turnproof.contractdiff_families import Family
from turnproof.contractdiff_sides import Difference, Side
from turnproof.score import schedule_text
from turnproof_model import catalogue
from turnproof_model.policies import POLICIES

MOST_RULES = 4
"""Rules named for a side; the first ones are the most telling."""

INTRODUCTION = """\
# `{one}` and `{other}`: where the two contracts differ

Both contracts describe an agent that takes messages while it works, and both are right for the revision that they come
from. This page is for whoever moves from one to the other, or has to support both. It is generated from the rules: both
machines were led through the same scenarios side by side, shortest first, and each entry below is the shortest scenario
on which one family of rules tells them apart. {certain} differences hold whichever freedom an agent takes, and the
reference agents of both contracts show each of them; {free} more hang on a freedom, which their entries name.

How to read an entry. The heading is the scenario, one command after another: `followup`, `steer` and `inject` send a
message, `{{ … }}` is one synchronous stack, `enter`, `refuse` and `throw` are decisions on a prompt (`prompt-submit` in
`window`, `pre-step` in `claim`), other words settle the gate that they name. After the last command every gate takes
its default outcome until nothing is left to do. *As commands* spells the scenario for one contract where that differs;
those words can be typed into `turnproof play`.

To see the same at a terminal: `turnproof diff {one} {other}`.
"""

ENDING = """\
## What next?

* What does a rule say in full? `turnproof rules W-ADM-7`.
* How does one of these scenarios go, event by event? `turnproof play {one}`, then the commands of the entry.
* How is all this spoken over a pipe? The driver protocol.
"""


def lines(found: Sequence[Difference], one: str, other: str) -> Iterator[str]:
    """Write the differences for a terminal."""
    if not found:
        yield f"{one} and {other} behave alike as far as was searched"
        return
    width = max(len(one), len(other)) + 2
    for family, group in groupby(found, key=lambda difference: difference.family):
        yield f"{family.title}: {family.question}"
        for difference in group:
            free = f"   (unless by freedom: {', '.join(difference.freedoms)})" if difference.freedoms else ""
            yield f"  {difference.score}{free}"
            for side in (difference.one, difference.other):
                facts = _facts(side, family).replace("`", "")
                yield f"    {side.contract:<{width}}{facts}   ({', '.join(_rules(side))})"
        yield ""
    yield f"{len(found)} differences between {one} and {other}"


def page(found: Sequence[Difference], one: str, other: str) -> str:
    """Write the differences as a page of Markdown."""
    certain = sum(not difference.freedoms for difference in found)
    parts = [INTRODUCTION.format(one=one, other=other, certain=certain, free=len(found) - certain)]
    for family, group in groupby(found, key=lambda difference: difference.family):
        parts.append(_section(family))
        parts.extend(map(_entry, group))
    parts.append(ENDING.format(one=one, other=other))
    return "\n".join(parts)


def _section(family: Family) -> str:
    return f"## {family.title}\n\n*{family.question}*\n\n{family.moving}\n"


def _entry(difference: Difference) -> str:
    one, other, family = difference.one, difference.other, difference.family
    spelled = [schedule_text(side.given[1:]) for side in (one, other)]
    rows = [
        ("", f"`{one.contract}`", f"`{other.contract}`"),
        ("---", "---", "---"),
        ("what happens", _facts(one, family), _facts(other, family)),
        *([("as commands", *(f"`{text}`" for text in spelled))] if set(spelled) != {difference.score} else []),
        ("rules", *("<br>".join(map(_rule, _rules(side))) for side in (one, other))),
    ]
    table = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    also = f"\nThe two part here in more than one way; see also: {', '.join(difference.also)}.\n" * bool(
        difference.also
    )
    free = "".join(f"\n*Not certain.* {_freedom(name)}\n" for name in difference.freedoms)
    return f"### `{difference.score}`\n\n{table}\n{free}{also}"


def _freedom(name: str) -> str:
    policy = POLICIES[name]
    return f"The freedom `{name}` ({', '.join(policy.rules)}) leaves both ways open: {policy.meaning}."


def _facts(side: Side, family: Family) -> str:
    return "; ".join(side.shown) or family.nothing


def _rules(side: Side) -> tuple[str, ...]:
    return side.rules[:MOST_RULES]


def _rule(rule_id: str) -> str:
    return f"{rule_id}: {catalogue.rule(rule_id).title}"
