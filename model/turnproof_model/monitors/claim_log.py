"""
Judge the log: the values in it, what requests show of it, what resume makes of it.

Rules: C-LOG-1, C-LOG-2, C-LOG-3, C-LOG-4, C-REQ-1.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.observation import Observation


def same(logged: v.Seen, shown: v.Seen) -> bool:
    """Tell whether a shown message is the logged one; text that either side doesn't tell isn't compared."""
    if logged.id != shown.id or logged.tool_result != shown.tool_result or logged.role != shown.role:
        return False
    if (logged.tool_calls or ()) != (shown.tool_calls or ()):
        return False
    if None not in (logged.is_error, shown.is_error) and logged.is_error != shown.is_error:
        return False
    return shown.text is None or logged.text is None or shown.text == logged.text


def tell(seen: v.Seen) -> str:
    """Name a message in a sentence."""
    if seen.id is not None:
        return f"{seen.id} ({seen.text})" if seen.text is not None and seen.text != seen.id else seen.id
    if seen.tool_result is not None:
        return f"the result of {seen.tool_result}"
    calls = ", ".join(seen.tool_calls or ())
    return f"an assistant message with calls {calls}" if calls else "an assistant message"


class Values(ClaimMonitor):
    """
    See that a message in the log is the accepted value.

    Rules: C-LOG-1
    """

    rule = "C-LOG-1"
    needs = frozenset({"log", "command"})

    @after(e.UserMessage)
    def committed(self, event: e.UserMessage) -> None:
        """Its text, where it is shown, and its source are those of a message that was sent under this id."""
        versions = self.view.messages.get(event.id)
        if not versions:
            return
        fits = [
            message
            for message in versions
            if event.text in (None, message.text) and event.source in (None, message.source.kind)
        ]
        said = f"text {event.text!r} and source {event.source}"
        sent = f"{versions[-1].text!r} from {versions[-1].source.kind}"
        self.expect(bool(fits), f"{event.id} was committed with {said}, but was sent as {sent}")


class OneType(ClaimMonitor):
    """
    See that supplementary input is a plain message, told apart by its source alone.

    Rules: C-LOG-2
    """

    rule = "C-LOG-2"

    @before(e.UserMessage)
    def committed(self, event: e.UserMessage) -> None:
        """Input that isn't a person's is an occasion, and keeps its source."""
        versions = self.view.messages.get(event.id)
        if not versions or all(message.source.kind == "user" for message in versions):
            return
        hidden = event.source == "user" and all(message.source.kind != "user" for message in versions)
        self.expect(not hidden, f"{event.id} was committed as if a person had written it", self.view.position + 1)

    @before(e.PluginEvent)
    def other(self, event: e.PluginEvent) -> None:
        """There is no second type for context."""
        if event.name == "context/message" and event.kind == "session":
            self.violated("a context/message was appended", self.view.position + 1)


class Requests(ClaimMonitor):
    """
    See that a request shows the log's messages, all of them, in log order.

    Rules: C-REQ-1
    """

    rule = "C-REQ-1"
    needs = frozenset({"log", "request"})

    @before(e.RequestMade)
    def requests(self, event: e.RequestMade) -> None:
        """Each request is an occasion."""
        logged = [line.seen for line in self.view.history if line.seen is not None]
        shown = event.messages
        place = next(
            (n for n, (mine, theirs) in enumerate(zip(logged, shown, strict=False)) if not same(mine, theirs)), None
        )
        if place is None and len(logged) == len(shown):
            self.exercised()
            return
        at = min(len(logged), len(shown)) if place is None else place
        held = tell(logged[at]) if at < len(logged) else "nothing more"
        said = tell(shown[at]) if at < len(shown) else "nothing more"
        message = f"message {at + 1} of the request is {said}, where the log holds {held}"
        self.violated(message, self.view.position + 1)


class Resumes(ClaimMonitor):
    """
    See that resume repairs the log and brings the inbox back as it was.

    Rules: C-LOG-3
    """

    rule = "C-LOG-3"
    needs = frozenset({"log", "command"})

    @before(v.Resume)
    def resumes(self, _: Issued[v.Resume]) -> None:
        """Each resume is an occasion."""
        self.exercised()

    @before(e.TurnStart, e.RequestMade)
    def goes_on(self, event: e.TurnStart | e.RequestMade) -> None:
        """A resumed agent waits: what is pending stays pending."""
        if isinstance(self.view.request, v.Resume):
            self.violated(f"{event.type.replace('/', ' ')} came within the resume", self.view.position + 1)

    @before(e.TurnEnd)
    def repaired(self, event: e.TurnEnd) -> None:
        """A turn that a crash left open is closed as interrupted."""
        request = self.view.request
        if isinstance(request, v.Resume) and request.mode in ("crash", "fork") and event.reason != "interrupted":
            message = f"turn {event.turn}, left open by a crash, was closed as {event.reason}"
            self.violated(message, self.view.position + 1)

    @before(e.ToolResult)
    def answered(self, event: e.ToolResult) -> None:
        """A call that a crash left open gets an error, once."""
        request, calls = self.view.request, self.view.calls
        if not isinstance(request, v.Resume) or request.mode not in ("crash", "fork"):
            return
        if not event.is_error or calls is None or event.call_id in calls.results:
            message = f"the repair of {event.call_id} isn't the one error result that it lacked"
            self.violated(message, self.view.position + 1)

    @after(Observation)
    def rebuilt(self, observation: Observation) -> None:
        """The lists are what the splices replay to, and the new agent is idle."""
        if not isinstance(self.view.request, v.Resume):
            return
        if observation.status != "idle":
            self.violated(f"the resumed agent is {observation.status}")
        if observation.inbox is None:
            return
        held = {name: tuple(entry.id for entry in entries) for name, entries in self.view.lists.items()}
        for name, shown in (("next-turn", observation.inbox.next_turn), ("next-step", observation.inbox.next_step)):
            if shown != held[name]:
                said, due = ", ".join(shown) or "nothing", ", ".join(held[name]) or "nothing"
                self.violated(f"the resumed {name} holds {said} instead of {due}")


class GoesOn(ClaimMonitor):
    """
    See that a resumed agent derives the same history and goes on with the turn numbers.

    Rules: C-LOG-4
    """

    rule = "C-LOG-4"
    needs = frozenset({"log", "request", "command"})

    def _start(self) -> None:
        """A new log has nothing to go on with."""
        self.turn_due = self.request_due = False

    def _renewed(self) -> None:
        """A resumed agent's first turn and first request tell."""
        self.turn_due = self.request_due = True

    @before(e.TurnStart)
    def starts(self, event: e.TurnStart) -> None:
        """The first number is the next one."""
        if self.turn_due:
            self.turn_due = False
            expected = self.view.last_number + 1
            message = f"a resumed agent started turn {event.turn} instead of {expected}"
            self.expect(event.turn == expected, message, self.view.position + 1)

    @before(e.RequestMade)
    def requests(self, event: e.RequestMade) -> None:
        """The first request shows the repaired history."""
        if not self.request_due:
            return
        self.request_due = False
        logged = [line.seen for line in self.view.history if line.seen is not None]
        fits = len(logged) == len(event.messages) and all(map(same, logged, event.messages))
        message = "the first request of a resumed agent doesn't show the history of its log"
        self.expect(fits, message, self.view.position + 1)


MONITORS: tuple[type[ClaimMonitor], ...] = (Values, OneType, Requests, Resumes, GoesOn)
