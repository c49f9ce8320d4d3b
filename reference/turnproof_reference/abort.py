"""
How an abort reaches what the agent waits for.

An agent doesn't tear a running model request or tool down; it tells them through a signal and waits for their answer.
A cooperative one answers at once, a stubborn one whenever it likes, and the turn closes properly in both cases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

AbortListener: TypeAlias = Callable[[], object]


class Aborted(Exception):  # noqa: N818 - it reports an outcome, not a fault
    """Say that the work was given up because its signal was aborted."""


class AbortSignal:
    """
    Hold the first cause of an abort and tell it to whoever listens.

    Rules: W-CAN-5
    """

    __slots__ = ("_listeners", "cause")

    def __init__(self) -> None:
        self.cause: str | None = None
        self._listeners: dict[int, AbortListener] = {}  # by a running number, in the order of arrival

    @property
    def aborted(self) -> bool:
        """Tell whether a cause was given."""
        return self.cause is not None

    def mark(self, cause: str) -> bool:
        """
        Give the cause, unless one was given before; whoever looks sees it, but nobody is told yet.

        Returns:
            whether this was the first cause.
        """
        if self.cause is not None:
            return False
        self.cause = cause
        return True

    def tell(self) -> None:
        """Tell the listeners, in the order of their arrival, each once; one that another takes off is not told."""
        listeners = self._listeners
        while listeners:
            listeners.pop(next(iter(listeners)))()

    def abort(self, cause: str) -> bool:
        """
        Give the cause, unless one was given before, and tell the listeners.

        Returns:
            whether this was the first cause.
        """
        first = self.mark(cause)
        if first:
            self.tell()
        return first

    def listen(self, listener: AbortListener) -> Callable[[], None]:
        """
        Call the listener once when the abort comes; at once if it already has.

        Returns:
            a function that takes the listener off again.
        """
        if self.cause is not None:
            listener()
            return _nothing
        listeners = self._listeners
        key = next(reversed(listeners), 0) + 1
        listeners[key] = listener

        def forget() -> None:
            listeners.pop(key, None)

        return forget

    def check(self) -> None:
        """
        Go on only if nothing was aborted.

        Raises:
            Aborted: when the abort has come.
        """
        if self.cause is not None:
            raise Aborted(self.cause)


def _nothing() -> None:
    """Forget a listener that was called already."""
