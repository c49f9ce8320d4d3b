"""
Judge the ledger of the inbox: exits, order, what becomes of what was claimed, and what is left at the end.

Rules: K-LEDGER, K-FIFO, K-COMMIT, K-END, K-ONE, K-DISCARD, K-SAME.
"""

from __future__ import annotations

from collections import Counter

from turnproof_model import trace as t
from turnproof_model.monitors.base import before
from turnproof_model.monitors.core_base import CoreMonitor
from turnproof_model.monitors.core_facts import ENDED_WELL
from turnproof_model.monitors.core_ledger import Claim, is_prompt
from turnproof_model.vocabulary import Source
from turnproof_model.wire import shorten


class Ledger(CoreMonitor):
    """
    See that an entry leaves its list once.

    Rules: K-LEDGER
    """

    rule = "K-LEDGER"
    kinds = ("inbox",)

    @before(t.InboxDequeue)
    def dequeued(self, record: t.InboxDequeue) -> None:
        """A dequeue retires an entry of the list it names."""
        waiting = self.view.ledger.find(record.id, record.list) is not None
        self.expect(waiting, f"{record.id} was dequeued from {record.list}, where no entry of it was waiting")

    @before(t.InboxDiscard)
    def discarded(self, record: t.InboxDiscard) -> None:
        """A discard drops entries, or settles claims."""
        ledger = self.view.ledger
        there = Counter(item.id for item in ledger.outstanding())
        there.update(claim.id for claim in ledger.claims)
        for name in record.ids:
            self.expect(there[name] > 0, f"{name} was discarded, though it neither waited nor was claimed")
            there[name] -= 1

    @before(t.InboxRequeue)
    def requeued(self, record: t.InboxRequeue) -> None:
        """A requeue moves an entry, or puts a claim back."""
        ledger = self.view.ledger
        there = ledger.find(record.id) is not None or ledger.claim_of(record.id) is not None
        self.expect(there, f"{record.id} was put back to {record.list}, though it neither waited nor was claimed")


class Fifo(CoreMonitor):
    """
    See that a list is served in order.

    An entry that was passed over is reported once, not again for everything that follows it.

    Rules: K-FIFO
    """

    rule = "K-FIFO"
    kinds = ("inbox",)

    @before(t.InboxDequeue)
    def dequeued(self, record: t.InboxDequeue) -> None:
        """Nothing that entered earlier is still waiting in that list."""
        item = self.view.ledger.find(record.id, record.list)
        if item is None:
            return
        passed = [other for other in self.view.ledger.ahead(item) if not other.overtaken]
        first = passed[0].id if passed else ""
        places = [*(other.place for other in passed), item.place, self.view.place]
        self.expect(not passed, f"{record.id} was taken from {record.list} ahead of {first}", *places)
        for other in passed:
            other.overtaken = True


class Commit(CoreMonitor):
    """
    See that what was claimed is committed exactly once, or visibly settled in another way.

    Rules: K-COMMIT
    """

    rule = "K-COMMIT"
    kinds = ("inbox", "log", "admission")

    def _start(self) -> None:
        """Remember ids that were committed without ever entering a list."""
        self.foreign: dict[str, int] = {}

    @before(t.UserMessage, t.SteeringMessage)
    def committed(self, record: t.UserMessage | t.SteeringMessage) -> None:
        """A commit needs an unsettled claim, or a decision that let it in, unless the id never entered a list."""
        ledger, name = self.view.ledger, record.id
        if ledger.claim_behind(record) is not None or ledger.let_in[name] > 0:
            self.exercised()
        elif (waiting := ledger.find(name)) is not None:
            self.violated(
                f"{name} was committed while it still waits in {waiting.list}", waiting.place, self.view.place
            )
        elif name in ledger.entered:
            self.violated(f"{name} was committed though no claim of it was unsettled")
        else:
            first = self.foreign.setdefault(name, self.view.place)
            self.expect(first == self.view.place, f"{name} was committed a second time", first, self.view.place)

    @before(t.TurnEnd)
    def turn_ends(self, record: t.TurnEnd) -> None:
        """A turn that ended well has settled what was claimed for it."""
        if record.reason in ENDED_WELL:
            for claim in self.view.ledger.claims:
                self._lost(claim, f"turn {record.turn} ended {record.reason}")

    @before(t.StatusSet)
    def goes_idle(self, record: t.StatusSet) -> None:
        """Without a turn, claims are settled before the next idle; an open admission is still a visible place."""
        if record.status == "idle" and self.view.turn is None:
            for claim in self.view.ledger.claims:
                if claim.admission != "open":
                    self._lost(claim, "the agent went idle")

    @before(t.End)
    def trace_ends(self, _: t.End) -> None:
        """At the end nothing is claimed, unless the agent was still at work on it."""
        if self.view.turn is None and self.view.status != "running":
            for claim in self.view.ledger.claims:
                self._lost(claim, "the trace ended")

    def _lost(self, claim: Claim, when: str) -> None:
        message = f"{claim.id} was claimed, but {when} with no commit, veto, failure or return of it"
        self.violated(message, claim.place, self.view.place)


class Pending(CoreMonitor):
    """
    See that the implementation says itself what is outstanding.

    Rules: K-END
    """

    rule = "K-END"
    kinds = ("inbox",)

    @before(t.End)
    def trace_ends(self, record: t.End) -> None:
        """The final record lists what waits, no more and no less."""
        waiting = Counter(item.id for item in self.view.ledger.outstanding())
        said = Counter(record.pending)
        parts = [
            *(f"{name} entered and never left, but is not listed as pending" for name in (waiting - said).elements()),
            *(f"{name} is listed as pending, but doesn't wait" for name in (said - waiting).elements()),
        ]
        self.expect(not parts, "; ".join(parts))


class OnePrompt(CoreMonitor):
    """
    See that a turn takes at most one queued prompt.

    Rules: K-ONE
    """

    rule = "K-ONE"
    kinds = ("inbox", "log")

    def _start(self) -> None:
        """Forget the prompt of the open turn."""
        self.prompt: tuple[str, int] | None = None

    @before(t.TurnStart, t.TurnEnd, t.SessionResume)
    def turn_changes(self, _: t.Record) -> None:
        """Each turn may take one."""
        self.prompt = None

    @before(t.InboxDequeue)
    def dequeued(self, record: t.InboxDequeue) -> None:
        """A prompt claimed inside a turn, and said to be for it, is that turn's."""
        if self.view.turn is not None and record.turn == self.view.turn.number and is_prompt(record.list):
            self._taken(record.id, self.view.place)

    @before(t.UserMessage, t.SteeringMessage)
    def committed(self, record: t.UserMessage | t.SteeringMessage) -> None:
        """A prompt that was claimed before is the turn's by its commit."""
        claim = self.view.ledger.claim_behind(record)
        if claim is None or self.view.turn is None or not is_prompt(claim.item.list):
            return
        if self.prompt != (record.id, claim.place):
            self._taken(record.id, claim.place)

    def _taken(self, name: str, claimed: int) -> None:
        first = self.prompt
        self.prompt = self.prompt or (name, claimed)
        turn = self.view.turn.number if self.view.turn is not None else None
        earlier = first or (name, claimed)
        message = f"turn {turn} took {name}, a second queued prompt beside {earlier[0]}"
        self.expect(first is None, message, earlier[1], self.view.place)


class Discards(CoreMonitor):
    """
    See that what is dropped has a recorded cause.

    Rules: K-DISCARD
    """

    rule = "K-DISCARD"
    kinds = ("inbox", "cancel")

    def _start(self) -> None:
        """Forget the last cancel that dropped what was pending."""
        self.dropping: int | None = None

    @before(t.Cancelled)
    def cancelled(self, record: t.Cancelled) -> None:
        """A cancel that doesn't keep the inbox is a cause for all that had entered by then."""
        if not record.keep_inbox:
            self.dropping = self.view.place

    @before(t.InboxDiscard)
    def discarded(self, record: t.InboxDiscard) -> None:
        """A removal is its own cause; a cancel covers what waited at it or came in while it took effect."""
        for name in record.ids:
            self.expect(self._caused(name, record.cause), f"{name} was discarded without a recorded cause")

    def _caused(self, name: str, cause: str | None) -> bool:
        if self.view.disposed is not None or cause == "removal":
            return True
        if cause == "disposal" or self.dropping is None:
            return False
        ledger = self.view.ledger
        item, claim = ledger.find(name), ledger.claim_of(name)
        entered = item.place if item is not None else claim.item.place if claim is not None else self.dropping
        return self.view.cancel is not None or entered <= self.dropping


class Same(CoreMonitor):
    """
    See that a message is the same value where it enters and where it is committed.

    Rules: K-SAME
    """

    rule = "K-SAME"
    kinds = ("inbox", "log")

    @before(t.UserMessage, t.SteeringMessage)
    def committed(self, record: t.UserMessage | t.SteeringMessage) -> None:
        """Content is the accepted one or what a recorded admission replaced it with; the source stays."""
        claim = self.view.ledger.claim_behind(record)
        if claim is None or self.view.ledger.let_in[record.id] > 0:
            return
        accepted = claim.item.content if claim.content is None else claim.content
        parts = []
        if None not in (record.content, accepted) and record.content != accepted:
            parts.append(f"content {shorten(record.content, 60)} instead of {shorten(accepted, 60)}")
        if not _same_source(record.source, claim.item.source):
            parts.append(f"source {record.source} instead of {claim.item.source}")
        self.expect(
            not parts, f"{record.id} was committed with {' and '.join(parts)}", claim.item.place, self.view.place
        )


def _same_source(committed: Source | None, accepted: Source | None) -> bool:
    """Compare what the log shows of a source with the accepted one; a log may show the kind alone."""
    if committed is None or accepted is None:
        return True
    return committed.kind == accepted.kind and committed.details.items() <= accepted.details.items()


MONITORS: tuple[type[CoreMonitor], ...] = (Ledger, Fifo, Commit, Pending, OnePrompt, Discards, Same)
