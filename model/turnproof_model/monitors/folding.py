"""
Fold items into an object: methods that take an item of some class in, found once and bound once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from turnproof_model.monitors.base import Item, Sight, key_of
from turnproof_model.observation import Profile

Fold = TypeVar("Fold", bound=Callable[..., None])
_FOLDS: dict[Callable[..., None], tuple[type, ...]] = {}


def folds(*kinds: type) -> Callable[[Fold], Fold]:
    """Let the method fold items of these kinds into the view; an operation goes by its class."""

    def mark(method: Fold) -> Fold:
        _FOLDS[method] = kinds
        return method

    return mark


class Folding:
    """
    Fold a stream, item by item; methods of a base class go before those of a subclass.

    Attributes:
        sees: what the stream records.
        index: number of the current request, from 0.
        position: that of the latest event folded, from 0; place: that of the event being told, or folded last.
    """

    _table: ClassVar[dict[type, tuple[str, ...]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._table = {}

    def __init__(self, profile: Profile, sees: frozenset[Sight]) -> None:
        self.profile = profile
        self.sees = sees
        self.rewind()
        self._bound: dict[type, list[Callable[[Any], None]]] = {}

    def rewind(self) -> None:
        """Stand before the first item of a stream."""
        self.index = -1
        self.position = -1
        self.place = -1

    def fold(self, item: Item) -> None:
        """Take one item in."""
        for method in self.folders(key_of(item)):
            method(item)

    def folders(self, kind: type) -> list[Callable[[Any], None]]:
        """List what folds items of a class in, in order."""
        methods = self._bound.get(kind)
        if methods is None:
            names = self._table.get(kind)
            if names is None:
                names = self._table[kind] = tuple(self._folders(kind))
            methods = self._bound[kind] = [getattr(self, name) for name in names]
        return methods

    @classmethod
    def _folders(cls, kind: type) -> Iterator[str]:
        methods = {name: item for base in reversed(cls.__mro__) for name, item in vars(base).items() if callable(item)}
        for name, method in methods.items():
            if any(issubclass(kind, wanted) for wanted in _FOLDS.get(method, ())):
                yield name
