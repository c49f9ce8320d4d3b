"""
Derive the message history of a log: what a request shows, and what is left of it after repair and compaction.

A value beside the machine's state: rules only publish events, the history follows from them (W-REQ-1, C-REQ-1,
W-LOG-3, W-LOG-4).
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen

from turnproof_model.events import AssistantMessage, Event, SteeringMessage, ToolResult, TurnEnd, TurnStart, UserMessage
from turnproof_model.vocabulary import Message, Seen, Source

COMPACTION = Source("compaction")


@frozen
class Entry:
    """Hold one message of the history, and the value that input had; ``between`` marks what lies outside any turn."""

    seen: Seen
    between: bool
    value: Message | None = None


@frozen
class History:
    """
    Hold the messages of a log in log order.

    ``known``: every message value a caller or a hook has made, by id. ``in_turn``: a turn is open at the end of the
    log. ``turns``: before which entries turns were opened, by position. ``compactions``: how many summaries earlier
    compactions made.
    """

    entries: tuple[Entry, ...] = ()
    known: Mapping[str, Message] = field(factory=dict, hash=False)
    in_turn: bool = False
    turns: frozenset[int] = frozenset()
    compactions: int = 0

    @property
    def messages(self) -> tuple[Seen, ...]:
        """What a request made now shows."""
        return tuple(entry.seen for entry in self.entries)

    @property
    def inputs(self) -> tuple[Message, ...]:
        """The user-role input in the log as it was committed: with the content that an admission put in its place."""
        written = [(entry.seen, entry.value) for entry in self.entries if entry.value is not None]
        return tuple(evolve(value, text=seen.text or "") if seen.replaced else value for seen, value in written)

    def learn(self, *messages: Message) -> History:
        """Remember message values, so that ids can stand for them; the first value of an id in use is replaced."""
        if not messages:
            return self
        known = {**self.known, **{message.id: message for message in messages}}
        return History(self.entries, known, self.in_turn, self.turns, self.compactions)

    def after(self, event: Event) -> History:
        """Append what a durable event adds to the history."""
        if isinstance(event, TurnStart):
            return evolve(self, in_turn=True, turns=self.turns | {len(self.entries)})
        if isinstance(event, TurnEnd):
            return evolve(self, in_turn=False)
        seen = self._seen(event)
        if seen is None:
            return self
        value = None if seen.id is None else self.known[seen.id]
        entries = (*self.entries, Entry(seen, not self.in_turn, value))
        return History(entries, self.known, self.in_turn, self.turns, self.compactions)

    def _seen(self, event: Event) -> Seen | None:
        match event:
            case UserMessage(id=message_id, text=str(text), replaced=replaced):
                return Seen("user", id=message_id, text=text, replaced=replaced)
            case UserMessage(id=message_id) | SteeringMessage(id=message_id):
                return Seen("user", id=message_id, text=self.known[message_id].text)
            case AssistantMessage(tool_calls=calls, text=text):
                return Seen("assistant", text=text, tool_calls=calls)
            case ToolResult(call_id=call_id, is_error=is_error):
                return Seen("user", tool_result=call_id, is_error=is_error)
            case _:
                return None

    def compacted(self) -> History:
        """Replace every maximal run of turns by one summary; messages between turns stay (W-LOG-3)."""
        kept: list[Entry] = []
        made: list[Message] = []
        run_open = False
        for at in range(len(self.entries) + 1):
            if at in self.turns and not run_open:
                summary = Message(f"compaction-{self.compactions + len(made) + 1}", "", COMPACTION)
                made.append(summary)
                kept.append(Entry(Seen("user", id=summary.id), between=True, value=summary))
                run_open = True
            if at < len(self.entries) and self.entries[at].between:
                kept.append(self.entries[at])
                run_open = False
        compact = evolve(self, entries=tuple(kept), turns=frozenset(), compactions=self.compactions + len(made))
        return compact.learn(*made)
