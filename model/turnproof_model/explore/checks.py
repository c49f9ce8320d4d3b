"""
Check every rule within bounds: passes over packed states and observers, and which rules each of them speaks about.

One search with two tagged messages would be a hundred times as large as what it has to tell, so there are passes:

- *everything*: all bounds, no tag. Counts, turns, steps, status, cancels, what is announced, with listeners that issue
  commands of their own.
- *one message*: all bounds but listeners, with one arbitrary message followed from its sending to its end.
- *one message and listeners*: fewer messages and calls, with a listener's command anywhere on the way.
- *two messages*: sends and a cancel, with an arbitrary pair followed, for everything about order.
- *two messages and listeners*: at most three messages and a cancel, with an arbitrary pair followed and a listener's
  command anywhere on the way.
- *a reference*: three messages and at most one cancel, with a prompt that brings a snapshot of another session along.
- *other freedoms*: fewer messages, with the ways that a contract leaves open going another way than usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter

from attrs import evolve, frozen

from turnproof_model.explore.counterexample import Counterexample, Slice, reset_of
from turnproof_model.explore.product import Product, tagged
from turnproof_model.explore.replay import replay
from turnproof_model.policies import POLICIES
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.readings.observers import Observer, observer_of
from turnproof_model.readings.reading import Surroundings
from turnproof_model.vocabulary import Contract

MEBIBYTE = 1 << 20

PAIRED = 3
"""The most messages beside a listener's command or a reference, where two matter: these, and one around them."""

Look = Callable[[str, int], None]
"""Is told the name of a pass and how many pairs it has met."""


@frozen
class Pass:
    """Be one search to be made: its name, how much there may be of what, and which messages bear tags."""

    name: str
    within: Slice


@frozen
class Passed:
    """
    Be what a pass came to.

    ``pairs``: states with what an observer remembered there. ``rules``: what was demanded on the way. ``ended``: what
    ended it early (``broken``, ``memory``, ``interrupted``), or nothing.
    """

    name: str
    within: Slice
    pairs: int
    transitions: int
    seconds: float
    rules: frozenset[str]
    ended: str = ""


@frozen
class Checked:
    """Be what all passes came to; ``violation``: the shortest way to a broken rule in the pass that found one."""

    passes: tuple[Passed, ...]
    violation: Counterexample | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """Every rule of which something was demanded."""
        return tuple(sorted(set[str]().union(*(one.rules for one in self.passes))))

    @property
    def ended(self) -> str:
        """What ended the first pass that didn't see everything."""
        return next((one.ended for one in self.passes if one.ended), "")


def passes(contract: Contract, bounds: Mapping[str, int]) -> Iterator[Pass]:
    """
    List the passes of a contract at some bounds.

    Args:
        contract: ``window`` or ``claim``.
        bounds: how much there may be of what.
    """
    fewer = {name: min(amount, 1) for name, amount in bounds.items()}
    yield Pass("everything", Slice((), bounds))
    yield Pass("one message", Slice(("A",), {**bounds, "reentrant": 0}))
    if bounds.get("reentrant", 0):
        yield Pass("one message and listeners", Slice(("A",), fewer))
    pair = {**dict.fromkeys(bounds, 0), "messages": bounds["messages"], "cancels": fewer.get("cancels", 0)}
    yield Pass("two messages", Slice(("A", "B"), pair))
    if bounds.get("reentrant", 0) and bounds["messages"] > 1:
        listened = {**pair, "messages": min(bounds["messages"], PAIRED), "reentrant": 1}
        yield Pass("two messages and listeners", Slice(("A", "B"), listened))
    if contract == "window" and bounds["messages"] > 1:
        referred = {**pair, "messages": PAIRED, "references": 1}
        yield Pass("a reference", Slice(("A",), referred))
    for policies in _other_ways(contract):
        yield Pass("other freedoms", Slice(("A",), {**fewer, "reentrant": 0}, policies))


def _other_ways(contract: Contract) -> Iterator[Mapping[str, str]]:
    """List values of all freedoms of a contract together, so that each value but the usual ones comes once."""
    mine = [policy for policy in POLICIES.values() if policy.rules[0][0] == contract[0].upper()]
    for i in range(1, max(len(policy.values) for policy in mine)):
        yield {policy.name: policy.values[min(i, len(policy.values) - 1)] for policy in mine}


def _look_away(name: str, pairs: int) -> None:
    """Look at nothing."""


def check(
    contract: Contract, bounds: Mapping[str, int], *, memory: int | None = None, look: Look = _look_away
) -> Checked:
    """
    Check the rules of a contract, pass by pass, up to the first that doesn't see everything.

    Args:
        contract: ``window`` or ``claim``.
        bounds: how much there may be of what.
        memory: the most that pairs may take, in MiB.
        look: is told how far it is.
    """
    observer = observer_of(contract)
    made: list[Passed] = []
    for one in passes(contract, bounds):
        passed, violation = _pass(contract, one, observer, memory, look)
        made.append(passed)
        if passed.ended:
            return Checked(tuple(made), violation)
    return Checked(tuple(made))


def _pass(
    contract: Contract, one: Pass, observer: Observer, memory: int | None, look: Look
) -> tuple[Passed, Counterexample | None]:
    began = perf_counter()
    around = evolve(Surroundings.of(contract, one.within.bounds), policies=one.within.policies)
    grown = forest(contract, tagged(one.within.bounds, one.within.tags), around, watched=True)
    product = Product.of(Layout(Program(grown)), observer, None if memory is None else memory * MEBIBYTE)
    ended = product.run(look=lambda pairs: look(one.name, pairs))
    violation = None
    if ended == "broken":
        steps = replay(product.layout, observer, product.counterexample())
        violation = Counterexample(contract, one.within, reset_of(contract, steps), steps)
    seconds = perf_counter() - began
    rules = frozenset(product.plays.looked)
    return Passed(one.name, one.within, len(product.came), product.taken, seconds, rules, ended), violation


COVERS: Mapping[str, Mapping[str, int]] = {
    "re-entrant commands": {"messages": 2, "cancels": 1, "tools": 1, "reentrant": 1},
}
"""Bounds at which a search checks what a proof can't carry, by what that is."""


def covers(contract: Contract, uncarried: str) -> tuple[Mapping[str, int], str] | None:
    """
    Say at which bounds a search checks what a proof can't carry, and which command makes that search.

    Args:
        contract: ``window`` or ``claim``.
        uncarried: what the proof can't carry.

    Returns:
        The bounds and the command, or nothing where no search speaks about it.
    """
    bounds = COVERS.get(uncarried)
    if bounds is None:
        return None
    words = " ".join(f"--bound {name}={amount}" for name, amount in bounds.items())
    return bounds, f"turnproof explore {contract} {words}"
