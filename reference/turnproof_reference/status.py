"""Whether an agent is at work, and who waits for it to come to rest."""

from __future__ import annotations

import asyncio
from typing import Final

from turnproof_reference.events import StatusChanged
from turnproof_reference.publish import Publisher

IDLE: Final = "idle"
RUNNING: Final = "running"


class StatusBoard:
    """
    Hold the status and publish its changes.

    Rules: W-STAT-1, C-STAT-1
    """

    __slots__ = ("_publisher", "current")

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self.current = IDLE

    def become(self, status: str) -> None:
        """Take on a status and publish it, unless it is the current one."""
        if status != self.current:
            self.current = status
            self._publisher.publish(StatusChanged(status))


class IdleWaiters:
    """
    Hold those who wait for the agent to come to rest.

    Rules: W-STAT-2, C-STAT-1
    """

    __slots__ = ("_loop", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: list[asyncio.Future[None]] = []

    def wait(self, *, resting: bool) -> asyncio.Future[None]:
        """Answer what to await; it is done already if the agent is resting."""
        future: asyncio.Future[None] = self._loop.create_future()
        if resting:
            future.set_result(None)
        else:
            self._waiting.append(future)
        return future

    def release(self) -> None:
        """Let everybody go on who waited until now."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():  # its owner may have stopped waiting
                future.set_result(None)
