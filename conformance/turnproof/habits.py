"""
Hold how often a generator makes each of its choices, and vary that from schedule to schedule.

A choice is a named table of options with weights. ``Habits`` are the tables of one schedule: most weights as they
stand here, some raised, some at nothing. A schedule that never cancels and often edits reaches what one that does a
little of everything hardly ever reaches. Weights at nothing never empty a table. ``Lessons`` are kept from schedule
to schedule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, TypeAlias

from attrs import define, field, frozen

from turnproof_model.observation import Profile

Pick: TypeAlias = Callable[[Sequence[Any]], Any]
"""Takes one of several values, the first of them being the simplest."""

Table: TypeAlias = Mapping[str, int]
"""Options of one choice with their weights; the first option is the simplest."""


def weights(text: str) -> Table:
    """Read a table: options with their weights, the simplest first."""
    pairs = (entry.split() for entry in text.split(","))
    return {name: int(weight) for name, weight in pairs}


COMMON: Mapping[str, Table] = {
    "act": weights(
        "proceed 32, send 5, ambush 14, reach 6, burst 4, batch 4, cancel 4, arm 1, edit 3, reference 1, resume 1,"
        "dispose 1, goal 1, inspect 1"
    ),
    "converging": weights(
        "proceed 6, send 8, edit 11, ambush 3, reach 2, cancel 2, batch 1, reference 1, resume 1, dispose 2"
    ),
    "retrying": weights("proceed 4, cancel 7, send 3, ambush 3, reach 2, batch 2, dispose 1"),
    "cut": weights("proceed 16, send 5, ambush 4, reach 2, batch 1, cancel 1, edit 1, dispose 1"),
    "laden": weights("proceed 16, ambush 16, cancel 3, send 2, reach 2, batch 2, edit 2, resume 1, dispose 1"),
    "cause": weights("proceed 10, cancel 4, send 2, edit 1, reference 1, dispose 1"),
    "inside": weights("send 20, cancel 10, release 6, edit 4, reference 1, dispose 1"),
    "ambush": weights("send 10, cancel 10, release 2, edit 2, reference 1, dispose 1"),
    "ambush-taking": weights("cancel 12, send 4, edit 2, release 1, reference 1, dispose 1"),
    "ambush-ending": weights("send 12, cancel 5, edit 1, release 1, reference 1, dispose 1"),
    "send": weights("followup 6, steer 3, inject 3, quiet 2, other 1, goal 1"),
    "send-meanwhile": weights("steer 5, inject 3, followup 3, quiet 1, other 1, goal 1"),
    "message": weights("new 24, pending 2, made 1"),
    "cancel": weights("drop 3, keep 4"),
    "edit": weights("remove 3, replace 4, prepend 1"),
    "target": weights("latest 2, any 1"),
    "context": weights("none 12, one 4, two 3, pending 1, made 1"),
    "resume": weights("crash 2, clean 1, fork 1, compact 1"),
    "gates": weights("default 3, all 2, flush 1, most 3, some 3"),
    "admission": weights("allow 8, change 4, block 2, throw 1"),
    "pre-step": weights("enter 12, change 4, empty 2, reject 2, throw 2"),
    "model": weights("text 6, tools 6, max-tokens 2, error 2, partial 1"),
    "steered-model": weights("text 3, tools 4, max-tokens 6, error 2, partial 1"),
    "cut-model": weights("text 3, tools 8, max-tokens 1, error 1, partial 1"),
    "tool": weights("result 7, error 2, conclude 4, conclude-error 1"),
    "request-error": weights("retry 4, give-up 1, throw 1"),
    "stopping": weights("continue 12, throw 1"),
    "flush": weights("ok 3, fail 1"),
    "disposed": weights("leave 1, linger 3"),
}
"""The choices of every contract."""

LISTENED: Mapping[str, Table] = {
    "window": weights(
        "agent/inbox/enqueue 1, agent/inbox/dequeue 2, agent/inbox/discard 2, agent/cancel-requested 1,"
        "agent/disposed 1,"
        "agent/status 2, agent/settled 2, agent/error 1, gate/aborted 1, request 1, turn/start 1, turn/end 3,"
        "step/start 1, step/end 1, user/message 2, steering/message 2, assistant/message 1, tool/call 1,"
        "tool/result 1, gate:prompt-submit 1, gate:model 1, gate:turn-stopping 1, gate:tool 1, gate:request-error 1"
    ),
    "claim": weights(
        "agent/inbox/inserted 1, agent/inbox/claimed 2, agent/inbox/discarded 3, agent/inbox/spliced 1,"
        "agent/disposed 1,"
        "agent/status 2, agent/error 1, gate/aborted 1, request 1, turn/start 1, turn/end 2, step/start 1,"
        "step/end 1, user/message 1, assistant/message 1, tool/call 1, tool/result 1, gate:pre-step 1,"
        "gate:model 1, gate:turn-stopping 1, gate:tool 1, gate:request-error 1"
    ),
}
"""Events that an arm may wait for."""

AMBUSHES: Mapping[str, str] = {
    **dict.fromkeys(("agent/inbox/dequeue", "agent/inbox/claimed"), "ambush-taking"),
    **dict.fromkeys(("steering/message", "user/message"), "ambush-taking"),
    **dict.fromkeys(("agent/inbox/discard", "agent/inbox/discarded", "turn/end", "agent/settled"), "ambush-ending"),
    **dict.fromkeys(("agent/cancel-requested", "agent/error", "agent/status", "agent/disposed"), "ambush-ending"),
}
"""The choice of what is done inside an event, where it isn't the usual one: races live at what takes and what ends."""

LEVELS: Mapping[str, int] = {"usual": 1, "often": 5, "never": 0}
"""By what the weight of an option is multiplied in one schedule."""

MOODS: tuple[str, ...] = (*["usual"] * 8, *["often"] * 2, *["never"] * 2)
"""The levels, as often as they are drawn."""

CARRYING = "proceed"
"""The option that carries an agent on; a schedule without it goes nowhere, so that its weight never changes."""

SHUNNED: tuple[str, ...] = ("usual", *["never"] * 7)
"""The same for an option that spoils schedules."""

ENOUGH = 8
"""Schedules that must have taken an option before it is judged."""

NEEDS: Mapping[str, str] = {
    **{name: name for name in ("reference", "resume", "dispose", "goal", "batch", "arm", "fork", "compact")},
    **{name: f"inbox.{name}" for name in ("remove", "replace", "prepend")},
    "burst": "batch",
    "ambush": "arm",
    "keep": "keepInbox",
    "partial": "model.partial",
    "conclude": "tool.concludes",
    "conclude-error": "tool.concludes",
}
"""The capability that an option depends on."""

EDITS = ("inbox.remove", "inbox.replace", "inbox.prepend")


@frozen
class Habits:
    """Hold the tables of one schedule, each as its options repeated by weight."""

    tables: Mapping[str, tuple[str, ...]]

    def choose(self, pick: Pick, choice: str) -> str:
        """Take one option of a choice."""
        return pick(self.tables[choice])  # type: ignore[no-any-return]  # pick is untyped by design


def tables(profile: Profile) -> dict[str, dict[str, int]]:
    """Give the tables of a candidate: the options that its capabilities allow, with their usual weights."""
    edits = any(map(profile.has, EDITS))
    whole = {**COMMON, "event": LISTENED[profile.contract]}
    return {
        choice: {
            option: weight
            for option, weight in options.items()
            if (option not in NEEDS or profile.has(NEEDS[option])) and (edits or option != "edit")
        }
        for choice, options in whole.items()
    }


def usual(known: Mapping[str, Table]) -> Habits:
    """Give the habits with every weight as it stands."""
    return _habits(known, {})


Spoiler: TypeAlias = Literal["nothing", "linger", "all"]
"""What spoiled a schedule: nothing, a command to an agent that was gone, or who knows which of its options."""


@define
class Lessons:
    """
    Learn what spoils schedules: options after which a failure that is known well comes up again.

    A candidate that breaks the same rule after each disposal would otherwise be searched for nothing else.
    """

    schedules: int = 0
    lost: int = 0
    taken: Counter[str] = field(factory=Counter)
    spoiled: Counter[str] = field(factory=Counter)

    def note(self, options: AbstractSet[str], spoiler: Spoiler) -> None:
        """Take note of the options that a schedule took, and whether it ended with what is known well."""
        self.schedules += 1
        self.lost += spoiler != "nothing"
        self.taken.update(options)
        if spoiler != "nothing":
            self.spoiled.update([option for option in options if spoiler in ("all", option)])

    def moods(self, option: str) -> tuple[str, ...]:
        """Give the levels to draw from: mostly none for what spoils far more schedules than go wrong without it."""
        if not self.spoiled:
            return MOODS
        taken, spoiled = self.taken.get(option, 0), self.spoiled.get(option, 0)
        without = self.schedules - taken
        if taken < ENOUGH or without < ENOUGH:
            return MOODS
        return SHUNNED if spoiled / taken > max(0.5, 1.5 * (self.lost - spoiled) / without) else MOODS


def drawn(known: Mapping[str, Table], pick: Pick, lessons: Lessons) -> Habits:
    """Draw the habits of one schedule: one level for an option wherever it can be chosen."""
    names = dict.fromkeys(option for options in known.values() for option in options if option != CARRYING)
    return _habits(known, {name: pick(lessons.moods(name)) for name in names})


def _habits(known: Mapping[str, Table], levels: Mapping[str, str]) -> Habits:
    made: dict[str, tuple[str, ...]] = {}
    for choice, options in known.items():
        repeated: list[str] = []
        for option, weight in options.items():
            repeated += [option] * (weight * LEVELS[levels.get(option, "usual")])
        made[choice] = tuple(repeated or [option for option, weight in options.items() for _ in range(weight)])
    return Habits(made)
