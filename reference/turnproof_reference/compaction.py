"""
Make a long log short without losing what was said between its turns.

Each maximal run of turns becomes one message that tells what the turns were about. Messages between turns were never
part of one and stay as they are, and turn numbers go on, so nobody mistakes a new turn for an old one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from turnproof_reference.events import (
    AssistantMessage,
    DurableEvent,
    HistoryEntry,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnproof_reference.messages import Message
from turnproof_reference.repair import repair
from turnproof_reference.session import Session

KIND: Final = "compaction"
Summary = Callable[[Sequence[HistoryEntry]], str]


def tally(entries: Sequence[HistoryEntry]) -> str:
    """Summarise a run of turns by what it held: the plainest summary that needs no model."""
    answers = sum(isinstance(entry, AssistantMessage) for entry in entries)
    results = sum(isinstance(entry, ToolResult) for entry in entries)
    return f"compacted: {len(entries) - answers - results} inputs, {answers} answers, {results} tool results"


def compact(session: Session, summary: Summary = tally) -> Session:
    """
    Answer the session with each run of turns replaced by one message.

    Args:
        session: repaired first if its last turn is open.
        summary: makes the text of the message from what the run added to the conversation.

    Rules: W-LOG-3
    """
    whole = repair(session)
    kept = _Kept(summary, _compactions(whole.events))
    for event in whole.events:
        kept.take(event)
    kept.close_run()
    return replace(whole, events=tuple(kept.events), turns_before=max(whole.turns_before, kept.last_turn))


class _Kept:
    """Collect what stays, from event to event."""

    def __init__(self, summary: Summary, count: int) -> None:
        self.events: list[DurableEvent] = []
        self.last_turn = 0
        self._summary = summary
        self._count = count  # of compaction messages so far
        self._in_turn = False
        self._run: list[HistoryEntry] | None = None  # what the turns of the present run have said
        self._behind: list[DurableEvent] = []  # without meaning to the agent; stay, behind the run

    def take(self, event: DurableEvent) -> None:
        """Take the next event of the log."""
        if isinstance(event, TurnStart):
            self._in_turn = True
            self.last_turn = max(self.last_turn, event.turn)
            self._run = [] if self._run is None else self._run
        elif isinstance(event, TurnEnd):
            self._in_turn = False
        elif self._in_turn:
            self._hear(event)
        elif isinstance(event, UserMessage):
            self.close_run()
            self.events.append(event)
        else:
            self._behind.append(event)

    def close_run(self) -> None:
        """Write the message that stands for the present run, if there is one."""
        if self._run is not None:
            self._count += 1
            self.events.append(UserMessage(Message(f"{KIND}-{self._count}", self._summary(self._run), {"kind": KIND})))
            self._run = None
        self.events += self._behind
        self._behind = []

    def _hear(self, event: DurableEvent) -> None:
        entry = event.history_entry()
        if entry is not None and self._run is not None:
            self._run.append(entry)


def _compactions(events: Sequence[DurableEvent]) -> int:
    """Answer the highest number that earlier compactions have used."""
    numbers = [
        int(event.message.id.rpartition("-")[2])
        for event in events
        if isinstance(event, UserMessage) and event.message.kind == KIND
    ]
    return max(numbers, default=0)
