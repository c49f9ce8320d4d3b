"""The question that the agent asks before each step, and the two answers to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from turnproof_reference.abort import AbortSignal
from turnproof_reference.messages import Message


@dataclass(frozen=True, slots=True)
class PreStep:
    """
    Propose a step.

    Args:
        turn: number of the open turn.
        step: number that the step will have.
        claimed: the batch in its order; empty when nothing waited.
        signal: aborted when the answer is no longer wanted.
    """

    turn: int
    step: int
    claimed: tuple[Message, ...]
    signal: AbortSignal


@dataclass(frozen=True, slots=True)
class Enter:
    """
    Let the step open with exactly these messages, in this order.

    Rules: C-PRE-1, C-PRE-4
    """

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Reject:
    """
    Close the turn instead; what was claimed is dropped.

    Rules: C-PRE-2
    """


Decision: TypeAlias = Enter | Reject


def enter_what_was_claimed(question: PreStep) -> Decision:
    """Answer as the agent does when nobody else decides."""
    return Enter(question.claimed)
