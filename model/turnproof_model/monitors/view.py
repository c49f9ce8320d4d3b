"""
Fold the stream once into the facts that both contracts share, so that a monitor is a few lines.

Turn, step, batch of calls, derived history, status; what happens around the agent is in ``surroundings``. The view
believes the stream: it never predicts, and where the stream leaves something open it says so. What a contract adds
(its lists, its admission) is folded by a subclass.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Resumed, Sight
from turnproof_model.monitors.facts import Calls, Line, Step, Turn
from turnproof_model.monitors.folding import folds
from turnproof_model.monitors.surroundings import Surroundings
from turnproof_model.observation import Profile

__all__ = ["View", "folds"]


class View(Surroundings):
    """
    Show where the stream stands, for the shared part of the contracts.

    Attributes:
        request: the current one; sessions, agents: how many began; a resumed agent is a new one in the same session.
        turn: the open turn; previous: the last one that ended; last_number: the highest turn number seen.
        history: the derived message history with its turns, in log order; empty where no requests are recorded, since
            nothing is ever compared with it.
    """

    def __init__(self, profile: Profile, sees: frozenset[Sight]) -> None:
        super().__init__(profile, sees)
        self.renew()

    def renew(self) -> None:
        """Stand before the first item of another stream, and remember nothing."""
        self.rewind()
        self.request: v.Request = v.Inspect()
        self.sessions = 0
        self.agents = 0
        self.reset()

    # -------------------------------------------------------------------------------------------- beginnings
    def reset(self) -> None:
        """Forget everything: a brand-new agent on an empty log."""
        self.sessions += 1
        self.history: list[Line] = []
        self.previous: Turn | None = None
        self.last_number = 0
        self.messages: dict[str, list[v.Message]] = {}
        self.turn: Turn | None = None
        self.compactions = 0
        self.gates_named: frozenset[str] = frozenset(v.TURN_GATES[self.profile.contract])
        self.new_agent()

    def new_agent(self) -> None:
        """Forget what dies with an agent; the log stays."""
        self.agents += 1
        self.status: v.Status = "idle"
        self.clear()

    @folds(v.Reset)
    def _reset(self, issued: Issued[v.Reset]) -> None:
        self.reset()
        if issued.op.gates is not None:
            self.gates_named = frozenset(issued.op.gates)

    @folds(v.Resume)
    def _resume(self, issued: Issued[v.Resume]) -> None:
        """A crash cuts the old agent off at once; a clean end goes on publishing, but what was armed is over."""
        if issued.op.mode in ("crash", "fork"):
            self.new_agent()
        else:
            self.disarm()
            self.dispose()

    # -------------------------------------------------------------------------------------------- turns and steps
    @folds(e.TurnStart)
    def _turn_start(self, event: e.TurnStart) -> None:
        self.turn = Turn(event.turn, self.position, event.trigger)
        self.last_number = max(self.last_number, event.turn)
        self._log(Line(event.turn))

    @folds(e.TurnEnd)
    def _turn_end(self, event: e.TurnEnd) -> None:
        turn = self.turn or Turn(event.turn, self.position)
        turn.reason, turn.ended, turn.step = event.reason, self.position, None
        self.previous, self.turn = turn, None

    @folds(e.StepStart)
    def _step_start(self, event: e.StepStart) -> None:
        if self.turn is not None:
            self.turn.steps += 1
            self.turn.step = Step(event.step, self.position, len(self.history))
        self.tools = {}

    @folds(e.StepEnd)
    def _step_end(self, _: e.StepEnd) -> None:
        if self.turn is not None:
            self.turn.step = None

    @property
    def step(self) -> Step | None:
        """The open step."""
        return None if self.turn is None else self.turn.step

    @property
    def calls(self) -> Calls | None:
        """The batch of calls that is not fully answered."""
        step = self.step
        return step.calls if step is not None and step.calls is not None and step.calls.open else None

    @folds(e.AgentError)
    def _error(self, event: e.AgentError) -> None:
        if self.turn is not None and self.turn.number == event.turn:
            self.turn.error = event

    @folds(e.StatusChanged)
    def _status(self, event: e.StatusChanged) -> None:
        self.status = event.status

    # -------------------------------------------------------------------------------------------- history
    @folds(e.UserMessage)
    def _user_message(self, event: e.UserMessage) -> None:
        text = event.text
        known = self.messages.get(event.id, [])
        if text is None and len(known) == 1:
            text = known[0].text
        self._append(v.Seen("user", event.id, text))

    @folds(e.SteeringMessage)
    def _steering_message(self, event: e.SteeringMessage) -> None:
        self._append(v.Seen("user", event.id, event.text))

    @folds(e.AssistantMessage)
    def _assistant_message(self, event: e.AssistantMessage) -> None:
        if self.step is not None:
            self.step.spoken = True
            if event.tool_calls:
                self.step.calls = Calls(event.tool_calls, self.position)
        if self.turn is not None and not self.turn.max_tokens and self.may_happen(v.Release):
            self.turn.max_tokens = None
        self._append(v.Seen("assistant", text=event.text, tool_calls=event.tool_calls))

    @folds(e.ToolCall)
    def _tool_call(self, event: e.ToolCall) -> None:
        if self.step is not None and self.step.calls is not None:
            self.step.calls.called.append(event.call_id)

    @folds(e.ToolResult)
    def _tool_result(self, event: e.ToolResult) -> None:
        if self.step is not None and self.step.calls is not None:
            self.step.calls.results[event.call_id] = event
        if self.turn is not None and not event.is_error:
            self._concluding(self.turn, event.call_id)
        self._append(v.Seen("user", tool_result=event.call_id, is_error=event.is_error))

    def _concluding(self, turn: Turn, call_id: str) -> None:
        """Tell whether the result ends the turn; open where a tool was released without its call being shown."""
        if call_id in self.tools:
            if getattr(self.tools[call_id], "concludes", False):
                turn.concluded = True
        elif turn.concluded is False:
            unknown = "command" not in self.sees or None in self.tools or self.may_happen(v.Release)
            turn.concluded = None if unknown else False

    def messages_shown(self, lines: int | None = None) -> list[v.Seen]:
        """List the message history that a request shows; of the first ``lines`` lines of the log, or of all."""
        return [line.seen for line in self.history[:lines] if line.seen is not None]

    def _log(self, line: Line) -> None:
        if "request" in self.sees:
            self.history.append(line)

    def _append(self, seen: v.Seen) -> None:
        turn = self.turn
        self._log(Line(None if turn is None else turn.number, seen))
        if turn is None:
            return
        if seen.tool_result is not None:
            turn.last_result = self.position
        elif seen.id is not None:
            turn.commits.append(seen.id)
            turn.last_context = self.position

    @folds(e.RequestMade)
    def _request_made(self, _: e.RequestMade) -> None:
        if self.step is not None:
            self.step.requests += 1
        if self.turn is not None:
            self.turn.last_request = self.position

    @folds(Resumed)
    def _resumed(self, item: Resumed) -> None:
        """Put the new agent in the old one's place, its log repaired even where the repairs weren't published."""
        if self.turn is not None:
            for call in self.calls.ids if self.calls is not None else ():
                if self.calls is not None and call not in self.calls.results:
                    self._append(v.Seen("user", tool_result=call, is_error=True))
            self.turn.reason = "interrupted"
            self.previous, self.turn = self.turn, None
        if item.op.mode == "compact":
            self._compact()
        self.new_agent()

    def _compact(self) -> None:
        """Replace every maximal run of turns by one message."""
        kept: list[Line] = []
        inside = False
        for line in self.history:
            if line.turn is None:
                kept.append(line)
            elif not inside:
                self.compactions += 1
                kept.append(Line(None, v.Seen("user", f"compaction-{self.compactions}")))
            inside = line.turn is not None
        self.history = kept
