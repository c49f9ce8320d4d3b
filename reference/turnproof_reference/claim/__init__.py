"""
The reference agent of contract `claim`.

Input always waits in one durable inbox of two lists. Each step boundary claims a batch at one stroke, and one
decision enters or rejects that batch inside the turn.

Reading order: `pending` (the inbox), `turn` and `step` (what a turn does), `loop` (turn after turn, cancel, rest),
`agent` (what a caller can do).
"""

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.decisions import Decision, Enter, PreStep, Reject
from turnproof_reference.claim.errors import AgentGone, AlreadyPending, LogIsPublishing
from turnproof_reference.claim.inbox import Inbox

__all__ = [
    "Agent",
    "AgentGone",
    "AlreadyPending",
    "Decision",
    "Enter",
    "Inbox",
    "LogIsPublishing",
    "PreStep",
    "Reject",
]
