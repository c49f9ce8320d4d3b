"""
Name the events of the contract as frozen values: durable, live, requests, and the driver's own.

A field marked *unjudged* is carried for readers and never compared; one marked *optional* is compared only where the
observation shows it. ``admits`` is that comparison, and the only place where it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias

import attrs
from attrs import field, frozen

from turnproof_model.vocabulary import ALWAYS, OFF_THE_WIRE, Cause, Seen, Status, Target

EventKind: TypeAlias = Literal["session", "live", "request", "driver"]
Placement: TypeAlias = Literal["queued", "steering"]

TurnReason: TypeAlias = Literal["completed", "max-tokens", "aborted", "error", "disposed", "blocked", "interrupted"]
"""Why a turn ended; ``disposed`` is of window, ``blocked`` of claim, ``interrupted`` of crash repair."""


def optional(default: object = None) -> Any:
    """Mark a field that is judged only where the observation shows it."""
    return field(default=default, metadata={"optional": True})


def unjudged(default: object = None) -> Any:
    """Mark a field that is carried for readers and never compared."""
    return field(default=default, eq=False)


@frozen
class Event:
    """Be something observable that happened, in order of occurrence."""

    kind: ClassVar[EventKind]
    type: ClassVar[str]
    _strict: ClassVar[tuple[str, ...]] = ()
    _lenient: ClassVar[tuple[str, ...]] = ()

    def admits(self, observed: Event) -> bool:
        """Tell whether the observed event is the one expected here."""
        if self == observed:
            return True
        if type(self) is not type(observed):
            return False
        for name in self._strict:
            if getattr(self, name) != getattr(observed, name):
                return False
        for name in self._lenient:
            seen = getattr(observed, name)
            if seen is not None and getattr(self, name) != seen:
                return False
        return True


# ------------------------------------------------------------------------------------------------ durable
@frozen
class TurnStart(Event):
    """Open a turn; ``trigger`` is of window."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "turn/start"
    turn: int
    trigger: Literal["message", "retry"] | None = optional()


@frozen
class TurnEnd(Event):
    """Close a turn; ``cause`` goes with reason aborted in claim (there also ``disposed``)."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "turn/end"
    turn: int
    reason: TurnReason
    cause: Literal["user", "parent", "disposed"] | None = optional()


@frozen
class StepStart(Event):
    """Open a step: one request to the model."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "step/start"
    turn: int
    step: int


@frozen
class StepEnd(Event):
    """Close a step."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "step/end"
    turn: int
    step: int


@frozen
class UserMessage(Event):
    """Commit input: a prompt or context; ``source`` is the kind of its source."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "user/message"
    id: str
    source: str | None = optional()
    text: str | None = None
    replaced: bool = field(default=False, eq=False, metadata=OFF_THE_WIRE)

    def admits(self, observed: Event) -> bool:
        """Compare id and source; text must be shown only where admission replaced it."""
        return (
            type(observed) is UserMessage
            and self.id == observed.id
            and (observed.source is None or self.source == observed.source)
            and (self.text == observed.text or (observed.text is None and not self.replaced))
        )


@frozen
class SteeringMessage(Event):
    """Commit steering inside the running turn (window)."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "steering/message"
    turn: int
    id: str
    text: str | None = optional()


@frozen
class AssistantMessage(Event):
    """Commit what the model said; ``interrupted`` marks text streamed before an abort."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "assistant/message"
    turn: int
    step: int
    tool_calls: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    text: str | None = optional()
    interrupted: bool = False


@frozen
class ToolCall(Event):
    """Record a call of the current batch."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "tool/call"
    call_id: str
    name: str | None = optional()


@frozen
class ToolResult(Event):
    """Answer a call; ``code`` is ABORTED, ABORTED_BEFORE_DISPATCH, UNKNOWN_TOOL or absent."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "tool/result"
    call_id: str
    is_error: bool = field(default=False, metadata=ALWAYS)
    code: str | None = None


@frozen
class Spliced(Event):
    """Change one inbox list durably (claim)."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = "agent/inbox/spliced"
    target: Target
    start: int
    removed_count: int
    inserted: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    outcome: Literal["canceled"] | None = None


# ------------------------------------------------------------------------------------------------ live
@frozen
class StatusChanged(Event):
    """Publish a change of status."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/status"
    status: Status


@frozen
class AgentError(Event):
    """Publish a failure of the turn or of a checkpoint."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/error"
    turn: int
    step: int | None = optional()
    message: str | None = unjudged()


@frozen
class Disposed(Event):
    """Publish that the agent is gone."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/disposed"


@frozen
class Enqueue(Event):
    """Publish an entry into a FIFO with its resolved placement (window)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/inbox/enqueue"
    id: str
    placement: Placement


@frozen
class Dequeue(Event):
    """Publish a claim from a FIFO (window)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/inbox/dequeue"
    id: str
    placement: Placement


@frozen
class Discard(Event):
    """Publish what a cancel or a disposal dropped: queued first, then steering (window)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/inbox/discard"
    ids: tuple[str, ...]


@frozen
class CancelRequested(Event):
    """Publish a cancel that does something (window)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/cancel-requested"
    cause: Cause


@frozen
class Settled(Event):
    """Publish the outcome of a turn after its checkpoint (window)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/settled"
    turn: int
    reason: Literal["completed", "aborted", "error"]


@frozen
class Inserted(Event):
    """Publish an insertion into the inbox (claim)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/inbox/inserted"
    id: str


@frozen
class Claimed(Event):
    """Publish that a step boundary took a message (claim)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/inbox/claimed"
    id: str
    turn: int


@frozen
class Discarded(Event):
    """Publish that a pending message was dropped (claim)."""

    kind: ClassVar[EventKind] = "live"
    type: ClassVar[str] = "agent/inbox/discarded"
    id: str


# ------------------------------------------------------------------------------------------------ request and driver
@frozen
class RequestMade(Event):
    """Show the model the history; precedes the model gate it belongs to."""

    kind: ClassVar[EventKind] = "request"
    type: ClassVar[str] = "request"
    messages: tuple[Seen, ...]

    def admits(self, observed: Event) -> bool:
        """Compare the shown messages one by one."""
        return (
            type(observed) is RequestMade
            and len(self.messages) == len(observed.messages)
            and all(mine.admits(theirs) for mine, theirs in zip(self.messages, observed.messages, strict=True))
        )


@frozen
class GateOpened(Event):
    """Say that a gate opened."""

    kind: ClassVar[EventKind] = "driver"
    type: ClassVar[str] = "gate/open"
    gate: str
    gate_kind: str


@frozen
class GateAborted(Event):
    """Say that a cooperative gate settled by itself on an abort."""

    kind: ClassVar[EventKind] = "driver"
    type: ClassVar[str] = "gate/aborted"
    gate: str
    gate_kind: str


@frozen
class OpThrew(Event):
    """Say that the agent refused an operation issued in a batch or inside an event."""

    kind: ClassVar[EventKind] = "driver"
    type: ClassVar[str] = "op-threw"
    method: str
    error: str | None = unjudged()


@frozen
class DisposeResolved(Event):
    """Say that a disposal resolved."""

    kind: ClassVar[EventKind] = "driver"
    type: ClassVar[str] = "dispose/resolved"


@frozen
class Warned(Event):
    """Carry a warning that the agent logged; never expected by a rule."""

    kind: ClassVar[EventKind] = "driver"
    type: ClassVar[str] = "log/warn"
    message: str | None = unjudged()


@frozen
class Unhandled(Event):
    """Say that the agent left a rejection or an exception unhandled."""

    kind: ClassVar[EventKind] = "driver"
    type: ClassVar[str] = "unhandled-rejection"
    error: str | None = unjudged()


@frozen
class PluginEvent(Event):
    """Carry an event of a type that the contract doesn't name: legal anywhere, reported, never judged."""

    kind: ClassVar[EventKind] = "session"
    type: ClassVar[str] = ""
    name: str = ""
    fields: Mapping[str, object] = field(factory=dict, hash=False)


EVENTS: Mapping[tuple[str, str], type[Event]] = {
    (cls.kind, cls.type): cls
    for cls in (
        *(TurnStart, TurnEnd, StepStart, StepEnd, UserMessage, SteeringMessage, AssistantMessage),
        *(ToolCall, ToolResult, Spliced),
        *(StatusChanged, AgentError, Disposed, Enqueue, Dequeue, Discard, CancelRequested, Settled),
        *(Inserted, Claimed, Discarded),
        *(RequestMade, GateOpened, GateAborted, OpThrew, DisposeResolved, Warned, Unhandled),
    )
}
"""Every event class by its kind and wire type."""


def _name_judged_fields(cls: type[Event]) -> None:
    """Note once per class which fields are compared always, and which only where they are shown."""
    judged = [a for a in attrs.fields(cls) if a.eq]
    cls._strict = tuple(a.name for a in judged if not a.metadata.get("optional"))
    cls._lenient = tuple(a.name for a in judged if a.metadata.get("optional"))


for _cls in (*EVENTS.values(), PluginEvent):
    _name_judged_fields(_cls)
