"""
The two lists of input that waits, and the only place where they change.

    refuse  →  log the splice  →  change the list  →  tell the live events

Everything that moves a message in or out goes through `PendingInput.splice`: sending, claiming, editing, discarding,
contexts of tools. So the splices in the log give the lists again (`replay`), and the order above is kept by all: a
listener of the durable event still sees the old lists, a listener of a live one the new.

What is special about a message that waits is kept beside it, and leaves with it. A counter or a single bit for "some
input came late" would outlive the message it was meant for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from turnproof_reference.claim.errors import AlreadyPending, LogIsPublishing
from turnproof_reference.claim.events import CANCELED, InboxSpliced, MessageClaimed, MessageDiscarded, MessageInserted
from turnproof_reference.events import DurableEvent
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target
from turnproof_reference.publish import Publisher
from turnproof_reference.session import SessionLog

Lists: TypeAlias = Mapping[Target, Sequence[Message]]


@dataclass(frozen=True, slots=True)
class Entry:
    """
    Hold a message that waits.

    Args:
        message: as it was accepted.
        late_for: the running interval that could no longer serve this waking message, if it came so late.
        snapshot: what the prompt refers to, when the two are to reach the same step.
    """

    message: Message
    late_for: object | None = None
    snapshot: Message | None = None


class PendingInput:
    """
    Keep the next-turn and the next-step list, each in its order.

    Args:
        log: takes every change.
        publisher: told what became of each message.
        lists: what is pending from the start, as `replay` gives it.

    Rules: C-CLAIM-4, C-EDIT-2
    """

    def __init__(self, log: SessionLog, publisher: Publisher, lists: Lists | None = None) -> None:
        self._log = log
        self._publisher = publisher
        self._lists: dict[Target, list[Entry]] = {NEXT_TURN: [], NEXT_STEP: []}
        for target, messages in (lists or {}).items():
            self._lists[target] = [Entry(message) for message in messages]
        self._ids = {entry.message.id for entries in self._lists.values() for entry in entries}

    def messages(self, target: Target) -> tuple[Message, ...]:
        """Answer what waits in a list, in its order."""
        return tuple(entry.message for entry in self._lists[target])

    def any(self, target: Target | None = None) -> bool:
        """Tell whether anything waits, in one list or in either."""
        return bool(self._ids) if target is None else bool(self._lists[target])

    def any_late_for(self, interval: object) -> bool:
        """
        Tell whether a waking message that came too late for this running interval still waits.

        Rules: C-WAKE-3
        """
        return any(entry.late_for is interval for entries in self._lists.values() for entry in entries)

    def check_free(self, command: str, messages: Iterable[Message], leaving: Sequence[Entry] = ()) -> None:
        """
        Refuse messages whose ids are taken.

        Args:
            command: name of what wants to enter them.
            messages: that are to enter together.
            leaving: entries that make room for them.

        Raises:
            AlreadyPending: when an id is pending, or occurs twice.

        Rules: C-SEND-3
        """
        taken = self._ids.difference(entry.message.id for entry in leaving)
        for message in messages:
            if message.id in taken:
                raise AlreadyPending(command, message.id)
            taken.add(message.id)

    def splice(
        self,
        command: str,
        target: Target,
        start: int,
        removed_count: int,
        *,
        inserted: Sequence[Entry] = (),
        outcome: str | None = None,
    ) -> Sequence[Entry]:
        """
        Log one change of a list, then make it.

        Args:
            command: name of what changes the list, for a refusal.
            target: the list.
            start: first position that changes.
            removed_count: how many entries leave.
            inserted: what enters in their place, in order.
            outcome: `canceled` if what leaves is discarded.

        Returns:
            the entries that left.

        Raises:
            AlreadyPending: when an id that is to enter is pending already.
            LogIsPublishing: when called from a listener of a durable event.

        Rules: C-SEND-3, C-EDIT-2
        """
        entries = self._lists[target]
        leaving = entries[start : start + removed_count]
        entering = tuple(entry.message for entry in inserted)
        if entering:
            self.check_free(command, entering, leaving)
        if self._log.publishing:
            raise LogIsPublishing(command)
        self._log.append(InboxSpliced(target, start, removed_count, entering, outcome))
        entries[start : start + removed_count] = inserted
        self._ids.difference_update(entry.message.id for entry in leaving)
        self._ids.update(message.id for message in entering)
        return leaving

    def insert(self, command: str, target: Target, entry: Entry, start: int | None = None) -> None:
        """
        Let a message wait, at the end of a list or before the position `start`.

        Rules: C-SEND-2
        """
        at_end = len(self._lists[target])
        self.splice(command, target, at_end if start is None else start, 0, inserted=(entry,))
        self._publisher.publish(MessageInserted(entry.message))

    def claim(self, turn: int, *, prompt: bool) -> Sequence[Entry]:
        """
        Take out the whole next-step list and, on demand, one prompt; all of it before anybody is told who is in.

        Args:
            turn: number of the turn that claims.
            prompt: whether the head of the next-turn list belongs to the batch.

        Returns:
            the batch: what waited for a step first, the prompt behind it.

        Rules: C-CLAIM-1, C-CLAIM-2
        """
        batch = [*self._claim_from(NEXT_STEP, len(self._lists[NEXT_STEP]))]
        if prompt:
            batch += self._claim_from(NEXT_TURN, min(1, len(self._lists[NEXT_TURN])))
        for entry in batch:
            self._publisher.publish(MessageClaimed(entry.message, turn))
        return batch

    def _claim_from(self, target: Target, count: int) -> Sequence[Entry]:
        return self.splice("claim", target, 0, count) if count else ()

    def check_discardable(self, command: str) -> None:
        """
        Refuse to empty the lists from within the publication of a durable event, unless they are empty.

        Raises:
            LogIsPublishing: when there is something that can't be discarded now.
        """
        if self._ids and self._log.publishing:
            raise LogIsPublishing(command)

    def discard_all(self, command: str) -> None:
        """
        Empty one list after the other, with one splice each; an empty one leaves no trace.

        Raises:
            LogIsPublishing: as `check_discardable`; nothing has changed then.

        Rules: C-CAN-1, C-CLAIM-4
        """
        for target in (NEXT_STEP, NEXT_TURN):
            count = len(self._lists[target])
            if count:
                self._tell_discarded(self.splice(command, target, 0, count, outcome=CANCELED))

    def remove(self, message_id: str) -> bool:
        """
        Discard one message.

        Returns:
            whether it was still pending.

        Rules: C-EDIT-1
        """
        place = self._find(message_id)
        if place is None:
            return False
        self._tell_discarded(self.splice("remove", *place, 1, outcome=CANCELED))
        return True

    def replace(self, message_id: str, message: Message) -> bool:
        """
        Put another message in the place of one that waits; what the old one was promised by coming late passes on.

        Returns:
            whether the old one was still pending.

        Rules: C-EDIT-1, C-WAKE-3
        """
        place = self._find(message_id)
        if place is None:
            return False
        target, start = place
        heir = self._heir(self._lists[target][start], message)
        self._tell_discarded(self.splice("replace", target, start, 1, inserted=(heir,), outcome=CANCELED))
        self._publisher.publish(MessageInserted(message))
        return True

    def _heir(self, entry: Entry, message: Message) -> Entry:
        """
        Answer the entry that takes another one's place, and over what was promised to it.

        Rules: C-WAKE-3
        """
        return Entry(message, late_for=entry.late_for)

    def _find(self, message_id: str) -> tuple[Target, int] | None:
        if message_id not in self._ids:
            return None
        places = (
            (target, at)
            for target, entries in self._lists.items()
            for at, entry in enumerate(entries)
            if entry.message.id == message_id
        )
        return next(places)

    def _tell_discarded(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._publisher.publish(MessageDiscarded(entry.message))


def replay(events: Iterable[DurableEvent]) -> Lists:
    """
    Answer what the splices of a log leave pending.

    Rules: C-EDIT-2, C-LOG-3
    """
    lists: dict[Target, list[Message]] = {NEXT_TURN: [], NEXT_STEP: []}
    for event in events:
        if isinstance(event, InboxSpliced):
            lists[event.target][event.start : event.start + event.removed_count] = event.inserted
    return lists
