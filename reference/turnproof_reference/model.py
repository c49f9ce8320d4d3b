"""
What the agent asks of a language model, and what it gets.

A model is any async callable from a `ModelRequest` to a `Reply`. It raises `ModelError` when it fails and `Aborted`
when it gave up because of the signal. Text that should survive an abort is announced with `request.stream`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import HistoryEntry
from turnproof_reference.messages import ToolCall


class Finish(Enum):
    """Say why the model stopped."""

    STOP = "stop"
    TOOL_CALLS = "tool-calls"
    MAX_TOKENS = "max-tokens"


@dataclass(frozen=True, slots=True)
class Reply:
    """Hold the whole answer of a model: its text and its calls in order."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """
    Show the conversation to a model.

    Args:
        turn: number of the open turn.
        step: number of the open step in its turn.
        messages: the log's messages in log order.
        signal: aborted when the answer is no longer wanted.
    """

    turn: int
    step: int
    messages: tuple[HistoryEntry, ...]
    signal: AbortSignal
    _streamed: list[str] = field(default_factory=list, repr=False, compare=False)

    def stream(self, text: str) -> None:
        """
        Announce a piece of the answer while the rest is still being made.

        Raises:
            Aborted: when the answer is no longer wanted; the piece is dropped.
        """
        self.signal.check()
        self._streamed.append(text)

    @property
    def streamed(self) -> str:
        """Answer the text announced so far."""
        return "".join(self._streamed)


class ModelError(Exception):
    """Say that a request failed; `str()` of it is the failure that the agent reports."""


Model: TypeAlias = Callable[[ModelRequest], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """Ask what to do about a failed request."""

    turn: int
    step: int
    error: Exception
    signal: AbortSignal


class Recovery(Enum):
    """Answer a failed request."""

    GIVE_UP = "give-up"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class TurnStopping:
    """Announce that the turn is about to end; a listener may still add input or fail the turn by raising."""

    turn: int
    signal: AbortSignal


@dataclass(frozen=True, slots=True)
class BeforeStep:
    """Announce that a step is about to open; a listener fails the turn by raising."""

    turn: int
    step: int
    signal: AbortSignal
