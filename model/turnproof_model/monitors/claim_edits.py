"""
Judge edits of the inbox, and that its log is the inbox.

Rules: C-EDIT-1, C-EDIT-2.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_facts import Pending
from turnproof_model.observation import Observation


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


MONITORS: tuple[type[ClaimMonitor], ...] = (Edits, Normal)
