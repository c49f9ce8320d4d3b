"""
Judge what a cancel aborts: the active admission or turn, its reason, a decided retry, and nothing that waits.

Rules: W-CAN-1, W-CAN-5 to -7; what it drops or keeps is judged in ``window_dropping``.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Unsure, after, before
from turnproof_model.monitors.window_facts import supplied
from turnproof_model.monitors.window_monitor import WindowMonitor
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

    @before(v.Release)
    def _supplied(self, issued: Issued[v.Release]) -> None:
        self.dropped.difference_update(supplied(issued.op))

    @before(Unsure)
    def _perhaps_again(self, _: Unsure[v.Operation]) -> None:
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
            disposed = None if view.undated else turn.disposed
            earlier = first is not None and disposed is not None and first <= disposed
            why = "although a cancel of it came first" if earlier else "without a disposal"
            self.expect(called and not earlier, f"turn {turn.number} ended as disposed {why}")


class AbortHasCause(WindowMonitor):
    """A gate hears of an abort only if its admission or turn was cancelled, or the agent is being disposed of."""

    rule = "W-CAN-5"
    needs = frozenset({"gates", "live", "command"})

    def _start(self) -> None:
        self.cancelled = False

    @before(e.CancelRequested)
    def _cancelled(self, _: e.CancelRequested) -> None:
        self.cancelled = True

    @after(e.GateOpened)
    def _asked(self, event: e.GateOpened) -> None:
        if event.gate_kind == "prompt-submit":
            self.cancelled = False

    @after(e.TurnEnd)
    def _ended(self, _: e.TurnEnd) -> None:
        self.cancelled = False

    @before(e.GateAborted)
    def _heard(self, event: e.GateAborted) -> None:
        self.expect(
            self.cancelled or self.view.disposing is not False,
            f"gate {event.gate!r} ({event.gate_kind}) was aborted, but no cancel was published",
        )


class NothingLeaves(WindowMonitor):
    """From the cancel of a turn to its end nothing leaves the queue or the outbox, but for the turn's opening."""

    rule = "W-CAN-6"
    needs = frozenset({"command", "inbox", "log", "live"})

    def _start(self) -> None:
        self.left = -1
        """The latest event with which something left the outbox."""
        self.draining = False
        """Whether the first cancel of this turn came into the drain behind a batch that was whole by then."""

    @before(e.CancelRequested)
    def _cancelled(self, _: e.CancelRequested) -> None:
        turn, step = self.view.turn, self.view.step
        if turn is not None and not turn.cancels:
            closed = step is not None and step.calls is not None and not step.calls.open
            self.draining = closed and self.left > turn.last_result

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        view, turn = self.view, self.view.turn
        if turn is None or not turn.cancels:
            self.left = view.place if event.placement == "steering" else self.left
            return
        if not (view.opening is not None and (event.id in view.opening.head or not view.opening.known)):
            self.violated(
                f"{event.id!r} was dequeued between the cancel of turn {turn.number} and its end", self._since()
            )

    @before(e.UserMessage)
    def _appended(self, event: e.UserMessage) -> None:
        view, turn = self.view, self.view.turn
        if turn is None or not turn.cancels or view.blurred:
            self.left = self.left if view.leaving(event) is None else view.place
            return
        if view.opening is not None and (event.id in view.opening.head or not view.opening.known):
            return
        staged = any(item.id == event.id and item.kind == "context" for item in view.outbox)
        if staged and not self._after_a_batch():
            self.violated(
                f"{event.id!r} left the outbox between the cancel of turn {turn.number} and its end", self._since()
            )

    def _after_a_batch(self) -> bool:
        """Tell whether latitude ``context-on-abort`` covers it: a batch was closed, and no steering is staged."""
        turn, step = self.view.turn, self.view.step
        if turn is None or step is None or step.calls is None or self.draining:
            return False
        return not any(entry.position < turn.last_result for entry in self.view.steering)

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
        dropped = any(cancel.keep is not True for cancel in turn.cancels) or self.view.disposing is not False
        missing = [item for item in opening.head if not (dropped and item in opening.retained)]
        if missing:
            self.violated(
                f"turn {event.turn} was cancelled while it opened and lacks {missing}: its opening is one unit"
            )


class RetryWithdrawn(WindowMonitor):
    """A decided retry is withdrawn by a cancel or a disposal; the failed turn is settled."""

    rule = "W-CAN-7"
    needs = frozenset({"command", "log", "live", "status", "gates"})

    def _start(self) -> None:
        self.asked = False

    @before(v.Cancel, v.Dispose)
    def _called(self, issued: Issued[v.Cancel | v.Dispose]) -> None:
        view = self.view
        if view.retry == "due" and view.disposing is False:
            self.exercised()
            self.asked = isinstance(issued.op, v.Cancel) and issued.origin == "request"

    @before(e.CancelRequested)
    def _published(self, _: e.CancelRequested) -> None:
        self.asked = False

    @before(Observation)
    def _observed(self, _: Observation) -> None:
        if self.asked:
            self.violated("a cancel found a retry that was decided, and wasn't published: it withdraws the retry")
        self.asked = False

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


MONITORS: tuple[type[WindowMonitor], ...] = (Aborts, FirstCause, AbortHasCause, NothingLeaves, RetryWithdrawn)
"""The monitors of this family, in the order of their rules."""
