"""The deliberate defects of the `window` agent: what each changes on the shortest schedule that shows it."""

from __future__ import annotations

import pytest
from window_plays import Play

SHOWN_BY = {
    "lost-wakeup": ("flush", "followup a; allow; text; continue; followup b; saved"),
    "quiet-wakes": ("", "quiet a"),
    "steering-before-prompt": ("", "followup a; steer s; allow"),
    "context-inside-batch": ("", "followup a; allow; calls par:1 par:2; result c1"),
    "silent-drop": ("", "quiet a; cancel"),
    "window-past-turn-end": ("", "followup a; allow; text; on turn/end do steer s; continue"),
    "keep-inbox-ignored": ("", "followup a; followup b; keep"),
    "blocked-context-leaks": ("", "followup a; block c1"),
    "turn-number-reused": ("", "followup a; allow; resume crash; followup b; allow"),
    "idle-before-checkpoint": ("flush", "followup a; allow; text; continue"),
    "checkpoint-not-awaited": ("flush", "followup a; followup b; allow; text; continue"),
    "retry-lost": ("", "followup a; followup b; allow; error; retry"),
    "drain-ignores-abort": ("", "followup a; allow; steer s; steer t; on steering/message do keep; text"),
    "context-forces-step": ("", "followup a; allow; inject i; text"),
    "two-prompts-one-turn": ("", "followup a; followup b; allow"),
    "placement-guessed": ("", "followup a"),
    "idle-by-status": ("", "followup a"),
    "context-stranded": ("", "followup a; inject i; block"),
    "ceiling-forgotten": ("", "followup a; allow; steer s; max; text; continue"),
    "stale-cancel": ("", "cancel; followup a; allow"),
}


@pytest.mark.parametrize("name", SHOWN_BY)
def test_a_fault_shows_on_its_schedule_and_nothing_before_it_differs(name: str) -> None:
    """
    The defect changes what is observed at the last operation of its schedule, and not earlier.
    """
    gates, line = SHOWN_BY[name]
    sound, defective = (Play(*gates.split(), fault=fault) for fault in (None, name))
    *before, last = line.split("; ")
    for operation in before:
        assert sound(operation) == defective(operation)
        assert sound.seen == defective.seen
    sound(last)
    defective(last)

    assert sound.seen != defective.seen
