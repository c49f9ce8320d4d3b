"""What the `claim` contract tells beyond the common events: changes of the inbox, and the fate of each message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from turnproof_reference.events import DurableEvent, Event
from turnproof_reference.messages import Message, Target

CANCELED: Final = "canceled"


@dataclass(frozen=True, slots=True)
class InboxSpliced(DurableEvent):
    """
    Change one list of the inbox: at `start`, take out `removed_count` messages and put `inserted` in their place.

    `outcome` is `canceled` when what was taken out is discarded, and None when it was claimed or nothing was.

    Rules: C-SEND-2, C-EDIT-2
    """

    type: ClassVar[str] = "agent/inbox/spliced"
    target: Target
    start: int
    removed_count: int
    inserted: tuple[Message, ...] = ()
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class MessageInserted(Event):
    """Tell that a message waits in the inbox from now on."""

    type: ClassVar[str] = "agent/inbox/inserted"
    message: Message


@dataclass(frozen=True, slots=True)
class MessageClaimed(Event):
    """Tell that the turn took a message out of the inbox, for its next step."""

    type: ClassVar[str] = "agent/inbox/claimed"
    message: Message
    turn: int


@dataclass(frozen=True, slots=True)
class MessageDiscarded(Event):
    """Tell that a message left the inbox without being claimed."""

    type: ClassVar[str] = "agent/inbox/discarded"
    message: Message
