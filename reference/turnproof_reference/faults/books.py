"""The two books that the modules beside enter their defects in."""

from __future__ import annotations

from typing import Final

from turnproof_reference.fault import FaultBook

WINDOW: Final = FaultBook("window")
CLAIM: Final = FaultBook("claim")
