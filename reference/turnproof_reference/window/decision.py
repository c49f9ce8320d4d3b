"""The question that is asked before a prompt gets its turn, and its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from turnproof_reference.abort import AbortSignal
from turnproof_reference.messages import Message


@dataclass(frozen=True, slots=True)
class PromptSubmit:
    """Ask whether a prompt may open a turn; the signal tells when nobody wants to know any more."""

    message: Message
    signal: AbortSignal


@dataclass(frozen=True, slots=True)
class PromptDecision:
    """
    Answer whether a prompt may open a turn.

    Args:
        allow: False ends the admission and nothing of the prompt or of this decision is ever written.
        content: replaces the content of the prompt, never its identity or source.
        contexts: supplementary input that follows the prompt, each with its own source.

    Rules: W-ADM-4, W-ADM-5
    """

    allow: bool = True
    content: str | None = None
    contexts: tuple[Message, ...] = ()

    def with_context(self, *contexts: Message) -> PromptDecision:
        """Answer the same decision with more context behind; what a delegating listener returns."""
        return replace(self, contexts=self.contexts + contexts)

    def admitted(self, prompt: Message) -> Message:
        """Answer the prompt as it is admitted."""
        return prompt if self.content is None else prompt.with_text(self.content)
