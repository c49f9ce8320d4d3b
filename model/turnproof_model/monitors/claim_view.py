"""
Fold what contract ``claim`` adds to the loop: the boundary, cancels, and what is late for the running activity.

Where an operation may have happened unseen (``doubt``), or its place in the
stream isn't certain (``placed``), the facts that hang on it are marked and no rule relies on them.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure
from turnproof_model.monitors.claim_entries import ENTERING, ClaimEntries
from turnproof_model.monitors.claim_facts import Boundary, Pending, Splice
from turnproof_model.monitors.facts import Cancelled, Gate
from turnproof_model.monitors.view import folds


class ClaimView(ClaimEntries):
    """
    Show where the stream of a ``claim`` candidate stands.

    Attributes:
        last_released: the gate that the last release settled.
        boundary: the step boundary that is open, or the one that the open step began with.
        cancel: the first cancel of the running activity; ended: whether a turn has ended in it; emptied: whether the
            last turn found nothing to enter.
        supplied: ids that tools brought along.
        doubtful: the last request in which a cancel or a disposal may have happened unseen.
        called: whether a disposal was called, or may have been.
        untold: whether a cancel or a disposal is due in a stack that is open.
        causes: of the cancels and disposals of the open turn, in order.
        discarding: the last request that a cancel or a disposal was told in which discards.
        tangled: number of a turn whose first cause can't be told, since one cancel was issued inside another.
    """

    def reset(self) -> None:
        """Forget everything: a brand-new agent on an empty log."""
        request = self.request
        self.on_abort = request.on_abort if isinstance(request, v.Reset) else {}
        super().reset()

    def new_agent(self) -> None:
        """Forget what dies with an agent; what is pending is durable, and waits for the next wake."""
        super().new_agent()
        self.last_released: Gate | None = None
        self.boundary: Boundary | None = None
        self.cancel: Cancelled | None = None
        self.ended = False
        self.emptied = False
        self.doubtful = -1
        self.called = False
        self.untold = False
        self.doubted_turn: int | None = None
        self.tangled: int | None = None
        self.causes: list[str] = []
        self.discarding = -1
        self.supplied: set[str] = set()

    # -------------------------------------------------------------------------------------------- questions
    @property
    def doubt(self) -> bool:
        """Whether a cancel or a disposal may have happened unseen, and matters still."""
        here = self.turn is not None and self.turn.number == self.doubted_turn
        return here or self.untold or self.doubtful == self.index or self.disposing is None

    @property
    def aborted(self) -> bool | None:
        """Whether the current activity is aborted; None where that can't be told."""
        if self.disposing and self.activity is not None:
            return True
        if self.cancel is not None:
            return True if self.cancel.sure else None
        return None if self.doubt else False

    @property
    def late(self) -> bool | None:
        """Whether a waking send would be late now; None where that can't be told."""
        if self.turn is not None or self.activity is None:
            return self.aborted
        return True if self.ended else self.aborted

    @property
    def owes(self) -> bool | None:
        """Whether the model owes a request: a result of the last step is unanswered and none concluded."""
        turn = self.turn
        if turn is None or turn.last_result <= turn.last_request:
            return False
        return None if turn.concluded is None else not turn.concluded

    @property
    def unasked(self) -> bool:
        """Whether the agent surely has no reason to start running now: nobody woke it, and nothing late waits."""
        late = any(entry.late is not False for entry in self.pending())
        return self.wakes is False and not late and not self.doubt

    def gated(self, kind: v.GateKind) -> bool:
        """Tell whether gates of this kind are open to the runner."""
        return kind in self.gates_named

    # -------------------------------------------------------------------------------------------- operations
    @folds(Unsure)
    def _perhaps(self, item: Unsure[Any]) -> None:
        op = item.op
        if isinstance(op, ENTERING):
            self._await(item)
        elif isinstance(op, v.Cancel | v.Dispose):
            self._doubt()
            self.called = self.called or isinstance(op, v.Dispose)
        elif isinstance(op, v.Arm):
            for inner in op.ops:
                self._perhaps(Unsure(inner, "deferred"))

    def _doubt(self) -> None:
        """Note that a cancel or a disposal takes effect somewhere in this request, or perhaps doesn't."""
        self.doubtful = self.index
        self.doubted_turn = None if self.turn is None else self.turn.number
        for entry in self.pending():
            entry.excused = True

    @folds(v.Cancel)
    def _cancelled(self, issued: Issued[v.Cancel]) -> None:
        op = issued.op
        cancelled = Cancelled(op.cause, op.keep_inbox, self.position, sure=self.placed)
        if not self.placed:
            self._doubt()
        for entry in self.pending():
            if op.keep_inbox or self.entering_in(issued, entry):
                entry.excused = True
            elif self.disposing is False:
                self._doom(entry, issued)
        if self.turn is not None and self.turn.error is None:
            self.turn.cancels.append(cancelled)
            self.causes.append(op.cause)
            boundary = self.boundary
            if boundary is not None and boundary.entered is None and boundary.cancelled is None:
                boundary.cancelled = cancelled
        if self.activity is not None and self.cancel is None:
            self.cancel = cancelled
        self._tangle(issued)
        self.stirred()

    @folds(v.Dispose)
    def _disposes(self, issued: Issued[v.Dispose]) -> None:
        for entry in self.pending():
            entry.excused = True
            if not self.called:
                self._doom(entry, issued)
        self.called = True
        if self.turn is not None:
            self.causes.append("disposed")
        self._tangle(issued)
        self.stirred()

    def _doom(self, entry: Pending, issued: Issued[Any]) -> None:
        """Let an entry be due to be dropped."""
        if self.placed and not self.entering_in(issued, entry):
            entry.doomed = self.position

    def _tangle(self, issued: Issued[Any]) -> None:
        """
        A cancel discards before it aborts: one that is issued inside the discards of another may be the first.

        So may one that is issued inside what a listener of these discards sends.
        """
        inside = type(issued.inside)
        within = inside in (e.Spliced, e.Discarded) or (inside is e.Inserted and self.discarding == self.index)
        if self.turn is not None and within:
            self.tangled = self.turn.number
        if not getattr(issued.op, "keep_inbox", False):
            self.discarding = self.index

    def stirred(self) -> None:
        """Note that the lists moved between the moves of a boundary."""
        if self.boundary is not None:
            self.boundary.stirred = True

    # -------------------------------------------------------------------------------------------- the loop
    @folds(e.StatusChanged)
    def _activity_changed(self, _: e.StatusChanged) -> None:
        self.cancel = None
        self.ended = False

    def claimed(self, splice: Splice) -> None:
        """Put what was claimed into the batch of the open boundary."""
        boundary = self.boundary
        if boundary is None or boundary.entered is not None:
            return
        boundary.batch += splice.removed
        boundary.claimed = self.position if boundary.claimed is None else boundary.claimed
        if splice.event.target == "next-turn" and splice.removed:
            boundary.prompt = splice.removed[0]
            if boundary.prompt.snapshot is not None:
                boundary.snapshots.append(boundary.prompt.snapshot)

    @folds(e.TurnStart)
    def _turn_opened(self, event: e.TurnStart) -> None:
        for entry in self.pending():
            entry.late = entry.excused = False
        if self.doubtful == self.index:
            self.doubted_turn = event.turn
        self.emptied = False
        self.causes = []
        self._open_boundary(first=True)

    @folds(e.StepEnd)
    def _step_closed(self, _: e.StepEnd) -> None:
        self._open_boundary(first=False)

    def _open_boundary(self, *, first: bool) -> None:
        waiting = {name: tuple(entries) for name, entries in self.lists.items()}
        number = 0 if self.turn is None else self.turn.number
        self.boundary = Boundary(number, first, self.position, waiting)

    @folds(e.GateOpened)
    def _asked(self, event: e.GateOpened) -> None:
        boundary = self.boundary
        if event.gate_kind == "pre-step" and boundary is not None and boundary.entered is None:
            boundary.gates.append(self.gates[event.gate])

    def released(self, gate: Gate) -> None:
        """Learn the messages that a decision names, and those that a tool brings along."""
        super().released(gate)
        self.last_released = gate
        self.supplied |= {message.id for message in getattr(gate.outcome, "additional_contexts", ())}
        for item in getattr(gate.outcome, "messages", None) or ():
            if isinstance(item, v.Message):
                self.learn(item)

    @folds(e.StepStart)
    def _entered(self, _: e.StepStart) -> None:
        boundary = self.boundary
        if boundary is not None:
            boundary.entered = self.position
            boundary.entering = boundary.batch_of(gated=self.gated("pre-step"))

    @folds(e.RequestMade)
    def _answering(self, _: e.RequestMade) -> None:
        if self.turn is not None:
            self.turn.concluded = False  # here a conclusion is of its own batch, and next-step input overrules it

    @folds(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        if self.boundary is not None and self.boundary.entered is not None:
            self.boundary.written.append(event.id)

    @folds(e.TurnEnd)
    def _turn_closed(self, event: e.TurnEnd) -> None:
        boundary = self.boundary
        self.ended = True
        self.emptied = (
            boundary is not None
            and boundary.entered is None
            and not boundary.refused
            and (boundary.first or bool(boundary.batch))
        )
        unclear = event.reason == "aborted" and (self.doubt or self.cancel is None or not self.cancel.sure)
        if event.reason in ("blocked", "error", "interrupted") or self.emptied or unclear:
            for entry in self.pending():
                entry.excused = True
        if event.reason == "aborted" and self.cancel is None and self.activity is not None:
            self.cancel = Cancelled(event.cause or "user", None, self.position)  # whoever did it: it is aborted
        self.boundary = None
