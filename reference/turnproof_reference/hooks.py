"""
Extension points at which others decide or merely look on: waterfalls of listeners that delegate with `next()`.

The listener added first is asked first. It answers itself, or awaits `next()` for what the listeners behind it say,
and returns that or something else. What a listener doesn't replace on purpose arrives unchanged, because the inner
answer is a value that it has to hand on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar

P = TypeVar("P")
R = TypeVar("R")

Next: TypeAlias = Callable[[], Awaitable[R]]
Hook: TypeAlias = Callable[[P, Next[R]], Awaitable[R]]


class Waterfall(Generic[P, R]):
    """
    Ask a chain of listeners for one answer.

    Args:
        default: answers when no listener does.

    Rules: W-ADM-9, C-PRE-4
    """

    __slots__ = ("_default", "_hooks")

    def __init__(self, default: Callable[[P], R]) -> None:
        self._default = default
        self._hooks: tuple[Hook[P, R], ...] = ()

    def add(self, hook: Hook[P, R]) -> Callable[[], None]:
        """
        Put a listener behind those added before.

        Returns:
            a function that takes the listener off again.
        """
        self._hooks = (*self._hooks, hook)

        def remove() -> None:
            self._hooks = tuple(each for each in self._hooks if each is not hook)

        return remove

    def ask(self, question: P) -> Awaitable[R]:
        """
        Call the first listener now and answer what to await for its decision.

        A listener that is a plain function runs up to its first wait before this returns; one written with
        `async def` starts when the answer is awaited.
        """
        return self._from(0, self._hooks, question)

    def _from(self, position: int, hooks: tuple[Hook[P, R], ...], question: P) -> Awaitable[R]:
        if position == len(hooks):
            return _ready(self._default(question))
        return hooks[position](question, lambda: self._from(position + 1, hooks, question))


async def _ready(value: R) -> R:
    """Answer at once, without a break."""
    return value
