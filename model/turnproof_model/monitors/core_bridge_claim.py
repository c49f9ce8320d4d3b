"""
Write down the inbox and the pre-step decisions of a ``claim`` session.

Splices are entries, dequeues and discards; a boundary's decision admits what it enters and blocks the rest.
"""

from __future__ import annotations

from typing import Any

import attrs

from turnproof_model import events as e
from turnproof_model import trace as t
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.claim_facts import Boundary, Pending, Splice
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.monitors.core_bridge import Bridge
from turnproof_model.observation import Observation


class ClaimBridge(Bridge[ClaimView]):
    """Turn the stream of a ``claim`` candidate into records."""

    def begin_lists(self) -> None:
        """Forget the boundary that was written down, a batch whose decision isn't known, and entries held back."""
        self.held: list[tuple[t.Record, int, int]] = []
        self.held_in: e.Event | None = None
        self.dropping: t.Cancelled | None = None
        self.written: Boundary | None = None
        self.unknown: list[str] = []
        self.removals: set[str] = set()

    def certain(self) -> bool:
        """Tell whether the operation that is told now is at its exact place in the stream."""
        return self.view.placed

    def emit(self, record: t.Record, ahead: int = 0) -> None:
        """Hand one record over, behind the entries that were held back."""
        self._flush()
        super().emit(record, ahead)

    def _flush(self) -> None:
        held, self.held = self.held, []
        for record, place, index in held:
            self.judge.take(record, place, index)

    def record_cancel(self, record: t.Record, issued: Issued[Any]) -> None:
        """A listener of a durable event sees the lists as they were: what is just entering isn't pending to it."""
        held, self.held = self.held, []
        if issued.inside is not self.held_in:
            held, self.held = [], held
        super().record_cancel(record, issued)
        self.held = held
        if isinstance(record, t.Cancelled) and not record.keep_inbox:
            self._goes_on(record)

    @before(v.Send, v.Reference)
    def sent(self, issued: Issued[v.Send | v.Reference]) -> None:
        """A send inside the discards of a cancel may start a turn before the rest is dropped."""
        if self.dropping is not None and type(issued.inside) in (e.Discarded, e.Spliced):
            self.trace.spare()

    @before(Unsure)
    def may_be_sent(self, item: Unsure[v.Operation]) -> None:
        """So may one that stands beside another that was refused there."""
        if self.dropping is not None and isinstance(item.op, v.Send | v.Reference):
            self.trace.spare()

    def listed(self, observation: Observation) -> tuple[str, ...] | None:
        """Both lists are shown, or neither."""
        inbox = observation.inbox
        return None if inbox is None else (*inbox.next_turn, *inbox.next_step)

    def abandon(self) -> None:
        """Nothing: the inbox is durable."""

    # -------------------------------------------------------------------------------------------- lists
    @after(v.Remove)
    def removes(self, issued: Issued[v.Remove]) -> None:
        """A removal is told before its splice."""
        self.removals.add(issued.op.id)

    @after(Unsure)
    def may_remove(self, item: Unsure[v.Operation]) -> None:
        """So is one that may come at any time."""
        if isinstance(item.op, v.Remove):
            self.removals.add(item.op.id)

    @after(Observation)
    def forgets(self, _: Observation) -> None:
        """A removal belongs to its request, and so does what a cancel drops."""
        self.removals.clear()
        self.dropping = None

    @after(e.Spliced)
    def spliced(self, event: e.Spliced) -> None:
        """A removal without outcome is a claim, any other a discard; an insertion enters at its place."""
        splice = self.view.splice
        if splice is None:
            return
        self._flush()
        if splice.kind in ("claim", "odd"):
            turn = self.view.turn.number if self.view.turn is not None else None
            for entry in splice.removed:
                self.emit(t.InboxDequeue(entry.id, event.target, turn))
        elif splice.removed:
            self._discarded(splice)
        entries = [self._entered(entry, event, splice, event.start + n) for n, entry in enumerate(splice.inserted)]
        self.held = [(record, self.view.position, self.view.index) for record in entries]
        self.held_in = event

    def _discarded(self, splice: Splice) -> None:
        ids = tuple(entry.id for entry in splice.removed)
        edited = splice.kind == "replace" or (len(ids) == 1 and ids[0] in self.removals)
        if not edited and self.uncaused:
            self._drop()
        self.emit(t.InboxDiscard(ids, "removal" if edited else None))

    def _drop(self) -> None:
        """Record what drops: the cancel that was seen to begin before one that may have come meanwhile."""
        if self.dropping is not None:
            self.emit(self.dropping)
            self.trace.spare()
            return
        landed = self.land(dropped=True)
        if isinstance(landed, t.Cancelled):
            self._goes_on(landed)

    def _goes_on(self, record: t.Cancelled) -> None:
        """Let a cancel go on dropping, of no turn that begins meanwhile."""
        self.dropping = attrs.evolve(record, turn=self.trace.last or 0)

    def _entered(self, entry: Pending, event: e.Spliced, splice: Splice, place: int) -> t.InboxEnqueue:
        message = entry.message
        return t.InboxEnqueue(
            entry.id,
            event.target,
            wakeup=entry.waking is True and splice.kind != "replace",
            content=None if message is None else message.text,
            source=None if message is None else message.source,
            at=place,
        )

    # -------------------------------------------------------------------------------------------- decisions
    @after(e.GateOpened)
    def decision_asked(self, event: e.GateOpened) -> None:
        """What was claimed is in admission while its decision is open."""
        boundary = self.view.boundary
        if event.gate_kind == "pre-step" and boundary is not None:
            for entry in boundary.batch:
                self.emit(t.AdmissionStart(entry.id))

    def close_admissions(self, reason: str | None = None) -> None:
        """Write the decision of a boundary down: at its step, or at the end of its turn."""
        boundary = self.view.boundary
        if boundary is None or boundary is self.written or (boundary.entered is None and reason is None):
            return
        self.written = boundary
        if boundary.entered is not None:
            self._let_in(boundary)
        elif reason is not None:
            self._kept_out(boundary, reason)

    def _let_in(self, boundary: Boundary) -> None:
        entering = boundary.entering
        claimed = [entry.id for entry in boundary.batch]
        if entering is None:
            self.unknown = claimed
            return
        left = list(entering)
        for name in claimed:
            if name in left:
                left.remove(name)
                self.emit(t.AdmissionAllow(name))
            else:
                self.emit(t.AdmissionBlock(name))
        if left:
            self.emit(t.AdmissionAllow(contexts=tuple(left)))

    def _kept_out(self, boundary: Boundary, reason: str) -> None:
        """Write down a batch that came to nothing: refused, failed, aborted, or entered as an empty one."""
        decided = bool(boundary.gates) and (boundary.decision is None or isinstance(boundary.decision, v.Enter))
        for entry in boundary.batch:
            if reason in ("aborted", "error"):
                self.emit(t.AdmissionFail(entry.id))
            elif reason == "blocked" or decided:
                self.emit(t.AdmissionBlock(entry.id))
        if not boundary.batch and boundary.first and reason in ("completed", "max-tokens"):
            self.emit(t.AdmissionBlock())

    @after(e.UserMessage)
    def committed(self, event: e.UserMessage) -> None:
        """A message of the batch is committed; where the decision isn't known, this tells it."""
        if event.id in self.unknown:
            self.unknown.remove(event.id)
            self.emit(t.AdmissionAllow(event.id))
        elif self.view.boundary is not None and self.view.boundary.entering is None:
            self.emit(t.AdmissionAllow(contexts=(event.id,)))
        sent = self.view.messages.get(event.id, ())  # in a decision, an id stands for any of them
        kinds, texts = {message.source.kind for message in sent}, {message.text for message in sent}
        source = None if event.source is None or len(kinds) > 1 else v.Source(event.source)
        content = None if len(texts) > 1 and event.text in texts else event.text
        self.emit(t.UserMessage(event.id, content, source))

    @after(e.RequestMade, e.StepEnd)
    def batch_ends(self, _: e.RequestMade | e.StepEnd) -> None:
        """What an unknown decision left out shows by now."""
        for name in self.unknown:
            self.emit(t.AdmissionBlock(name))
        self.unknown = []
