"""
Judge the log: turns, enclosure, tool batches.

Rules: K-TURN, K-ENCLOSE, K-BATCH.
"""

from __future__ import annotations

from turnproof_model import trace as t
from turnproof_model.monitors.base import before
from turnproof_model.monitors.core_base import CoreMonitor
from turnproof_model.monitors.core_ledger import is_prompt


class Turns(CoreMonitor):
    """
    See that turns are balanced, never nest, and that their numbers rise.

    Rules: K-TURN
    """

    rule = "K-TURN"
    kinds = ("log",)

    @before(t.TurnStart)
    def starts(self, record: t.TurnStart) -> None:
        """A turn starts when none is open, with a number above all earlier ones."""
        turn, last = self.view.turn, self.view.last
        if turn is not None:
            self.violated(f"turn {record.turn} started inside turn {turn.number}", turn.place, self.view.place)
        else:
            fresh = last is None or record.turn > last
            self.expect(fresh, f"turn {record.turn} started though a turn {last} had been before")

    @before(t.TurnEnd)
    def ends(self, record: t.TurnEnd) -> None:
        """A turn end closes the open turn."""
        turn = self.view.turn
        if turn is None:
            self.violated(f"turn {record.turn} ended though no turn was open")
        elif turn.number != record.turn:
            self.violated(f"turn {record.turn} ended while turn {turn.number} was open", turn.place, self.view.place)

    def finish(self) -> None:
        """A trace may stop inside a turn, but not idle."""
        turn = self.view.turn
        if turn is not None and self.view.status == "idle":
            self.violated(f"turn {turn.number} is open at the end though the agent is idle", turn.place)


class Enclosure(CoreMonitor):
    """
    See that what belongs to a turn or a step lies in it.

    Rules: K-ENCLOSE
    """

    rule = "K-ENCLOSE"
    kinds = ("log",)

    @before(t.StepStart)
    def step_starts(self, record: t.StepStart) -> None:
        """A step opens in the turn it names, behind the end of the step before."""
        self._closed(f"step {record.step} of turn {record.turn} began")
        self._in_turn(f"step {record.step}", record.turn)

    @before(t.StepEnd)
    def step_ends(self, record: t.StepEnd) -> None:
        """A step end closes the open step."""
        open_ = (record.turn, record.step) == self.view.step
        self.expect(open_, f"step {record.step} of turn {record.turn} ended, but it isn't the open step")

    @before(t.TurnEnd)
    def turn_ends(self, record: t.TurnEnd) -> None:
        """A turn ends behind its last step; the repair of a crash closes both at once."""
        if record.reason != "interrupted":
            self._closed(f"turn {record.turn} ended")

    @before(t.AssistantMessage)
    def spoken(self, record: t.AssistantMessage) -> None:
        """Model output lies in the turn and the step it names."""
        self._in_step("an assistant message", record.turn, record.step)

    @before(t.ToolCall, t.ToolResult)
    def tool(self, record: t.ToolCall | t.ToolResult) -> None:
        """Calls and results lie in a step."""
        self._in_step(f"a {record.type.replace('/', ' ')} of {record.call_id}", None, None)

    @before(t.SteeringMessage)
    def steered(self, record: t.SteeringMessage) -> None:
        """Steering is committed inside a turn."""
        self._in_turn(f"steering {record.id}", None)

    @before(t.UserMessage)
    def committed(self, record: t.UserMessage) -> None:
        """A prompt, or waking input of any list, is committed inside a turn; context may lie between turns."""
        ledger = self.view.ledger
        claim = ledger.claim_behind(record)
        item = claim.item if claim is not None else ledger.find(record.id)
        if claim is None and ledger.let_in[record.id] > 0:
            return
        if item is not None and (item.waking or is_prompt(item.list)):
            self._in_turn(f"the message {record.id}", None)

    def _closed(self, what: str) -> None:
        step = self.view.step
        if step is not None:
            self.violated(f"{what} while step {step[1]} of turn {step[0]} was open")

    def _in_turn(self, what: str, number: int | None) -> None:
        turn = self.view.turn
        if turn is None:
            self.violated(f"{what} was recorded with no turn open")
        else:
            named = number in (None, turn.number)
            self.expect(
                named, f"{what} names turn {number} while turn {turn.number} is open", turn.place, self.view.place
            )

    def _in_step(self, what: str, turn: int | None, number: int | None) -> None:
        step = self.view.step
        if self.view.turn is None or not self.view.uses_steps:
            self._in_turn(what, turn)
        elif step is None:
            self.violated(f"{what} was recorded with no step open")
        else:
            named = turn in (None, step[0]) and number in (None, step[1])
            self.expect(
                named, f"{what} names step {number} of turn {turn} while step {step[1]} of turn {step[0]} is open"
            )


class Batches(CoreMonitor):
    """
    See that every tool call is answered exactly once, and that nothing stands between calls and results.

    Rules: K-BATCH
    """

    rule = "K-BATCH"
    kinds = ("log",)

    @before(t.AssistantMessage)
    def spoken(self, record: t.AssistantMessage) -> None:
        """A message with calls opens a batch, and none may be open already."""
        self._between("an assistant message")
        if record.calls:
            self.exercised()

    @before(t.UserMessage, t.SteeringMessage)
    def committed(self, record: t.UserMessage | t.SteeringMessage) -> None:
        """Input waits for the end of the batch."""
        self._between(record.id)

    @before(t.ToolResult)
    def answered(self, record: t.ToolResult) -> None:
        """A result answers a call of the batch before it, for the first time."""
        batch = self.view.batch
        if batch is None or record.call_id not in batch.calls:
            self.violated(f"the result of {record.call_id} answers no call of the batch before it")
        elif record.call_id in batch.answered:
            self.violated(f"{record.call_id} was answered a second time", batch.place, self.view.place)

    @before(t.StepStart, t.StepEnd, t.TurnStart, t.TurnEnd, t.SessionResume)
    def closes(self, record: t.Record) -> None:
        """A batch is answered before its step and its turn end."""
        batch = self.view.batch
        if batch is not None and batch.missing:
            where = record.type.replace("/", " ")
            self.violated(f"{names(batch.missing)} had no result at the {where}", batch.place, self.view.place)

    @before(t.Requested)
    def requested(self, record: t.Requested) -> None:
        """A request is made with every call answered, and shows results right behind their calls."""
        batch = self.view.batch
        if batch is not None and batch.missing:
            message = f"a request was made while {names(batch.missing)} had no result"
            self.violated(message, batch.place, self.view.place)
        if self.view.has("request") and (fault := batch_fault(record.messages)):
            self.violated(f"a request shows {fault}")

    def _between(self, what: str) -> None:
        batch = self.view.batch
        if batch is not None and batch.missing:
            message = f"{what} was appended while {names(batch.missing)} had no result"
            self.violated(message, batch.place, self.view.place)


def batch_fault(messages: tuple[t.Shown, ...]) -> str:
    """Name the first place where calls and results don't stand together; empty if there is none."""
    missing: list[str] = []
    for shown in messages:
        if shown[0] == "tool":
            if shown[1] not in missing:
                return f"the result of {shown[1]} without its call before it"
            missing.remove(shown[1])
        elif missing:
            return f"{names(missing)} without a result right behind"
        else:
            missing = list(shown[1:]) if shown[0] == "assistant" else []
    return f"{names(missing)} without a result right behind" if missing else ""


def names(calls: list[str]) -> str:
    """Name calls in a sentence."""
    return ("call " if len(calls) == 1 else "calls ") + ", ".join(calls)


MONITORS: tuple[type[CoreMonitor], ...] = (Turns, Enclosure, Batches)
