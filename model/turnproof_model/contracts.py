"""
Open the rule books by contract name, and say which rules speak when something unforeseen is seen.

``rule_book`` is the one door to the machines. ``forbids`` and ``SHOWS`` answer the question that an expected event
answers by itself: which rule is broken when an event comes that nothing demanded, or when a field of an observation
differs.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from turnproof_model import events as e
from turnproof_model.rulebook import RuleBook
from turnproof_model.vocabulary import Contract

CONTRACTS: tuple[Contract, ...] = ("window", "claim")
"""The frozen rule sets."""


def rule_book(contract: str) -> RuleBook[Any]:
    """
    Open the rules of a contract.

    Raises:
        ValueError: there is no such contract.
    """
    if contract not in CONTRACTS:
        raise ValueError(f"a contract is one of {', '.join(CONTRACTS)} (got {contract!r})")
    book: RuleBook[Any] = importlib.import_module(f"turnproof_model.{contract}").BOOK
    return book


_FORBIDS: Mapping[Contract, Mapping[type[e.Event], tuple[str, ...]]] = {
    "window": {
        e.TurnStart: ("W-TURN-4",),
        e.TurnEnd: ("W-TURN-1",),
        e.StepStart: ("W-STEP-1",),
        e.StepEnd: ("W-STEP-1",),
        e.UserMessage: ("W-FIFO-6",),
        e.SteeringMessage: ("W-FIFO-6",),
        e.AssistantMessage: ("W-CAN-1",),
        e.ToolCall: ("W-STEP-3",),
        e.ToolResult: ("W-STEP-3",),
        e.StatusChanged: ("W-STAT-1",),
        e.AgentError: ("W-TURN-5",),
        e.Disposed: ("W-DIS-2",),
        e.DisposeResolved: ("W-DIS-2",),
        e.Enqueue: ("W-FIFO-1",),
        e.Dequeue: ("W-TURN-4", "W-FIFO-2"),
        e.Discard: ("W-FIFO-8",),
        e.CancelRequested: ("W-CAN-4",),
        e.Settled: ("W-TURN-6",),
        e.RequestMade: ("W-STEP-1",),
        e.GateOpened: ("W-TURN-4",),
        e.GateAborted: ("W-CAN-5",),
        e.OpThrew: ("W-SEND-1",),
    },
    "claim": {
        e.TurnStart: ("C-TURN-6",),
        e.TurnEnd: ("C-TURN-1",),
        e.StepStart: ("C-STEP-1",),
        e.StepEnd: ("C-STEP-1",),
        e.UserMessage: ("C-PRE-1",),
        e.AssistantMessage: ("C-STEP-1",),
        e.ToolCall: ("C-STEP-2",),
        e.ToolResult: ("C-STEP-2",),
        e.Spliced: ("C-CLAIM-4",),
        e.StatusChanged: ("C-WAKE-3", "C-STAT-1"),
        e.AgentError: ("C-TURN-5",),
        e.Disposed: ("C-DIS-1",),
        e.DisposeResolved: ("C-DIS-1",),
        e.Inserted: ("C-SEND-2",),
        e.Claimed: ("C-CLAIM-1",),
        e.Discarded: ("C-CLAIM-4",),
        e.RequestMade: ("C-STEP-1",),
        e.GateOpened: ("C-PRE-1",),
        e.GateAborted: ("C-CAN-1",),
        e.OpThrew: ("C-SEND-1",),
    },
}
"""The rules broken by an event of this class that no rule demanded, most telling first."""

_UNASKED_ABORT: Mapping[Contract, tuple[str, ...]] = {"window": ("W-CAN-5",), "claim": ("C-CAN-5", "C-CAN-1")}


def forbids(contract: Contract, event: e.Event) -> tuple[str, ...]:
    """Name the rules that are broken by an event that no rule demanded, most telling first."""
    if is_abort(event):
        return _UNASKED_ABORT[contract]
    return _FORBIDS[contract].get(type(event), ())


def is_abort(event: e.Event | None) -> bool:
    """Tell whether a turn ends aborted here: where nothing demanded it, that outranks what was expected instead."""
    return isinstance(event, e.TurnEnd) and event.reason == "aborted"


SHOWS: Mapping[Contract, Mapping[str, tuple[str, ...]]] = {
    "window": {
        "gates": ("W-CAN-1",),
        "gate_numbers": ("W-STEP-1",),
        "status": ("W-STAT-1",),
        "accepts_next_step": ("W-WIN-2",),
        "inbox": ("W-FIFO-7",),
        "when_idle": ("W-STAT-2",),
        "refused": ("W-SEND-1",),
        "goal": ("W-GOAL-1",),
    },
    "claim": {
        "gates": ("C-CAN-1",),
        "gate_numbers": ("C-STEP-1",),
        "status": ("C-STAT-1",),
        "inbox": ("C-CLAIM-4",),
        "when_idle": ("C-STAT-1",),
        "refused": ("C-SEND-1",),
        "answer": ("C-EDIT-1",),
        "goal": ("C-LOG-1",),
    },
}
"""The rules broken by an observation whose field differs from what the rules say."""
