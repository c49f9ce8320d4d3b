"""
Look for a shortest schedule on which a rule breaks, in small bounds first, and replay it on real messages.

This is how deliberate changes of the rules are found out: each slice is small enough to be searched within a second
or so, and together they reach what three messages, two cancels, disposal, edits, a resume, two calls of one batch and a
re-entrant command can do, though not all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import field, frozen

from turnproof_model.explore.grounds import product_of
from turnproof_model.explore.product import tagged
from turnproof_model.explore.replay import Played, replay
from turnproof_model.readings.loading import Change
from turnproof_model.readings.observers import observer_of
from turnproof_model.vocabulary import TURN_GATES, AbortStyle, Contract, GateKind, Reset

SOON = 8
"""Transitions within which most of what concerns order and edits shows."""


@frozen
class Slice:
    """
    Be what is searched at once: how much there may be of what, and which messages bear tags.

    ``policies``: the values of named freedoms, by name; others have their defaults.
    """

    tags: tuple[str, ...]
    bounds: Mapping[str, int]
    policies: Mapping[str, str] = field(factory=dict)


@frozen
class Stage:
    """
    Be slices that are searched side by side by one program, whose bounds allow each of them.

    ``bounds``: what the program allows at most. ``depth``: the most transitions, if not any number.
    """

    bounds: Mapping[str, int]
    slices: tuple[Slice, ...]
    depth: int | None = None


def _slice(tags: str, **bounds: int) -> Slice:
    return Slice(tuple(tags), bounds)


_INPUT = Stage({"messages": 3}, (_slice("AB", messages=3),))
_SOON = Stage({"messages": 3, "cancels": 1}, (_slice("AB", messages=3), _slice("A", messages=3, cancels=1)), SOON)
_CALLS = Stage({"messages": 1, "cancels": 1, "tools": 2}, (_slice("", messages=1, cancels=1),))
_RESUMED = Stage({"messages": 1, "resumes": 1, "tools": 1}, (_slice("A", messages=1, resumes=1),))
_LISTENERS = Stage({"messages": 1, "cancels": 1, "reentrant": 1}, (_slice("", messages=1, cancels=1, reentrant=1),))
_SLICES = (
    _slice("A", messages=1, cancels=1),
    _slice("", messages=1, disposals=1, cancels=1),
    _slice("", messages=2, cancels=1),
    _slice("", messages=2, disposals=1),
    _slice("AB", messages=2),
)

STAGES: Mapping[Contract, tuple[Stage, ...]] = {
    "window": (
        _SOON,
        Stage({"messages": 2, "cancels": 2, "disposals": 1, "tools": 1}, (*_SLICES, _slice("", messages=2, cancels=2))),
        *(_CALLS, _RESUMED, _LISTENERS, _INPUT),
    ),
    "claim": (
        _SOON,
        Stage({"messages": 2, "edits": 1}, (_slice("A", messages=2, edits=1),), SOON),
        Stage({"messages": 2, "cancels": 1, "disposals": 1, "tools": 1}, _SLICES),
        Stage({"messages": 2, "edits": 1}, (_slice("A", messages=2, edits=1),)),
        *(_CALLS, _RESUMED, _LISTENERS, _INPUT),
    ),
}
"""What is searched for each contract, in this order: what decides most in the least time comes first."""


@frozen
class Counterexample:
    """
    Be a schedule on which a rule breaks, as it was replayed on real messages.

    ``begins``: the reset before it. ``steps``: what happened, moves of the loop included; the last breaks ``rules``.
    ``within``: the slice in which it is a shortest one.
    """

    contract: Contract
    within: Slice
    begins: Reset
    steps: tuple[Played, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that the last step breaks."""
        return self.steps[-1].broken

    @property
    def commands(self) -> int:
        """How many operations were given, by callers and by listeners."""
        return sum((step.op is not None) + len(step.inside) for step in self.steps)


def counterexample(
    contract: Contract, changes: Sequence[Change] = (), stages: Sequence[Stage] | None = None
) -> Counterexample | None:
    """
    Look for a schedule on which a rule breaks, slice by slice, up to the first.

    Args:
        contract: ``window`` or ``claim``.
        changes: made to the source of the rules (``readings.loading``).
        stages: what is searched, in this order; by default those of the contract.

    Raises:
        ReplayError: what was found doesn't replay on real messages.
    """
    observer = observer_of(contract)
    for stage in STAGES[contract] if stages is None else stages:
        bounds = tagged(stage.bounds, dict.fromkeys(tag for one in stage.slices for tag in one.tags))
        product = product_of(contract, bounds, changes)
        budgets = product.layout.budgets
        starts = [_spent(bounds, tagged(one.bounds, one.tags), budgets) for one in stage.slices]
        if product.run(starts, depth=stage.depth):
            spent = product.began()
            steps = replay(product.layout, observer, product.counterexample(), changes, spent)
            return Counterexample(contract, stage.slices[starts.index(spent)], reset_of(contract, steps), steps)
    return None


def _spent(most: Mapping[str, int], allowed: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    return {name: most[name] - allowed.get(name, 0) for name in names}


def reset_of(contract: Contract, steps: Sequence[Played]) -> Reset:
    """Tell the reset before a schedule: the gates of a turn, and how each kind hears an abort when it first does."""
    styles: dict[GateKind, AbortStyle] = {}
    for step in steps:
        for kind, style in step.styles.items():
            styles.setdefault(kind, style)
    return Reset(TURN_GATES[contract], styles)
