"""
Keep the last exchanges of a conversation, as many for each lane: what one lane was asked explains nothing of another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from turnproof.faults import Exchange


class Exchanges:
    """
    Remember requests and what came back.

    Args:
        most: how many are kept of a lane, ≥ 1.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._lanes: dict[int, deque[tuple[int, str, Mapping[str, Any], Any]]] = {}  # the number comes first

    def add(self, method: str, params: Mapping[str, Any], answer: Any, lane: int) -> None:
        """Remember one exchange; ``answer`` is ``None`` where nothing came."""
        if lane not in self._lanes:
            self._lanes[lane] = deque(maxlen=self._most)
        self._count += 1
        self._lanes[lane].append((self._count, method, params, answer))

    def clear(self) -> None:
        """Forget them all."""
        self._lanes.clear()

    def of(self, lane: int) -> tuple[Exchange, ...]:
        """List those of one lane, oldest first."""
        return tuple(exchange for _, exchange in self._numbered(lane))

    def all(self) -> tuple[Exchange, ...]:
        """List those of all lanes, oldest first."""
        kept = [numbered for lane in self._lanes for numbered in self._numbered(lane)]
        return tuple(exchange for _, exchange in sorted(kept, key=itemgetter(0)))

    def _numbered(self, lane: int) -> Iterator[tuple[int, Exchange]]:
        for number, method, params, answer in self._lanes.get(lane, ()):
            yield number, Exchange(method, params, answer, lane)
