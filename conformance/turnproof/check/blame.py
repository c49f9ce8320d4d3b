"""
Ask who is to blame for a broken rule: the agent, or a log that has lost, repeated or moved lines.

Sequence numbers decide where a log has them: the agent numbers, the logger writes. Without them the question is what
would have to be undone to make the neighbourhood legal; ``diagnosis`` finds the smallest such sets, the monitors say
what is legal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from turnproof.check.diagnosis import Diagnosis
from turnproof.check.edits import Edit
from turnproof.check.marks import Mark, first_mark
from turnproof.check.neighbourhood import Scene
from turnproof.check.results import Blame, Damage, LogEdit
from turnproof.check.sequence import Sequence
from turnproof.check.suspects import OF_THE_INBOX, suspects

MOST_EDITS = 3
"""Edits in a set at most: a log that needs more says nothing about any single line."""

MOST_TRIALS = 250
"""Sets that are tried for one neighbourhood."""

MOST_SHOWN = 3
"""Further sets of the smallest size that are named."""


def explain(scene: Scene, sequence: Sequence) -> Blame:
    """
    Say who is to blame for what broke in a scene.

    Args:
        scene: the neighbourhood, with what follows the first broken rule.
        sequence: of the log's sequence numbers, as far as it was read.
    """
    if sequence.whole:
        return Blame("agent", "the sequence numbers are whole, so that nothing was lost, repeated or moved")
    if scene.lost:
        return Blame("open", "too much is open here at once to tell")
    mark = first_mark(scene, frozenset())
    if sequence.beheaded and mark is not None and mark.rule in OF_THE_INBOX:
        return Blame("log", "the beginning of the log is missing, and with it what was pending then")
    sets = smallest(scene)
    damage = _nearby(scene, sequence)
    if not sets:
        reason = f"nothing that {MOST_EDITS} lost, repeated or moved lines would explain"
        return Blame("open" if damage else "agent", reason)
    edits, *others = (_told(scene, one) for one in sets)
    said = "; ".join(map(str, edits))
    shown = tuple(others[:MOST_SHOWN])
    if damage:
        return Blame("log", f"the log is damaged here ({damage[0].message}); it is legal if {said}", edits, shown)
    reason = f"the log has no sequence numbers: the agent broke the rule, or {said}"
    return Blame("open", reason, edits, shown)


def _told(scene: Scene, edits: Iterable[Edit]) -> tuple[LogEdit, ...]:
    return tuple(edit.words(scene.entries) for edit in sorted(edits, key=lambda edit: edit.at))


def _nearby(scene: Scene, sequence: Sequence) -> list[Damage]:
    """List the damage in the lines of a scene; what is missing may still come late."""
    first, last = scene.entries[0].line, scene.entries[-1].line
    return [damage for damage in sequence.all() if first <= damage.line <= last]


def smallest(scene: Scene) -> list[frozenset[Edit]]:
    """List the smallest sets of edits that make a scene legal, the likeliest first."""
    return Diagnosis(
        mark=lambda edits: first_mark(scene, edits),
        suspects=lambda mark: suspects(scene, mark),
        key=_key,
        most_edits=MOST_EDITS,
        most_trials=MOST_TRIALS,
    ).smallest()


def _key(mark: Mark) -> Hashable:
    """Tell marks apart by their rule and by the line of the log where it breaks."""
    return mark.rule, mark.edited.places[mark.place] if mark.place < len(mark.edited.places) else None
