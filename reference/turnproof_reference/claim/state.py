"""What the parts of one agent share."""

from __future__ import annotations

from dataclasses import dataclass

from turnproof_reference.claim.pending import PendingInput
from turnproof_reference.publish import Publisher
from turnproof_reference.session import SessionLog


@dataclass(frozen=True, slots=True)
class Parts:
    """Hold the log, the listeners and the waiting input of one agent."""

    log: SessionLog
    publisher: Publisher
    pending: PendingInput
