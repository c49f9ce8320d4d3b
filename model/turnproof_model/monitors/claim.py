"""
Gather the monitors of contract ``claim``, in the order of its rules.
"""

from __future__ import annotations

from turnproof_model.monitors import (
    claim_boundary,
    claim_cancel,
    claim_disposal,
    claim_durable,
    claim_edits,
    claim_exits,
    claim_idle,
    claim_log,
    claim_reference,
    claim_sends,
    claim_step,
    claim_tools,
    claim_turn,
    claim_wake,
)
from turnproof_model.monitors.base import Judge, Report, Sight
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_stage import ClaimStage
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.observation import Profile

MONITORS: tuple[type[ClaimMonitor], ...] = (
    *claim_sends.MONITORS,
    *claim_wake.MONITORS,
    *claim_exits.MONITORS,
    *claim_durable.MONITORS,
    *claim_boundary.MONITORS,
    *claim_turn.MONITORS,
    *claim_step.MONITORS,
    *claim_tools.MONITORS,
    *claim_idle.MONITORS,
    *claim_edits.MONITORS,
    *claim_cancel.MONITORS,
    *claim_disposal.MONITORS,
    *claim_log.MONITORS,
    *claim_reference.MONITORS,
)


def judge(profile: Profile, sees: frozenset[Sight], report: Report) -> Judge:
    """Make the judge of contract ``claim``."""
    return ClaimStage(ClaimView(profile, sees), MONITORS, report)
