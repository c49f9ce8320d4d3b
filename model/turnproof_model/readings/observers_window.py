"""
Watch contract ``window``: what its rules say about the stream, kept as lists and a few truths.

The lists are those of the contract's own words. ``queued`` and ``outbox`` hold what was accepted and hasn't left;
``taken`` is the prompt that an admission has claimed and not announced yet; ``decision`` holds the contexts of an
admission on their way into the turn, ``released`` context that a rejected admission let go. ``retained`` counts what
stood at the front of the outbox when the prompt was claimed, ``due`` what has to be written before the step closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turnproof_model import events as e
from turnproof_model.readings.observers import Ghosts, Line, Sight, counted, neither
from turnproof_model.readings.observers_window_asked import Asked
from turnproof_model.readings.observers_window_input import Input, places
from turnproof_model.readings.observers_window_turns import Turns
from turnproof_model.readings.terms import both, implies, negate

_FALSE = (
    *("seen_a", "seen_b", "steers_a", "steers_b", "turn_open", "step_open", "asked", "spoken", "window", "running"),
    *("admission", "claimed", "claimed_a", "claimed_b", "allowed", "prompt", "prompt_a", "prompt_b", "opening"),
    *("bound", "bound_a", "bound_b", "aborted", "disposed", "kept", "fixed", "failing", "ceiling", "concluded"),
    *("owed", "answers", "stopping", "checkpoint", "lapsed", "retry", "unsettled", "ended_aborted", "ended_failed"),
    *("disposing", "gone", "alone", "taken", "taken_a", "taken_b"),
)
_ZERO = (
    *("last", "step", "calls", "called", "answered", "steering", "retained", "due"),
    *("in_a", "out_a", "lost_a", "in_b", "out_b", "lost_b"),
)


class WindowObserver(Turns, Input, Asked):
    """Watch contract ``window``."""

    once: ClassVar[bool] = True
    leaves: ClassVar[frozenset[str]] = frozenset({"rejection"})
    ghosts: ClassVar[Ghosts] = {
        **dict.fromkeys(_FALSE, False),
        **dict.fromkeys(_ZERO, 0),
        **{k: v for name in ("queued", "outbox", "decision", "released") for k, v in Line.ghosts(name).items()},
    }
    handlers: ClassVar[Mapping[type[e.Event], str]] = {
        e.TurnStart: "turn_start",
        e.TurnEnd: "turn_end",
        e.StepStart: "step_start",
        e.StepEnd: "step_end",
        e.RequestMade: "request",
        e.AssistantMessage: "assistant",
        e.ToolCall: "tool_call",
        e.ToolResult: "tool_result",
        e.UserMessage: "user_message",
        e.SteeringMessage: "steering_message",
        e.Enqueue: "enqueue",
        e.Dequeue: "dequeue",
        e.Discard: "discard",
        e.CancelRequested: "cancel_requested",
        e.GateOpened: "gate_opened",
        e.GateAborted: "gate_aborted",
        e.StatusChanged: "status_changed",
        e.AgentError: "agent_error",
        e.Settled: "settled",
        e.Disposed: "is_gone",
        e.DisposeResolved: "disposal_resolved",
    }

    def before(self, m: Sight, event: e.Event) -> None:
        """
        Check what holds of every event.

        Rules: W-FIFO-6, W-STEP-3, W-ROUTE-4, W-LOG-2
        """
        g = m.g
        if not isinstance(event, e.SteeringMessage) and not m.frames and event.kind != "driver":
            m.check("W-FIFO-6", negate(g.bound))  # what a listener of the dequeue does comes in between
        if event.kind == "session" and not isinstance(event, (e.ToolCall, e.ToolResult)):
            m.check("W-STEP-3", g.answered == g.calls)
        if m.frames and not isinstance(event, (e.UserMessage, e.OpThrew)):
            m.check("W-ROUTE-4", negate(m.frames[-1].injects))
        if event.kind in {"session", "live"}:
            m.check("W-LOG-2", type(event) in self.handlers)

    def resumed(self, m: Sight) -> None:
        """
        Begin again over the same log: what waited wasn't durable; the log is closed and the numbers go on.

        Rules: W-LOG-3, W-TURN-1
        """
        s, g = m.s, m.g
        m.check("W-LOG-3", both(neither(g.turn_open, g.step_open), g.answered == g.calls))
        m.check("W-TURN-1", s.turn == g.last)
        kept = {"seen_a", "seen_b", "last"}
        for name, value in self.ghosts.items():
            if name not in kept:
                setattr(g, name, value)

    def holds(self, m: Sight) -> None:
        """
        Say what holds between two moves: what is shown is what entered and hasn't left.

        Rules: W-FIFO-2, W-FIFO-7, W-WIN-2, W-STAT-1, W-STAT-2, W-TURN-1
        """
        s, g = m.s, m.g
        queued, outbox, staged = Line(g, "queued"), Line(g, "outbox"), s.due.join(s.outbox)
        for tag, entered, left, lost, steers in (
            ("A", g.in_a, g.out_a, g.lost_a, g.steers_a),
            ("B", g.in_b, g.out_b, g.lost_b, g.steers_b),
        ):
            in_queue, in_outbox = places(queued, outbox, tag)
            pending = counted(in_queue >= 0, both(in_outbox >= 0, steers))
            m.check("W-FIFO-2", both(entered == left + lost + pending, left >= 0, lost >= 0))
            m.check("W-FIFO-7", both(m.place(s.queued.ids, tag) == in_queue, m.place(staged.ids, tag) == in_outbox))
        m.check("W-FIFO-7", both(s.queued.size == queued.n, staged.size == outbox.n))
        m.check("W-FIFO-2", negate(staged.has_steering) == (g.steering == 0))
        m.check("W-WIN-2", s.window == g.window)
        m.check("W-STAT-1", s.status.among("running") == g.running)
        m.check("W-TURN-1", s.turn == g.last)
        rests = both(s.at.among("idle", "gone"), negate(s.queued.has_waking))
        m.check("W-STAT-2", implies(rests, neither(g.turn_open, g.admission, g.checkpoint)))
