"""
The values that a conversation is made of.

There is one message type for whatever reaches the model in the user's role: prompts, steering and supplementary input
differ by `source` alone. A message is frozen the moment it is made, so the value that waits in an inbox, the value in
the log and the value that the model is shown are one and the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

Target: TypeAlias = Literal["next-turn", "next-step"]
"""Where a message wants to be taken up: in a turn of its own, or at the next step of whichever turn comes."""

NEXT_TURN: Final = "next-turn"
NEXT_STEP: Final = "next-step"

_SHAPE = "message {field} must be {wanted} (got {got!r}); make it with Message(id, text, source)"


class MessageError(ValueError):
    """Tell that a message is not well formed; nothing was accepted."""


@dataclass(frozen=True, slots=True)
class Message:
    """
    Carry one identified, immutable piece of user-role input.

    Args:
        id: the caller's identity of it, not empty; used in every event, log entry and request.
        text: the content.
        source: where it comes from, `{"kind": ..., ...}`; the kind `user` is a person. Frozen deeply on the way in.

    Raises:
        MessageError: when a field has another shape.

    Rules: W-SEND-1, W-LOG-1, W-LOG-2, C-SEND-1
    """

    id: str
    text: str
    source: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not (self.id and isinstance(self.id, str)):
            raise MessageError(_SHAPE.format(field="id", wanted="a non-empty string", got=self.id))
        if not isinstance(self.text, str):
            raise MessageError(_SHAPE.format(field="text", wanted="a string", got=self.text))
        source: Any = self.source  # callers may be untyped
        if not isinstance(source, Mapping) or not isinstance(source.get("kind"), str):
            raise MessageError(_SHAPE.format(field="source", wanted="a mapping with a string 'kind'", got=source))
        object.__setattr__(self, "source", freeze(source))

    def __hash__(self) -> int:
        # The source is part of equality but a mapping has no hash; two values that agree here are rare enough.
        return hash((self.id, self.text))

    @property
    def kind(self) -> str:
        """Answer the kind of the source."""
        kind: str = self.source["kind"]
        return kind

    def with_text(self, text: str) -> Message:
        """
        Answer the same message, identity and source included, with other content.

        Rules: W-ADM-4
        """
        return replace(self, text=text)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """
    Ask for one run of a tool.

    Args:
        id: unique among the calls of a session.
        name: of the tool; a name that nobody offers is answered by an error result.
        arguments: JSON text as the model wrote it.
    """

    id: str
    name: str
    arguments: str = "{}"


def freeze(value: Any) -> Any:
    """Answer a deeply immutable copy of a JSON value: mappings become read-only views, lists become tuples."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """Answer the plain JSON value, dictionaries and lists, of a frozen one."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value
