"""
Judge delivery: how messages enter the inbox, how they leave it, and how it is edited.

Rules: C-SEND-1, C-SEND-2, C-SEND-3, C-CLAIM-1, C-CLAIM-2, C-CLAIM-3, C-CLAIM-4, C-EDIT-1, C-EDIT-2.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Monitor, Refused, Unsure, after, before
from turnproof_model.monitors.claim_facts import Boundary, Pending
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.observation import Observation


class ClaimMonitor(Monitor[ClaimView]):
    """Judge one rule of contract ``claim``."""


def named_list(view: ClaimView, send: v.Send, target: str) -> bool:
    """Tell whether a send may enter this list: the one it names, or next-turn where the activity is aborted."""
    moved = send.wakeup and send.target == "next-step" and target == "next-turn" and view.aborted is not False
    return target == send.target or moved


class Presets(ClaimMonitor):
    """
    See that the presets send what they abbreviate, and that the caller's id is used.

    Rules: C-SEND-1
    """

    rule = "C-SEND-1"
    needs = frozenset({"log", "command"})

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """An insertion is of a message that somebody sent, in the list that its preset names."""
        splice = self.view.splice
        if splice is None:
            return
        for name in event.inserted:
            if name not in self.view.messages:
                self.violated(f"{name} entered {event.target}, though no message of that id was sent")
        op = splice.told.op if splice.told is not None else None
        if isinstance(op, v.Send) and op.preset is not None:
            fits = named_list(self.view, op, event.target)
            self.expect(fits, f"{op.preset} put {op.message.id} into {event.target} instead of {op.target}")


class Sends(ClaimMonitor):
    """
    See that a send appends to the list it names, at once, and announces it once.

    Rules: C-SEND-2
    """

    rule = "C-SEND-2"
    needs = frozenset({"log", "inbox", "command"})

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """The insertion stands at the end of its list and takes nothing out."""
        splice = self.view.splice
        op = splice.told.op if splice is not None and splice.told is not None else None
        if splice is None or not isinstance(op, v.Send) or op.message.id not in event.inserted:
            return
        if not named_list(self.view, op, event.target):
            self.violated(f"{op.message.id} entered {event.target}, though it was sent to {op.target}")
        elif splice.kind != "insert" or event.start != splice.length:
            self.violated(f"{op.message.id} entered {event.target} at {event.start}, not at the end, {splice.length}")
        else:
            self.exercised()

    @after(e.Inserted)
    def announced(self, event: e.Inserted) -> None:
        """The live event tells of an insertion that the log holds, once."""
        if self.view.stray:
            self.violated(f"{event.id} was announced as inserted, but no such insertion is in the log")

    @before(Observation)
    def ends(self, _: Observation) -> None:
        """By the end of the request every send has entered and was announced."""
        for name, position in self.view.live[e.Inserted]:
            self.violated(f"{name} was inserted, but never announced", position)
        self.view.live[e.Inserted].clear()
        if self.view.disposing is not False:
            return
        for told in (item for items in self.view.awaiting.values() for item in items):
            if type(told) is Issued and isinstance(told.op, v.Send) and self.view.find(told.op.message.id) is None:
                self.violated(f"{told.op.message.id} was sent and not refused, but never entered the inbox")


class Duplicates(ClaimMonitor):
    """
    See that an id that is pending can't enter again, and one that has left can.

    Rules: C-SEND-3
    """

    rule = "C-SEND-3"
    needs = frozenset({"log", "command"})

    def _start(self) -> None:
        """Forget a turn that must fail, and a refusal that must change nothing."""
        self.failing: tuple[int, str] | None = None
        self.refusal = -1

    @after(Refused)
    def refused(self, item: Refused) -> None:
        """A send is refused because its id is pending, or because the agent is gone."""
        op = item.op
        if not isinstance(op, v.Send):
            return
        self.refusal = self.view.index
        if self.view.find(op.message.id) is not None:
            self.exercised()
        elif self.view.disposing is False:
            self.violated(f"{op.message.id} was refused ({item.reason}), though no message of that id is pending")

    @after(Unsure)
    def threw(self, item: Unsure[Any]) -> None:
        """A send of a pending id, inside a stack that saw a refusal, is an occasion."""
        op = item.op
        if item.origin != "deferred" and isinstance(op, v.Send) and self.view.find(op.message.id) is not None:
            self.exercised()

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """No id is pending twice, and a refusal changes nothing."""
        pending = [entry.id for entry in self.view.pending()] if event.inserted else []
        for name in event.inserted:
            if pending.count(name) > 1:
                self.violated(f"{name} entered {event.target} while a message of that id was pending")
        if self.refusal == self.view.index:
            self.violated("a send was refused, but the inbox changed in that request")

    @before(e.ToolResult)
    def brought(self, event: e.ToolResult) -> None:
        """A tool that brings a pending id along fails its turn."""
        turn, outcome = self.view.turn, self.view.tools.get(event.call_id)
        names = [message.id for message in getattr(outcome, "additional_contexts", ())]
        pending = {entry.id for entry in self.view.pending()}
        twice = [name for n, name in enumerate(names) if name in pending or name in names[:n]]
        if turn is not None and twice and not self.view.arms and not self.view.doubt:
            self.failing = (turn.number, twice[0])

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """The turn ends in error, unless it was aborted."""
        failing, self.failing = self.failing, None
        turn = self.view.turn
        if failing is None or turn is None or turn.number != failing[0] or turn.aborted or self.view.doubt:
            return
        message = f"a tool brought {failing[1]} along, which was pending, but turn {event.turn} ended {event.reason}"
        self.expect(event.reason == "error", message, self.view.position + 1)


class Claims(ClaimMonitor):
    """
    See that a boundary claims all of next-step, and at the first boundary one prompt behind it.

    Rules: C-CLAIM-1
    """

    rule = "C-CLAIM-1"

    @after(e.Spliced)
    def claimed(self, event: e.Spliced) -> None:
        """A claim takes the whole of next-step, or the head of next-turn behind it."""
        splice, boundary = self.view.splice, self.view.boundary
        if splice is None or splice.kind != "claim":
            return
        if event.target == "next-step":
            whole = event.start == 0 and event.removed_count == splice.length
            message = f"a claim took {event.removed_count} of {splice.length} messages of next-step, from {event.start}"
            self.expect(whole, message)
            return
        left = self.view.lists["next-step"]
        faults = []
        if (event.start, event.removed_count) != (0, 1):
            faults.append(f"took {event.removed_count} messages of next-turn from {event.start} instead of its head")
        if boundary is not None and not boundary.first:
            faults.append("took a prompt at a later boundary of its turn")
        if left and boundary is not None and not boundary.stirred:
            faults.append(f"took a prompt before {left[0].id} of next-step")
        self.expect(not faults, f"a claim {' and '.join(faults)}")

    @after(e.GateOpened, e.StepStart)
    def passed(self, event: e.GateOpened | e.StepStart) -> None:
        """What waited when the boundary began is claimed before the decision and the step."""
        boundary = self.view.boundary
        if isinstance(event, e.GateOpened) and event.gate_kind != "pre-step":
            return
        if boundary is not None and self.view.aborted is False:
            self._whole(boundary, f"turn {boundary.turn} passed a boundary")

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """A turn that ends at its first boundary has claimed, unless it was cancelled; a begun claim completes."""
        boundary = self.view.boundary
        if boundary is None or boundary.entered is not None or not boundary.first:
            return
        if event.reason == "completed" or (boundary.batch and boundary.prompt is None):
            self._whole(boundary, f"turn {boundary.turn} ended", prompt_only=event.reason != "completed")

    @before(Observation)
    def shown(self, observation: Observation) -> None:
        """The batch that the decision is asked about stands in claim order: next-step, then the prompt."""
        boundary = self.view.boundary
        if boundary is None or boundary.entered is not None:
            return
        batch = tuple(entry.id for entry in boundary.batch)
        for gate in observation.gates:
            if gate.kind == "pre-step" and gate.claimed not in (None, batch):
                said = ", ".join(gate.claimed or ()) or "nothing"
                self.violated(f"pre-step is asked about {said}, but {', '.join(batch) or 'nothing'} was claimed")

    def _whole(self, boundary: Boundary, what: str, *, prompt_only: bool = False) -> None:
        left: list[Pending] = []
        pending = self.view.pending()
        if not prompt_only:
            left += [entry for entry in boundary.waiting["next-step"] if entry in pending]
        if boundary.first and boundary.prompt is None:
            left += [entry for entry in boundary.waiting["next-turn"] if entry in pending][:1]
        if left:
            names = ", ".join(entry.id for entry in left)
            self.violated(f"{what} without claiming {names}", *(entry.position for entry in left), self.view.position)


class ClaimForm(ClaimMonitor):
    """
    See that a claim is logged as pure deletion inside its turn, and announced message by message.

    Rules: C-CLAIM-2
    """

    rule = "C-CLAIM-2"
    needs = frozenset({"log", "inbox"})

    @after(e.Spliced)
    def claimed(self, event: e.Spliced) -> None:
        """A removal without outcome is a claim: it inserts nothing, and lies between turn start and step."""
        splice = self.view.splice
        if splice is not None and splice.kind == "odd":
            self.violated(f"a claim of {event.target} inserted {', '.join(event.inserted)} beside what it took")
        elif splice is not None and splice.kind == "claim":
            at_boundary = self.view.turn is not None and self.view.step is None
            names = ", ".join(entry.id for entry in splice.removed)
            self.expect(at_boundary, f"{names} was claimed outside a step boundary of a turn")

    @after(e.Claimed)
    def announced(self, event: e.Claimed) -> None:
        """Claims are announced in batch order, with the number of their turn."""
        turn = self.view.turn
        if self.view.stray:
            self.violated(f"{event.id} was announced as claimed out of order, or without a claim in the log")
        elif turn is None or turn.number != event.turn:
            self.violated(f"{event.id} was announced as claimed for turn {event.turn}, which isn't the open one")

    @before(e.StepStart, e.TurnEnd, Observation)
    def passed(self, _: object) -> None:
        """All that was claimed has been announced by then."""
        for name, position in self.view.live[e.Claimed]:
            self.violated(f"{name} was claimed, but not announced", position)
        self.view.live[e.Claimed].clear()


class NoReturn(ClaimMonitor):
    """
    See that a claimed message stays out of the inbox, and that later arrivals wait for the next boundary.

    Rules: C-CLAIM-3
    """

    rule = "C-CLAIM-3"
    needs = frozenset({"log", "command"})

    def _start(self) -> None:
        """Forget what was claimed."""
        self.taken: dict[str, int] = {}

    @after(e.Spliced)
    def spliced(self, event: e.Spliced) -> None:
        """Nothing that was claimed is put back; sending the id anew is another matter."""
        splice = self.view.splice
        if splice is None:
            return
        if splice.kind == "claim":
            for entry in splice.removed:
                self.taken[entry.id] = self.view.position
                self.exercised()
        elif splice.told is None:
            for name in event.inserted:
                if name in self.taken and name not in self.view.supplied:
                    message = f"{name} was put back into {event.target} after it had been claimed"
                    self.violated(message, self.taken[name], self.view.position)

    @after(e.UserMessage)
    def committed(self, event: e.UserMessage) -> None:
        """A message that still waits isn't entered, unless the decision names it."""
        boundary, waiting = self.view.boundary, self.view.find(event.id)
        if waiting is None or boundary is None or event.id in {entry.id for entry in boundary.batch}:
            return
        if boundary.entering is not None and event.id not in boundary.entering:
            message = f"{event.id} was entered while it still waits in {waiting.list}"
            self.violated(message, waiting.position, self.view.position)


class Exits(ClaimMonitor):
    """
    See that every message leaves once, claimed or visibly discarded.

    Rules: C-CLAIM-4
    """

    rule = "C-CLAIM-4"
    needs = frozenset({"log", "inbox"})

    @after(e.Spliced)
    def spliced(self, _: e.Spliced) -> None:
        """Each message that leaves is an occasion."""
        for _entry in self.view.splice.removed if self.view.splice is not None else ():
            self.exercised()

    @after(e.Discarded)
    def announced(self, event: e.Discarded) -> None:
        """A discard is announced once, for a removal that the log holds."""
        if self.view.stray:
            self.violated(f"{event.id} was announced as discarded, but no removal of it is in the log")

    @before(Observation)
    def unannounced(self, _: Observation) -> None:
        """By the end of the request every removal has been announced."""
        for name, position in self.view.live[e.Discarded]:
            self.violated(f"{name} was removed with outcome canceled, but never announced as discarded", position)
        self.view.live[e.Discarded].clear()

    @after(Observation)
    def shown(self, observation: Observation) -> None:
        """What entered and didn't leave is pending, and nothing else is."""
        inbox = observation.inbox
        if inbox is None or not (inbox.next_turn or inbox.next_step or self.view.pending()):
            return
        replayed = Counter(entry.id for entry in self.view.pending())
        shown = Counter((*inbox.next_turn, *inbox.next_step))
        if replayed == shown:
            return
        lost, extra = sorted((replayed - shown).elements()), sorted((shown - replayed).elements())
        if lost:
            self.violated(f"{', '.join(lost)} entered and never left, but is not pending")
        if extra:
            self.violated(f"{', '.join(extra)} is pending, though by the log it isn't")


class Edits(ClaimMonitor):
    """
    See that replace and remove touch a pending message in place, and say whether they did.

    Rules: C-EDIT-1
    """

    rule = "C-EDIT-1"
    needs = frozenset({"log", "command"})

    def _start(self) -> None:
        """Forget the edits under way: the operation, what it must touch, and where."""
        self.edits: list[tuple[v.Remove | v.Replace, Pending, int]] = []
        self.asked: Pending | None = None
        self.cancelled = False

    @before(v.Cancel, v.Dispose)
    def cancels(self, _: Issued[v.Cancel | v.Dispose]) -> None:
        """A cancel of this request may take the message first."""
        self.cancelled = True

    @before(v.Remove, v.Replace)
    def begins(self, issued: Issued[v.Remove | v.Replace]) -> None:
        """Note whether the message is pending, and where."""
        entry = self.view.find(issued.op.id)
        if entry is not None:
            self.edits.append((issued.op, entry, self.view.lists[entry.list].index(entry)))
        if issued.origin == "request":
            self.asked = entry

    @after(e.Spliced)
    def spliced(self, event: e.Spliced) -> None:
        """An edit is one splice with outcome canceled, at the place of the message."""
        splice = self.view.splice
        if splice is None or splice.kind not in ("replace", "cancel"):
            return
        edit = next((edit for edit in self.edits if edit[1] in splice.removed), None)
        if edit is None:
            return
        self.edits.remove(edit)
        op, entry, place = edit
        new = (op.message.id,) if isinstance(op, v.Replace) else ()
        fits = (event.target, event.start, event.removed_count, event.inserted) == (entry.list, place, 1, new)
        if self.cancelled and not fits:
            return
        message = f"{op.method} of {op.id} at {place} changed {event.removed_count} at {event.start} of {event.target}"
        self.expect(fits, message)

    @before(Observation)
    def answered(self, observation: Observation) -> None:
        """An edit of its own is done by now, and the answer says whether the message was pending."""
        asked = self.asked
        undone = [] if self.cancelled else [edit for edit in self.edits if edit[1] is asked]
        self._start()
        request = self.view.request
        if not isinstance(request, v.Remove | v.Replace) or self.view.disposing is not False:
            return
        for _, entry, _ in undone:
            self.violated(f"{request.method} didn't touch {request.id}, which was pending", entry.position)
        if observation.answer is not None:
            word = "wasn't" if asked is None else "was"
            message = f"{request.method} of {request.id} answered {observation.answer}, though it {word} pending"
            self.expect(observation.answer is (asked is not None), message)


class Normal(ClaimMonitor):
    """
    See that the splices, replayed from an empty inbox, are the inbox.

    Rules: C-EDIT-2
    """

    rule = "C-EDIT-2"

    @after(e.Spliced)
    def spliced(self, event: e.Spliced) -> None:
        """Start and count lie inside the list."""
        splice = self.view.splice
        if splice is not None:
            message = f"a splice of {event.target} named {event.removed_count} from {event.start} of {splice.length}"
            self.expect(splice.fits, message)

    @after(Observation)
    def shown(self, observation: Observation) -> None:
        """The lists are what the log says, in that order."""
        if observation.inbox is None:
            return
        for name, shown in (("next-turn", observation.inbox.next_turn), ("next-step", observation.inbox.next_step)):
            replayed = tuple(entry.id for entry in self.view.lists[name])
            if replayed != shown:
                said, held = ", ".join(shown) or "nothing", ", ".join(replayed) or "nothing"
                self.violated(f"{name} holds {said}, where the splices replay to {held}")


MONITORS: tuple[type[ClaimMonitor], ...] = (
    *(Presets, Sends, Duplicates, Claims, ClaimForm, NoReturn, Exits, Edits, Normal),
)
