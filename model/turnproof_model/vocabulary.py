"""
Name what passes between a caller, an Agent and its surroundings, as frozen values.

Message, source, outcome, command, gate, event, observation: the words of the contract, one class each. There is one
message type; a human prompt is told from supplementary input by ``source.kind`` alone. Wire names are the camelCase
of the field names (``wire.py``); the published JSON Schema is generated from these classes (``schema.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from attrs import field, frozen, validators

Contract: TypeAlias = Literal["window", "claim"]
"""A frozen rule set that a candidate is judged by."""

Target: TypeAlias = Literal["next-turn", "next-step"]
"""Which list a sent message asks for."""

Cause: TypeAlias = Literal["user", "parent"]
"""Who cancelled."""

Status: TypeAlias = Literal["idle", "running"]

GateKind: TypeAlias = Literal[
    "prompt-submit", "pre-step", "step", "model", "tool", "request-error", "turn-stopping", "flush"
]
"""What the agent waits for outside itself."""

AbortStyle: TypeAlias = Literal["settle", "park"]
"""How an open gate answers an abort: by settling itself, or not before it is released."""

ResumeMode: TypeAlias = Literal["crash", "clean", "fork", "compact"]

TURN_GATES: Mapping[Contract, tuple[GateKind, ...]] = {
    "window": ("prompt-submit", "model", "tool", "turn-stopping", "request-error"),
    "claim": ("pre-step", "model", "tool", "turn-stopping", "request-error"),
}
"""The kinds a reset gates when it names none, in the order of the contract."""

OPTIONAL_GATES: Mapping[Contract, tuple[GateKind, ...]] = {"window": ("step", "flush"), "claim": ("flush",)}
"""The kinds a reset may gate besides, where the driver declares them."""

CAPABILITIES: tuple[str, ...] = (
    *("batch", "arm", "arm.defer", "arm.where", "gates.select", "onAbort.select"),
    *("inbox", "acceptsNextStep", "whenIdle", "keepInbox", "dispose", "resume", "fork", "compact"),
    *("flush", "step-gate", "request-error", "model.partial", "tools.parallel", "tools.exclusive"),
    *("tool.contexts", "tool.concludes", "prompt.content", "prompt.contexts"),
    *("inbox.remove", "inbox.replace", "inbox.prepend", "sessionReentry", "goal", "reference"),
)
"""What a driver may declare of its agent; the protocol's page says what each means."""

LANES = "lanes"
"""What a driver may declare of itself: it holds several agents side by side."""


ALWAYS: Mapping[str, object] = {"wire": "always"}
"""Marks a field that the wire carries even at its default."""

OFF_THE_WIRE: Mapping[str, object] = {"wire": False}
"""Marks a field that the wire doesn't carry."""


def count(default: int, least: int) -> Any:
    """Mark a whole number with a lower bound."""
    return field(default=default, validator=validators.ge(least), metadata={"minimum": least})


# ------------------------------------------------------------------------------------------------ messages
@frozen
class Source:
    """Say who produced a message; ``kind`` ``user`` is a person, anything else is supplementary input."""

    kind: str
    details: Mapping[str, object] = field(factory=dict, hash=False)


USER = Source("user")


@frozen
class Message:
    """Hold one value that is the same in the inbox, in the log and in the request."""

    id: str
    text: str
    source: Source = field(default=USER, metadata=ALWAYS)


@frozen
class Call:
    """Name one tool call of an assistant message."""

    id: str
    name: str


# ------------------------------------------------------------------------------------------------ outcomes of gates
@frozen
class Allow:
    """Admit the prompt, its content perhaps replaced, with contexts of the hook behind it."""

    kind: ClassVar[str] = "allow"
    content: str | None = None
    additional_contexts: tuple[Message, ...] = ()


@frozen
class Block:
    """Refuse the prompt; what the hook added goes with it."""

    kind: ClassVar[str] = "block"
    additional_contexts: tuple[Message, ...] = ()


@frozen
class Throw:
    """Fail in the hook."""

    kind: ClassVar[str] = "throw"


@frozen
class Enter:
    """Enter a step with this complete batch; ``None`` is the claimed one, an id names a message sent before."""

    kind: ClassVar[str] = "enter"
    messages: tuple[Message | str, ...] | None = None


@frozen
class Reject:
    """Enter no step; the claimed batch is gone."""

    kind: ClassVar[str] = "reject"


@frozen
class Continue:
    """Let the loop go on as it would."""

    kind: ClassVar[str] = "continue"


@frozen
class Text:
    """Answer with text and stop."""

    kind: ClassVar[str] = "text"
    text: str = "reply"


@frozen
class Tools:
    """Answer with tool calls."""

    kind: ClassVar[str] = "tools"
    calls: tuple[Call, ...]
    text: str = ""


@frozen
class MaxTokens:
    """Hit the ceiling, perhaps with calls already made."""

    kind: ClassVar[str] = "max-tokens"
    text: str = "reply"
    calls: tuple[Call, ...] = ()


@frozen
class Partial:
    """Stream some text and go on waiting on a new model gate."""

    kind: ClassVar[str] = "partial"
    text: str


@frozen
class Error:
    """Fail in the model or in a tool."""

    kind: ClassVar[str] = "error"
    message: str | None = None
    additional_contexts: tuple[Message, ...] = ()
    concludes: bool = False


@frozen
class Result:
    """Return from a tool."""

    kind: ClassVar[str] = "result"
    additional_contexts: tuple[Message, ...] = ()
    concludes: bool = False


@frozen
class GiveUp:
    """Leave a failed request failed."""

    kind: ClassVar[str] = "give-up"


@frozen
class Retry:
    """Ask the model again."""

    kind: ClassVar[str] = "retry"


@frozen
class Ok:
    """Reach durability."""

    kind: ClassVar[str] = "ok"


@frozen
class Fail:
    """Fail to reach durability."""

    kind: ClassVar[str] = "fail"


Outcome: TypeAlias = (
    Allow
    | Block
    | Throw
    | Enter
    | Reject
    | Continue
    | Text
    | Tools
    | MaxTokens
    | Partial
    | Error
    | Result
    | GiveUp
    | Retry
    | Ok
    | Fail
)

DEFAULT_OUTCOME: Mapping[GateKind, Outcome] = {
    "prompt-submit": Allow(),
    "pre-step": Enter(),
    "step": Continue(),
    "model": Text(),
    "tool": Result(),
    "request-error": GiveUp(),
    "turn-stopping": Continue(),
    "flush": Ok(),
}
"""What a kind that is not gated does by itself."""

OUTCOMES: Mapping[GateKind, tuple[type[Outcome], ...]] = {
    "prompt-submit": (Allow, Block, Throw),
    "pre-step": (Enter, Reject, Throw),
    "step": (Continue, Throw),
    "model": (Text, Tools, MaxTokens, Error, Partial),
    "tool": (Result, Error),
    "request-error": (GiveUp, Retry, Throw),
    "turn-stopping": (Continue, Throw),
    "flush": (Ok, Fail),
}
"""The outcomes that a gate of each kind takes."""


# ------------------------------------------------------------------------------------------------ commands
@frozen
class Send:
    """Deliver a message; ``preset`` names the abbreviation it was called by, if any (W-SEND-1, C-SEND-1)."""

    message: Message
    target: Target = field(default="next-turn", metadata=ALWAYS)
    wakeup: bool = field(default=True, metadata=ALWAYS)
    preset: Literal["followup", "steer", "inject"] | None = field(default=None, metadata=OFF_THE_WIRE)

    @property
    def method(self) -> str:
        """The wire method."""
        return self.preset or "send"


def followup(message: Message) -> Send:
    """Queue a prompt for a turn of its own."""
    return Send(message, "next-turn", wakeup=True, preset="followup")


def steer(message: Message) -> Send:
    """Join the running turn at its next step and make the model run."""
    return Send(message, "next-step", wakeup=True, preset="steer")


def inject(message: Message) -> Send:
    """Supply context without asking the model to run."""
    return Send(message, "next-step", wakeup=False, preset="inject")


@frozen
class Cancel:
    """Abort the current activity; without ``keep_inbox`` drop what is pending."""

    method: ClassVar[str] = "cancel"
    cause: Cause = field(default="user", metadata=ALWAYS)
    keep_inbox: bool = False


@frozen
class Dispose:
    """Cancel for good."""

    method: ClassVar[str] = "dispose"


@frozen
class Release:
    """Settle one open gate, named by id or as the oldest of its kind."""

    method: ClassVar[str] = "release"
    outcome: Outcome
    gate: str | None = None
    kind: GateKind | None = None


@frozen
class Remove:
    """Take a pending message out of the inbox (claim)."""

    method: ClassVar[str] = "remove"
    id: str


@frozen
class Replace:
    """Swap a pending message in place (claim)."""

    method: ClassVar[str] = "replace"
    id: str
    message: Message


@frozen
class Prepend:
    """Put a message at the head of a list, waking nobody (claim)."""

    method: ClassVar[str] = "prepend"
    target: Target
    message: Message


@frozen
class Reference:
    """Deliver a prompt with a snapshot of another session (W-XREF-1, C-XREF-1)."""

    method: ClassVar[str] = "reference"
    message: Message
    snapshot: Message


@frozen
class Arm:
    """Perform operations inside the nth matching event, or ``defer`` scheduler breaks after it."""

    method: ClassVar[str] = "arm"
    on: str
    ops: tuple[Operation, ...]
    where: Mapping[str, object] = field(factory=dict, hash=False)
    nth: int = count(1, least=1)
    defer: int = count(0, least=0)


Operation: TypeAlias = Send | Cancel | Dispose | Release | Remove | Replace | Prepend | Reference | Arm
"""What may be done in a caller's stack: alone, in a batch, or inside an event."""


@frozen
class Batch:
    """Perform operations in one synchronous stack."""

    method: ClassVar[str] = "batch"
    ops: tuple[Operation, ...]


@frozen
class Reset:
    """Begin with a brand-new agent on a new session."""

    method: ClassVar[str] = "reset"
    gates: tuple[GateKind, ...] | None = None
    on_abort: Mapping[GateKind, AbortStyle] = field(factory=dict, hash=False)


@frozen
class Resume:
    """Go on with a new agent over the log so far."""

    method: ClassVar[str] = "resume"
    mode: ResumeMode = field(default="crash", metadata=ALWAYS)


@frozen
class Goal:
    """Ask for the goal state folded from the log (W-GOAL-1)."""

    method: ClassVar[str] = "goal"


@frozen
class Inspect:
    """Only observe."""

    method: ClassVar[str] = "inspect"


@frozen
class Initialize:
    """Open the conversation with a driver."""

    method: ClassVar[str] = "initialize"
    protocol: int = field(default=1, metadata=ALWAYS)


@frozen
class Shutdown:
    """Close the conversation with a driver."""

    method: ClassVar[str] = "shutdown"


Command: TypeAlias = Operation | Batch | Reset | Resume | Goal | Inspect
"""What is judged: each is answered by one observation."""

Request: TypeAlias = Command | Initialize | Shutdown
"""Everything that can be asked of a driver."""


# ------------------------------------------------------------------------------------------------ what the model sees
@frozen
class Seen:
    """
    Show one message as the model saw it: input (``id``), an assistant message, or a tool result.

    ``text`` and ``is_error`` may be absent in an observation; ``text`` not where ``replaced`` (the accepted content
    was replaced at admission).
    """

    role: Literal["user", "assistant"]
    id: str | None = None
    text: str | None = None
    tool_calls: tuple[str, ...] | None = None
    tool_result: str | None = None
    is_error: bool | None = None
    replaced: bool = field(default=False, eq=False, metadata=OFF_THE_WIRE)

    def admits(self, observed: Seen) -> bool:
        """Tell whether the observed form shows this message; text left out is not held against it."""
        return (
            self.role == observed.role
            and self.id == observed.id
            and (self.tool_calls or ()) == (observed.tool_calls or ())
            and self.tool_result == observed.tool_result
            and (self.is_error == observed.is_error or observed.is_error is None)
            and (self.text == observed.text or (observed.text is None and not self.replaced))
        )
