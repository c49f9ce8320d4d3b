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
from turnproof.check.suspects import MISSING, OF_THE_INBOX, OF_VALUES, suspects

MOST_EDITS = 3
"""Edits in a set at most: a log that needs more says nothing about any single line."""

MOST_TRIALS = 160
"""Sets of one size that are tried for one neighbourhood."""

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
    damage = sequence.all()
    near = [one for one in damage if scene.entries[0].line <= one.line <= scene.entries[-1].line]
    if sequence.seen and not near:
        return _numbered_here(mark, damage, sequence)
    if mark is not None and mark.rule in OF_VALUES:
        return Blame("agent", "no line that was lost, repeated or moved changes what another one says")
    sets = smallest(scene)
    if not sets:
        reason = f"nothing that {MOST_EDITS} lost, repeated or moved lines would explain"
        return Blame("open" if near else "agent", reason)
    edits, *others = (_told(scene, one) for one in sets)
    said = "; ".join(map(str, edits))
    shown = tuple(others[:MOST_SHOWN])
    if near:
        return Blame("log", f"the log is damaged here ({near[0].message}); it is legal if {said}", edits, shown)
    reason = f"the log has no sequence numbers: the agent broke the rule, or {said}"
    return Blame("open", reason, edits, shown)


def _numbered_here(mark: Mark | None, damage: list[Damage], sequence: Sequence) -> Blame:
    """Blame where no number is missing, twice or late around the broken rule; what is pending may be older."""
    if mark is None or mark.rule not in OF_THE_INBOX:
        return Blame("agent", "the sequence numbers are whole here, so that nothing was lost, repeated or moved")
    if sequence.beheaded:
        return Blame("log", "the beginning of the log is missing, and with it what was pending then")
    reason = f"the log is damaged further up ({damage[-1].message}), and what was pending may be lost there"
    return Blame("open", reason)


def _told(scene: Scene, edits: Iterable[Edit]) -> tuple[LogEdit, ...]:
    return tuple(edit.words(scene.entries) for edit in sorted(edits, key=lambda edit: edit.at))


def smallest(scene: Scene) -> list[frozenset[Edit]]:
    """List the smallest sets of edits that make a scene legal, the likeliest first."""
    return Diagnosis(
        mark=lambda edits: first_mark(scene, edits),
        suspects=lambda mark: suspects(scene, mark),
        key=_key,
        reached=_reached,
        most_edits=MOST_EDITS,
        most_trials=MOST_TRIALS,
        likely=MISSING,
    ).smallest()


def _reached(mark: Mark) -> int:
    """Tell at which line of the log, or before which one, a rule breaks."""
    origins = mark.edited.places
    return next((place for place in origins[mark.place :] if place is not None), len(origins))


def _key(mark: Mark) -> Hashable:
    """Tell marks apart by their rule and by the line of the log where it breaks."""
    return mark.rule, mark.edited.places[mark.place] if mark.place < len(mark.edited.places) else None
