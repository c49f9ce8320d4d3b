"""Bytes are read as choices, and schedules' bytes are spread from seeds."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from turnproof.dice import SCHEDULE_BYTES, SEED_BYTES, SPREAD, Dice, DiceSpentError, spread


def test_the_schedules_of_a_seed_are_the_same_each_time_and_unlike_each_other():
    """Neither does one of them begin like one of another seed."""
    seeds = [bytes([number]) * SEED_BYTES for number in range(20)]
    schedules = [data for seed in seeds for data in spread(seed)]

    assert schedules == [data for seed in seeds for data in spread(seed)]
    assert len({data[:8] for data in schedules}) == len(seeds) * SPREAD
    assert {len(data) for data in schedules} == {SCHEDULE_BYTES}


def test_every_option_of_a_choice_comes_about_as_often():
    """Seven options don't divide a power of two, and none of them gains by that."""
    taken = Counter(choice for data in (*spread(b"a"), *spread(b"b")) for choice in choices(data, 7))

    assert len(taken) == 7
    assert max(taken.values()) < 1.1 * min(taken.values())


def test_every_byte_is_read():
    """Where only the last byte differs, so does a choice."""
    zeros = bytes(SCHEDULE_BYTES - 1)

    assert choices(zeros + b"\1", 256) != choices(zeros + b"\2", 256)


def choices(data, options):
    """Give all choices among so many options that there are in these bytes."""
    dice, taken = Dice(data), []
    with suppress(DiceSpentError):
        while True:
            taken.append(dice.pick(range(options)))
    return taken
