"""
Judge the log and the requests: turns, enclosure, tool batches, what the model is shown, vetoes, progress.

Rules: K-TURN, K-ENCLOSE, K-BATCH, K-REQ, K-VETO, K-PROGRESS.
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
        """A step opens in the turn it names."""
        self._in_turn(f"step {record.step}", record.turn)

    @before(t.StepEnd)
    def step_ends(self, record: t.StepEnd) -> None:
        """A step end closes the open step."""
        open_ = (record.turn, record.step) == self.view.step
        self.expect(open_, f"step {record.step} of turn {record.turn} ended, but it isn't the open step")

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
        claim = ledger.claim_of(record.id)
        item = claim.item if claim is not None else ledger.find(record.id)
        if claim is None and ledger.let_in[record.id] > 0:
            return
        if item is not None and (item.waking or is_prompt(item.list)):
            self._in_turn(f"the message {record.id}", None)

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
            self.violated(f"{_names(batch.missing)} had no result at the {where}", batch.place, self.view.place)

    @before(t.Requested)
    def requested(self, record: t.Requested) -> None:
        """A request is made with every call answered, and shows results right behind their calls."""
        batch = self.view.batch
        if batch is not None and batch.missing:
            message = f"a request was made while {_names(batch.missing)} had no result"
            self.violated(message, batch.place, self.view.place)
        if self.view.has("request") and (fault := batch_fault(record.messages)):
            self.violated(f"a request shows {fault}")

    def _between(self, what: str) -> None:
        batch = self.view.batch
        if batch is not None and batch.missing:
            message = f"{what} was appended while {_names(batch.missing)} had no result"
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
            return f"{_names(missing)} without a result right behind"
        else:
            missing = list(shown[1:]) if shown[0] == "assistant" else []
    return f"{_names(missing)} without a result right behind" if missing else ""


def _names(calls: list[str]) -> str:
    return ("call " if len(calls) == 1 else "calls ") + ", ".join(calls)


class Requests(CoreMonitor):
    """
    See that a request shows the committed messages in log order, nothing missing, nothing else.

    Rules: K-REQ
    """

    rule = "K-REQ"
    kinds = ("log", "request")

    @before(t.Requested)
    def requested(self, record: t.Requested) -> None:
        """Compare once; after a difference the shown history is taken for granted, so that it is told only once."""
        history, shown = self.view.history, record.messages
        if len(history) == len(shown) and history == list(shown):
            self.exercised()
            return
        self.violated(_difference(history, shown))
        self.view.history = list(shown)


def _difference(history: list[t.Shown], shown: tuple[t.Shown, ...]) -> str:
    pairs = zip(history, shown, strict=False)
    at = next((n for n, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(history), len(shown)))
    logged = _tell(history[at]) if at < len(history) else "nothing more"
    told = _tell(shown[at]) if at < len(shown) else "nothing more"
    return f"message {at + 1} of the request is {told}, where the log holds {logged}"


def _tell(shown: t.Shown) -> str:
    role, *rest = shown
    if role == "user":
        return rest[0]
    if role == "tool":
        return f"the result of {rest[0]}"
    return f"an assistant message with {_names(rest)}" if rest else "an assistant message"


class Vetoes(CoreMonitor):
    """
    See that what was blocked, and what its hook added, never shows.

    Rules: K-VETO
    """

    rule = "K-VETO"
    kinds = ("admission", "log", "request")

    def _start(self) -> None:
        """Remember vetoed ids and what was committed before its admission was decided."""
        self.vetoed: dict[str, int] = {}
        self.early: dict[str, int] = {}
        self.committed: set[str] = set()

    @before(t.AdmissionBlock)
    def blocked(self, record: t.AdmissionBlock) -> None:
        """A blocked prompt is not in the log already, and isn't written later."""
        names = [*([] if record.id is None else [record.id]), *record.contexts]
        early = [name for name in names if name in self.early]
        for name in names:
            if self.view.ledger.find(name) is None:  # else another message of that id may yet be written
                self.vetoed[name] = self.view.place
        message = f"{', '.join(early)} was blocked after it had been written to the log"
        self.expect(not early, message, *(self.early[name] for name in early), self.view.place)
        for name in early:
            del self.early[name]

    @before(t.AdmissionAllow)
    def allowed(self, record: t.AdmissionAllow) -> None:
        """An id that is let in may show again."""
        names = [*([] if record.id is None else [record.id]), *record.contexts]
        for name in names:
            self.vetoed.pop(name, None)
            if self.early.pop(name, None) is not None:
                self.committed.add(name)

    @before(t.InboxEnqueue, t.InboxRequeue)
    def entered(self, record: t.InboxEnqueue | t.InboxRequeue) -> None:
        """An id that is sent again is a message of its own."""
        self.vetoed.pop(record.id, None)

    @before(t.UserMessage, t.SteeringMessage)
    def written(self, record: t.UserMessage | t.SteeringMessage) -> None:
        """A vetoed id is not written."""
        claim = self.view.ledger.claim_of(record.id)
        if claim is not None and claim.admission == "open":
            self.early[record.id] = self.view.place
        elif record.id in self.vetoed:
            message = f"{record.id} was written to the log after it had been blocked"
            self.violated(message, self.vetoed[record.id], self.view.place)
        else:
            self.committed.add(record.id)

    @before(t.Requested)
    def requested(self, record: t.Requested) -> None:
        """The model never sees what was vetoed."""
        hidden = self.vetoed.keys() - self.committed
        if hidden:
            for name in sorted(hidden & {shown[1] for shown in record.messages if shown[0] == "user"}):
                message = f"a request shows {name}, which had been blocked"
                self.violated(message, self.vetoed.pop(name), self.view.place)


class Progress(CoreMonitor):
    """
    See that the model gets to see its input, and isn't asked again for nothing.

    Rules: K-PROGRESS
    """

    rule = "K-PROGRESS"
    kinds = ("log", "request")

    def _start(self) -> None:
        """Before the first request everything is new."""
        self.fresh = True
        self.last: int | None = None

    @before(t.UserMessage, t.SteeringMessage, t.ToolResult, t.RequestRetry, t.SessionResume)
    def renews(self, _: t.Record) -> None:
        """Input, a result or a retry is a reason to ask."""
        self.fresh = True

    @before(t.Requested)
    def requested(self, _: t.Requested) -> None:
        """A request has a reason."""
        if not self.fresh and self.last is not None:
            message = "a request was made again with no new input, no new result and no retry"
            self.violated(message, self.last, self.view.place)
        self.fresh, self.last = False, self.view.place

    @before(t.TurnEnd)
    def ends(self, record: t.TurnEnd) -> None:
        """A completed turn has shown its last input and results to the model, unless a tool concluded it."""
        turn = self.view.turn
        if record.reason != "completed" or turn is None:
            return
        owed = None if turn.concluded else turn.owed
        if owed is None:
            self.exercised()
        else:
            self.violated(
                f"{owed[0]}, but turn {record.turn} completed with no request after it", owed[1], self.view.place
            )


MONITORS: tuple[type[CoreMonitor], ...] = (Turns, Enclosure, Batches, Requests, Vetoes, Progress)
