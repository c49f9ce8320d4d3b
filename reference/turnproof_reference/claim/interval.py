"""The time from `running` to `idle`, which is what a cancel cancels."""

from __future__ import annotations

import asyncio

from turnproof_reference.abort import AbortSignal


class Interval:
    """
    Hold what is known of one stretch of running.

    `closing` says that no further turn will open in it, come what may. `discarding` counts the cancels and disposals
    that are emptying the inbox right now; a listener may issue another one meanwhile.
    """

    __slots__ = ("closing", "discarding", "signal", "task")

    def __init__(self) -> None:
        self.signal = AbortSignal()
        self.closing = False
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

        Rules: C-WAKE-3
        """
        return self.signal.aborted or self.closing or self.discarding > 0
