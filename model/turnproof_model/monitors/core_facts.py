"""
Hold the facts that the rules of ``core`` ask about: the open turn and the open batch of calls.
"""

from __future__ import annotations

from attrs import define, field

ENDED_WELL = frozenset({"completed", "max-tokens"})
"""Reasons that don't excuse a turn from what it claimed."""


@define(eq=False)
class Batch:
    """Be the calls of one assistant message and which of them have a result."""

    calls: tuple[str, ...]
    place: int
    answered: set[str] = field(factory=set)

    @property
    def missing(self) -> list[str]:
        """The calls without a result, in call order."""
        return [call for call in self.calls if call not in self.answered]


@define(eq=False)
class OpenTurn:
    """
    Be the open turn.

    Attributes:
        cancel, disposed: places of the first of each; ``over``: nothing was left to do when that cancel came;
            ``acted``: the turn went on as if there had been none.
        claiming: a claim is under way, nothing but claims was recorded since it began; ``midway``: it was when the
            cancel came.
        vetoed: the last decision let nothing in; ``concluded``: a tool ended the turn.
        answered: the model has had the last word; ``owed``: what it hasn't seen yet, and its place.
    """

    number: int
    place: int
    cancel: int | None = None
    disposed: int | None = None
    over: bool = False
    acted: bool = False
    claiming: bool = False
    midway: bool = False
    vetoed: bool = False
    concluded: bool = False
    answered: bool = False
    owed: tuple[str, int] | None = None
