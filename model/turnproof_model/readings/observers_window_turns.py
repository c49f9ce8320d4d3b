"""
Watch turns of contract ``window``: their order, their steps, what the model said, and tool batches.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model.readings.observers import Line, Observer, Sight, neither
from turnproof_model.readings.observers_window_input import cause
from turnproof_model.readings.terms import Truth, both, choice, either, implies, negate


class Turns(Observer):
    """Watch turns, steps and tool batches."""

    def turn_start(self, m: Sight, event: e.TurnStart) -> None:
        """
        Open a turn.

        Rules: W-TURN-1, W-TURN-4, W-TURN-6, W-ADM-2, W-ADM-5, W-CAN-7, W-DIS-2, W-WIN-1
        """
        s, g = m.s, m.g
        m.check("W-TURN-1", both(negate(g.turn_open), event.turn == g.last + 1))
        m.check("W-TURN-4", negate(g.checkpoint))
        m.check("W-DIS-2", negate(g.disposing))
        m.check("W-WIN-1", s.window)
        if event.trigger == "message":
            m.check("W-ADM-2", g.claimed)
            m.check("W-ADM-5", g.allowed)
            m.check("W-TURN-6", neither(g.retry, g.unsettled))
            g.prompt, g.prompt_a, g.prompt_b = True, g.claimed_a, g.claimed_b
            g.claimed = g.claimed_a = g.claimed_b = g.allowed = False
        else:
            m.check("W-TURN-6", both(g.retry, g.unsettled))
            m.check("W-CAN-7", g.retry)
        g.admission = g.retry = g.unsettled = g.ended_aborted = g.ended_failed = False
        g.last, g.step, g.turn_open, g.opening, g.window = event.turn, 0, True, True, True
        g.aborted = g.disposed = g.kept = g.fixed = g.failing = g.ceiling = g.concluded = False
        g.owed = g.answers = g.stopping = False
        g.due = g.outbox_n if event.trigger == "retry" else 0

    def turn_end(self, m: Sight, event: e.TurnEnd) -> None:
        """
        Close a turn: outside any step, its prompt written, its reason the first that applies, its window closed.

        Rules: W-TURN-1, W-TURN-2, W-TURN-5, W-CAN-5, W-WIN-1, W-FIFO-6, W-ADM-4, W-STEP-7, W-STEP-8
        """
        s, g = m.s, m.g
        abort = cause(g)
        m.check("W-TURN-1", both(g.turn_open, event.turn == g.last))
        if event.reason == "interrupted":
            g.turn_open = False
            return
        m.check("W-TURN-2", negate(g.step_open))
        m.check("W-WIN-1", negate(s.window))
        m.check("W-FIFO-6", negate(g.prompt))
        m.check("W-ADM-4", g.decision_n == 0)
        m.check("W-CAN-5", g.aborted if event.reason == "aborted" else negate(g.aborted))
        m.check("W-DIS-1", g.disposed if event.reason == "disposed" else negate(g.disposed))
        m.check("W-TURN-5", implies(negate(abort), g.fixed if event.reason == "error" else negate(g.fixed)))
        if event.reason in {"completed", "max-tokens"}:
            m.check("W-TURN-5", g.ceiling if event.reason == "max-tokens" else negate(g.ceiling))
            m.check("W-STEP-7", either(g.concluded, neither(g.owed, g.answers)))
            m.check("W-STEP-8", either(g.concluded, both(g.stopping, g.steering == 0)))
        g.turn_open = g.window = g.opening = g.aborted = g.disposed = g.kept = g.fixed = False
        g.failing = g.ceiling = g.concluded = g.owed = g.answers = g.stopping = False
        g.checkpoint = g.unsettled = True
        g.ended_aborted, g.ended_failed = event.reason in {"aborted", "disposed"}, event.reason == "error"
        g.retained = g.due = 0

    def settled(self, m: Sight, event: e.Settled) -> None:
        """
        Report a turn as settled: the last of a chain, after its checkpoint, once.

        Rules: W-TURN-6, W-TURN-4
        """
        g = m.g
        m.check("W-TURN-6", both(g.unsettled, negate(g.retry), event.turn == g.last))
        m.check("W-TURN-4", both(negate(g.turn_open), negate(g.checkpoint)))
        m.check("W-TURN-6", g.ended_aborted if event.reason == "aborted" else negate(g.ended_aborted))
        m.check("W-TURN-6", g.ended_failed if event.reason == "error" else negate(g.ended_failed))
        g.unsettled = g.ended_aborted = g.ended_failed = False

    def agent_error(self, m: Sight, event: e.AgentError) -> None:
        """
        Announce a failure: of a turn that nothing has aborted, once, or of a checkpoint.

        Rules: W-TURN-5, W-TURN-4
        """
        g = m.g
        of_turn = both(g.turn_open, negate(g.step_open), g.failing, neither(g.aborted, g.disposed, g.fixed))
        m.check("W-TURN-5", either(of_turn, both(negate(g.turn_open), g.lapsed)))
        m.check("W-TURN-5", event.turn == g.last)
        g.fixed, g.lapsed = g.turn_open, False

    def step_start(self, m: Sight, event: e.StepStart) -> None:
        """
        Open a step, for which there is a reason, with all that was due written.

        Rules: W-STEP-1, W-STEP-2, W-STEP-5, W-STEP-6, W-TURN-2, W-ADM-3, W-CAN-1
        """
        g = m.g
        m.check("W-STEP-1", both(negate(g.step_open), event.step == g.step + 1))
        m.check("W-TURN-2", both(g.turn_open, event.turn == g.last))
        m.check("W-CAN-1", negate(cause(g)))
        m.check("W-STEP-6", negate(g.concluded))
        m.check("W-STEP-5", either(event.step == 1, g.owed, g.answers))
        m.check("W-ADM-3", both(negate(g.prompt), g.decision_n == 0, g.retained == 0))
        m.check("W-STEP-2", g.due == 0)
        g.step_open, g.step, g.asked, g.opening, g.stopping = True, event.step, False, False, False
        g.spoken = False

    def step_end(self, m: Sight, event: e.StepEnd) -> None:
        """
        Close a step that has made its request, unless an abort came before that.

        Rules: W-STEP-1, W-STEP-2, W-TURN-2
        """
        g = m.g
        m.check("W-TURN-2", both(g.turn_open, event.turn == g.last))
        m.check("W-STEP-1", both(g.step_open, event.step == g.step))
        m.check("W-STEP-1", either(g.asked, g.aborted, g.disposed))
        if not m.repairing:
            m.check("W-STEP-2", either(g.due == 0, g.aborted, g.disposed, g.failing))
        g.step_open = g.asked = g.spoken = g.alone = False
        g.due = 0

    def request(self, m: Sight, _: e.RequestMade) -> None:
        """
        Ask the model, once in a step, with every call answered.

        Rules: W-STEP-1, W-STEP-3, W-CAN-1
        """
        g = m.g
        m.check("W-STEP-1", both(g.step_open, negate(g.asked)))
        m.check("W-STEP-3", g.answered == g.calls)
        m.check("W-CAN-1", negate(cause(g)))
        g.asked = True
        g.owed = g.answers = False

    def assistant(self, m: Sight, event: e.AssistantMessage) -> None:
        """
        Take a reply in: of the open step, after its request; after an abort only what was streamed before.

        Rules: W-TURN-2, W-CAN-1, W-STEP-1
        """
        g = m.g
        m.check("W-TURN-2", both(g.turn_open, g.step_open, g.asked, event.turn == g.last, event.step == g.step))
        calls = m.calls(event.tool_calls)
        abort = cause(g)
        m.check("W-CAN-1", both(abort, calls == 0) if event.interrupted else negate(abort))
        m.check("W-STEP-1", negate(g.spoken))
        g.spoken = True
        g.calls, g.called, g.answered = calls, 0, 0
        g.due = g.outbox_n

    def tool_call(self, m: Sight, event: e.ToolCall) -> None:
        """
        Log a call: the next in order.

        Rules: W-STEP-3, W-TURN-2
        """
        g = m.g
        m.check("W-TURN-2", g.step_open)
        m.check("W-STEP-3", both(g.called < g.calls, m.call_number(event.call_id) == g.called))
        g.called = g.called + 1

    def returns(self, m: Sight, contexts: Any, concludes: Truth) -> None:
        """Note what a result brings along: it is staged behind the result, and concludes if it is a success."""
        m.brought = (m.laid(contexts), concludes)

    def tool_result(self, m: Sight, event: e.ToolResult) -> None:
        """
        Answer a logged call, the next in order; under an abort by an error.

        Rules: W-STEP-3, W-STEP-4, W-STEP-6, W-TURN-2
        """
        g = m.g
        abort = cause(g)
        count = m.call_count(event.call_id)
        m.check("W-TURN-2", g.step_open)
        if m.repairing:
            m.check("W-STEP-3", both(m.call_number(event.call_id) == g.answered, event.is_error))
            g.answered = g.answered + count
            g.called = choice(g.called < g.answered, g.answered, g.called)
            return
        m.check("W-STEP-3", both(g.answered < g.called, m.call_number(event.call_id) == g.answered))
        m.check("W-STEP-3", either(negate(abort), event.is_error))
        if event.code in {"ABORTED", "ABORTED_BEFORE_DISPATCH"}:
            m.check("W-STEP-3", abort)
        g.answered = g.answered + 1
        _, concludes = m.brought
        g.concluded = either(g.concluded, both(concludes, not event.is_error))
        g.answers, g.alone = True, g.steering == 0

    def returned(self, m: Sight) -> None:
        """Stage what a result has brought along; behind the last one of a batch all that is staged is due."""
        g = m.g
        contexts, _ = m.brought
        Line(g, "outbox").extend(contexts)
        g.due = choice(both(g.answered == g.calls, negate(cause(g))), g.outbox_n, g.due)
