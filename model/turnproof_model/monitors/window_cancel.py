"""
Judge cancels: what they abort, what they drop or keep, what they leave alone, and what counts as one.

Rules: W-CAN-1 to -7.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.facts import Entry
from turnproof_model.monitors.window_fifo import ids
from turnproof_model.monitors.window_routing import WindowMonitor
from turnproof_model.observation import Observation


class Aborts(WindowMonitor):
    """A cancel aborts the active admission or turn: no further step, request or reply, no trace of its prompt."""

    rule = "W-CAN-1"
    needs = frozenset({"command", "inbox", "log", "live"})

    def _start(self) -> None:
        self.dropped: set[str] = set()
        self.asked: bool = False

    @before(v.Cancel)
    def _called(self, issued: Issued[v.Cancel]) -> None:
        view = self.view
        self.asked = issued.origin == "request" and view.cancellable

    @after(e.CancelRequested)
    def _cancelled(self, _: e.CancelRequested) -> None:
        view = self.view
        self.asked = False
        if view.turn is not None:
            self.exercised()
        elif view.admission is not None and view.admission.cancelled is not None and view.admission.cancelled.sure:
            self.exercised()
            self.dropped.add(view.admission.entry.id)

    @before(e.StepStart, e.RequestMade, e.AssistantMessage)
    def _went_on(self, event: e.Event) -> None:
        turn = self.view.turn
        if turn is None or not turn.cancels or (isinstance(event, e.AssistantMessage) and event.interrupted):
            return
        what = "the reply was written" if isinstance(event, e.AssistantMessage) else f"{event.type} followed"
        self.violated(f"{what} after turn {turn.number} was cancelled", turn.cancels[0].position)

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        admission = self.view.admission
        cancelled = None if admission is None or event.trigger == "retry" else admission.cancelled
        if admission is not None and cancelled is not None and cancelled.sure:
            self.violated(f"turn {event.turn} opened for {admission.entry.id!r}, whose admission was cancelled")

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        if event.id in self.dropped and not self.view.expected(event.id):
            self.violated(f"{event.id!r} was written although its admission was cancelled")

    @before(v.Send, v.Reference)
    def _again(self, issued: Issued[v.Send | v.Reference]) -> None:
        self.dropped.discard(issued.op.message.id)

    @before(Unsure, v.Release)
    def _perhaps_again(self, _: object) -> None:
        self.dropped.clear()

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        turn, asked = self.view.turn, self.asked
        self.asked = False
        if asked and (turn is not None or self.view.admission is not None):
            self.violated(
                f"{'an admission' if turn is None else f'turn {turn.number}'} was cancelled, and nothing happened"
            )
        elif turn is not None and turn.cancels and not observation.gates:
            self.violated(f"turn {turn.number} was cancelled and waits for nothing, but it didn't end")


class Drops(WindowMonitor):
    """A cancel without keepInbox drops all that is pending, in one discard, and staged context silently."""

    rule = "W-CAN-2"
    needs = frozenset({"command", "inbox", "log", "live"})

    def _start(self) -> None:
        self.doomed: list[Entry] = []
        self.context: set[str] = set()

    @before(e.CancelRequested)
    def _cancelled(self, event: e.CancelRequested) -> None:
        view = self.view
        if view.cancelled(event.cause).keep is not False or view.disposing is not False:
            return
        spared = view.claiming
        self.doomed = [entry for entry in (*view.queued, *view.steering) if entry is not spared]
        dropped = [
            item.id for item in view.outbox if item.kind == "context" and not item.loose and item not in view.fresh
        ]
        self.context = set() if view.blurred else {item for item in dropped if item not in ids(view.claimed)}
        if self.doomed or self.context:
            self.exercised()

    @after(e.Discard)
    def _discarded(self, event: e.Discard) -> None:
        left = [entry.id for entry in self.doomed if self._pending(entry)]
        self.doomed = []
        if left:
            self.violated(f"the discard {list(event.ids)} leaves out {left}, pending when it was cancelled")

    @before(e.Dequeue, e.StepEnd, e.TurnEnd, e.StatusChanged, Observation)
    def _over(self, _: object) -> None:
        left = [entry.id for entry in self.doomed if self._pending(entry)]
        self.doomed = []
        if left:
            self.violated(f"{left} was pending when a cancel without keepInbox came, and wasn't discarded")

    def _pending(self, entry: Entry) -> bool:
        return any(entry is other for other in self.view.fifo(entry.list))

    @before(v.Send, v.Reference)
    def _again(self, issued: Issued[v.Send | v.Reference]) -> None:
        self.context.discard(issued.op.message.id)

    @before(Unsure, v.Release)
    def _perhaps_again(self, _: object) -> None:
        self.context.clear()

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        if event.id in self.context and not self.view.expected(event.id):
            self.violated(f"context {event.id!r} was written although a cancel had dropped it")


class Keeps(WindowMonitor):
    """A cancel with keepInbox discards nothing: what was pending stays, in order."""

    rule = "W-CAN-3"
    needs = frozenset({"command", "inbox", "live"})

    def _start(self) -> None:
        self.kept: list[str] = []
        self.keeping = False

    @after(e.CancelRequested)
    def _cancelled(self, _: e.CancelRequested) -> None:
        view = self.view
        keep = None if view.last_cancel is None else view.last_cancel.keep
        self.keeping = keep is True
        self.kept = [item.id for item in view.outbox if not item.loose] if keep is True and not view.blurred else []
        if keep is True and (view.queued or view.outbox):
            self.exercised()

    @before(e.Discard)
    def _discarded(self, event: e.Discard) -> None:
        if self.keeping and self.view.disposing is False:
            self.violated(f"{list(event.ids)} was discarded by a cancel that keeps the inbox")
        self.kept = []

    @before(e.UserMessage, e.Dequeue)
    def _left(self, event: e.UserMessage | e.Dequeue) -> None:
        if event.id in self.kept:
            self.kept.remove(event.id)

    @before(Observation)
    def _ended(self, observation: Observation) -> None:
        kept, self.kept, self.keeping = self.kept, [], False
        shown = None if observation.inbox is None else list(observation.inbox.next_step)
        if shown is None or self.view.disposing is not False or self.view.blurred:
            return
        if [item for item in shown if item in kept][: len(kept)] != kept:
            self.violated(f"{kept} was staged when a keeping cancel came, but {shown} is staged after it")


class DoesSomething(WindowMonitor):
    """A cancel is published before what it drops, and only if it does something."""

    rule = "W-CAN-4"
    needs = frozenset({"command", "inbox", "log", "live"})

    def _start(self) -> None:
        self.idle = self.stale = False
        self.inside: list[str] = []
        self.dropping: e.CancelRequested | None = None
        self.published = -1

    @before(v.Cancel)
    def _called(self, issued: Issued[v.Cancel]) -> None:
        view = self.view
        self.idle = (
            issued.origin == "request" and view.effect(keep=issued.op.keep_inbox) is False and view.disposing is False
        )

    @before(e.CancelRequested)
    def _published(self, event: e.CancelRequested) -> None:
        view = self.view
        cancelled = view.cancelled(event.cause)
        self.dropping, self.inside, self.published = (None if cancelled.keep is not False else event), [], view.index
        if view.disposing is not False:
            return
        if view.effect(keep=cancelled.keep) is False:
            self.violated("cancel-requested was published, but there was nothing to abort or drop")
            self.idle = False
        else:
            self.exercised()

    @before(e.TurnEnd)
    def _aborted(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if self.stale and event.reason == "aborted" and turn is not None and not turn.cancels:
            self.violated(f"turn {event.turn} was aborted by a cancel that had nothing to do when it came")
        self.stale = False

    @after(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        entry = self.view.fifo(event.placement)[-1]
        if entry.inside is not None and entry.inside is self.dropping:
            self.inside.append(event.id)

    @before(e.Discard)
    def _dropped(self, event: e.Discard) -> None:
        view = self.view
        if view.due_cancels and self.published != view.index and view.disposing is False and not view.unsure:
            self.violated(f"{list(event.ids)} was discarded before its cancel was published")
        left = [item for item in self.inside if item not in event.ids]
        self.inside = []
        if left:
            self.violated(f"{left}, sent inside cancel-requested, outlived that cancel: it is dropped with the rest")

    @before(Observation)
    def _ended(self, _: Observation) -> None:
        if self.idle:
            self.exercised()
            self.stale = True
        if self.inside and self.view.disposing is False:
            self.violated(f"{self.inside}, sent inside cancel-requested, wasn't dropped by that cancel")
        self.idle, self.inside = False, []


class FirstCause(WindowMonitor):
    """The first cause of a turn's end wins, and ``aborted`` needs a cancel of that turn."""

    rule = "W-CAN-5"
    needs = frozenset({"command", "log", "live"})

    @before(e.TurnEnd)
    def _closed(self, event: e.TurnEnd) -> None:
        view, turn = self.view, self.view.turn
        if turn is None:
            return
        first = turn.cancels[0].position if turn.cancels else None
        if event.reason == "aborted":
            ours = first is not None and (turn.disposed is None or first <= turn.disposed or view.disposing is None)
            why = "without a cancel of it" if first is None else "although its disposal came first"
            self.expect(ours, f"turn {turn.number} ended as aborted {why}")
        elif event.reason == "disposed":
            called = turn.disposed is not None or view.disposing is None
            earlier = first is not None and turn.disposed is not None and first <= turn.disposed
            why = "although a cancel of it came first" if earlier else "without a disposal"
            self.expect(called and not earlier, f"turn {turn.number} ended as disposed {why}")


class NothingLeaves(WindowMonitor):
    """From the cancel of a turn to its end nothing leaves the queue or the outbox, but for the turn's opening."""

    rule = "W-CAN-6"
    needs = frozenset({"command", "inbox", "log", "live"})

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        view, turn = self.view, self.view.turn
        if turn is None or not turn.cancels:
            return
        if not (view.opening is not None and (event.id in view.opening.head or not view.opening.known)):
            self.violated(
                f"{event.id!r} was dequeued between the cancel of turn {turn.number} and its end", self._since()
            )

    @before(e.UserMessage)
    def _appended(self, event: e.UserMessage) -> None:
        view, turn = self.view, self.view.turn
        if turn is None or not turn.cancels or view.blurred:
            return
        if view.opening is not None and event.id in view.opening.head:
            return
        staged = any(item.id == event.id and item.kind == "context" for item in view.outbox)
        if staged and not self._after_a_batch():
            self.violated(
                f"{event.id!r} left the outbox between the cancel of turn {turn.number} and its end", self._since()
            )

    def _after_a_batch(self) -> bool:
        """Tell whether latitude ``context-on-abort`` covers it: a batch was closed, and no steering is staged."""
        step = self.view.step
        return step is not None and step.calls is not None and not self.view.steering

    def _since(self) -> int:
        turn = self.view.turn
        return self.view.position if turn is None else turn.cancels[0].position

    @before(e.TurnEnd)
    def _ended(self, event: e.TurnEnd) -> None:
        turn, opening = self.view.turn, self.view.opening
        if turn is None or not turn.cancels:
            return
        self.exercised()
        if opening is None or not opening.known or opening.prompt is None:
            return
        dropped = any(cancel.keep is not True for cancel in turn.cancels) or turn.disposed is not None
        missing = [item for item in opening.head if not (dropped and item in opening.retained)]
        if missing:
            self.violated(
                f"turn {event.turn} was cancelled while it opened and lacks {missing}: its opening is one unit"
            )


class RetryWithdrawn(WindowMonitor):
    """A decided retry is withdrawn by a cancel or a disposal; the failed turn is settled."""

    rule = "W-CAN-7"
    needs = frozenset({"command", "log", "live", "status", "gates"})

    @before(v.Cancel, v.Dispose)
    def _called(self, _: Issued[v.Cancel | v.Dispose]) -> None:
        if self.view.retry == "due":
            self.exercised()

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        view = self.view
        if view.retry == "withdrawn" and (event.trigger == "retry" or view.admission is None):
            self.violated(f"turn {event.turn} retries a request although a cancel had withdrawn the retry")

    @before(e.StatusChanged)
    def _idle(self, event: e.StatusChanged) -> None:
        view, previous = self.view, self.view.previous
        ends = event.status == "idle" and view.retry == "withdrawn" and view.turn is None
        if ends and previous is not None and previous.number > view.settled:
            self.violated(f"turn {previous.number}, whose retry was withdrawn, wasn't settled")


MONITORS: tuple[type[WindowMonitor], ...] = (
    *(Aborts, Drops, Keeps, DoesSomething, FirstCause, NothingLeaves, RetryWithdrawn),
)
"""The monitors of this family, in the order of their rules."""
