"""
Write down the inbox and the admissions of a ``window`` session.

Entries, dequeues and discards are events; an admission is what lies between the dequeue of a prompt and its turn, or
whatever else shows that it is over. Context is no entry of a list: what was sent under an id may be committed under it.
"""

from __future__ import annotations

from collections import Counter

from attrs import define

from turnproof_model import events as e
from turnproof_model import trace as t
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.core_bridge import Bridge
from turnproof_model.monitors.window_view import WindowView
from turnproof_model.observation import Observation


@define(eq=False)
class Admission:
    """
    Be an admission under way.

    ``decision`` is None while it is open or not known; ``ahead`` says that its dequeue has still to be published.
    """

    id: str
    decision: v.Outcome | None = None
    ahead: bool = False


class WindowBridge(Bridge[WindowView]):
    """Turn the stream of a ``window`` candidate into records."""

    def begin_lists(self) -> None:
        """
        Forget the admission under way, accepted contexts, ids that were used, a prompt that may be put back.

        ``early`` is a decision that is made inside the opening of its gate, before the dequeue is told. ``unread`` is
        a prompt whose decision isn't known, so that its content may be a replaced one.
        """
        self.admission: Admission | None = None
        self.early: v.Outcome | None = None
        self.accepted: Counter[str] = Counter()
        self.known: set[str] = set()
        self.returnable: str | None = None
        self.unread: str | None = None

    def listed(self, observation: Observation) -> tuple[str, ...] | None:
        """The queue, and what is steering in the outbox; None where kinds aren't shown."""
        inbox = observation.inbox
        if inbox is None or (inbox.next_step and inbox.next_step_kinds is None):
            return None
        self._returned(inbox.next_turn)
        kinds = zip(inbox.next_step, inbox.next_step_kinds or (), strict=False)
        return (*inbox.next_turn, *(name for name, kind in kinds if kind == "steering"))

    def abandon(self) -> None:
        """Input of the old agent isn't durable."""
        self.close_admissions()
        left = tuple(item.id for item in self.trace.ledger.outstanding())
        if left:
            self.emit(t.DisposeCalled())
            self.emit(t.InboxDiscard(left, "disposal"))
        self.returnable = self.early = None

    # -------------------------------------------------------------------------------------------- entries and exits
    @after(e.Enqueue)
    def entered(self, event: e.Enqueue) -> None:
        """A message enters the FIFO that it was placed in."""
        fifo = self.view.fifo(event.placement)
        entry = fifo[-1] if fifo else None
        if entry is not None and entry.position != self.view.position:
            self._put_back(event.id)
            return
        message = entry.message if entry is not None else None
        loose = entry is not None and entry.loose
        self.emit(
            t.InboxEnqueue(
                event.id,
                event.placement,
                wakeup=entry is not None and entry.waking is True,
                content=None if message is None else message.text,
                source=None if message is None else message.source,
                at=0 if loose else None,
            )
        )
        item = self.trace.ledger.find(event.id, event.placement) if loose else None
        if item is not None:
            item.overtaken = True  # it was put back to the head, or sent again: nobody is accused of passing it

    @after(e.Dequeue)
    def taken(self, event: e.Dequeue) -> None:
        """A prompt is claimed for the next turn, steering for the open one."""
        if event.placement == "steering":
            self.emit(t.InboxDequeue(event.id, "steering", None if self.view.turn is None else self.view.turn.number))
        elif self.admission is None or not self.admission.ahead or self.admission.id != event.id:
            if self.admission is not None:
                self._close(self.admission, opens=False)
            self._returned((event.id,))
            self._claimed(event.id)
        else:
            self.admission.ahead = False

    def _claimed(self, name: str) -> Admission:
        self.emit(t.InboxDequeue(name, "queued"))
        self.emit(t.AdmissionStart(name))
        admission, self.early = Admission(name, self.early), None
        self.admission = admission
        return admission

    @before(v.Cancel, v.Dispose)
    def cancels(self, _: Issued[v.Cancel | v.Dispose]) -> None:
        """A cancel or a disposal is at its place."""
        self.reaches()

    def reaches(self) -> None:
        """A prompt counts as claimed before its dequeue is out: a cancel in between doesn't reach it (W-FIFO-3)."""
        claiming, admission = self.view.claiming, self.admission
        if claiming is None or (admission is not None and admission.ahead):
            return
        if admission is not None:
            self._close(admission, opens=False)
        self._claimed(claiming.id).ahead = True

    def _put_back(self, name: str) -> None:
        """Let the prompt of an aborted admission enter again, at the head."""
        if self.admission is not None and self.admission.id == name:
            self._close(self.admission, opens=False)
        self.returnable = None
        self.emit(t.InboxEnqueue(name, "queued", wakeup=True, at=0))

    def _returned(self, queue: tuple[str, ...]) -> None:
        """A keeping cancel may put the prompt of its admission back to the head (latitude ``claimed-on-keep``)."""
        name = self.returnable
        if name is None or queue[:1] != (name,):
            return
        if self.trace.ledger.find(name, "queued") is None:
            self._put_back(name)

    @after(e.Discard)
    def dropped(self, event: e.Discard) -> None:
        """A discard is the effect of a cancel or of a disposal."""
        if self.uncaused:
            self.land(dropped=True)
        self.emit(t.InboxDiscard(event.ids))

    # -------------------------------------------------------------------------------------------- admission
    @after(v.Release)
    def decided(self, _: Issued[v.Release]) -> None:
        """Note the decision; an abort that came first makes it void."""
        gate, admission = self.releasing, self.admission
        if gate is None or gate.kind != "prompt-submit":
            return
        decision = v.Throw() if gate.aborted else gate.outcome
        if self.view.claiming is not None and (admission is None or not admission.ahead):
            self.early = decision
        elif admission is not None:
            admission.decision = decision

    @before(e.GateAborted)
    def aborted(self, event: e.GateAborted) -> None:
        """A decision that is aborted comes to nothing."""
        if event.gate_kind == "prompt-submit" and self.admission is not None:
            self.land()
            self.admission.decision = v.Throw()

    def close_admissions(self, reason: str | None = None) -> None:
        """
        Write down how the admission ended: at its turn, or at what shows that it opened none.

        What is sent in the stack that decides belongs to the admission still.
        """
        admission, opens = self.admission, self.view.turn is not None
        if admission is None or reason is not None or admission.ahead:
            return
        if opens or admission.decision is not None or not self.view.open_gates("prompt-submit"):
            self._close(admission, opens=opens)

    def _close(self, admission: Admission, *, opens: bool) -> None:
        self.admission = None
        decision = admission.decision
        self.unread = admission.id if decision is None and self.view.may_happen(v.Release) else None
        contexts = tuple(message.id for message in getattr(decision, "additional_contexts", ()))
        if isinstance(decision, v.Block):
            alone = tuple(name for name in contexts if self.trace.ledger.find(name) is None)
            self.known.update(alone)
            self.emit(t.AdmissionBlock(admission.id, alone))
        elif opens and not isinstance(decision, v.Throw):
            content = decision.content if isinstance(decision, v.Allow) else None
            self.emit(t.AdmissionAllow(admission.id, content, contexts))
        else:
            self.emit(t.AdmissionFail(admission.id))
            self.returnable = admission.id

    # -------------------------------------------------------------------------------------------- commits
    @after(v.Send)
    def sent(self, issued: Issued[v.Send]) -> None:
        """Context that is accepted may be committed, once."""
        self._accept(issued.op)

    @after(Unsure)
    def may_be_sent(self, item: Unsure[v.Operation]) -> None:
        """So may context that is perhaps accepted."""
        self._accept(item.op)

    def _accept(self, op: v.Operation) -> None:
        if isinstance(op, v.Send) and op.target == "next-step" and not op.wakeup:
            self.accepted[op.message.id] += 1
        elif isinstance(op, v.Reference):
            self.accepted[op.snapshot.id] += 1
        elif isinstance(op, v.Release) and not isinstance(op.outcome, v.Block):
            self.accepted.update(message.id for message in getattr(op.outcome, "additional_contexts", ()))

    @after(v.Reference, v.Release)
    def brought(self, issued: Issued[v.Reference | v.Release]) -> None:
        """A reference brings its snapshot along, a decision or a tool its contexts."""
        self._accept(issued.op)

    @after(e.UserMessage)
    def committed_message(self, event: e.UserMessage) -> None:
        """A prompt is committed from its claim, context because it was accepted."""
        if self.view.turn is None:
            self.close_admissions()  # context that an admission left behind is appended when it is over
        claimed = self.trace.ledger.claim_of(event.id) is not None
        if not claimed and self.accepted[event.id] > 0:
            self.accepted[event.id] -= 1
            if event.id in self.known or event.id in self.trace.ledger.entered:
                self.emit(t.AdmissionAllow(contexts=(event.id,)))
        self.known.add(event.id)
        either = claimed and self.accepted[event.id] > 0  # context of the same id may be meant: only ids are told apart
        source = None if event.source is None or either else v.Source(event.source)
        self.emit(t.UserMessage(event.id, None if either or event.id == self.unread else event.text, source))

    @after(e.SteeringMessage)
    def committed_steering(self, event: e.SteeringMessage) -> None:
        """Steering is committed as it is taken."""
        self.emit(t.SteeringMessage(event.id, event.text))
