"""
A session as a value, and its log as something that grows.

The position of an event is its sequence number, so there are no gaps by construction. Appending first changes the
log and then publishes; what a listener appends lands behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from turnproof_reference.events import DurableEvent, HistoryEntry, TurnStart
from turnproof_reference.publish import Publisher


@dataclass(frozen=True, slots=True)
class Session:
    """
    Hold one session at one moment.

    Args:
        id: of the session.
        events: in log order; the index of each is its sequence number.
        turns_before: the highest turn number that compaction has taken out of the log.
        parent: the session that this one was forked from.
    """

    id: str
    events: tuple[DurableEvent, ...] = ()
    turns_before: int = 0
    parent: str | None = None

    def fork(self, new_id: str) -> Session:
        """
        Answer a copy under another id; what happens to either never touches the other.

        Rules: W-LOG-3
        """
        return replace(self, id=new_id, parent=self.id)


class SessionLog:
    """
    Keep the durable events of one session in order.

    Args:
        publisher: told of each event after it was added.
        session: what there is already; added silently.

    Rules: W-LOG-4, C-LOG-4
    """

    __slots__ = ("_events", "_history", "_last_turn", "_publisher", "_publishing", "_session")

    def __init__(self, publisher: Publisher, session: Session) -> None:
        self._publisher = publisher
        self._session = session
        self._events: list[DurableEvent] = []
        self._history: list[HistoryEntry] = []
        self._last_turn = session.turns_before
        self._publishing = 0  # depth of durable events being told
        for event in session.events:
            self._add(event)

    @property
    def events(self) -> Sequence[DurableEvent]:
        """Answer all events; the index of each is its sequence number."""
        return tuple(self._events)

    @property
    def last_turn(self) -> int:
        """Answer the highest turn number ever used in this session, 0 before the first turn."""
        return self._last_turn

    @property
    def publishing(self) -> bool:
        """Tell whether a durable event is being told to listeners right now."""
        return self._publishing > 0

    def history(self) -> tuple[HistoryEntry, ...]:
        """
        Answer the conversation in log order, as the model is shown it.

        Rules: W-REQ-1, W-LOG-4, C-REQ-1
        """
        return tuple(self._history)

    def snapshot(self) -> Session:
        """Answer the session as it is now."""
        return replace(self._session, events=tuple(self._events))

    def append(self, event: DurableEvent) -> None:
        """Add the event, then tell it."""
        self._add(event)
        self._publishing += 1
        try:
            self._publisher.publish(event)
        finally:
            self._publishing -= 1

    def _add(self, event: DurableEvent) -> None:
        self._events.append(event)
        if isinstance(event, TurnStart):
            self._last_turn = max(self._last_turn, event.turn)
        entry = event.history_entry()
        if entry is not None:
            self._history.append(entry)
