"""
The reference agent of contract `window`.

Reading order: `agent` (the commands), `admission` (between turns), `turns` (one turn), `steps` (what
happens in it), `core` (the state they share).
"""

from turnproof_reference.window.agent import Agent
from turnproof_reference.window.decision import PromptDecision, PromptSubmit

__all__ = ["Agent", "PromptDecision", "PromptSubmit"]
