"""
Judge what the model is shown, and that it is shown everything in time.

Rules: K-REQ, K-VETO, K-PROGRESS.
"""

from __future__ import annotations

from turnproof_model import trace as t
from turnproof_model.monitors.base import before
from turnproof_model.monitors.core_base import CoreMonitor
from turnproof_model.monitors.core_log import names


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
    return f"an assistant message with {names(rest)}" if rest else "an assistant message"


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
        self.early.pop(record.id, None)

    @before(t.UserMessage, t.SteeringMessage)
    def written(self, record: t.UserMessage | t.SteeringMessage) -> None:
        """A vetoed id is not written."""
        claim = self.view.ledger.claim_behind(record)
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


MONITORS: tuple[type[CoreMonitor], ...] = (Requests, Vetoes, Progress)
