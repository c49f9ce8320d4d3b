"""
Say what the monitors of contract ``claim`` have in common.
"""

from __future__ import annotations

from collections.abc import Sequence

from turnproof_model.monitors.base import Monitor
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.monitors.facts import Entry


class ClaimMonitor(Monitor[ClaimView]):
    """Judge one rule of contract ``claim``."""


def names(entries: Sequence[Entry]) -> str:
    """Name entries in a sentence."""
    return ", ".join(entry.id for entry in entries)
