"""
Ask who is to blame for a broken rule: the agent, or a log that has lost, repeated or moved lines.

Sequence numbers decide where a log has them: the agent numbers, the logger writes. Without them the question is what
would have to be undone to make the neighbourhood legal. The smallest such sets are found as smallest hitting sets:
z3 proposes a set that hits every mark seen so far, the monitors judge the neighbourhood with it, and where a rule
still breaks its mark is one more to be hit. (Reiter's diagnosis from first principles; the monitors stay the only
judge of what is legal.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import define, field

from turnproof.check.edits import Edit
from turnproof.check.neighbourhood import Scene
from turnproof.check.results import Blame, Damage, LogEdit
from turnproof.check.sequence import Sequence
from turnproof.check.suspects import Mark, first_mark, suspects

MOST_EDITS = 3
"""Edits in a set at most: a log that needs more says nothing about any single line."""

MOST_TRIALS = 400
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
    sets = Diagnosis(scene).smallest()
    damage = _nearby(scene, sequence)
    if not sets:
        reason = f"no {MOST_EDITS} lines that may be lost, repeated or moved here would make it legal"
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


@define(eq=False)
class Diagnosis:
    """Find the smallest sets of edits that make a scene legal."""

    scene: Scene
    _solver: Any = None
    _vars: dict[Edit, Any] = field(factory=dict)
    _trials: int = 0
    _suspected: dict[tuple[str, int | None], tuple[Edit, ...]] = field(factory=dict)

    def smallest(self) -> list[frozenset[Edit]]:
        """List the smallest sets, the likeliest first; empty where none of up to ``MOST_EDITS`` was found."""
        import z3  # noqa: PLC0415  # large, and a log that is legal doesn't need it

        mark = first_mark(self.scene, frozenset())
        if mark is None:
            return []
        self._solver = z3.Solver()
        self._learn(z3, frozenset(), mark)
        for size in range(1, MOST_EDITS + 1):
            found = self._sets(z3, size)
            if found:
                return sorted(found, key=self._far_fetched)
        return []

    def _far_fetched(self, edits: frozenset[Edit]) -> tuple[int, ...]:
        entries, first = self.scene.entries, self.scene.first
        weights = sum(edit.weight if not self._twin(edit) else 0 for edit in edits)
        return (weights, sum(abs(edit.at - first) for edit in edits), *sorted(edit.at for edit in edits), len(entries))

    def _twin(self, edit: Edit) -> bool:
        """Tell whether the edit takes out a line that stands there twice."""
        entries = self.scene.entries
        if edit.entry is not None or edit.to is not None:
            return False
        near = (*entries[max(edit.at - 8, 0) : edit.at], *entries[edit.at + 1 : edit.at + 9])
        return any(entries[edit.at].records == other.records for other in near)

    def _sets(self, z3: Any, size: int) -> list[frozenset[Edit]]:
        """Try sets of one size until none is left that hits all marks, or too many were tried."""
        found: list[frozenset[Edit]] = []
        while self._trials < MOST_TRIALS:
            proposed = self._proposed(z3, size)
            if proposed is None:
                break
            self._trials += 1
            mark = first_mark(self.scene, proposed)
            if mark is None:
                found.append(proposed)
                self._solver.add(z3.Not(z3.And([self._vars[edit] for edit in proposed])))
            else:
                self._learn(z3, proposed, mark)
        return found

    def _proposed(self, z3: Any, size: int) -> frozenset[Edit] | None:
        """Let the solver propose a set of exactly this size."""
        solver = self._solver
        solver.push()
        solver.add(z3.PbEq([(var, 1) for var in self._vars.values()], size))
        model = solver.model() if solver.check() == z3.sat else None
        solver.pop()
        if model is None:
            return None
        return frozenset(edit for edit, var in self._vars.items() if z3.is_true(model[var]))

    def _learn(self, z3: Any, edits: frozenset[Edit], mark: Mark) -> None:
        """Note that a set isn't enough: another edit must be in it, one that may help against the mark."""
        key = (mark.rule, mark.edited.places[mark.place] if mark.place < len(mark.edited.places) else None)
        helping = self._suspected.get(key)
        if helping is None:
            helping = self._suspected[key] = tuple(suspects(self.scene, mark))
        for edit in helping:
            if edit not in self._vars:
                self._vars[edit] = z3.Bool(f"edit{len(self._vars)}")
        dropped = [z3.Not(self._vars[edit]) for edit in edits]
        self._solver.add(z3.Or([*dropped, *(self._vars[edit] for edit in helping if edit not in edits)]))
