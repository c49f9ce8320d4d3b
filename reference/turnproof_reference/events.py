"""
Everything that an agent tells the world, as frozen values.

*Durable* events make up the session log; replaying them gives the same conversation. *Live* events pass by: they
tell listeners what happens to status and input, and are never stored. Each contract adds its own kinds in its own
package; the ones here belong to both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from turnproof_reference.messages import Message, ToolCall

ABORTED = "ABORTED"
ABORTED_BEFORE_DISPATCH = "ABORTED_BEFORE_DISPATCH"
UNKNOWN_TOOL = "UNKNOWN_TOOL"


class Event:
    """Stand for anything that is published; `type` is its name on the wire and in the log."""

    __slots__ = ()
    type: ClassVar[str]
    durable: ClassVar[bool] = False


class DurableEvent(Event):
    """Stand for an entry of the session log."""

    __slots__ = ()
    durable: ClassVar[bool] = True

    def history_entry(self) -> HistoryEntry | None:
        """Answer what this event adds to the conversation, if anything."""
        return None


@dataclass(frozen=True, slots=True)
class TurnStart(DurableEvent):
    """Open a turn; `trigger` is `message` or `retry` where the contract has retried turns."""

    type: ClassVar[str] = "turn/start"
    turn: int
    trigger: str | None = None


@dataclass(frozen=True, slots=True)
class TurnEnd(DurableEvent):
    """Close a turn; `cause` tells who aborted it, where the contract records that."""

    type: ClassVar[str] = "turn/end"
    turn: int
    reason: str
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class StepStart(DurableEvent):
    """Open a step, numbered from 1 within its turn."""

    type: ClassVar[str] = "step/start"
    turn: int
    step: int


@dataclass(frozen=True, slots=True)
class StepEnd(DurableEvent):
    """Close a step."""

    type: ClassVar[str] = "step/end"
    turn: int
    step: int


@dataclass(frozen=True, slots=True)
class UserMessage(DurableEvent):
    """Commit a prompt or supplementary input to the conversation."""

    type: ClassVar[str] = "user/message"
    message: Message

    def history_entry(self) -> HistoryEntry | None:
        """Add the message itself."""
        return self.message


@dataclass(frozen=True, slots=True)
class AssistantMessage(DurableEvent):
    """
    Commit what the model answered; `interrupted` when an abort cut it off.

    The value is its own entry in the message history.
    """

    type: ClassVar[str] = "assistant/message"
    turn: int
    step: int
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    interrupted: bool = False

    def history_entry(self) -> HistoryEntry | None:
        """Add the answer itself."""
        return self


@dataclass(frozen=True, slots=True)
class ToolCalled(DurableEvent):
    """Tell that a call was started, or closed without a start."""

    type: ClassVar[str] = "tool/call"
    turn: int
    step: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolResult(DurableEvent):
    """
    Commit the one answer to a call; `code` names the agent's own errors.

    The value is its own entry in the message history.
    """

    type: ClassVar[str] = "tool/result"
    turn: int
    step: int
    call_id: str
    is_error: bool
    code: str | None = None
    text: str = ""

    def history_entry(self) -> HistoryEntry | None:
        """Add the result itself."""
        return self


HistoryEntry: TypeAlias = Message | AssistantMessage | ToolResult


@dataclass(frozen=True, slots=True)
class PluginEvent(DurableEvent):
    """
    Keep an entry of a kind that the agent doesn't know: legal anywhere, without meaning to it.

    `name` is its type in the log and `fields` its frozen payload.
    """

    type: ClassVar[str] = "plugin"
    name: str
    fields: Any


@dataclass(frozen=True, slots=True)
class StatusChanged(Event):
    """Tell that the agent became `idle` or `running`."""

    type: ClassVar[str] = "agent/status"
    status: str


@dataclass(frozen=True, slots=True)
class AgentError(Event):
    """Tell what failed in a turn, or that its checkpoint did; never published for an abort."""

    type: ClassVar[str] = "agent/error"
    turn: int
    step: int
    message: str


@dataclass(frozen=True, slots=True)
class AgentDisposed(Event):
    """Tell that the agent is gone for good."""

    type: ClassVar[str] = "agent/disposed"
