"""A reference agent that declares less than it can, so that a whole tour of it is short; it may break down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from turnproof.candidate import InProcessCandidate
from turnproof_reference.driver import Driver

DECLARED = ("inbox", "acceptsNextStep", "whenIdle", "keepInbox", "request-error", "sessionReentry")


class ModestDriver:
    """Keep all capabilities but a few to itself, and break down at one request of many, if asked to."""

    def __init__(
        self,
        loop: Any,
        declared: Sequence[str] = ("inbox",),
        contract: str = "window",
        fault: str | None = None,
        requests: Any = None,
        breaks_at: int = -1,
    ) -> None:
        self._driver = Driver(loop=loop, contract=contract, **({} if fault is None else {"fault": fault}))
        self._declared = declared
        self._requests = requests or count()
        self._breaks_at = breaks_at

    def perform(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        if next(self._requests) == self._breaks_at:
            raise RuntimeError("this driver ends here")
        answer = self._driver.perform(method, params)
        if method == "initialize" and answer is not None:
            return answer | {"capabilities": dict.fromkeys(self._declared, True)}
        return answer

    def observe(self) -> dict[str, Any]:
        return self._driver.observe()


def modest(
    contract: str = "window", fault: str | None = None, declared: Sequence[str] = DECLARED, breaks_at: int = -1
) -> InProcessCandidate:
    """Name such a candidate; ``breaks_at`` counts the requests of all its conversations."""
    named = {"contract": contract, "fault": fault, "declared": declared}
    return InProcessCandidate(ModestDriver, named | {"requests": count(), "breaks_at": breaks_at})
