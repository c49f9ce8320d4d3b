"""
Keep the entries around a place, and what a fresh judge must know to begin there.

A log is judged once, from its beginning; the question who is to blame is asked of a few dozen lines, judged again and
again with something changed. A *quiet point* is a place between steps with nothing open but perhaps a turn: there the
state is small, and copied every so often. The entries behind the last but one of these copies are kept.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import attrs
from attrs import define, field, frozen

from turnproof.check.entries import Entry
from turnproof.check.judge import LogJudge
from turnproof_model import trace as t
from turnproof_model.monitors.core_view import CoreView
from turnproof_model.vocabulary import Contract

APART = 24
"""Entries between two copies of the state, at least: so many lie before any place that is asked about."""

BEHIND = 24
"""Entries that are taken in behind the first broken rule: what is repaired must fit what follows."""

MOST_ENTRIES = 600
"""Entries that are kept where no quiet point comes; beyond them nothing is said about blame."""

_FACTS = ("last_number", "previous", "turn", "boundary", "lists", "activity", "ended", "status")
"""What a contract's view must know at a quiet point, as far as it has it."""


def _copied(value: Any) -> Any:
    """Copy what the views change in place: their facts, and lists and tables of them."""
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return copy.copy(value) if attrs.has(type(value)) else value


def _single(facts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in facts.items() if isinstance(value, int | str | tuple | None))


@frozen
class State:
    """
    Hold what a judge knew at a quiet point.

    Attributes:
        core: the view of the records; ``shown`` is how many messages its history had.
        facts: of the view of the events; ``kept``: what each monitor of the records keeps for itself, as far as it is a
            single value: what grows with the log isn't copied.
    """

    core: CoreView
    shown: int
    facts: dict[str, Any]
    kept: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, judge: LogJudge) -> State:
        """Copy what a judge knows; it must be at a quiet point."""
        core = copy.copy(judge.core.view)
        core.turn, core.ledger = _copied(core.turn), copy.copy(core.ledger)
        core.ledger.lists, core.ledger.claims = _copied(core.ledger.lists), _copied(core.ledger.claims)
        view = judge.stage.view if judge.stage is not None else None
        facts = {name: _copied(getattr(view, name)) for name in _FACTS if hasattr(view, name)}
        kept = tuple({} if len(vars(monitor)) == 2 else dict(_single(vars(monitor))) for monitor in judge.core.monitors)
        return cls(core, len(core.history), facts, kept)

    def give(self, judge: LogJudge) -> None:
        """Let a fresh judge know it."""
        core = copy.copy(self.core)
        core.turn, core.ledger = _copied(core.turn), copy.copy(core.ledger)
        core.ledger.lists, core.ledger.claims = _copied(core.ledger.lists), _copied(core.ledger.claims)
        core.ledger.entered, core.ledger.asked = set(core.ledger.entered), set(core.ledger.asked)
        core.history = core.history[: self.shown]
        judge.core.view = core
        for monitor, kept in zip(judge.core.monitors, self.kept, strict=True):
            vars(monitor).update(kept, view=core)
        if judge.stage is not None:
            for name, value in self.facts.items():
                setattr(judge.stage.view, name, _copied(value))


def quiet(judge: LogJudge) -> bool:
    """Tell whether nothing is open but perhaps a turn between two of its steps."""
    view = judge.core.view
    return view.step is None and (view.batch is None or not view.batch.missing) and (view.uses_steps or not view.turn)


@define(eq=False)
class Scene:
    """
    Be a neighbourhood in which rules broke.

    Attributes:
        header, contract: of the judge.
        state: what is known before the entries; None where they begin the log, or can't be judged anew (``lost``).
        entries: in order; ``first`` is the place among them at which the first rule broke.
        ended: whether the log ends with them.
        violations: place in the report of the first of what broke.
    """

    header: t.Header
    contract: Contract | None
    state: State | None
    entries: list[Entry]
    first: int
    violations: int = 0
    lost: bool = False
    ended: bool = False

    @property
    def complete(self) -> bool:
        """Whether enough is known of what follows."""
        return len(self.entries) - self.first > BEHIND

    def judge(self) -> LogJudge:
        """Make a judge that stands before the entries."""
        judge = LogJudge(self.header, self.contract)
        if self.state is not None:
            self.state.give(judge)
            judge.core.view.ledger.entered.difference_update(self._entering())
        return judge

    def _entering(self) -> Iterator[str]:
        """Name what enters only here: the ids that ever entered are not copied, they only grow."""
        for entry in self.entries:
            for record in entry.records:
                if isinstance(record, t.InboxEnqueue):
                    yield record.id


@define(eq=False)
class Past:
    """Remember the last entries of a log, from a quiet point on."""

    judge: LogJudge
    entries: list[Entry] = field(factory=list)
    _state: State | None = None
    _next: tuple[int, State] | None = None
    _lost: bool = False

    def add(self, entry: Entry) -> None:
        """Take in an entry that was judged just now."""
        self.entries.append(entry)
        count = len(self.entries)
        since = count if self._next is None else count - self._next[0]
        if since >= APART and quiet(self.judge):
            self._mark()
        elif count > MOST_ENTRIES:
            self.entries.clear()
            self._state = self._next = None
            self._lost = True

    def _mark(self) -> None:
        if self._next is not None:
            place, self._state = self._next
            del self.entries[:place]
            self._lost = False
        self._next = (len(self.entries), State.of(self.judge))

    def scene(self, violations: int) -> Scene:
        """Open a scene whose first broken rule is that of the last entry, at this place in the report."""
        judge = self.judge
        last = max(len(self.entries) - 1, 0)
        return Scene(judge.header, judge.contract, self._state, list(self.entries), last, violations, self._lost)
