"""
Fold what contract ``claim`` adds: the two lists, the boundary, the running activity and what is late for it.

The lists are replayed from the splices. Where an operation may have happened unseen (``doubt``), or its place in the
stream isn't certain (``placed``), the facts that hang on it are marked and no rule relies on them.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Mark, Refused, Unsure
from turnproof_model.monitors.claim_facts import Boundary, Pending, Splice, Told
from turnproof_model.monitors.facts import Cancelled, Gate
from turnproof_model.monitors.view import View, folds
from turnproof_model.observation import Observation

ENTERING = (v.Send, v.Prepend, v.Replace, v.Reference)
"""Operations that put messages into the inbox."""


class ClaimView(View):
    """
    Show where the stream of a ``claim`` candidate stands.

    Attributes:
        lists: pending entries by list, in order.
        awaiting: operations whose insertion hasn't been seen, by the id that they insert.
        splice: the last change of a list; live: what must still be announced, in order, by live event type.
        last_released: the gate that the last release settled.
        stray: the live event just taken announces nothing that the log holds.
        boundary: the step boundary that is open, or the one that the open step began with.
        activity: place where the running activity began, None at idle; cancel: the first cancel of it.
        ended: whether a turn has ended in it; emptied: whether the last turn found nothing to enter.
        supplied: ids that tools brought along.
        wakes: whether waking input was sent since idle, None where it may have been.
        placed: whether the operation being told is at its exact place: neither behind a send that may run the loop,
            nor inside an event that another operation published, which an agent may hold back.
        doubtful: the last request in which a cancel or a disposal may have happened unseen.
        called: whether a disposal was called, or may have been.
        untold: whether a cancel or a disposal is due in a stack that is open.
        causes: of the cancels and disposals of the open turn, in order.
        tangled: number of a turn whose first cause can't be told, since one cancel was issued inside another.
    """

    def reset(self) -> None:
        """Forget everything: a brand-new agent on an empty log."""
        request = self.request
        self.on_abort = request.on_abort if isinstance(request, v.Reset) else {}
        self.lists: dict[str, list[Pending]] = {"next-turn": [], "next-step": []}
        self.placed = True
        super().reset()

    def new_agent(self) -> None:
        """Forget what dies with an agent; what is pending is durable, and waits for the next wake."""
        super().new_agent()
        self.awaiting: dict[str, list[Told]] = {}
        self.splice: Splice | None = None
        self.live: dict[type[e.Event], deque[tuple[str, int]]] = {
            e.Inserted: deque(),
            e.Claimed: deque(),
            e.Discarded: deque(),
        }
        self.stray = False
        self.last_released: Gate | None = None
        self.boundary: Boundary | None = None
        self.activity: int | None = None
        self.cancel: Cancelled | None = None
        self.ended = False
        self.emptied = False
        self.wakes: bool | None = False
        self.doubtful = -1
        self.called = False
        self.untold = False
        self.doubted_turn: int | None = None
        self.tangled: int | None = None
        self.causes: list[str] = []
        self.references: dict[str, v.Message] = {}
        self.supplied: set[str] = set()
        for entry in self.pending():
            entry.excused, entry.late = True, False

    # -------------------------------------------------------------------------------------------- questions
    def pending(self) -> list[Pending]:
        """List what waits, next-step first."""
        return [*self.lists["next-step"], *self.lists["next-turn"]]

    def find(self, name: str) -> Pending | None:
        """Find a pending entry by its id."""
        return next((entry for entry in self.pending() if entry.id == name), None)

    @property
    def idle(self) -> bool:
        """Whether the agent is surely idle: no activity, no turn, not disposed of."""
        return self.status == "idle" and self.turn is None and self.disposing is False

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
    def starts_driver(self, item: Told) -> bool:
        """Tell whether the operation is a waking send to an idle agent, so that the loop may run inside of it."""
        return waking(item.op) and self.status == "idle"

    def mark(self, issued: Issued[Any]) -> Mark | None:
        """Name the last event that the operation publishes before it returns; None where nothing need come."""
        op = issued.op
        if isinstance(op, v.Replace | v.Remove) and self.find(op.id) is None:
            return None
        if isinstance(op, ENTERING):
            name = op.message.id
            return lambda event: type(event) is e.Inserted and event.id == name
        if isinstance(op, v.Remove):
            name = op.id
            return lambda event: type(event) is e.Discarded and event.id == name
        if (isinstance(op, v.Cancel) and not op.keep_inbox) or isinstance(op, v.Dispose):
            dropped = [entry for entry in self.pending() if not self._entering_in(issued, entry)]
            if dropped:
                last = dropped[-1].id
                return lambda event: type(event) is e.Discarded and event.id == last
        return None

    def publishes(self, op: v.Operation, event: e.Event) -> bool:
        """Tell whether the event may well be what the operation publishes."""
        if isinstance(event, e.OpThrew):
            return event.method == op.method
        if isinstance(event, e.GateAborted):
            return isinstance(op, v.Cancel | v.Dispose)
        if not isinstance(event, e.Spliced):
            return False
        if isinstance(op, ENTERING) and op.message.id in event.inserted:
            return True
        if event.outcome is None or event.inserted:
            return isinstance(op, v.Reference) and op.snapshot.id in event.inserted
        if isinstance(op, v.Remove):
            return any(entry.id == op.id for entry in self._range(event))
        return isinstance(op, v.Dispose) or (isinstance(op, v.Cancel) and not op.keep_inbox)

    @folds(v.Send, v.Prepend, v.Replace, v.Reference)
    def _entering(self, issued: Issued[Any]) -> None:
        if not isinstance(issued.op, v.Replace) or self.find(issued.op.id) is not None:
            self._await(issued)

    @folds(Refused)
    def _refused(self, item: Refused) -> None:
        """Know the messages all the same: of a reference one may have entered before the other was refused."""
        if isinstance(item.op, v.Send | v.Reference):
            self.learn(item.op.message)
        if isinstance(item.op, v.Reference):
            self.learn(item.op.snapshot)

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

    def _await(self, told: Told) -> None:
        op = told.op
        self.awaiting.setdefault(op.message.id, []).append(told)
        self.learn(op.message)
        if isinstance(op, v.Reference):
            self.learn(op.snapshot)
            self.references[op.message.id] = op.snapshot
            if not (self.idle and self.placed and type(told) is Issued):  # else it waits for the prompt's pre-step
                self.awaiting.setdefault(op.snapshot.id, []).append(told)
        if waking(op) and self.wakes is not True:
            self.wakes = True if type(told) is Issued else None

    @folds(v.Cancel)
    def _cancelled(self, issued: Issued[v.Cancel]) -> None:
        op = issued.op
        cancelled = Cancelled(op.cause, op.keep_inbox, self.position, sure=self.placed)
        if not self.placed:
            self._doubt()
        for entry in self.pending():
            if op.keep_inbox or self._entering_in(issued, entry):
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
        self._stir()

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
        self._stir()

    def _doom(self, entry: Pending, issued: Issued[Any]) -> None:
        """Let an entry be due to be dropped."""
        if self.placed and not self._entering_in(issued, entry):
            entry.doomed = self.position

    def _entering_in(self, issued: Issued[Any], entry: Pending) -> bool:
        """Tell whether the entry is just entering: a listener of a durable event sees the lists as they were."""
        return self.splice is not None and issued.inside is self.splice.event and entry in self.splice.inserted

    def _tangle(self, issued: Issued[Any]) -> None:
        """A cancel discards before it aborts: one that is issued inside the discards of another may be the first."""
        if self.turn is not None and type(issued.inside) in (e.Spliced, e.Discarded):
            self.tangled = self.turn.number

    def _stir(self) -> None:
        if self.boundary is not None:
            self.boundary.stirred = True

    # -------------------------------------------------------------------------------------------- lists
    def _range(self, event: e.Spliced) -> list[Pending]:
        return self.lists[event.target][event.start : event.start + event.removed_count]

    @folds(e.Spliced)
    def _spliced(self, event: e.Spliced) -> None:
        items = self.lists[event.target]
        removed = self._range(event)
        fits = 0 <= event.start <= len(items) and len(removed) == event.removed_count
        splice = Splice(event, self.position, _kind(event), len(items), fits, removed, [])
        splice.inserted = [self._entry(name, event, splice) for name in event.inserted]
        items[event.start : event.start + event.removed_count] = splice.inserted
        self.splice = splice
        if self.activity is None and any(entry.waking for entry in splice.inserted):
            self.wakes = True
        if splice.kind in ("claim", "odd"):
            self._claim(splice)
        elif removed:
            self._announce(e.Discarded, removed, self.position)
        self._announce(e.Inserted, splice.inserted, self.position)
        if splice.kind != "claim":
            self._stir()

    def _entry(self, name: str, event: e.Spliced, splice: Splice) -> Pending:
        """Make the entry of an inserted id, told by the operation behind it where there is one."""
        told = self._behind(name, event)
        splice.told = splice.told or told
        entry = Pending(name, event.target, self.position)
        if told is None:
            entry.waking = False
            return entry
        op = told.op
        entry.message = op.message if op.message.id == name else op.snapshot
        entry.inside = getattr(told, "inside", None)
        if isinstance(op, v.Replace):
            old = splice.removed[0] if splice.removed else None
            entry.waking = old.waking if old is not None else None
            entry.late = old.late if old is not None else None
            entry.excused = old is not None and old.excused
            return entry
        if isinstance(op, v.Reference) and name != op.message.id:
            self.references.pop(op.message.id, None)  # it travels by itself
        entry.waking = waking(op) and op.message.id == name
        entry.late = self.late if entry.waking else False
        if entry.waking and type(entry.inside) in (e.Discarded, e.Spliced):
            entry.late = entry.late or None
        return entry

    def _behind(self, name: str, event: e.Spliced) -> Told | None:
        """Find the operation behind an insertion, the one that names this list first."""
        told = self.awaiting.get(name)
        if not told:
            return None
        fitting = min(told, key=lambda item: self._strange(item.op, name, event))
        told.remove(fitting)
        return fitting

    def _strange(self, op: Any, name: str, event: e.Spliced) -> int:
        """Count what speaks against an operation as the one behind an insertion."""
        other_list = getattr(op, "target", event.target) != event.target
        other_form = isinstance(op, v.Replace) != bool(event.removed_count)
        other_message = op.message.id != name
        return sum((other_list, 2 * other_form, 4 * other_message))

    def _claim(self, splice: Splice) -> None:
        number = 0 if self.turn is None else self.turn.number
        self._announce(e.Claimed, splice.removed, number)
        boundary = self.boundary
        if boundary is None or boundary.entered is not None:
            return
        boundary.batch += splice.removed
        boundary.claimed = self.position if boundary.claimed is None else boundary.claimed
        if splice.event.target == "next-turn" and splice.removed:
            boundary.prompt = splice.removed[0]
            snapshot = self.references.pop(splice.removed[0].id, None)
            if snapshot is not None:
                boundary.snapshots.append(snapshot)

    def _announce(self, kind: type[e.Event], entries: list[Pending], mark: int) -> None:
        """Let entries be announced, where announcements are recorded."""
        if "inbox" in self.sees:
            self.live[kind].extend((entry.id, mark) for entry in entries)

    @folds(e.Inserted, e.Claimed, e.Discarded)
    def _announced(self, event: e.Inserted | e.Claimed | e.Discarded) -> None:
        due = self.live[type(event)]
        place = next((n for n, (name, _) in enumerate(due) if name == event.id), None)
        self.stray = place is None or (type(event) is e.Claimed and place > 0)
        if place is not None:
            del due[place]

    # -------------------------------------------------------------------------------------------- the loop
    @folds(e.StatusChanged)
    def _activity(self, event: e.StatusChanged) -> None:
        self.activity = self.position if event.status == "running" else None
        self.cancel = None
        self.ended = False
        perhaps = any(waking(item.op) for items in self.awaiting.values() for item in items)
        self.wakes = None if event.status == "idle" and perhaps else False

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
        self.boundary = None

    @folds(Observation)
    def _shown_lists(self, observation: Observation) -> None:
        self.awaiting = {}
        if observation.status == "idle" and self.turn is None:
            self.wakes = False


def waking(op: v.Operation) -> bool:
    """Tell whether an operation asks for the model."""
    return isinstance(op, v.Reference) or (isinstance(op, v.Send) and op.wakeup)


def _kind(event: e.Spliced) -> Any:
    if event.outcome is None:
        if event.inserted:
            return "odd" if event.removed_count else "insert"
        return "claim"
    if event.inserted:
        return "replace"
    return "cancel"
