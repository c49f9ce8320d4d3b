"""
Collect cyclic garbage seldom while a search runs.

A search makes values by the million and hardly a cycle, so that the collector, at its usual pace, goes through live
values for a tenth of the time. Its pace is given back at the end.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 50_000
"""Containers made since the last collection before there is another one: some ten megabytes of values."""


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Let the collector wait for more garbage than usual; a pace that is slower already, or none at all, stays."""
    usual = gc.get_threshold()
    if 0 < usual[0] < SELDOM:
        gc.set_threshold(SELDOM, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
