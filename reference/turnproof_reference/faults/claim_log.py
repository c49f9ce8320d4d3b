"""
Defects of what the `claim` agent writes to its log, and of how it goes on from one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.pending import Lists
from turnproof_reference.claim.turn import Turn
from turnproof_reference.faults.books import CLAIM
from turnproof_reference.messages import Message
from turnproof_reference.session import Session


@CLAIM.enter("turn-number-reused", "C-LOG-4", origin="case kimi-code-duplicate-turn-ids-on-resume")
class TurnNumberReused(Agent):
    """
    A resumed agent counts its turns from one again.

    Two turns of one session have the same number, and whoever looks one up gets the other.
    """

    _count = 0

    def _next_number(self) -> int:
        self._count += 1
        return self._count


@CLAIM.enter("inbox-not-resumed", "C-LOG-3", origin="family: accepted input forgotten on resume")
class InboxNotResumed(Agent):
    """
    What was waiting when the process ended is not waiting any more when the session goes on.

    A prompt that was accepted and confirmed is never answered.
    """

    def _pending_in(self, session: Session) -> Lists:  # noqa: ARG002 - the defect is not to look
        return {}


class _Unsigned(Turn):
    async def _step(self, entered: Sequence[Message]) -> None:
        await super()._step([Message(message.id, message.text, {"kind": "user"}) for message in entered])


@CLAIM.enter("source-lost", "C-LOG-1", "C-LOG-2", "C-PRE-1", origin="case dsh-caller-mutates-queued-input")
class SourceLost(Agent):
    """
    Whatever enters the conversation is said to come from the user.

    Nobody can tell a person's words from those of a plugin.
    """

    turn_type: ClassVar[type[Turn]] = _Unsigned


class _Wrapping(Turn):
    async def _step(self, entered: Sequence[Message]) -> None:
        await super()._step([message if message.kind == "user" else _wrapped(message) for message in entered])


def _wrapped(message: Message) -> Message:
    return message.with_text(f"[context] {message.text}")


@CLAIM.enter("context-in-an-envelope", "C-LOG-2", "C-LOG-1", "C-PRE-1", origin="rejected: a prompt prefix for context")
class ContextInAnEnvelope(Agent):
    """
    Supplementary input is written with a prefix that marks it.

    What its source tells already stands in its text, where the model reads it.
    """

    turn_type: ClassVar[type[Turn]] = _Wrapping
