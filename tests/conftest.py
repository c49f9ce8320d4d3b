"""What all tests share: Hypothesis draws the same examples on every machine, and keeps no database."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("turnproof", derandomize=True, database=None, deadline=None)
settings.load_profile("turnproof")
