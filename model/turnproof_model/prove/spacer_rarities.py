"""
Walk where walks seldom come: what is rare is chosen as often as what is common.

A walk that takes all states alike meets few that need several unlikely things, one after the other. Here the states of
a position are told apart by a few parts that are drawn by lot, and each kind is chosen as often as the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define

from turnproof_model.prove.spacer_steps import Place
from turnproof_model.prove.spacer_walks import Rows, Walks


@define(eq=False)
class Rarities(Walks):
    """
    Meet rare states.

    ``parts``: how many tell kinds of states apart. ``lots``: how often these are drawn anew for one choice. ``newest``:
    which share of the states that are chosen are new. ``range``: numbers up to it differ from each other.
    """

    parts: int = 3
    lots: int = 4
    newest: float = 0.3
    range: int = 4

    def _some(self, place: Place) -> Rows:
        here = self.met[place]
        newest = max(0, len(here) - self.batch)
        rare = self._lots.choice(len(here), self.batch, p=self._chances(here))
        new = self._lots.random(self.batch) < self.newest
        rows: Rows = here[np.where(new, newest + rare % (len(here) - newest), rare)]
        return rows

    def _chances(self, rows: Rows) -> Any:
        """Give each kind of states the same chance, whatever tells them apart."""
        values = np.clip(rows, -1, self.range) + 1
        vary = np.flatnonzero((rows != rows[0]).any(axis=0))
        chances = np.zeros(len(rows))
        for _ in range(self.lots if len(vary) else 0):
            chosen = self._lots.choice(vary, min(self.parts, len(vary)), replace=False)
            kinds = values[:, chosen] @ (self.range + 2) ** np.arange(len(chosen))
            count = np.bincount(kinds)
            chances += 1 / count[kinds]
        return chances / chances.sum() if len(vary) else None
