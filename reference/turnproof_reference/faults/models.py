"""Models that are asked something else than the agent means to ask, for the defects of both contracts."""

from __future__ import annotations

from dataclasses import replace

from turnproof_reference.events import HistoryEntry
from turnproof_reference.messages import Message
from turnproof_reference.model import Model, ModelRequest, Reply


def forgetful(model: Model) -> Model:
    """Show a model the last one only of several messages in a row."""

    async def ask(request: ModelRequest) -> Reply:
        seen = request.messages
        kept = tuple(m for m, after in zip(seen, (*seen[1:], None), strict=True) if not _both_input(m, after))
        return await model(replace(request, messages=kept))

    return ask


def _both_input(entry: HistoryEntry, after: HistoryEntry | None) -> bool:
    return isinstance(entry, Message) and isinstance(after, Message)
