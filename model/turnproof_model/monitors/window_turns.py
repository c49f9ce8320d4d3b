"""
Judge turns: balanced, numbered, one prompt each, one after the other, ended for the right reason; retries.

Rules: W-TURN-1 to -6, W-STEP-1.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import before
from turnproof_model.monitors.facts import Turn
from turnproof_model.monitors.window_monitor import WELL_ENDED, WindowMonitor, ids


class Balanced(WindowMonitor):
    """Turns are balanced, never nest, and their numbers rise by one."""

    rule = "W-TURN-1"
    needs = frozenset({"log"})

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        view = self.view
        if view.turn is not None:
            self.violated(f"turn {event.turn} opened inside turn {view.turn.number}")
        else:
            wanted = view.last_number + 1
            self.expect(event.turn == wanted, f"a turn opened with number {event.turn}: the next number is {wanted}")

    @before(e.TurnEnd)
    def _closed(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if turn is None:
            self.violated(f"turn {event.turn} ended, but none is open")
        elif turn.number != event.turn:
            self.violated(f"turn {event.turn} ended, but turn {turn.number} is open")


class Enclosed(WindowMonitor):
    """Execution lies inside a turn, what belongs to a step inside that step."""

    rule = "W-TURN-2"
    needs = frozenset({"log"})

    @before(e.StepStart, e.StepEnd, e.SteeringMessage)
    def _in_turn(self, event: e.StepStart | e.StepEnd | e.SteeringMessage) -> None:
        turn = self.view.turn
        self.expect(
            turn is not None and turn.number == event.turn, f"{event.type} of turn {event.turn} lies {self._place()}"
        )

    @before(e.AssistantMessage)
    def _in_step(self, event: e.AssistantMessage) -> None:
        turn, step = self.view.turn, self.view.step
        inside = turn is not None and step is not None and (turn.number, step.number) == (event.turn, event.step)
        self.expect(inside, f"{event.type} of turn {event.turn}, step {event.step} lies {self._place()}")

    @before(e.ToolCall, e.ToolResult)
    def _of_step(self, event: e.ToolCall | e.ToolResult) -> None:
        self.expect(self.view.step is not None, f"{event.type} of {event.call_id!r} lies {self._place()}")

    def _place(self) -> str:
        turn, step = self.view.turn, self.view.step
        if turn is None:
            return "between turns"
        return f"in turn {turn.number}, " + ("between its steps" if step is None else f"step {step.number}")


class OnePromptATurn(WindowMonitor):
    """A turn contains one queued prompt at most."""

    rule = "W-TURN-3"
    needs = frozenset({"inbox", "log"})

    def _start(self) -> None:
        self.prompt: str | None = None

    @before(e.TurnStart)
    def _opened(self, _: e.TurnStart) -> None:
        self.prompt = None

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        view = self.view
        if view.turn is None or event.id not in view.entering or event.id in view.supplementary:
            return
        self.expect(
            self.prompt is None, f"{event.id!r} was written into a turn that has the prompt {self.prompt!r} already"
        )
        self.prompt = event.id


class AfterTheCheckpoint(WindowMonitor):
    """The next admission or retry begins after the turn before it ended and its checkpoint settled."""

    rule = "W-TURN-4"
    needs = frozenset({"inbox", "log", "gates"})

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        if event.placement == "queued":
            self._judge(f"{event.id!r} was claimed", counts=True)

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        self._judge(f"turn {event.turn} opened", counts=event.trigger == "retry")

    @before(e.GateOpened)
    def _late(self, event: e.GateOpened) -> None:
        admission = self.view.admission
        if event.gate_kind == "flush" and (admission is not None or self.view.turn is not None):
            self.violated("a checkpoint began after the next admission or turn had begun")

    def _judge(self, what: str, *, counts: bool) -> None:
        view = self.view
        if view.turn is not None:
            self.violated(f"{what} while turn {view.turn.number} is open")
        elif view.open_gates("flush"):
            self.violated(f"{what} while the checkpoint of the turn before is pending")
        elif counts and view.previous is not None:
            self.exercised()


class EndReason(WindowMonitor):
    """A turn ends as aborted or disposed, else error, else max-tokens, else completed."""

    rule = "W-TURN-5"
    needs = frozenset({"log", "live", "command"})

    @before(e.TurnEnd)
    def _closed(self, event: e.TurnEnd) -> None:
        turn = self.view.turn
        if turn is None or event.reason == "interrupted" or self.view.disposing is None:
            return
        wanted, why = self._reasons(turn)
        self.expect(
            event.reason in wanted, f"turn {event.turn} ended as {event.reason} although {why}: {' or '.join(wanted)}"
        )

    def _reasons(self, turn: Turn) -> tuple[tuple[str, ...], str]:
        if turn.aborted:
            allowed = ("aborted",) if turn.disposed is None else ("aborted", "disposed")
            if turn.error is not None or not all(cancel.sure for cancel in turn.cancels):
                # The reason may have been fixed before the cancel came: nothing in the stream tells when.
                return (*allowed, *self._unaborted(turn)[0]), "it was cancelled late"
            return allowed, "it was cancelled or disposed of"
        return self._unaborted(turn)

    def _unaborted(self, turn: Turn) -> tuple[tuple[str, ...], str]:
        if turn.error is not None:
            return ("error",), "it failed"
        if turn.max_tokens:
            return ("max-tokens",), "a step hit the ceiling"
        if turn.max_tokens is None or self.view.may_happen(v.Release):
            return ("completed", "max-tokens"), "nothing failed"
        return ("completed",), "nothing cut it short"


class Retries(WindowMonitor):
    """A retried request is the next turn, before anything queued, and takes the whole outbox first."""

    rule = "W-TURN-6"
    needs = frozenset({"command", "inbox", "log", "gates"})

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        view = self.view
        if view.retry == "due":
            self.expect(
                event.trigger in (None, "retry") and view.admission is None,
                f"turn {event.turn} opened for a message while a retry was decided: the retry comes first",
            )
        elif event.trigger == "retry" and view.retry is None and not view.may_happen(v.Release):
            self.violated(f"turn {event.turn} is a retry, but none was decided")

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        if event.placement == "queued" and self._waits():
            self.violated(f"{event.id!r} was claimed while a retry was decided: the retry comes first")

    @before(e.StatusChanged)
    def _idle(self, event: e.StatusChanged) -> None:
        if event.status == "idle" and self._waits():
            self.violated("the agent went idle and lost a retry that was decided")

    @before(e.Settled)
    def _settled(self, event: e.Settled) -> None:
        previous = self.view.previous
        if self._waits() and previous is not None and previous.number == event.turn:
            self.violated(f"turn {event.turn} was settled although its retry is to come: only the last of a chain is")

    def _waits(self) -> bool:
        view = self.view
        return view.retry == "due" and view.turn is None and view.disposing is False

    @before(e.StepStart)
    def _stepped(self, _: e.StepStart) -> None:
        opening = self.view.opening
        if opening is not None and opening.known and opening.prompt is None and opening.head:
            self.violated(
                f"the retry's step opened without {opening.head}, staged before it: it takes all of the outbox"
            )

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        opening, view = self.view.opening, self.view
        if opening is not None and opening.prompt is None and event.id in ids(view.claimed):
            self.violated(f"prompt {event.id!r} was written into a retry: a retry has no prompt")


class Steps(WindowMonitor):
    """Steps are balanced, numbered from 1 in their turn, and hold one request each."""

    rule = "W-STEP-1"
    needs = frozenset({"log"})

    def _start(self) -> None:
        self.silent: int | None = None
        """The step of this turn that ended without a request, which only an abort or a failure excuses."""

    @before(e.StepStart)
    def _opened(self, event: e.StepStart) -> None:
        turn = self.view.turn
        if turn is None:
            return
        if turn.step is not None:
            self.violated(f"step {event.step} opened inside step {turn.step.number}")
        else:
            wanted = turn.steps + 1
            self.expect(
                event.step == wanted, f"a step of turn {turn.number} opened with number {event.step}: it is {wanted}"
            )

    @before(e.StepEnd)
    def _closed(self, event: e.StepEnd) -> None:
        turn, step = self.view.turn, self.view.step
        if turn is None:
            return
        if step is None or step.number != event.step:
            self.violated(f"step {event.step} ended, but {'none' if step is None else step.number} is open")
        elif not step.requests:
            self.silent = event.step

    @before(e.TurnStart)
    def _began(self, _: e.TurnStart) -> None:
        self.silent = None

    @before(e.AssistantMessage)
    def _spoken(self, _: e.AssistantMessage) -> None:
        step = self.view.step
        if step is not None and step.spoken:
            self.violated(f"step {step.number} has a second answer", step.position, self.view.place)

    @before(e.TurnEnd)
    def _left_open(self, event: e.TurnEnd) -> None:
        if self.view.step is not None:
            self.violated(f"turn {event.turn} ended with step {self.view.step.number} open")
        elif self.silent is not None and "request" in self.view.sees and event.reason in WELL_ENDED:
            self.violated(f"step {self.silent} of turn {event.turn} ended without a request")

    @before(e.RequestMade)
    def _requested(self, _: e.RequestMade) -> None:
        step = self.view.step
        if step is None:
            self.violated("a request was made outside a step")
        elif step.requests:
            self.violated(f"step {step.number} made a second request")


MONITORS: tuple[type[WindowMonitor], ...] = (
    *(Balanced, Enclosed, OnePromptATurn, AfterTheCheckpoint, EndReason, Retries, Steps),
)
"""The monitors of this family, in the order of their rules."""
