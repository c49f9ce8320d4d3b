"""The time from `running` to `idle`, which is what a cancel cancels."""

from __future__ import annotations

import asyncio

from turnproof_reference.abort import AbortSignal


class Interval:
    """
    Hold what is known of one stretch of running.

    `discarding` counts the cancels and disposals of it that are emptying the inbox right now; a listener may issue
    another one meanwhile.
    """

    __slots__ = ("discarding", "signal", "task")

    def __init__(self) -> None:
        self.signal = AbortSignal()
        self.discarding = 0
        self.task: asyncio.Task[None] | None = None

    @property
    def aborted(self) -> bool:
        """Tell whether a cancel or the disposal has ended it."""
        return self.signal.aborted

    @property
    def too_late(self) -> bool:
        """
        Tell whether a waking message that comes now can't be served here.

        Between the end of the last turn and `idle` nothing can come: both happen within one stack.

        Rules: C-WAKE-3
        """
        return self.signal.aborted or self.discarding > 0
