"""
Fold what contract ``window`` adds: the two FIFOs, the outbox, the admission, the opening of a turn, a decided retry.

The acceptance window itself is derived from these; where the stream leaves it open, ``window`` says None.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import define, field

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Mark, Unsure
from turnproof_model.monitors.facts import Cancelled, Entry, Gate
from turnproof_model.monitors.view import View, folds
from turnproof_model.observation import InboxView, Observation


@define(eq=False)
class Staged:
    """Be one item of the outbox; ``loose`` where its place among its neighbours can't be told."""

    id: str
    kind: Literal["steering", "context"]
    position: int
    loose: bool = False


@define(eq=False)
class Admission:
    """
    Be one admission: the claimed prompt, what was retained when it was claimed, what its hook decided.

    ``known`` says whether ``retained`` is certain. ``decision`` is None while undecided, and where the kind isn't gated
    or its release can't be told.
    """

    entry: Entry
    position: int
    retained: tuple[str, ...] = ()
    known: bool = True
    decision: v.Outcome | None = None
    cancelled: Cancelled | None = None

    @property
    def refused(self) -> bool:
        """Whether the hook is known to have blocked or failed."""
        return isinstance(self.decision, v.Block | v.Throw)


@define(eq=False)
class Opening:
    """
    Be the opening of a turn, from ``turn/start`` to its first step.

    ``retained`` and then ``rest`` (the prompt, the decision's contexts) list the ids that must still be written, in
    order. ``own`` holds what was accepted during the admission.
    """

    retained: list[str]
    rest: list[str]
    own: tuple[str, ...]
    known: bool
    prompt: Entry | None = None
    admission: Admission | None = None
    written: list[str] = field(factory=list)

    @property
    def head(self) -> list[str]:
        """What must still be written, in order."""
        return [*self.retained, *self.rest]


INNER = (e.Enqueue, e.Discard, e.CancelRequested, e.GateAborted, e.ToolResult)


def enters(send: v.Send) -> bool:
    """Tell whether a send enters a FIFO, wherever the window stands."""
    return send.target == "next-turn" or send.wakeup


class WindowView(View):
    """
    Show where the stream of a ``window`` candidate stands.

    Attributes:
        queued, steering: outstanding entries of each FIFO, in order; outbox: what is staged, in acceptance order.
        blurred: whether the outbox may differ from what it seems, until lists are shown again.
        awaiting: sends that must still publish their enqueue, by id; direct: injections that must be appended now.
        admission: the prompt that was claimed and whose turn isn't open yet; claiming: the head of the queue where it
            may have been claimed without its dequeue being out; woken: whether something waking was queued by then.
        claimed: prompts that were dequeued and neither committed nor given up; bound: steering that was.
        opening: the opening of the current turn, None once its first step opened.
        retry: a retry that was decided and isn't begun, or was withdrawn.
        stopping: whether turn-stopping was asked since the last step.
        entering, supplementary: ids that were or may be sent to a FIFO, and ids of context.
        fresh: contexts of the result that was committed last.
        put_back: a prompt that a keeping cancel may have returned to the head of the queue.
    """

    def reset(self) -> None:
        """Forget everything: a brand-new agent on an empty log."""
        self.entering: set[str] = set()
        self.supplementary: set[str] = set()
        super().reset()

    def new_agent(self) -> None:
        """Forget what dies with an agent: input that waits isn't durable."""
        super().new_agent()
        self.queued: list[Entry] = []
        self.steering: list[Entry] = []
        self.outbox: list[Staged] = []
        self.blurred = False
        self.awaiting: dict[str, list[Issued[Any]]] = {}
        self.direct: list[str] = []
        self.admission: Admission | None = None
        self.claiming: Entry | None = None
        self.retained: tuple[str, ...] = ()
        self.claimed: list[Entry] = []
        self.bound: Entry | None = None
        self.opening: Opening | None = None
        self.retry: Literal["due", "withdrawn"] | None = None
        self.settled = self.last_number
        self.stopping = False
        self.put_back: Entry | None = None
        self.claim_cancelled: Cancelled | None = None
        self.woken = False
        self.dropping = False
        self.cancel_request = -1
        self.fresh: list[Staged] = []

    # -------------------------------------------------------------------------------------------- the window
    def window(self, inside: e.Event | None = None) -> bool | None:
        """Tell whether the acceptance window is open at this place of the stream; None where it can't be told."""
        if self.turn is not None:
            return None if self.turn.error is not None else True
        if self.gates_of("prompt-submit"):
            return None if self.may_happen(v.Release) else True
        if self.admission is not None:
            undecided = self.admission.decision is None and self.admission.cancelled is None
            return True if undecided and not self.may_happen(v.Release) else None
        if self.status == "running" and type(inside) is e.StatusChanged:
            return None
        return False

    @property
    def waking(self) -> bool:
        """Whether something waking may be queued."""
        return any(entry.waking is not False for entry in self.queued)

    @property
    def quiescent(self) -> bool:
        """Whether nothing is under way: no admission, no turn, no checkpoint."""
        return self.turn is None and self.admission is None and not self.gates

    # -------------------------------------------------------------------------------------------- sends
    @folds(v.Send)
    def _sent(self, issued: Issued[v.Send]) -> None:
        send = issued.op
        self._may_supply(send)
        if enters(send):
            self.awaiting.setdefault(send.message.id, []).append(issued)
            return
        inside = self.window(issued.inside)
        if inside is False:
            self.direct.append(send.message.id)
        elif inside is None or self._perhaps_dropped(issued):
            self.blurred = True
        else:
            self.outbox.append(Staged(send.message.id, "context", self.position, loose=self._unplaced(issued)))

    def mark(self, issued: Issued[Any]) -> Mark | None:
        """Name the last event that the operation publishes before it returns; None where nothing need come."""
        op = issued.op
        if self.disposing is not False:
            return None
        if isinstance(op, v.Send | v.Reference):
            item_id = op.message.id
            if isinstance(op, v.Reference) or enters(op):
                return lambda event: type(event) is e.Enqueue and event.id == item_id
            if self.window(issued.inside) is False:
                return lambda event: type(event) is e.UserMessage and event.id == item_id
        elif isinstance(op, v.Cancel):
            if not op.keep_inbox and self._droppable:
                return lambda event: type(event) is e.Discard
            if self.effect(keep=op.keep_inbox):
                return lambda event: self.begins(issued, event)
        return None

    def begins(self, issued: Issued[Any], event: e.Event) -> bool:
        """Tell whether the event is the publication of this cancel, which its discard follows."""
        return type(event) is e.CancelRequested and isinstance(issued.op, v.Cancel) and issued.op.cause == event.cause

    @property
    def cancellable(self) -> bool:
        """Whether there surely is something that a cancel would abort."""
        if self.disposing is not False:
            return False
        if self.turn is not None:
            return not self.turn.aborted and self.turn.error is None
        if self.open_gates("prompt-submit"):
            return self.admission is None or self.admission.cancelled is None
        return self.retry == "due"

    def effect(self, *, keep: bool | None) -> bool | None:
        """Tell whether a cancel would do something here; None where the stream leaves it open."""
        if self.cancellable or self.claiming is not None or (keep is False and self._droppable):
            return True
        if self.blurred or self.retry is not None or self.dropping or keep is None:
            return None  # what a cancel under way still has to drop is not in the stream
        if not keep and (self.queued or self.outbox):
            return True
        if self.turn is not None:
            return False if self.turn.cancels and self.turn.disposed is None else None
        return None if self.admission is not None or self.gates_of("prompt-submit") else False

    @property
    def _droppable(self) -> bool:
        """Whether something is pending that a discard would list."""
        return bool(self.steering) or any(entry is not self.claiming for entry in self.queued)

    @folds(v.Reference)
    def _referred(self, issued: Issued[v.Reference]) -> None:
        """Follow a prompt that brings a snapshot along (W-XREF-1)."""
        self._may_supply(issued.op)
        inside = self.window(issued.inside)
        self.awaiting.setdefault(issued.op.message.id, []).append(issued)
        if inside is False:
            return
        if inside and not self._perhaps_dropped(issued):
            self.outbox.append(Staged(issued.op.snapshot.id, "context", self.position, loose=self._unplaced(issued)))
        else:
            self.blurred = True

    def _unplaced(self, issued: Issued[Any]) -> bool:
        """
        Tell whether the place of an operation among others can't be told.

        Inside an event that a caller's own stack publishes, the rest of that stack may have gone before, as may the
        listeners of an abort behind a cancel; a tool result's contexts may be staged before its listeners, or after.
        """
        return isinstance(issued.inside, INNER) or self.cancel_request == self.index

    def _perhaps_dropped(self, issued: Issued[Any]) -> bool:
        """Tell whether a cancel under way may drop what is staged now, without an event that says so."""
        return self.dropping and isinstance(issued.inside, INNER)

    @folds(v.Arm)
    def _armed(self, issued: Issued[v.Arm]) -> None:
        for op in issued.op.ops:
            self._may_supply(op)

    def _may_supply(self, op: v.Operation) -> None:
        """Note which ids may enter a FIFO, and which are supplementary input."""
        if isinstance(op, v.Send):
            (self.entering if enters(op) else self.supplementary).add(op.message.id)
        elif isinstance(op, v.Reference):
            self.entering.add(op.message.id)
            self.supplementary.add(op.snapshot.id)
        elif isinstance(op, v.Release):
            self.supplementary.update(message.id for message in getattr(op.outcome, "additional_contexts", ()))
        elif isinstance(op, v.Arm):
            for inner in op.ops:
                self._may_supply(inner)

    @folds(Unsure)
    def _unsure_outbox(self, item: Unsure[Any]) -> None:
        self.blurred = True
        self._may_supply(item.op)

    @folds(v.Release)
    def _supplied(self, issued: Issued[v.Release]) -> None:
        self._may_supply(issued.op)

    def next_send(self, item_id: str) -> Issued[Any] | None:
        """Find the send that an enqueue of this id belongs to."""
        sends = self.awaiting.get(item_id)
        return sends[0] if sends else None

    def unexplained(self, item_id: str) -> bool:
        """Tell whether no send that may have happened explains an entry of this id."""
        if self.next_send(item_id) is not None:
            return False
        unsure = any(
            isinstance(op := item.op, v.Send | v.Reference) and op.message.id == item_id for item in self.unsure
        )
        return not unsure and not self.offered(item_id)

    def offered(self, item_id: str) -> bool:
        """Tell whether an arm that hasn't fired would send this id."""
        return any(arming.offers(item_id) for arming in self.arms)

    def expected(self, item_id: str) -> bool:
        """Tell whether something outstanding of this id may be committed."""
        return (
            item_id in self.direct
            or (self.opening is not None and item_id in self.opening.head)
            or any(entry.id == item_id for entry in self.claimed)
            or any(item.id == item_id for item in self.outbox)
            or (self.bound is not None and self.bound.id == item_id)
        )

    # -------------------------------------------------------------------------------------------- FIFOs
    def fifo(self, placement: str) -> list[Entry]:
        """Name the FIFO of a placement."""
        return self.queued if placement == "queued" else self.steering

    @folds(e.Enqueue)
    def _enqueue(self, event: e.Enqueue) -> None:
        sends = self.awaiting.get(event.id)
        issued = sends.pop(0) if sends else None
        entry = Entry(event.id, event.placement, self.position)
        if issued is not None:
            entry.waking, entry.message = getattr(issued.op, "wakeup", True), issued.op.message
            entry.inside = issued.inside
            if isinstance(issued.op, v.Reference) and event.placement == "queued":
                entry.snapshot = issued.op.snapshot
        self.fifo(event.placement).append(entry)
        if event.placement == "steering":
            loose = issued is None or self._unplaced(issued)
            self.outbox.append(Staged(event.id, "steering", self.position, loose))

    @folds(e.Dequeue)
    def _dequeue(self, event: e.Dequeue) -> None:
        entry = self._returned(event) or self.retire(event.id, event.placement)
        if event.placement == "steering":
            self.bound = entry
            return
        if self.claiming is None:
            self._claim()
        self.claiming = self.put_back = None
        self.claimed = [entry]
        self.admission = Admission(entry, self.position, self.retained, not self.blurred, None, self.claim_cancelled)
        self.claim_cancelled = None

    def _returned(self, event: e.Dequeue) -> Entry | None:
        """Recognise a prompt that was put back at the head (latitude ``claimed-on-keep``)."""
        back = self.put_back
        if back is None or event.placement != "queued" or event.id != back.id:
            return None
        return None if self.queued and self.queued[0].id == back.id else back

    def _claim(self) -> None:
        """Note a sign that the head of the queue is being claimed, and what is retained by then."""
        self.retained = tuple(item.id for item in self.outbox)
        self.claiming = self.queued[0] if self.queued else None
        self.woken = self.waking

    def retire(self, entry_id: str, placement: str) -> Entry:
        """
        Take the earliest outstanding entry of that id out of its FIFO.

        An entry that was never seen is made up; one that stands in the other FIFO is taken from there.
        """
        other = "steering" if placement == "queued" else "queued"
        for name in (placement, other):
            for entry in self.fifo(name):
                if entry.id == entry_id:
                    self.fifo(name).remove(entry)
                    if name == "steering":
                        self._unstage(entry_id, "steering")
                    return entry
        return Entry(entry_id, placement, self.position)

    def _unstage(self, item_id: str, kind: str) -> bool:
        for item in self.outbox:
            if item.id == item_id and item.kind == kind:
                self.outbox.remove(item)
                return True
        return False

    @folds(e.Discard)
    def _discard(self, event: e.Discard) -> None:
        self.dropping = False
        for entry_id in event.ids:
            placement = "queued" if any(entry.id == entry_id for entry in self.queued) else "steering"
            self.retire(entry_id, placement)

    # -------------------------------------------------------------------------------------------- admission
    @folds(e.GateOpened)
    def _gate_of_prompt(self, event: e.GateOpened) -> None:
        if event.gate_kind == "prompt-submit" and self.claiming is None:
            self._claim()
        elif event.gate_kind == "turn-stopping":
            self.stopping = True

    @folds(e.StatusChanged)
    def _status_of_admission(self, event: e.StatusChanged) -> None:
        if event.status == "running":
            self._claim()
        elif not self.open_gates("prompt-submit"):
            self.admission = self.claiming = self.retry = None
            self.claimed = []

    def released(self, gate: Gate) -> None:
        """Note what a hook decided."""
        super().released(gate)
        if gate.kind == "prompt-submit" and self.admission is not None:
            self.admission.decision = gate.outcome
        elif gate.kind == "turn-stopping":
            self.stopping = True
        elif gate.kind == "request-error" and isinstance(gate.outcome, v.Retry) and not gate.aborted:
            self.retry = "due" if self.turn is not None and not self.turn.aborted else None

    # -------------------------------------------------------------------------------------------- turns
    @folds(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        admission = None if event.trigger == "retry" else self.admission
        staged = [item.id for item in self.outbox]
        placed = not self.blurred and not any(item.loose for item in self.outbox)
        known = placed and not self.may_happen(v.Release) and (admission is None or admission.known)
        if admission is None:
            self.opening = Opening(staged, [], (), known)
        else:
            kept = [item for item in admission.retained if item in staged]
            rest = [admission.entry.id, *self._decided(admission)]
            own = tuple(item for item in staged if item not in kept)
            self.opening = Opening(kept, rest, own, known, admission.entry, admission)
            self.admission = None
        self.stopping = False
        if self.retry == "withdrawn" or event.trigger == "retry" or admission is None:
            self.retry = None

    def _decided(self, admission: Admission) -> list[str]:
        """List the contexts that the decision adds, the snapshot of a reference last."""
        contexts = getattr(admission.decision, "additional_contexts", ())
        snapshot = admission.entry.snapshot
        return [message.id for message in (*contexts, *((snapshot,) if snapshot else ()))]

    @folds(e.StepStart)
    def _stepped(self, _: e.StepStart) -> None:
        self.opening = None
        self.stopping = False

    @folds(e.TurnEnd)
    def _closed(self, _: e.TurnEnd) -> None:
        self.opening = None
        self.claimed = []

    @folds(e.Settled)
    def _settled(self, event: e.Settled) -> None:
        self.settled = max(self.settled, event.turn)

    # -------------------------------------------------------------------------------------------- commits
    @folds(e.SteeringMessage)
    def _steered(self, event: e.SteeringMessage) -> None:
        self.bound = None
        self._written(event.id)
        if self.turn is not None:
            self.turn.last_input = self.position

    @folds(e.UserMessage)
    def _committed(self, event: e.UserMessage) -> None:
        if event.id in self.direct:
            self.direct.remove(event.id)
            return
        item = self.leaving(event)
        if item is not None:
            self.outbox.remove(item)
        elif self.turn is not None and any(entry.id == event.id for entry in self.claimed):
            self.claimed = [entry for entry in self.claimed if entry.id != event.id]
            self.turn.last_input = self.position
        self._written(event.id)

    def leaving(self, event: e.UserMessage | e.Dequeue) -> Staged | None:
        """Find the item of the outbox that leaves it with this event; None for direct input, prompts and decisions."""
        kind = "context" if isinstance(event, e.UserMessage) else "steering"
        if isinstance(event, e.UserMessage):
            opening = self.opening
            decided = opening is not None and event.id not in opening.retained and event.id in opening.rest
            if decided or event.id in self.direct:
                return None
        elif event.placement == "queued":
            return None
        return next((item for item in self.outbox if item.id == event.id and item.kind == kind), None)

    def _written(self, item_id: str) -> None:
        if self.opening is None:
            return
        self.opening.written.append(item_id)
        for part in (self.opening.retained, self.opening.rest):
            if item_id in part:
                part.remove(item_id)
                return

    @folds(e.ToolResult)
    def _tool_contexts(self, event: e.ToolResult) -> None:
        if event.call_id in self.tools:
            contexts = getattr(self.tools[event.call_id], "additional_contexts", ())
            self.fresh = [Staged(message.id, "context", self.position) for message in contexts]
            self.outbox += self.fresh
        elif None in self.tools:
            self.blurred = True

    # -------------------------------------------------------------------------------------------- cancel and disposal
    def noted(self, cancelled: Cancelled) -> None:
        """Attach a published cancel to the admission or the turn that it aborts; drop what it drops silently."""
        super().noted(cancelled)
        admission = self.admission
        if self.claiming is not None and self.turn is None:
            self.claim_cancelled = cancelled
            cancelled.sure = False  # whether the claim came before the status or after it is the agent's choice
        elif admission is not None and admission.cancelled is None:
            admission.cancelled = cancelled
            if cancelled.keep is not False:
                self.put_back = admission.entry
        if self.retry == "due":
            self.retry = "withdrawn"
        self.dropping = cancelled.keep is not True
        if cancelled.keep is None:
            self.blurred = True
        elif not cancelled.keep:
            self._drop_contexts()

    def _drop_contexts(self) -> None:
        """Drop staged context; whether that of the result being published is staged by then can't be told."""
        self.blurred = self.blurred or bool(self.fresh) or any(item.loose for item in self.outbox)
        self.outbox = [item for item in self.outbox if item.kind == "steering" or item in self.fresh]

    @folds(e.ToolCall, e.UserMessage, e.StepEnd, Observation)
    def _stale(self, _: object) -> None:
        self.fresh = []

    @folds(v.Cancel, v.Dispose)
    def _withdraw(self, issued: Issued[Any]) -> None:
        if isinstance(issued.op, v.Cancel) and self.effect(keep=issued.op.keep_inbox) is None:
            self.blurred = True
        if self.retry == "due":
            self.retry = "withdrawn"
        self.cancel_request = self.index
        if isinstance(issued.op, v.Dispose):
            self._drop_contexts()

    @folds(v.Resume)
    def _ended_by_resume(self, issued: Issued[v.Resume]) -> None:
        if issued.op.mode in ("clean", "compact"):
            self._drop_contexts()

    # -------------------------------------------------------------------------------------------- the end of a request
    @folds(Observation)
    def _lists(self, observation: Observation) -> None:
        """Believe the lists that are shown."""
        self.awaiting, self.direct, self.dropping = {}, [], False
        if observation.inbox is None:
            return
        if self.put_back is not None and not self.open_gates("prompt-submit"):
            shown = observation.inbox.next_turn
            if shown[:1] == (self.put_back.id,) and len(shown) > len(self.queued):
                self.queued.insert(0, self.put_back)
            self.put_back = None
        self._restage(observation.inbox)
        self.blurred = False

    def _restage(self, inbox: InboxView) -> None:
        if [item.id for item in self.outbox] == list(inbox.next_step):
            for item in self.outbox:
                item.loose = False
            return
        steering = [entry.id for entry in self.steering]
        outbox = []
        for place, item_id in enumerate(inbox.next_step):
            kind: Any = inbox.next_step_kinds[place] if inbox.next_step_kinds else None
            if kind is None:
                kind = "steering" if item_id in steering else "context"
            outbox.append(Staged(item_id, kind, self.position))
        self.outbox = outbox
