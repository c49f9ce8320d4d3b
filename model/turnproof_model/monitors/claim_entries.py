"""
Fold the inbox of contract ``claim``: the two lists, replayed from the splices, and what puts messages into them.

An insertion is told by the operation behind it where there is one: what it asked for, and when, decides whether the
message wakes and whether it came late.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Mark, Refused, Unsure
from turnproof_model.monitors.claim_facts import Pending, Splice, Told
from turnproof_model.monitors.view import View, folds
from turnproof_model.observation import Observation

ENTERING = (v.Send, v.Prepend, v.Replace, v.Reference)
"""Operations that put messages into the inbox."""


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


class ClaimEntries(View):
    """
    Show the inbox of a ``claim`` candidate.

    Attributes:
        lists: pending entries by list, in order.
        awaiting: operations whose insertion hasn't been seen, by the id that they insert.
        injected: references whose snapshot entered by itself.
        splice: the last change of a list; live: what must still be announced, in order, by live event type.
        stray: the live event just taken announces nothing that the log holds.
        activity: place where the running activity began, None at idle.
        wakes: whether waking input was sent since idle, None where it may have been.
        placed: whether the operation being told is at its exact place: neither behind a send that may run the loop,
            nor inside an event that another operation published, which an agent may hold back.
    """

    def reset(self) -> None:
        """Forget everything: a brand-new agent on an empty log."""
        self.lists: dict[str, list[Pending]] = {"next-turn": [], "next-step": []}
        self.placed = True
        super().reset()

    def new_agent(self) -> None:
        """Forget what dies with an agent; what is pending is durable, and waits for the next wake."""
        super().new_agent()
        self.awaiting: dict[str, list[Told]] = {}
        self.injected: list[v.Reference] = []
        self.splice: Splice | None = None
        self.live: dict[type[e.Event], deque[tuple[str, int]]] = {
            e.Inserted: deque(),
            e.Claimed: deque(),
            e.Discarded: deque(),
        }
        self.stray = False
        self.activity: int | None = None
        self.wakes: bool | None = False
        for entry in self.pending():
            entry.excused, entry.late = True, False
            entry.forgotten, entry.snapshot = entry.snapshot is not None, None

    # -------------------------------------------------------------------------------------------- for the loop
    @property
    def late(self) -> bool | None:
        """Whether a waking send would be late now; None where that can't be told."""
        raise NotImplementedError

    def claimed(self, splice: Splice) -> None:
        """Take note of a claim."""
        raise NotImplementedError

    def stirred(self) -> None:
        """Take note that something came between the moves of the loop."""
        raise NotImplementedError

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
            dropped = [entry for entry in self.pending() if not self.entering_in(issued, entry)]
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
        if isinstance(op, v.Replace) and op.message.id in event.inserted:
            return any(entry.id == op.id for entry in self._range(event))
        if isinstance(op, ENTERING) and op.message.id in event.inserted:
            return not event.removed_count
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

    @folds(e.OpThrew)
    def _threw(self, event: e.OpThrew) -> None:
        """
        Expect no insertion of what was refused: of a pending id, or the only one of its method that may be meant.

        One that may come at any time may be tried when its id isn't pending any more: beside others it isn't meant.
        """
        unsure = [
            told
            for items in self.awaiting.values()
            for told in items
            if type(told) is Unsure and told.op.method == event.method
        ]
        doubled = [told for told in unsure if self.find(told.op.message.id) is not None]
        if len(unsure) > 1:
            doubled = [told for told in doubled if told.origin != "deferred"]
        alone = len(unsure) == 1 and unsure[0].origin not in ("arm", "deferred")  # of these, more may be still to come
        for told in doubled[:1] or (unsure if alone else ()):
            for items in self.awaiting.values():
                if told in items:
                    items.remove(told)

    def _await(self, told: Told) -> None:
        op = told.op
        self.awaiting.setdefault(op.message.id, []).append(told)
        self.learn(op.message)
        if isinstance(op, v.Reference):
            self.learn(op.snapshot)
            if not (self.idle and self.placed and type(told) is Issued):  # else it waits for the prompt's pre-step
                self.awaiting.setdefault(op.snapshot.id, []).append(told)
        if waking(op) and self.wakes is not True:
            self.wakes = True if type(told) is Issued else None

    def entering_in(self, issued: Issued[Any], entry: Pending) -> bool:
        """Tell whether the entry is just entering: a listener of a durable event sees the lists as they were."""
        return self.splice is not None and issued.inside is self.splice.event and entry in self.splice.inserted

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
            self.claimed(splice)
            number = 0 if self.turn is None else self.turn.number
            self._announce(e.Claimed, removed, number)
        elif removed:
            self._announce(e.Discarded, removed, self.position)
        self._announce(e.Inserted, splice.inserted, self.position)
        if splice.kind != "claim":
            self.stirred()

    def _entry(self, name: str, event: e.Spliced, splice: Splice) -> Pending:
        """Make the entry of an inserted id, told by the operation behind it where there is one."""
        told = self._behind(name, event)
        splice.told = splice.told or told
        entry = Pending(name, event.target, self.position)
        if told is None:
            entry.waking = False
            return entry
        if type(told) is Unsure and event.removed_count and not isinstance(told.op, v.Replace):
            entry.waking = None  # a replacement, of what wasn't pending yet when it was told
            return entry
        op = told.op
        entry.forgotten = self._either(told, name)
        entry.message = op.message if op.message.id == name else op.snapshot
        entry.inside = getattr(told, "inside", None)
        if isinstance(op, v.Replace):
            old = splice.removed[0] if splice.removed else None
            entry.waking = old.waking if old is not None else None
            entry.late = old.late if old is not None else None
            entry.excused = old is not None and old.excused
            return entry
        if isinstance(op, v.Reference) and name != op.message.id:
            self.injected.append(op)
        elif isinstance(op, v.Reference) and op not in self.injected:
            entry.snapshot = op.snapshot
        entry.waking = waking(op) and op.message.id == name
        entry.late = self.late if entry.waking else False
        if entry.waking and type(entry.inside) in (e.Discarded, e.Spliced):
            entry.late = entry.late or None
        if entry.late and type(told) is Unsure:
            entry.late = None  # what aborts beside it in its stack may have come after it
        return entry

    def _behind(self, name: str, event: e.Spliced) -> Told | None:
        """Find the operation behind an insertion: one that names this list before one that may enter any."""
        told = self.awaiting.get(name)
        if not told:
            return None
        fitting = min(told, key=lambda item: self._order(item, name, event))
        told.remove(fitting)
        return fitting

    def _either(self, told: Told, name: str) -> bool:
        """Tell whether another send of this id may be meant, and only one of the two brings a snapshot along."""
        brings = isinstance(told.op, v.Reference)
        return any(
            Unsure in (type(told), type(other)) and isinstance(other.op, v.Reference) is not brings
            for other in self.awaiting[name]
            if other.op.message.id == name
        )

    def _order(self, item: Told, name: str, event: e.Spliced) -> tuple[int, bool, bool]:
        """Order operations by how well they fit; one that may come at any time comes last."""
        late = type(item) is Unsure and item.origin == "deferred"
        return self._strange(item.op, name, event), isinstance(item.op, v.Reference), late

    def _strange(self, op: Any, name: str, event: e.Spliced) -> int:
        """Count what speaks against an operation as the one behind an insertion."""
        other_list = getattr(op, "target", event.target) != event.target
        other_form = isinstance(op, v.Replace) != bool(event.removed_count)
        other_message = op.message.id != name
        return sum((other_list, 2 * other_form, 4 * other_message))

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

    @folds(e.StatusChanged)
    def _activity(self, event: e.StatusChanged) -> None:
        self.activity = self.position if event.status == "running" else None
        perhaps = any(waking(item.op) for items in self.awaiting.values() for item in items)
        self.wakes = None if event.status == "idle" and perhaps else False

    @folds(Observation)
    def _shown_lists(self, observation: Observation) -> None:
        self.awaiting = {}
        if observation.status == "idle" and self.turn is None:
            self.wakes = False
