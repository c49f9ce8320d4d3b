"""
Tell where a run took place: the versions and the platform that its reader may want to know.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version


def environment() -> Mapping[str, str]:
    """Name the versions of turnproof, Hypothesis and Python, and the platform."""
    return {
        "turnproof": version("turnproof"),
        "hypothesis": version("hypothesis"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
