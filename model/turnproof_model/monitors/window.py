"""
Gather the monitors of contract ``window``, in the order of its rules.
"""

from __future__ import annotations

from typing import Any

from turnproof_model.monitors.base import Judge, Monitor, Report, Sight
from turnproof_model.monitors.stage import Stage
from turnproof_model.monitors.window_view import WindowView
from turnproof_model.observation import Profile

MONITORS: tuple[type[Monitor[Any]], ...] = ()


def judge(profile: Profile, sees: frozenset[Sight], report: Report) -> Judge:
    """Make the judge of contract ``window``."""
    return Stage(WindowView(profile, sees), MONITORS, report)
