"""Why the agent refuses a command. Whoever catches one of these may rely on it that nothing has changed."""

from __future__ import annotations

from turnproof_reference.errors import Refused


class AlreadyPending(Refused):
    """
    Say that the inbox holds a message of this id already.

    Args:
        command: name of the command.
        message_id: the id that was offered again.

    Rules: C-SEND-3
    """

    def __init__(self, command: str, message_id: str) -> None:
        super().__init__(
            command,
            f"the id of a message must not be pending in the inbox (got {message_id!r}, which is); "
            "replace or remove the pending one, or wait until it was claimed",
        )
        self.message_id = message_id


class LogIsPublishing(Refused):
    """
    Say that the command has to log something while the log is telling of an entry.

    Rules: C-EDIT-2
    """

    def __init__(self, command: str) -> None:
        super().__init__(
            command,
            "what it changes must be logged outside the publication of a durable event (got a call from inside one); "
            "call from a listener of a live event, or after this listener has returned",
        )


class AgentGone(Refused):
    """
    Say that the agent was disposed of and takes no more input.

    Rules: C-DIS-1
    """

    def __init__(self, command: str) -> None:
        super().__init__(command, "the agent must not be disposed of to take input (it is); make a new agent")
