"""
Fold what contract ``window`` does: the admission, the opening of a turn, a decided retry; on top of its inbox.

The acceptance window itself is derived from these; where the stream leaves it open, ``window`` says None.
"""

from __future__ import annotations

from typing import Any, Literal

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Mark, Unsure
from turnproof_model.monitors.facts import Cancelled, Entry, Gate
from turnproof_model.monitors.view import folds
from turnproof_model.monitors.window_facts import Admission, Opening, Staged, enters
from turnproof_model.monitors.window_inbox import WindowInbox
from turnproof_model.observation import Observation


class WindowView(WindowInbox):
    """
    Show where the stream of a ``window`` candidate stands.

    Attributes:
        admission: the prompt that was claimed and whose turn isn't open yet; woken: whether something waking was
            queued when it was claimed.
        claimed: prompts that were dequeued and neither committed nor given up; bound: steering that was.
        opening: the opening of the current turn, None once its first step opened.
        retry: a retry that was, or may have been, decided and isn't begun, or was withdrawn.
        settled: the last turn that was settled.
        stopping: whether turn-stopping was asked since the last step.
    """

    def new_agent(self) -> None:
        """Forget what dies with an agent."""
        super().new_agent()
        self.admission: Admission | None = None
        self.claim_cancelled: Cancelled | None = None
        self.woken = False
        self.retained: tuple[str, ...] = ()
        self.claimed: list[Entry] = []
        self.bound: Entry | None = None
        self.early_decision: v.Outcome | None = None
        self.opening: Opening | None = None
        self.retry: Literal["due", "perhaps", "withdrawn"] | None = None
        self.settled = self.last_number
        self.stopping = False

    # -------------------------------------------------------------------------------------------- the window
    def window(self) -> bool | None:
        """Tell whether the acceptance window is open at this place of the stream; None where it can't be told."""
        if self.turn is not None:
            return None if self.turn.error is not None else True
        if self.gates_of("prompt-submit"):
            return None if self.may_happen(v.Release) else True
        if self.admission is not None:
            undecided = self.admission.decision is None and self.admission.cancelled is None
            return True if undecided and not self.may_happen(v.Release) else None
        return None if self.status == "running" and self.claiming is not None else False

    @property
    def releasing(self) -> bool:
        """Whether a rejected admission may be appending the context it leaves, which no cancel drops any more."""
        admission = self.admission
        return self.turn is None and admission is not None and (admission.refused or admission.cancelled is not None)

    @property
    def quiescent(self) -> bool:
        """Whether nothing is under way: no admission, no turn, no checkpoint."""
        return self.turn is None and self.admission is None and not self.gates

    # ------------------------------------------------------------------------------------------- what an operation does
    def mark(self, issued: Issued[Any]) -> Mark | None:
        """Name the last event that the operation publishes before it returns; None where nothing need come."""
        op = issued.op
        if isinstance(op, v.Send | v.Reference):
            item_id = op.message.id
            if isinstance(op, v.Reference) or enters(op):
                return lambda event: type(event) is e.Enqueue and event.id == item_id
            if self.window() is False:
                return lambda event: type(event) is e.UserMessage and event.id == item_id
        elif isinstance(op, v.Cancel) and self.disposing is False:
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
        claims = self.claiming is not None
        if self.cancellable or (claims and self.claim_cancelled is None) or (keep is False and self._droppable):
            return True
        if claims or self.blurred or self.retry is not None or self.dropping or keep is None:
            return None  # what a cancel under way still has to drop is not in the stream
        if not keep and (self.queued or self.outbox):  # what was told ahead of its moment may not be staged yet
            return None if not self.queued and all(item.loose for item in self.outbox) else True
        if self.turn is not None:
            return False if self.turn.cancels and self.turn.disposed is None else None
        return None if self.admission is not None or self.gates_of("prompt-submit") else False

    @property
    def _droppable(self) -> bool:
        """Whether something is pending that a discard would list."""
        return bool(self.steering) or any(entry is not self.claiming for entry in self.queued)

    def expected(self, item_id: str) -> bool:
        """Tell whether something outstanding of this id may be committed."""
        return (
            item_id in self.direct
            or (self.opening is not None and item_id in self.opening.head)
            or any(entry.id == item_id for entry in self.claimed)
            or any(item.id == item_id for item in self.outbox)
            or (self.bound is not None and self.bound.id == item_id)
        )

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

    def _claim(self) -> None:
        """Note a sign that the head of the queue is being claimed, and what is retained by then."""
        self.retained = tuple(item.id for item in self.outbox)
        self.claiming = self.queued[0] if self.queued else None
        self.woken = self.waking

    @folds(e.Enqueue)
    def _perhaps_returned(self, event: e.Enqueue) -> None:
        """Where no commands are seen, a prompt that enters again may be sent again, or put back at the head."""
        gone = (self.put_back, None if self.admission is None else self.admission.entry)
        if "command" not in self.sees and any(entry is not None and entry.id == event.id for entry in gone):
            self.fifo(event.placement)[-1].loose = True

    @folds(e.Dequeue)
    def _dequeue(self, event: e.Dequeue) -> None:
        back = self.put_back if self.returns(event) else None
        entry = back or self.retire(event.id, event.placement)
        if event.placement == "steering":
            self.bound = entry
            return
        if self.claiming is None:
            self._claim()
        self.claiming = self.put_back = None
        self.claimed = [entry]
        decision, self.early_decision = self.early_decision, None
        self.admission = Admission(entry, self.position, self.retained, self.placed, decision, self.claim_cancelled)
        if self.claim_cancelled is not None and self.claim_cancelled.keep is not False:
            self.put_back = entry
        self.claim_cancelled = None

    def released(self, gate: Gate) -> None:
        """Note what a hook decided."""
        super().released(gate)
        if gate.kind == "prompt-submit" and self.claiming is not None:
            self.early_decision = gate.outcome  # inside the opening of the gate, before the dequeue is told
        elif gate.kind == "prompt-submit" and self.admission is not None:
            self.admission.decision = gate.outcome
        elif gate.kind == "turn-stopping":
            self.stopping = True
        elif gate.kind == "request-error" and isinstance(gate.outcome, v.Retry) and not gate.aborted:
            self.retry = "due" if self.turn is not None and not self.turn.aborted else None

    @folds(Unsure)
    def _perhaps_decided(self, item: Unsure[Any]) -> None:
        """A retry that is released unseen may become due long after this request."""
        if self.retry is None and isinstance(item.op, v.Release) and isinstance(item.op.outcome, v.Retry):
            self.retry = "perhaps"

    # -------------------------------------------------------------------------------------------- turns
    @folds(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        admission = None if event.trigger == "retry" else self.admission
        staged = [item.id for item in self.outbox]
        known = self.placed and not self.may_happen(v.Release) and (admission is None or admission.known)
        if admission is None:
            self.opening = Opening(staged, [], (), known)
        else:
            kept = [item for item in admission.retained if item in staged]
            rest = [admission.entry.id, *self._decided(admission)]
            own = tuple(item for item in staged if item not in kept)
            self.opening = Opening(kept, rest, own, known, admission.entry, admission)
            self.admission = None
        self.stopping = False
        if self.retry != "due" or event.trigger == "retry" or admission is None:
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
        if self.retry == "perhaps":
            self.retry = None

    # -------------------------------------------------------------------------------------------- commits
    @folds(e.SteeringMessage)
    def _steered(self, event: e.SteeringMessage) -> None:
        self.bound = None
        self._written(event.id, staged=True)
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
        self._written(event.id, staged=item is not None)

    def leaving(self, event: e.UserMessage | e.Dequeue) -> Staged | None:
        """Find the item of the outbox that leaves it with this event; None for direct input, prompts and decisions."""
        kind = "context" if isinstance(event, e.UserMessage) else "steering"
        if isinstance(event, e.UserMessage):
            opening = self.opening
            if event.id in self.direct or (opening is not None and self._decided_here(opening, event.id)):
                return None
        elif event.placement == "queued":
            return None
        return next((item for item in self.outbox if item.id == event.id and item.kind == kind), None)

    def _decided_here(self, opening: Opening, item_id: str) -> bool:
        """Tell whether the opening writes the prompt or a context of the decision next, not what was retained."""
        kept = item_id in opening.retained and any(item.id == item_id for item in self.outbox)
        return item_id in opening.rest and not kept

    def _written(self, item_id: str, *, staged: bool) -> None:
        if self.opening is not None:
            self.opening.written.append(item_id)
            part = self.opening.retained if staged else self.opening.rest
            if item_id in part:
                part.remove(item_id)

    # -------------------------------------------------------------------------------------------- cancel and disposal
    def noted(self, cancelled: Cancelled) -> None:
        """Attach a published cancel to the admission or the turn that it aborts; drop what it drops silently."""
        super().noted(cancelled)
        admission, releasing = self.admission, self.releasing
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
        if cancelled.keep is None or releasing:
            self.blurred = True
        elif not cancelled.keep:
            self.drop_contexts()

    @folds(v.Cancel, v.Dispose)
    def _withdraw(self, issued: Issued[Any]) -> None:
        if isinstance(issued.op, v.Cancel) and self.effect(keep=issued.op.keep_inbox) is None:
            self.blurred = True
        if self.retry == "due":
            self.retry = "withdrawn"
        self.cancel_request = self.index
        if isinstance(issued.op, v.Dispose):
            self.drop_contexts()

    @folds(Observation)
    def _returned_to_queue(self, observation: Observation) -> None:
        """Believe the queue where it shows whether a prompt was put back (latitude ``claimed-on-keep``)."""
        if self.put_back is None or observation.inbox is None or self.open_gates("prompt-submit"):
            return
        shown = observation.inbox.next_turn
        if shown[:1] == (self.put_back.id,) and len(shown) > len(self.queued):
            self.queued.insert(0, self.put_back)
        self.put_back = None
