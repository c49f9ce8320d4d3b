"""
Name what any agent with a message queue can record about itself: trace format, version 1.

A trace is JSON Lines: a ``Header``, records in order of occurrence, and perhaps an ``End``. The header says which
kinds of record are complete, and a rule of ``core`` applies only where the kinds it needs are. Every record may carry
a ``seq`` and fields that nobody here knows; records of unknown type are skipped. ``trace_lines`` reads and writes
them, ``monitors.core`` judges them, ``monitors.core_bridge`` makes them out of a driver session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from attrs import field, frozen

from turnproof_model.vocabulary import Source, Status

TraceKind: TypeAlias = Literal["inbox", "admission", "log", "request", "status", "cancel", "idle"]
"""A family of records that a trace holds completely, or doesn't promise to."""

TraceContract: TypeAlias = Literal["core", "window", "claim"]

ListName: TypeAlias = Literal["queued", "steering", "next-turn", "next-step"]
"""A list of the inbox: ``queued`` and ``next-turn`` hold prompts, the others input for the running turn."""

PROMPT_LISTS: frozenset[str] = frozenset({"queued", "next-turn"})

Shown: TypeAlias = tuple[str, ...]
"""One message of the history: ``("user", id)``, ``("assistant", *call ids)`` or ``("tool", call id)``."""


LEFT_OUT: Mapping[str, object] = {"left_out": True}
"""Marks a field that a line doesn't show at its default."""


@frozen
class Header:
    """Open a trace: whose rules it was recorded under, and which kinds of record it holds completely."""

    trace: Literal[1] = field(default=1, kw_only=True)
    contract: TraceContract = "core"
    records: tuple[TraceKind, ...] = ()
    implementation: object = field(default=None, metadata=LEFT_OUT)
    origin: object = field(default=None, metadata=LEFT_OUT)


@frozen
class Record:
    """Be one line of a trace after the header."""

    kind: ClassVar[TraceKind | None] = None
    type: ClassVar[str]
    seq: int | None = field(default=None, eq=False, kw_only=True, metadata=LEFT_OUT)


# ------------------------------------------------------------------------------------------------ inbox
@frozen
class InboxEnqueue(Record):
    """
    Let a message enter a list.

    ``at`` is its position there, from 0; absent, the end. A message that takes the place of another one enters
    quietly: waking is what a sender asks for.
    """

    kind: ClassVar[TraceKind | None] = "inbox"
    type: ClassVar[str] = "inbox/enqueue"
    id: str
    list: ListName
    wakeup: bool
    content: object = field(default=None, metadata=LEFT_OUT)
    source: Source | None = field(default=None, metadata=LEFT_OUT)
    at: int | None = field(default=None, metadata=LEFT_OUT)


@frozen
class InboxDequeue(Record):
    """Claim a message for the turn that is open, or for the next one."""

    kind: ClassVar[TraceKind | None] = "inbox"
    type: ClassVar[str] = "inbox/dequeue"
    id: str
    list: ListName
    turn: int | None = field(default=None, metadata=LEFT_OUT)


@frozen
class InboxDiscard(Record):
    """Drop pending messages, or one that was claimed and not committed yet."""

    kind: ClassVar[TraceKind | None] = "inbox"
    type: ClassVar[str] = "inbox/discard"
    ids: tuple[str, ...]
    cause: Literal["cancel", "removal", "disposal"] | None = field(default=None, metadata=LEFT_OUT)


@frozen
class InboxRequeue(Record):
    """Move a pending message, or put a claimed one back, to the head of a list."""

    kind: ClassVar[TraceKind | None] = "inbox"
    type: ClassVar[str] = "inbox/requeue"
    id: str
    list: ListName


# ------------------------------------------------------------------------------------------------ admission
@frozen
class AdmissionStart(Record):
    """Ask whether a claimed message may enter."""

    kind: ClassVar[TraceKind | None] = "admission"
    type: ClassVar[str] = "admission/start"
    id: str


@frozen
class AdmissionAllow(Record):
    """
    Let a claimed message in, its content perhaps replaced, with ``contexts`` of the hook beside it.

    Without an ``id`` the decision is about the contexts alone.
    """

    kind: ClassVar[TraceKind | None] = "admission"
    type: ClassVar[str] = "admission/allow"
    id: str | None = field(default=None, metadata=LEFT_OUT)
    content: object = field(default=None, metadata=LEFT_OUT)
    contexts: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)


@frozen
class AdmissionBlock(Record):
    """
    Keep a claimed message out, and with it what the hook added.

    Without an ``id`` there was nothing to keep out: a decision over an empty batch let nothing in.
    """

    kind: ClassVar[TraceKind | None] = "admission"
    type: ClassVar[str] = "admission/block"
    id: str | None = field(default=None, metadata=LEFT_OUT)
    contexts: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)


@frozen
class AdmissionFail(Record):
    """End an admission by a failure or an abort."""

    kind: ClassVar[TraceKind | None] = "admission"
    type: ClassVar[str] = "admission/fail"
    id: str


# ------------------------------------------------------------------------------------------------ log
@frozen
class TurnStart(Record):
    """Open a turn."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "turn/start"
    turn: int


@frozen
class TurnEnd(Record):
    """Close a turn; ``reason`` is ``completed``, ``aborted``, ``error`` or a word of the implementation."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "turn/end"
    turn: int
    reason: str


@frozen
class StepStart(Record):
    """Open a step."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "step/start"
    turn: int
    step: int


@frozen
class StepEnd(Record):
    """Close a step."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "step/end"
    turn: int
    step: int


@frozen
class UserMessage(Record):
    """Commit a message: a prompt or context."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "user/message"
    id: str
    content: object = field(default=None, metadata=LEFT_OUT)
    source: Source | None = field(default=None, metadata=LEFT_OUT)


@frozen
class SteeringMessage(Record):
    """Commit steering inside the running turn."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "steering/message"
    id: str
    content: object = field(default=None, metadata=LEFT_OUT)
    source: Source | None = field(default=None, metadata=LEFT_OUT)


@frozen
class AssistantMessage(Record):
    """Commit what the model said; ``calls`` are the ids of its tool calls."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "assistant/message"
    turn: int | None = field(default=None, metadata=LEFT_OUT)
    step: int | None = field(default=None, metadata=LEFT_OUT)
    calls: tuple[str, ...] = ()


@frozen
class ToolCall(Record):
    """Record that a call is taken up."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "tool/call"
    call_id: str


@frozen
class ToolResult(Record):
    """Answer a call; ``concludes`` says that it ends the turn."""

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "tool/result"
    call_id: str
    error: bool = field(default=False, metadata=LEFT_OUT)
    concludes: bool = field(default=False, metadata=LEFT_OUT)


@frozen
class SessionResume(Record):
    """
    Go on with a new agent over the log so far; a turn still open is closed as interrupted.

    ``history`` is what the messages are from here on, where a compaction changed them.
    """

    kind: ClassVar[TraceKind | None] = "log"
    type: ClassVar[str] = "session/resume"
    history: tuple[Shown, ...] | None = field(default=None, metadata=LEFT_OUT)


# ------------------------------------------------------------------------------------------------ the other kinds
@frozen
class Requested(Record):
    """Show the history to the model."""

    kind: ClassVar[TraceKind | None] = "request"
    type: ClassVar[str] = "request"
    messages: tuple[Shown, ...]


@frozen
class RequestRetry(Record):
    """Decide to repeat the last request."""

    kind: ClassVar[TraceKind | None] = "request"
    type: ClassVar[str] = "request/retry"


@frozen
class StatusSet(Record):
    """Publish a change of status."""

    kind: ClassVar[TraceKind | None] = "status"
    type: ClassVar[str] = "status"
    status: Status


@frozen
class Cancelled(Record):
    """Cancel; ``turn`` names the turn that is meant, where the caller did."""

    kind: ClassVar[TraceKind | None] = "cancel"
    type: ClassVar[str] = "cancel"
    cause: str = "user"
    keep_inbox: bool = False
    turn: int | None = field(default=None, metadata=LEFT_OUT)


@frozen
class DisposeCalled(Record):
    """Cancel for good."""

    kind: ClassVar[TraceKind | None] = "cancel"
    type: ClassVar[str] = "dispose"


@frozen
class IdleResolved(Record):
    """Release somebody who waited for idleness."""

    kind: ClassVar[TraceKind | None] = "idle"
    type: ClassVar[str] = "idle/resolved"
    waiter: str | None = field(default=None, metadata=LEFT_OUT)


@frozen
class End(Record):
    """End the trace with what the implementation itself says is still pending."""

    type: ClassVar[str] = "end"
    pending: tuple[str, ...]


RECORDS: Mapping[str, type[Record]] = {
    cls.type: cls
    for cls in (
        *(InboxEnqueue, InboxDequeue, InboxDiscard, InboxRequeue),
        *(AdmissionStart, AdmissionAllow, AdmissionBlock, AdmissionFail),
        *(TurnStart, TurnEnd, StepStart, StepEnd, UserMessage, SteeringMessage, AssistantMessage),
        *(ToolCall, ToolResult, SessionResume, Requested, RequestRetry, StatusSet, Cancelled, DisposeCalled),
        *(IdleResolved, End),
    )
}
"""Every record class by its type on the line."""
