"""
Keep what searches of the rules as they are came to know, for searches of changed rules.

A deliberate change concerns one function or a few. Everything else is as it was: paths that don't come to it, their
diagrams, mostly the layout, and then whatever the observer said about scripts. One *ground* is kept for each contract
and bounds as long as the process lives; what a search finds doesn't depend on what was searched before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

from attrs import frozen

from turnproof_model.explore.plays import Plays
from turnproof_model.explore.product import Product
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.readings.loading import Change
from turnproof_model.readings.observers import observer_of
from turnproof_model.vocabulary import Contract

Bounds: TypeAlias = tuple[tuple[str, int], ...]


@frozen(eq=False)
class Ground:
    """Be the rules as they are at some bounds, taken apart, and what their observer has said so far."""

    layout: Layout
    plays: Plays


def product_of(contract: Contract, bounds: Mapping[str, int], changes: Sequence[Change] = ()) -> Product:
    """
    Get ready to search a contract, with what is known of it already.

    Args:
        contract: ``window`` or ``claim``.
        bounds: how much there may be of what.
        changes: made to the source of the rules (``readings.loading``).
    """
    ground = ground_of(contract, tuple(bounds.items()))
    if not changes:
        return Product(ground.plays, ground.layout)
    program, grown = ground.layout.program, ground.layout.program.forest
    changed = forest(contract, bounds, changes=changes, watched=True, before=grown)
    layout = Layout(Program(changed, before=None if changed.before is None else program))
    plays = ground.plays if layout.places_like(ground.layout) else Plays(layout, ground.plays.observer)
    return Product(plays, layout)


@cache
def ground_of(contract: Contract, bounds: Bounds) -> Ground:
    """Take the rules as they are apart at these bounds, once."""
    layout = Layout(Program(forest(contract, dict(bounds), watched=True)))
    return Ground(layout, Plays(layout, observer_of(contract)))
