"""
Say what a monitor of ``core`` is: one rule over a trace, for which the trace must hold some kinds of record.
"""

from __future__ import annotations

from typing import ClassVar

from turnproof_model import trace as t
from turnproof_model.monitors.base import Monitor
from turnproof_model.monitors.core_view import CoreView


class CoreMonitor(Monitor[CoreView]):
    """
    Judge one rule over the records of a trace.

    ``kinds`` must be held completely for the rule to apply; a clause that needs more asks the view.
    """

    kinds: ClassVar[tuple[t.TraceKind, ...]]

    def finish(self) -> None:
        """Judge what only the end of the trace can tell; most rules have nothing to add."""
