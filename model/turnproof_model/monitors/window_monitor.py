"""
Say what the monitors of contract ``window`` have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from turnproof_model.monitors.base import Monitor
from turnproof_model.monitors.facts import Entry
from turnproof_model.monitors.window_facts import Staged
from turnproof_model.monitors.window_view import WindowView

WELL_ENDED = frozenset({"completed", "max-tokens"})
"""Reasons of a turn that ran to its own end."""


class WindowMonitor(Monitor[WindowView]):
    """Be a monitor of contract ``window``."""


def ids(entries: Iterable[Entry | Staged]) -> list[str]:
    """List the ids of entries, or of what is staged."""
    return [entry.id for entry in entries]


def in_order(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Tell whether ``part`` is what is left of ``whole`` after taking some out."""
    rest: Iterator[str] = iter(whole)
    return all(item in rest for item in part)
