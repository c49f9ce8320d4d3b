"""The events that only contract `window` has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from turnproof_reference.events import DurableEvent, Event, HistoryEntry
from turnproof_reference.messages import Message

QUEUED: Final = "queued"
STEERING: Final = "steering"


@dataclass(frozen=True, slots=True)
class SteeringMessage(DurableEvent):
    """Commit steering to the conversation of the open turn."""

    type: ClassVar[str] = "steering/message"
    turn: int
    message: Message

    def history_entry(self) -> HistoryEntry | None:
        """Add the message itself."""
        return self.message


@dataclass(frozen=True, slots=True)
class Enqueued(Event):
    """Tell that a message entered a FIFO: `queued` or `steering`, decided at acceptance."""

    type: ClassVar[str] = "agent/inbox/enqueue"
    message: Message
    placement: str


@dataclass(frozen=True, slots=True)
class Dequeued(Event):
    """Tell that the agent took a message out of the FIFO that it had entered."""

    type: ClassVar[str] = "agent/inbox/dequeue"
    message: Message
    placement: str


@dataclass(frozen=True, slots=True)
class Discarded(Event):
    """Tell that messages were dropped unread: queued ones first, then steering, each in order."""

    type: ClassVar[str] = "agent/inbox/discard"
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class CancelRequested(Event):
    """Tell that a cancel is about to do something."""

    type: ClassVar[str] = "agent/cancel-requested"
    cause: str


@dataclass(frozen=True, slots=True)
class Settled(Event):
    """Tell how a turn ended, once its checkpoint is over: `completed`, `aborted` or `error`."""

    type: ClassVar[str] = "agent/settled"
    turn: int
    reason: str
