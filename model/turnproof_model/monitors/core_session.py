"""
Judge a driver session by all that applies to it: the rules of its contract and, through the bridge, those of ``core``.

Both hang on one stage, so that the stream is folded once.
"""

from __future__ import annotations

from turnproof_model.monitors import claim, window
from turnproof_model.monitors.base import Judge, Report, Sight
from turnproof_model.monitors.claim_stage import ClaimStage
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.monitors.core_bridge_claim import ClaimBridge
from turnproof_model.monitors.core_bridge_window import WindowBridge
from turnproof_model.monitors.stage import Stage
from turnproof_model.monitors.window_view import WindowView
from turnproof_model.observation import Profile


def judge(profile: Profile, sees: frozenset[Sight], report: Report) -> Judge:
    """Make the judge of a session by the rules of its contract and of ``core``."""
    if profile.contract == "window":
        return Stage(WindowView(profile, sees), (*window.MONITORS, WindowBridge), report)
    return ClaimStage(ClaimView(profile, sees), (*claim.MONITORS, ClaimBridge), report)


def core_judge(profile: Profile, sees: frozenset[Sight], report: Report) -> Judge:
    """Make the judge of a session by the rules of ``core`` alone."""
    if profile.contract == "window":
        return Stage(WindowView(profile, sees), (WindowBridge,), report)
    return ClaimStage(ClaimView(profile, sees), (ClaimBridge,), report)
