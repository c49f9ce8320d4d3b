"""
Bound what a driver may take before it counts as broken.
"""

from __future__ import annotations

from typing import Any

from attrs import field, frozen, validators


def _positive(default: float | None) -> Any:
    return field(default=default, validator=validators.optional(validators.gt(0)))


@frozen
class Limits:
    """
    Hold the bounds of one conversation, all above zero.

    Args:
        start_seconds: from the start of a driver to its answer to ``initialize``; a runtime may take its time.
        request_seconds: from a request to its whole answer.
        run_seconds: from the first start of a client's driver on, over all restarts; ``None`` for no bound.
        grace_seconds: from being asked to end to being killed.
        line_bytes: of unread output, so also of one answer.
        stderr_bytes: of free text per request.
        stderr_tail: bytes of free text that are kept.
        exchanges: requests and answers that are kept of each lane.
        callbacks: callbacks per request of a candidate in the same process.
    """

    start_seconds: float = _positive(30.0)
    request_seconds: float = _positive(10.0)
    run_seconds: float | None = _positive(None)
    grace_seconds: float = _positive(1.0)
    line_bytes: int = _positive(1 << 24)
    stderr_bytes: int = _positive(1 << 24)
    stderr_tail: int = _positive(1 << 13)
    exchanges: int = _positive(32)
    callbacks: int = _positive(100_000)


DEFAULT_LIMITS = Limits()
