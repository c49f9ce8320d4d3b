"""
References to other conversations.

A prompt may come with the snapshot of another session. The snapshot is an ordinary message, and the two arrive
together or not at all: it waits here beside its prompt and joins the decision of that prompt's own admission.
"""

from __future__ import annotations

from turnproof_reference.messages import Message


class Snapshots:
    """
    Hold snapshots by the very prompt they came with; equal messages are different prompts.

    Rules: W-XREF-1
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[tuple[Message, Message]] = []  # (prompt, snapshot) in order of arrival

    def hold(self, prompt: Message, snapshot: Message) -> None:
        """Keep a snapshot until its prompt is admitted or dropped."""
        self._held.append((prompt, snapshot))

    def take(self, prompt: Message) -> tuple[Message, ...]:
        """Answer the snapshot of a prompt, if it has one, and forget it."""
        for position, (held, snapshot) in enumerate(self._held):
            if held is prompt:
                del self._held[position]
                return (snapshot,)
        return ()
