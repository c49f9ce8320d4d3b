"""
Hold what contract ``claim`` adds to the facts: pending entries, splices, step boundaries.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import define, field

from turnproof_model import vocabulary as v
from turnproof_model.events import Spliced
from turnproof_model.monitors.base import Issued, Unsure
from turnproof_model.monitors.facts import Cancelled, Entry, Gate

Told = Issued[Any] | Unsure[Any]


@define(eq=False)
class Pending(Entry):
    """
    Be one message in the inbox.

    ``late``: it was sent when the running activity was over; None where that can't be told. ``excused``: it may wait
    at idle, kept by a cancel or left by a turn that was refused, failed or found nothing. ``doomed``: the cancel or
    disposal that drops it. ``snapshot``: what it brings along to its own pre-step; ``forgotten``: nobody says what
    becomes of that, or whether there is any: it was sent before a resume, or beside another of its id. ``quiet``:
    nobody asked for the model when it entered.
    """

    late: bool | None = False
    excused: bool = False
    doomed: int | None = None
    snapshot: v.Message | None = None
    forgotten: bool = False

    @property
    def quiet(self) -> bool:
        """Whether it surely wakes nobody."""
        return self.waking is False


@define(eq=False)
class Splice:
    """
    Be one change of a list, seen against the list as it was.

    ``length`` is that of the list before; ``fits`` says that start and count lay inside; ``told`` is the operation
    that inserted, where it is known.
    """

    event: Spliced
    position: int
    kind: Literal["insert", "claim", "cancel", "replace", "odd"]
    length: int
    fits: bool
    removed: list[Pending]
    inserted: list[Pending]
    told: Told | None = None


@define(eq=False)
class Boundary:
    """
    Be one step boundary, from ``turn/start`` or ``step/end`` to the step or the end of the turn.

    Attributes:
        first: whether it is the first of its turn; ``waiting`` what each list held when it began.
        batch: what was claimed, in order; ``prompt`` the next-turn message in it; ``claimed`` the place of the claim.
        gates: pre-step decisions that were asked for; ``entering`` the ids that must become messages, None where that
            can't be told; ``written`` those that did; ``entered`` the place of the step.
        cancelled: place of a cancel that surely came after the claim and before the step.
        stirred: an operation came in between, so that the lists moved meanwhile.
    """

    turn: int
    first: bool
    position: int
    waiting: dict[str, tuple[Pending, ...]]
    batch: list[Pending] = field(factory=list)
    prompt: Pending | None = None
    claimed: int | None = None
    gates: list[Gate] = field(factory=list)
    snapshots: list[v.Message] = field(factory=list)
    entering: list[str] | None = None
    written: list[str] = field(factory=list)
    entered: int | None = None
    cancelled: Cancelled | None = None
    stirred: bool = False

    @property
    def decision(self) -> v.Outcome | None:
        """What the last pre-step decided; None while undecided, not asked, or not known."""
        gate = self.gates[-1] if self.gates else None
        return None if gate is None or gate.aborted else gate.outcome

    @property
    def refused(self) -> bool:
        """Whether the decision is known to have rejected or failed."""
        return isinstance(self.decision, v.Reject | v.Throw)

    def batch_of(self, *, gated: bool) -> list[str] | None:
        """
        Name the ids that the step must open with; None where that can't be told.

        Args:
            gated: whether a pre-step decision would have been asked for.
        """
        claimed = [entry.id for entry in self.batch]
        if any(entry.forgotten for entry in self.batch):
            return None
        if not self.gates:
            return None if gated else self._with_snapshots(claimed)
        decision = self.decision
        if not isinstance(decision, v.Enter):
            return None
        if decision.messages is None:
            return self._with_snapshots(claimed)
        return self._with_snapshots([item if isinstance(item, str) else item.id for item in decision.messages])

    def _with_snapshots(self, ids: list[str]) -> list[str]:
        prompt = self.prompt
        brought = [snapshot.id for snapshot in self.snapshots] if prompt is not None and prompt.id in ids else []
        return [*ids, *brought]
