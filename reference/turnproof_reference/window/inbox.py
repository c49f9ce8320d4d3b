"""
What waits to be read: a line of queued prompts, and an outbox of input for the turn at hand.

The outbox holds steering and context in the order of acceptance. An item that an earlier admission or turn has left
behind carries that fact itself, so nothing has to be counted when a later turn takes it before its prompt.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from turnproof_reference.messages import Message


@dataclass(frozen=True, slots=True)
class Queued:
    """Hold a prompt that waits for a turn of its own; a quiet one waits for another to wake the agent."""

    message: Message
    waking: bool


@dataclass(frozen=True, slots=True)
class Staged:
    """Hold input for the next safe boundary; `retained` if an earlier admission or turn has left it behind."""

    message: Message
    steering: bool
    retained: bool = False


class Inbox:
    """Keep both lines; nothing here is published."""

    __slots__ = ("outbox", "queued")

    def __init__(self) -> None:
        self.queued: deque[Queued] = deque()
        self.outbox: deque[Staged] = deque()

    @property
    def waking(self) -> bool:
        """Tell whether a waking prompt is queued."""
        return any(item.waking for item in self.queued)

    @property
    def steered(self) -> bool:
        """Tell whether steering is staged."""
        return any(item.steering for item in self.outbox)

    @property
    def pending(self) -> bool:
        """Tell whether anything waits at all."""
        return bool(self.queued or self.outbox)

    def retain(self) -> None:
        """Mark what is staged as left behind."""
        self.outbox = deque(replace(item, retained=True) for item in self.outbox)

    def clear(self) -> tuple[Message, ...]:
        """
        Drop everything.

        Returns:
            what was in a FIFO: queued prompts, then steering; context is dropped without a word.
        """
        dropped = [item.message for item in self.queued]
        dropped += [item.message for item in self.outbox if item.steering]
        self.queued.clear()
        self.outbox.clear()
        return tuple(dropped)
