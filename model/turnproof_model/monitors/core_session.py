"""
Judge a driver session by the rules of ``core``, beside those of its contract.
"""

from __future__ import annotations

from turnproof_model.monitors.base import Judge, Report, Sight
from turnproof_model.monitors.claim_stage import ClaimStage
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.monitors.core_bridge_claim import ClaimBridge
from turnproof_model.monitors.core_bridge_window import WindowBridge
from turnproof_model.monitors.stage import Stage
from turnproof_model.monitors.window_view import WindowView
from turnproof_model.observation import Profile


def judge(profile: Profile, sees: frozenset[Sight], report: Report) -> Judge:
    """Make the judge that writes the session down as a trace and judges that."""
    if profile.contract == "window":
        return Stage(WindowView(profile, sees), (WindowBridge,), report)
    return ClaimStage(ClaimView(profile, sees), (ClaimBridge,), report)
