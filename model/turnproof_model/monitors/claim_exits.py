"""
Judge claims and exits: what a boundary takes, how that is published, and that it is for good.

Rules: C-CLAIM-1, C-CLAIM-2, C-CLAIM-3, C-CLAIM-4.
"""

from __future__ import annotations

from collections import Counter

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_facts import Boundary, Pending
from turnproof_model.observation import Observation


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
            if self.view.may_happen(v.Release):
                return  # a tool whose release can't be told may have supplied it
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
        if inbox is None:
            return
        pending = [entry.id for entry in self.view.pending()]
        if pending == [*inbox.next_step, *inbox.next_turn]:
            return
        replayed, shown = Counter(pending), Counter((*inbox.next_turn, *inbox.next_step))
        lost, extra = sorted((replayed - shown).elements()), sorted((shown - replayed).elements())
        if lost:
            self.violated(f"{', '.join(lost)} entered and never left, but is not pending")
        if extra:
            self.violated(f"{', '.join(extra)} is pending, though by the log it isn't")


MONITORS: tuple[type[ClaimMonitor], ...] = (Claims, ClaimForm, NoReturn, Exits)
