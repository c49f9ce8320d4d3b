"""
Defects of what the `window` agent writes to its log, and of how it goes on from one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from turnproof_reference.events import DurableEvent, TurnEnd, UserMessage
from turnproof_reference.faults.books import WINDOW
from turnproof_reference.goals import GOAL
from turnproof_reference.messages import Message
from turnproof_reference.model import Model
from turnproof_reference.session import Session, SessionLog
from turnproof_reference.window.agent import Agent


@WINDOW.enter("turn-number-reused", "W-LOG-4", origin="case codex-turn-id-not-unique-on-resume")
class TurnNumberReused(Agent):
    """
    A resumed agent counts its turns from one again.

    Two turns of one session have the same number, and whoever looks one up gets the other.
    """

    _count = 0

    def _next_turn(self) -> int:
        self._count += 1
        return self._count


class _Rewriting(SessionLog):
    """Write user messages in another form."""

    __slots__ = ()

    def append(self, event: DurableEvent) -> None:
        """Add the event, rewritten."""
        if isinstance(event, UserMessage):
            event = UserMessage(self.rewritten(event.message))
        super().append(event)

    def rewritten(self, message: Message) -> Message:
        """Answer what is written for a message."""
        raise NotImplementedError


class _Unsigned(_Rewriting):
    __slots__ = ()

    def rewritten(self, message: Message) -> Message:
        return Message(message.id, message.text, {"kind": "user"})


@WINDOW.enter("source-lost", "W-LOG-1", "W-LOG-2", origin="case dsh-caller-mutates-queued-input")
class SourceLost(Agent):
    """
    Whatever is written to the log is said to come from the user.

    Nobody can tell a person's words from those of a plugin.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        super().__init__(model, **options)
        self.log = _Unsigned(self.publisher, self.log.snapshot())


class _Wrapping(_Rewriting):
    __slots__ = ()

    def rewritten(self, message: Message) -> Message:
        return message if message.kind == "user" else message.with_text(f"[context] {message.text}")


@WINDOW.enter("context-in-an-envelope", "W-LOG-2", "W-LOG-1", origin="rejected: a prompt prefix for context")
class ContextInAnEnvelope(Agent):
    """
    Supplementary input is written with a prefix that marks it.

    What its source tells already stands in its text, where the model reads it.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        super().__init__(model, **options)
        self.log = _Wrapping(self.publisher, self.log.snapshot())


@WINDOW.enter("tail-cut-on-resume", "W-LOG-3", "W-REQ-1", origin="case opengeni-message-committed-inside-running-turn")
class TailCutOnResume(Agent):
    """
    A resumed agent forgets what was written after the last turn had ended.

    Context that was confirmed before the restart is missing afterwards.
    """

    def __init__(self, model: Model, *, session: Session | None = None, **options: Any) -> None:
        if session is not None:
            ends = [place for place, event in enumerate(session.events) if isinstance(event, TurnEnd)]
            session = replace(session, events=session.events[: ends[-1] + 1] if ends else session.events)
        super().__init__(model, session=session, **options)


class _Vague(_Rewriting):
    __slots__ = ()

    def rewritten(self, message: Message) -> Message:
        if message.kind != GOAL or "change" not in message.source:
            return message
        return Message(message.id, message.text, {"kind": GOAL, "round": 0})


@WINDOW.enter("goal-change-dropped", "W-GOAL-1", "W-LOG-1", origin="rejected: goal state beside the log")
class GoalChangeDropped(Agent):
    """
    The log keeps what a change of the goal says, but not the change itself.

    Whoever replays the session can't tell what the goal is.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        super().__init__(model, **options)
        self.log = _Vague(self.publisher, self.log.snapshot())
