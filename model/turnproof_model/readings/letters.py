"""
Be messages of which only so much is known as a proof needs: whether one is the tagged message A or B.
"""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from turnproof_model.readings.execute import fresh
from turnproof_model.readings.terms import Truth, both, either, negate


@frozen(eq=False)
class Name:
    """Be the id of a message, as far as it is known: whether it is that of A or of B."""

    a: Truth = False
    b: Truth = False
    waking: Truth = False
    same: dict[int, Truth] = field(factory=dict, repr=False)
    placed: dict[object, Any] = field(factory=dict, repr=False)

    __hash__ = None  # type: ignore[assignment]  # equality builds terms

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        assert isinstance(other, Name)
        if self is other:
            return True
        if id(other) not in self.same:
            self.same[id(other)] = other.same[id(self)] = fresh("same", "bool")
        unknown = both(self.same[id(other)], negate(self.tagged), negate(other.tagged))
        return either(both(self.a, other.a), both(self.b, other.b), unknown)

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return negate(self == other)

    @property
    def tagged(self) -> Truth:
        """Whether it is A or B."""
        return either(self.a, self.b)


@frozen(eq=False)
class Text:
    """Be content that is known to be somebody's and nothing else."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return self is other or fresh("text", "bool")

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return negate(self == other)

    def __add__(self, other: object) -> Text:
        return self

    def __radd__(self, other: object) -> Text:
        return self


@frozen(eq=False)
class Origin:
    """Be the source of a message."""

    kind: Text = field(factory=Text)


@frozen(eq=False)
class Letter:
    """Be a message, known by its name; what it says is its own and never changes."""

    id: Name = field(factory=Name)
    text: Text = field(factory=Text)
    source: Origin = field(factory=Origin)
