"""What an agent says when it won't do what was asked."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """
    Tell the caller that a command is refused as a whole; nothing has changed.

    Args:
        command: name of the command.
        because: what must hold and what came.
    """

    def __init__(self, command: str, because: str) -> None:
        super().__init__(f"{command} is refused: {because}")
        self.command = command
        self.because = because
