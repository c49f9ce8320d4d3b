"""
Say what the monitors of contract ``window`` have in common.
"""

from __future__ import annotations

from collections.abc import Iterable

from turnproof_model.monitors.base import Monitor
from turnproof_model.monitors.facts import Entry
from turnproof_model.monitors.window_view import WindowView


class WindowMonitor(Monitor[WindowView]):
    """Be a monitor of contract ``window``."""


def ids(entries: Iterable[Entry]) -> list[str]:
    """List the ids of entries."""
    return [entry.id for entry in entries]
