"""
Read bytes as choices: the digits of whole numbers, in whatever base a choice asks for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define

CHUNK = 12
"""Bytes read at once: choices are the digits of one whole number made of them."""

SMALLEST = 1 << 16
"""Read again below this remainder: what is left would favour small digits."""

SCHEDULE_BYTES = 256
"""Bytes of one schedule: some 40 commands."""

SEED_BYTES = 32
"""Bytes that Hypothesis draws at once: it draws every byte by itself, and has much to do around each drawing."""

SPREAD = 16
"""Schedules spread from one seed: drawing costs less then than a hundredth of what is searched with it."""


def spread(seed: bytes) -> Iterator[bytes]:
    """Make the bytes of several schedules from one seed."""
    return (hashlib.shake_256(seed + bytes([number])).digest(SCHEDULE_BYTES) for number in range(SPREAD))


class DiceSpentError(Exception):
    """Say that a byte string has no choice left."""


@define
class Dice:
    """Read a byte string as choices."""

    data: bytes
    at: int = 0
    digits: int = 0

    def pick(self, options: Sequence[Any]) -> Any:
        """
        Take one of the options.

        Raises:
            DiceSpentError: no bytes are left.
        """
        if self.digits < SMALLEST:
            if self.at >= len(self.data):
                raise DiceSpentError
            self.digits = int.from_bytes(self.data[self.at : self.at + CHUNK], "little") | (1 << (8 * CHUNK))
            self.at += CHUNK
        self.digits, digit = divmod(self.digits, len(options))
        return options[digit]
