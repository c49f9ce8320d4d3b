"""The inbox as a caller sees and edits it."""

from __future__ import annotations

from collections.abc import Callable

from turnproof_reference.claim.pending import Entry, PendingInput
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target
from turnproof_reference.publish import Publisher


class Inbox:
    """
    Show the input that waits, and change it. None of this wakes the agent.

    Args:
        pending: the lists.
        events: brought to all listeners before an edit.
        check_open: refuses a command when the agent takes no input any more.
    """

    def __init__(self, pending: PendingInput, events: Publisher, check_open: Callable[[str], None]) -> None:
        self._pending = pending
        self._events = events
        self._check_open = check_open

    @property
    def next_turn(self) -> tuple[Message, ...]:
        """Answer the prompts that wait for a turn of their own, in order."""
        return self._pending.messages(NEXT_TURN)

    @property
    def next_step(self) -> tuple[Message, ...]:
        """Answer the input that waits for the next step boundary, in order."""
        return self._pending.messages(NEXT_STEP)

    def remove(self, message_id: str) -> bool:
        """
        Discard a message.

        Returns:
            whether it was still pending; what was claimed already stays claimed.

        Raises:
            LogIsPublishing: when called from a listener of a durable event and the message is pending.

        Rules: C-EDIT-1
        """
        self._events.catch_up()
        return self._pending.remove(message_id)

    def replace(self, message_id: str, message: Message) -> bool:
        """
        Put a message in the place of a pending one, which is discarded.

        Args:
            message_id: of the pending message.
            message: takes its place; it may bear the same id.

        Returns:
            whether the old message was still pending; if not, the new one isn't taken.

        Raises:
            AlreadyPending: when another pending message has the new id.
            LogIsPublishing: when called from a listener of a durable event and the message is pending.

        Rules: C-EDIT-1, C-WAKE-3
        """
        self._events.catch_up()
        return self._pending.replace(message_id, message)

    def prepend(self, target: Target, message: Message) -> None:
        """
        Let a message wait before everything else in a list.

        Raises:
            AgentGone: when the agent was disposed of.
            AlreadyPending: when the id is pending already.
            LogIsPublishing: when called from a listener of a durable event.

        Rules: C-SEND-3, C-EDIT-2
        """
        self._events.catch_up()
        self._check_open("prepend")
        self._pending.insert("prepend", target, Entry(message), start=0)
