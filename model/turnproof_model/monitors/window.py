"""
Gather the monitors of contract ``window``, family by family.
"""

from __future__ import annotations

from turnproof_model.monitors import (
    window_admission,
    window_cancel,
    window_disposal,
    window_dropping,
    window_fifo,
    window_log,
    window_rejection,
    window_routing,
    window_settling,
    window_staging,
    window_steps,
    window_turns,
    window_waking,
    window_window,
)
from turnproof_model.monitors.base import Judge, Report, Sight
from turnproof_model.monitors.stage import Stage
from turnproof_model.monitors.window_monitor import WindowMonitor
from turnproof_model.monitors.window_view import WindowView
from turnproof_model.observation import Profile

MONITORS: tuple[type[WindowMonitor], ...] = (
    *window_routing.MONITORS,
    *window_window.MONITORS,
    *window_fifo.MONITORS,
    *window_waking.MONITORS,
    *window_admission.MONITORS,
    *window_rejection.MONITORS,
    *window_staging.MONITORS,
    *window_turns.MONITORS,
    *window_settling.MONITORS,
    *window_steps.MONITORS,
    *window_cancel.MONITORS,
    *window_dropping.MONITORS,
    *window_disposal.MONITORS,
    *window_log.MONITORS,
)
"""One monitor or more for each rule of the contract."""


def judge(profile: Profile, sees: frozenset[Sight], report: Report) -> Judge:
    """Make the judge of contract ``window``."""
    return Stage(WindowView(profile, sees), MONITORS, report)
