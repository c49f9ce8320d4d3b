"""
Judge turns: their bounds, what lies in them, their one prompt, and why they end.

Rules: C-TURN-1, C-TURN-2, C-TURN-3, C-TURN-4, C-TURN-5.
"""

from __future__ import annotations

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.monitors.facts import Turn

Executed = e.StepStart | e.StepEnd | e.AssistantMessage | e.ToolCall | e.ToolResult | e.UserMessage


class Balance(ClaimMonitor):
    """
    See that turns are balanced and numbered without a gap, across resume too.

    Rules: C-TURN-1
    """

    rule = "C-TURN-1"

    @before(e.TurnStart)
    def starts(self, event: e.TurnStart) -> None:
        """The number is the next one."""
        expected = self.view.last_number + 1
        message = f"turn {event.turn} started instead of turn {expected}"
        self.expect(event.turn == expected and self.view.turn is None, message, self.view.position + 1)

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """The end is that of the open turn."""
        turn = self.view.turn
        if turn is None:
            self.violated(f"turn {event.turn} ended though no turn was open", self.view.position + 1)
        elif turn.number != event.turn:
            message = f"turn {event.turn} ended while turn {turn.number} was open"
            self.violated(message, turn.position, self.view.position + 1)


class Enclosure(ClaimMonitor):
    """
    See that execution and every message lie inside a turn.

    Rules: C-TURN-2
    """

    rule = "C-TURN-2"

    @before(e.StepStart, e.StepEnd, e.AssistantMessage, e.ToolCall, e.ToolResult, e.UserMessage)
    def happens(self, event: Executed) -> None:
        """A turn is open, and the one that is named; what a compaction left of turns stands in their place."""
        if isinstance(self.view.request, v.Resume) or getattr(event, "source", None) == "compaction":
            return
        turn, named = self.view.turn, getattr(event, "turn", None)
        what = event.type.replace("/", " ")
        if turn is None:
            self.violated(f"{what} was appended outside any turn", self.view.position + 1)
        else:
            message = f"{what} names turn {named} while turn {turn.number} is open"
            self.expect(named in (None, turn.number), message, turn.position, self.view.position + 1)


class OnePrompt(ClaimMonitor):
    """
    See that a turn claims at most one next-turn message.

    Rules: C-TURN-3
    """

    rule = "C-TURN-3"

    def _start(self) -> None:
        """Forget the prompt of the open turn."""
        self.taken: tuple[Turn, int] | None = None

    @after(e.Spliced)
    def claimed(self, _: e.Spliced) -> None:
        """A claim from next-turn is an occasion."""
        splice, turn = self.view.splice, self.view.turn
        if splice is None or splice.kind != "claim" or splice.event.target != "next-turn" or turn is None:
            return
        earlier = self.taken[1] if self.taken is not None and self.taken[0] is turn else None
        self.taken = (turn, self.view.position)
        names = ", ".join(entry.id for entry in splice.removed)
        once = earlier is None and len(splice.removed) == 1
        places = (self.view.position,) if earlier is None else (earlier, self.view.position)
        self.expect(once, f"turn {turn.number} claimed {names} of next-turn, more than one prompt", *places)


class Sequence(ClaimMonitor):
    """
    See that a turn starts after the end of the one before.

    Rules: C-TURN-4
    """

    rule = "C-TURN-4"

    @before(e.TurnStart)
    def starts(self, event: e.TurnStart) -> None:
        """No turn is open."""
        turn = self.view.turn
        if turn is not None:
            message = f"turn {event.turn} started inside turn {turn.number}"
            self.violated(message, turn.position, self.view.position + 1)
        elif self.view.previous is not None:
            self.exercised()


def wrong_cause(view: ClaimView, event: e.TurnEnd) -> str | None:
    """Name the first cause of the open turn where its end carries another; None where all is well or not clear."""
    turn = view.turn
    if turn is None or event.reason != "aborted" or event.cause is None or view.doubt or view.tangled == turn.number:
        return None
    if not view.causes or not all(cancel.sure for cancel in turn.cancels):
        return None
    return None if event.cause == view.causes[0] else view.causes[0]


class Reasons(ClaimMonitor):
    """
    See that a turn ends for the first reason that applies.

    A failure is fixed once ``agent/error`` is out; a cancel whose moment isn't certain leaves both readings.

    Rules: C-TURN-5
    """

    rule = "C-TURN-5"
    needs = frozenset({"log", "live", "command", "gates"})

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """Each turn end is an occasion."""
        turn = self.view.turn
        if turn is None:
            return
        faults = [*self._aborted(event, turn), *self._failed(event, turn), *self._others(event, turn)]
        place = self.view.position + 1
        self.expect(not faults, f"turn {event.turn} ended {event.reason}, {'; '.join(faults)}", turn.position, place)

    def _aborted(self, event: e.TurnEnd, turn: Turn) -> list[str]:
        sure = [cancel for cancel in turn.cancels if cancel.sure]
        if event.reason != "aborted":
            if turn.error is None and (sure or turn.disposed is not None) and not self._loose(turn):
                return ["though it had been cancelled"]
            return []
        wrong = wrong_cause(self.view, event)
        return [] if wrong is None else [f"cause {event.cause}, though the first cause was {wrong}"]

    def _loose(self, turn: Turn) -> bool:
        """Whether the only cancel is a disposal, or a cancel, whose effect may have been refused or come too late."""
        return not turn.cancels and self.view.disposing is None

    def _failed(self, event: e.TurnEnd, turn: Turn) -> list[str]:
        if event.reason == "error":
            return [] if turn.error is not None else ["but no agent/error announced it"]
        return [] if turn.error is None else ["though agent/error had been published"]

    def _others(self, event: e.TurnEnd, turn: Turn) -> list[str]:
        boundary = self.view.boundary
        decision = boundary.decision if boundary is not None and boundary.entered is None else None
        known = not self.view.may_happen(v.Release)
        if event.reason == "blocked" and known and self.view.gated("pre-step") and not isinstance(decision, v.Reject):
            return ["though no pre-step rejected"]
        if event.reason == "completed" and turn.max_tokens:
            return ["though a step had hit the token ceiling"]
        if event.reason == "max-tokens" and turn.max_tokens is False and known and self.view.gated("model"):
            return ["though no step had hit the token ceiling"]
        return []


MONITORS: tuple[type[ClaimMonitor], ...] = (Balance, Enclosure, OnePrompt, Sequence, Reasons)
