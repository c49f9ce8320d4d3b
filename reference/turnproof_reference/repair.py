"""
Mend the log of an agent that was cut off in the middle of a turn.

Nothing is taken away: what happened stays, and what is missing is added so that the turn is closed and every tool
call has its answer.
"""

from __future__ import annotations

from dataclasses import replace

from turnproof_reference.events import (
    ABORTED,
    ABORTED_BEFORE_DISPATCH,
    AssistantMessage,
    DurableEvent,
    StepEnd,
    StepStart,
    ToolCalled,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from turnproof_reference.messages import ToolCall
from turnproof_reference.session import Session

INTERRUPTED = "interrupted"


class _OpenTurn:
    """Follow what is still open, from event to event."""

    def __init__(self) -> None:
        self.turn: int | None = None
        self.step: int | None = None
        self.calls: dict[str, ToolCall] = {}  # unanswered, by id in call order
        self.started: set[str] = set()  # ids of calls

    def follow(self, event: DurableEvent) -> None:
        match event:
            case TurnStart():
                self.turn = event.turn
            case TurnEnd():
                self.turn = None
            case StepStart():
                self.step = event.step
            case StepEnd():
                self.step = None
            case AssistantMessage():
                self.calls = {call.id: call for call in event.tool_calls}
                self.started = set()
            case ToolCalled():
                self.started.add(event.call_id)
            case ToolResult():
                self.calls.pop(event.call_id, None)
            case _:
                pass


def closing_events(session: Session) -> tuple[DurableEvent, ...]:
    """
    Answer what the log lacks: results of unanswered calls, then the ends of an open step and of an open turn.

    Rules: W-LOG-3, C-LOG-3
    """
    found = _OpenTurn()
    for event in session.events:
        found.follow(event)
    if found.turn is None:
        return ()
    closers: list[DurableEvent] = []
    if found.step is not None:
        for call in found.calls.values():
            closers += _answer(call, found.turn, found.step, started=call.id in found.started)
        closers.append(StepEnd(found.turn, found.step))
    closers.append(TurnEnd(found.turn, INTERRUPTED))
    return tuple(closers)


def repair(session: Session) -> Session:
    """
    Answer the session with its last turn closed; one that was closed properly comes back as it is.

    Rules: W-LOG-3, C-LOG-3
    """
    closers = closing_events(session)
    return replace(session, events=session.events + closers) if closers else session


def _answer(call: ToolCall, turn: int, step: int, *, started: bool) -> list[DurableEvent]:
    """Close one call; one that never started gets its start in the log too, so that each call has exactly one."""
    if started:
        return [ToolResult(turn, step, call.id, is_error=True, code=ABORTED, text="interrupted")]
    return [
        ToolCalled(turn, step, call.id, call.name),
        ToolResult(turn, step, call.id, is_error=True, code=ABORTED_BEFORE_DISPATCH, text="not started: interrupted"),
    ]
