"""
Fold a trace into the facts that the rules of ``core`` ask about.

Turn, step, batch of calls, history, status, cancels, and the ledger of the inbox. Like every view it believes what it
reads; what several rules must agree on (what is unsettled at ``idle``, and what excuses it) is decided here once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import Factory, define, field

from turnproof_model import trace as t
from turnproof_model.monitors.core_facts import ENDED_WELL, Batch, OpenTurn
from turnproof_model.monitors.core_ledger import Claim, Item, Ledger, is_prompt


@define(eq=False)
class CoreView:
    """
    Show where the trace stands.

    Attributes:
        place: where the current record stands, as its feeder counts; ``index``: the request it belongs to.
        turn, step, batch: what is open; an answered batch stays until something else is appended.
        uses_steps: whether steps are recorded at all.
        history: the committed messages, kept where requests are recorded.
        last: the highest turn number; ``ended``: the reason of the last turn that ended.
        stopped: no turn is open and the running activity is over, so that input is late.
        cancel: place of a cancel that drops pending input, while it may still be doing so.
        disposed: place of a disposal, if one was called.
    """

    header: t.Header
    held: frozenset[t.TraceKind] = field(
        default=Factory(lambda view: frozenset(view.header.records), takes_self=True), init=False
    )
    place: int = -1
    index: int = 0
    turn: OpenTurn | None = None
    step: tuple[int, int] | None = None
    uses_steps: bool = False
    batch: Batch | None = None
    history: list[t.Shown] = field(factory=list)
    last: int | None = None
    ended: str | None = None
    status: str | None = None
    stopped: bool = False
    cancel: int | None = None
    disposed: int | None = None
    ledger: Ledger = field(factory=Ledger)

    @property
    def position(self) -> int:
        """Where the current record stands."""
        return self.place

    def has(self, *kinds: t.TraceKind) -> bool:
        """Tell whether the trace holds these kinds of record completely."""
        return self.held.issuperset(kinds)

    def fold(self, record: t.Record) -> None:
        """Take one record in."""
        folder = _FOLDERS.get(type(record))
        if folder is not None:
            folder(self, record)

    # -------------------------------------------------------------------------------------------- inbox
    def _enqueue(self, record: t.InboxEnqueue) -> None:
        item = Item(record.id, record.list, record.wakeup, self.place, record.content, record.source)
        item.late = self.stopped or (self.turn is not None and self.turn.cancel is not None)
        self.ledger.enter(item, record.at)

    def _dequeue(self, record: t.InboxDequeue) -> None:
        item = self.ledger.find(record.id, record.list) or self.ledger.find(record.id)
        if item is None:
            item = Item(record.id, record.list, waking=False, place=self.place)
        turn = self.turn
        if turn is None:
            self.ledger.claim(Claim(item, self.place, None))
        else:
            self.ledger.claim(Claim(item, self.place, turn.number, None if turn.midway else turn.cancel))
            turn.claiming = True
        if turn is None or turn.cancel is None:
            for waiting in self.ledger.outstanding():
                waiting.parked = False
        self.cancel = None

    def _discard(self, record: t.InboxDiscard) -> None:
        for name in record.ids:
            item = self.ledger.find(name)
            claim = self.ledger.claim_of(name)
            if item is not None:
                self.ledger.leave(item)
            elif claim is not None:
                self.ledger.settle(claim)

    def _requeue(self, record: t.InboxRequeue) -> None:
        item = self.ledger.find(record.id)
        claim = self.ledger.claim_of(record.id)
        if item is None and claim is not None:
            self.ledger.settle(claim)
            item = claim.item
        if item is not None:
            self.ledger.requeue(item, record.list)

    # -------------------------------------------------------------------------------------------- admission
    def _admission_start(self, record: t.AdmissionStart) -> None:
        claim = self.ledger.claim_of(record.id)
        if claim is not None:
            claim.admission = "open"
        else:
            self.ledger.asked.add(record.id)
        if self.turn is not None:
            self.turn.claiming = self.turn.midway = False

    def _admission_allow(self, record: t.AdmissionAllow) -> None:
        self.ledger.let_in.update(record.contexts)
        claim = self.ledger.claim_of(record.id) if record.id is not None else None
        if claim is not None:
            claim.admission = "allowed"
            claim.content = record.content

    def _kept_out(self, record: t.AdmissionBlock | t.AdmissionFail) -> None:
        claim = self.ledger.claim_of(record.id) if record.id is not None else None
        if claim is not None:
            self.ledger.settle(claim)
        if self.turn is not None:
            self.turn.vetoed = True
        else:
            self._excuse(staged=True)

    def _excuse(self, *, staged: bool) -> None:
        """Let what is pending wait at idle until something is claimed again; what is left staged, for good."""
        for item in self.ledger.outstanding():
            item.parked = True
            item.left = item.left or (staged and not is_prompt(item.list))

    # -------------------------------------------------------------------------------------------- log
    def _turn_start(self, record: t.TurnStart) -> None:
        self.turn = OpenTurn(record.turn, self.place)
        self.last = record.turn if self.last is None else max(self.last, record.turn)
        self.step = self.batch = self.cancel = None
        self.stopped = False
        for item in self.ledger.outstanding():
            item.late = False

    def _turn_end(self, record: t.TurnEnd) -> None:
        self._close_turn(record.reason)

    def _close_turn(self, reason: str) -> None:
        turn = self.turn
        if reason not in ENDED_WELL or (turn is not None and (turn.vetoed or turn.concluded)):
            left = reason not in ENDED_WELL or (turn is not None and turn.concluded)
            if reason == "aborted":
                for item in self.ledger.outstanding():
                    item.left = item.left or not is_prompt(item.list)
            else:
                self._excuse(staged=left)
        self.ledger.claims.clear()
        self.turn = self.step = self.batch = self.cancel = None
        self.ended, self.stopped = reason, True

    def _step_start(self, record: t.StepStart) -> None:
        self.step, self.batch, self.uses_steps = (record.turn, record.step), None, True
        if self.turn is not None:
            self.turn.acted = True

    def _step_end(self, _: t.StepEnd) -> None:
        self.step = self.batch = None

    def _committed(self, record: t.UserMessage | t.SteeringMessage) -> None:
        claim = self.ledger.committed(record)
        if self.batch is not None and not self.batch.missing:
            self.batch = None
        self._append(("user", record.id))
        if self.turn is not None:
            self.turn.claiming = self.turn.midway = self.turn.vetoed = self.turn.answered = False
            if claim is not None or type(record) is t.SteeringMessage:
                self.turn.owed = (f"{record.id} was committed", self.place)

    def _assistant(self, record: t.AssistantMessage) -> None:
        self.batch = Batch(record.calls, self.place) if record.calls else None
        self._append(("assistant", *record.calls))
        if self.turn is not None:
            self.turn.answered = not record.calls
            self.turn.acted = True

    def _tool_result(self, record: t.ToolResult) -> None:
        self._append(("tool", record.call_id))
        if self.batch is not None:
            self.batch.answered.add(record.call_id)
        if self.turn is not None:
            self.turn.answered = False
            self.turn.concluded = self.turn.concluded or record.concludes
            self.turn.owed = (f"the result of {record.call_id} was appended", self.place)

    def _append(self, shown: t.Shown) -> None:
        if self.has("request"):
            self.history.append(shown)

    def _resume(self, record: t.SessionResume) -> None:
        if self.turn is not None:
            self._close_turn("interrupted")
        self._excuse(staged=True)
        self.ledger.claims.clear()
        self.ledger.asked.clear()
        if record.history is not None:
            self.history = list(record.history)
        self.status = self.disposed = self.cancel = None
        self.stopped = False

    # -------------------------------------------------------------------------------------------- the other kinds
    def _requested(self, _: t.Requested) -> None:
        if self.turn is not None:
            self.turn.owed = None
            self.turn.vetoed = self.turn.concluded = self.turn.answered = False
            self.turn.acted = True

    def _status(self, record: t.StatusSet) -> None:
        self.status, self.stopped, self.cancel = record.status, False, None
        if record.status == "idle" and self.turn is None:
            for claim in self.ledger.claims:
                claim.idle = self.place
            self.ledger.claims = [claim for claim in self.ledger.claims if claim.admission == "open"]

    def _cancel(self, record: t.Cancelled) -> None:
        turn = self.turn
        if turn is not None and record.turn in (None, turn.number) and turn.cancel is None:
            turn.cancel = self.place
            turn.over = self.step is None and turn.answered and turn.owed is None
            turn.acted = False
            turn.midway = turn.claiming
        elif turn is None and self.status == "running":
            self.stopped = True
        if not record.keep_inbox:
            self.cancel = self.place
        for item in self.ledger.outstanding():
            if record.keep_inbox:
                item.parked = True
            elif turn is None or not turn.midway:
                item.doomed = self.place

    def _dispose(self, _: t.DisposeCalled) -> None:
        self.disposed = self.place
        if self.turn is not None and self.turn.disposed is None:
            self.turn.disposed = self.place

    def spare(self) -> None:
        """Let what a cancel was to drop be claimed: a command inside its discards may reach it first."""
        for item in self.ledger.outstanding():
            item.doomed = None

    # -------------------------------------------------------------------------------------------- what idle owes
    def unsettled(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Say what keeps the agent from being idle now: a clause each, with places."""
        if self.turn is not None and self.has("log"):
            yield f"turn {self.turn.number} is still open", (self.turn.place,)
        if self.has("inbox", "log", "admission"):
            for claim in self.ledger.claims:
                yield f"{claim.id} was claimed and is neither committed nor settled", (claim.place,)
        if self.has("inbox", "cancel"):
            for item in self.ledger.outstanding():
                if item.waking and not self._excused(item):
                    yield f"waking {item.id} still waits in {item.list}", (item.place,)

    def _excused(self, item: Item) -> bool:
        late = item.late and self.header.contract == "claim"
        return item.parked or item.left or late or self.disposed is not None


_FOLDERS: Mapping[type[t.Record], Callable[[CoreView, Any], None]] = {
    t.InboxEnqueue: CoreView._enqueue,
    t.InboxDequeue: CoreView._dequeue,
    t.InboxDiscard: CoreView._discard,
    t.InboxRequeue: CoreView._requeue,
    t.AdmissionStart: CoreView._admission_start,
    t.AdmissionAllow: CoreView._admission_allow,
    t.AdmissionBlock: CoreView._kept_out,
    t.AdmissionFail: CoreView._kept_out,
    t.TurnStart: CoreView._turn_start,
    t.TurnEnd: CoreView._turn_end,
    t.StepStart: CoreView._step_start,
    t.StepEnd: CoreView._step_end,
    t.UserMessage: CoreView._committed,
    t.SteeringMessage: CoreView._committed,
    t.AssistantMessage: CoreView._assistant,
    t.ToolResult: CoreView._tool_result,
    t.SessionResume: CoreView._resume,
    t.Requested: CoreView._requested,
    t.StatusSet: CoreView._status,
    t.Cancelled: CoreView._cancel,
    t.DisposeCalled: CoreView._dispose,
}
