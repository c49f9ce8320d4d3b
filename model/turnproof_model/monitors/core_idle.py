"""
Judge idleness and cancels: what may be left when an agent says it is idle, and what an abort may touch.

Rules: K-QUIET, K-WAIT, K-CANCEL, K-STATUS.
"""

from __future__ import annotations

from turnproof_model import trace as t
from turnproof_model.monitors.base import before
from turnproof_model.monitors.core_base import CoreMonitor
from turnproof_model.monitors.core_facts import ENDED_WELL
from turnproof_model.monitors.core_ledger import is_prompt


class Quiet(CoreMonitor):
    """
    See that an idle agent has nothing left to do.

    An idle after an aborted turn is judged by what follows: when that is ``running``, it was a restart. A claim whose
    admission is under way is judged when the admission is decided: only then it is certain that the agent was at
    work on it while it said that it was idle.

    Rules: K-QUIET
    """

    rule = "K-QUIET"
    kinds = ("status",)

    def _start(self) -> None:
        """Hold back what an idle that may be a restart left open."""
        self.held: list[tuple[str, tuple[int, ...]]] | None = None

    @before(t.Record)
    def follows(self, record: t.Record) -> None:
        """Decide about an idle that was held back."""
        held, self.held = self.held, None
        if held and not (type(record) is t.StatusSet and record.status == "running"):
            self._tell(held)

    @before(t.StatusSet)
    def changes(self, record: t.StatusSet) -> None:
        """At idle nothing is open, unsettled or waking, except what is excused."""
        if record.status != "idle":
            return
        in_admission = {claim.place for claim in self.view.ledger.claims if claim.admission == "open"}
        left = [(what, (*at, self.view.place)) for what, at in self.view.unsettled() if not in_admission & {*at}]
        if left and self.view.ended == "aborted":
            self.held = left
        elif left:
            self._tell(left)
        else:
            self.exercised()

    @before(t.AdmissionAllow, t.AdmissionBlock, t.AdmissionFail)
    def decided(self, record: t.AdmissionAllow | t.AdmissionBlock | t.AdmissionFail) -> None:
        """An admission isn't decided across an idle."""
        claim = self.view.ledger.claim_of(record.id) if record.id is not None else None
        if claim is not None and claim.idle is not None:
            message = f"the agent said it was idle while the admission of {claim.id} was under way"
            self.violated(message, claim.place, claim.idle, self.view.place)

    def finish(self) -> None:
        """An idle with nothing behind it was one."""
        held, self.held = self.held, None
        if held:
            self._tell(held)

    def _tell(self, left: list[tuple[str, tuple[int, ...]]]) -> None:
        for what, places in left:
            self.violated(f"the agent went idle though {what}", *places)


class Waiters(CoreMonitor):
    """
    See that whoever waits for idleness is released there and not before.

    Rules: K-WAIT
    """

    rule = "K-WAIT"
    kinds = ("idle",)

    @before(t.IdleResolved)
    def resolved(self, record: t.IdleResolved) -> None:
        """A waiter resolves when nothing is open, unsettled or waking."""
        left = list(self.view.unsettled())
        if not left:
            self.exercised()
            return
        who = "a waiter" if record.waiter is None else f"waiter {record.waiter}"
        message = f"{who} was released though " + " and ".join(what for what, _ in left)
        self.violated(message, *(place for _, at in left for place in at), self.view.place)


class Statuses(CoreMonitor):
    """
    See that status is published on a change only.

    Rules: K-STATUS
    """

    rule = "K-STATUS"
    kinds = ("status",)

    @before(t.StatusSet)
    def changes(self, record: t.StatusSet) -> None:
        """Statuses alternate; the first one may be either."""
        self.expect(self.view.status != record.status, f"status {record.status} was published twice in a row")


class Cancels(CoreMonitor):
    """
    See that a cancel ends its own turn, and that turn only.

    Rules: K-CANCEL
    """

    rule = "K-CANCEL"
    kinds = ("cancel", "log")

    def _start(self) -> None:
        """Forget steering that was claimed after a cancel."""
        self.late: list[tuple[str, int]] = []

    @before(t.Cancelled)
    def cancelled(self, _: t.Cancelled) -> None:
        """Each cancel is an occasion."""
        self.exercised()

    @before(t.InboxDequeue)
    def dequeued(self, record: t.InboxDequeue) -> None:
        """What a cancel ought to have dropped isn't claimed, and no prompt is claimed for an aborted turn."""
        if not self.view.has("inbox"):
            return
        turn = self.view.turn
        item = self.view.ledger.find(record.id, record.list)
        if item is not None and item.doomed is not None:
            message = f"{record.id} was claimed though a cancel that keeps nothing came while it was pending"
            self.violated(message, item.doomed, self.view.place)
        if turn is None or turn.cancel is None or turn.midway:
            return
        if is_prompt(record.list):
            message = f"the prompt {record.id} was claimed between the cancel of turn {turn.number} and its end"
            self.violated(message, turn.cancel, self.view.place)
        else:
            self.late.append((record.id, self.view.place))

    @before(t.UserMessage, t.SteeringMessage, t.InboxRequeue)
    def returned(self, record: t.UserMessage | t.SteeringMessage | t.InboxRequeue) -> None:
        """Steering that was claimed after the cancel is committed, or goes back."""
        self.late = [(name, place) for name, place in self.late if name != record.id]

    @before(t.TurnEnd)
    def ends(self, record: t.TurnEnd) -> None:
        """Reason ``aborted`` goes with a cancel of that turn, and a cancel in time with that reason."""
        for name, place in self.late:
            message = f"steering {name} was claimed after the cancel of turn {record.turn} and never committed"
            self.violated(message, place, self.view.place)
        self.late = []
        turn = self.view.turn
        if turn is None:
            return
        if record.reason == "aborted":
            caused = turn.cancel is not None or turn.disposed is not None
            message = f"turn {record.turn} ended aborted though nothing cancelled it"
            self.expect(caused, message, turn.place, self.view.place)
        elif record.reason in ENDED_WELL and turn.cancel is not None and (turn.acted or not turn.over):
            message = f"turn {record.turn} was cancelled before it had its outcome, but ended {record.reason}"
            self.violated(message, turn.cancel, self.view.place)


MONITORS: tuple[type[CoreMonitor], ...] = (Quiet, Waiters, Cancels, Statuses)
