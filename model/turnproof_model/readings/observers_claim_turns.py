"""
Watch turns of contract ``claim``: their order, their steps, what is written, what the model said, and tool batches.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model.readings.observers import Line, Observer, Sight, neither
from turnproof_model.readings.observers_claim_lists import begin_boundary, cause, free
from turnproof_model.readings.terms import Truth, both, choice, either, negate


class Turns(Observer):
    """Watch turns, steps and tool batches."""

    def turn_start(self, m: Sight, event: e.TurnStart) -> None:
        """
        Open a turn.

        Rules: C-TURN-1, C-TURN-4, C-CAN-1, C-DIS-1
        """
        g = m.g
        m.check("C-TURN-1", event.turn == g.last + 1)
        m.check("C-TURN-4", negate(g.turn_open))
        m.check("C-CAN-1", negate(cause(g)))
        m.check("C-DIS-1", negate(g.disposing))
        m.check("C-STAT-1", g.running)
        g.last, g.step, g.turn_open = event.turn, 0, True
        g.fixed = g.failing = g.blocked = g.ceiling = g.concluded = g.owes = g.stopping = g.emptied = g.brings = False
        g.prompt, g.prompt_due, g.waiting = False, g.turns_n > 0, g.steps_n
        begin_boundary(g)

    def turn_end(self, m: Sight, event: e.TurnEnd) -> None:
        """
        Close a turn: outside any step, with the first reason that applies.

        Rules: C-TURN-1, C-TURN-2, C-TURN-5, C-CAN-1, C-CAN-5, C-PRE-2, C-PRE-3, C-STEP-4
        """
        g = m.g
        abort = cause(g)
        m.check("C-TURN-1", both(g.turn_open, event.turn == g.last))
        if event.reason == "interrupted":
            g.turn_open = g.step_open = False
            return
        m.check("C-TURN-2", negate(g.step_open))
        m.check("C-TURN-5", g.fixed if event.reason == "error" else negate(g.fixed))
        m.check("C-CAN-5", abort if event.reason == "aborted" else either(g.fixed, negate(abort)))
        m.check("C-PRE-2", g.blocked if event.reason == "blocked" else either(g.fixed, abort, negate(g.blocked)))
        if event.reason == "aborted":
            by = {"user": g.by_user, "parent": g.by_parent, "disposed": g.by_disposal}
            m.check("C-CAN-1", by.get(str(event.cause), False))
        if event.reason in {"completed", "max-tokens"}:
            m.check("C-TURN-5", g.ceiling if event.reason == "max-tokens" else negate(g.ceiling))
            m.check("C-STEP-4", both(either(g.stopping, g.emptied), negate(g.owes)))
        g.turn_open = g.entered = g.may_ask = False
        g.excused = either(event.reason in {"blocked", "error"}, both(g.emptied, g.step == 0))
        g.fixed = g.failing = g.blocked = g.ceiling = g.concluded = g.owes = g.stopping = g.emptied = g.brings = False
        g.prompt = False
        Line(g, "batch").clear()
        Line(g, "entering").clear()
        g.announced = g.waiting = 0
        g.prompt_due = False

    def agent_error(self, m: Sight, event: e.AgentError) -> None:
        """
        Announce the failure of a turn that nothing has aborted, once.

        Rules: C-TURN-5
        """
        g = m.g
        m.check("C-TURN-5", both(g.turn_open, negate(g.step_open), neither(g.fixed, cause(g))))
        m.check("C-TURN-5", both(either(g.failing, g.brings), event.turn == g.last))
        g.fixed = True

    def step_start(self, m: Sight, event: e.StepStart) -> None:
        """
        Open a step that the decision of its boundary let in.

        Rules: C-STEP-1, C-TURN-2, C-PRE-1, C-PRE-2, C-PRE-3, C-CAN-4
        """
        g = m.g
        m.check("C-STEP-1", both(negate(g.step_open), event.step == g.step + 1))
        m.check("C-TURN-2", both(g.turn_open, event.turn == g.last))
        m.check("C-PRE-2", g.entered)
        m.check("C-PRE-3", either(g.entering_n > 0, g.owes))
        m.check("C-CAN-4", negate(cause(g)))
        g.step_open, g.step, g.asked, g.entered, g.stopping = True, event.step, False, False, False
        g.spoken = False

    def step_end(self, m: Sight, event: e.StepEnd) -> None:
        """
        Close a step.

        Rules: C-STEP-1, C-TURN-2, C-PRE-1
        """
        g = m.g
        m.check("C-TURN-2", both(g.turn_open, event.turn == g.last))
        m.check("C-STEP-1", both(g.step_open, event.step == g.step))
        m.check("C-PRE-1", either(m.repairing, g.entering_n == 0))
        g.step_open = g.asked = g.spoken = False
        g.waiting = g.steps_n
        g.context_a = g.context_b = g.context_ab = False
        begin_boundary(g)

    def user_message(self, m: Sight, event: e.UserMessage) -> None:
        """
        Write input: the next of what was let in, after the step began and before its request.

        Rules: C-PRE-1, C-PRE-4, C-TURN-2
        """
        g = m.g
        entering = Line(g, "entering")
        m.check("C-TURN-2", both(g.turn_open, g.step_open, negate(g.asked)))
        m.check("C-PRE-1", entering.begins_with(m.bears(event.id, "A"), m.bears(event.id, "B")))
        entering.pop()

    def request(self, m: Sight, _: e.RequestMade) -> None:
        """
        Ask the model, with all that was let in written; once in a step, but for a retry.

        Rules: C-STEP-1, C-PRE-1, C-STEP-2, C-CAN-4
        """
        g = m.g
        m.check("C-STEP-1", both(g.step_open, negate(g.asked)))
        m.check("C-PRE-1", g.entering_n == 0)
        m.check("C-STEP-2", g.answered == g.calls)
        m.check("C-CAN-4", negate(cause(g)))
        g.asked = True

    def assistant(self, m: Sight, event: e.AssistantMessage) -> None:
        """
        Take a reply in; after an abort only what was streamed before.

        Rules: C-TURN-2, C-CAN-1, C-STEP-1
        """
        g = m.g
        m.check("C-TURN-2", both(g.turn_open, g.step_open, g.asked, event.turn == g.last, event.step == g.step))
        calls, abort = m.calls(event.tool_calls), cause(g)
        m.check("C-CAN-1", both(abort, calls == 0) if event.interrupted else negate(abort))
        m.check("C-STEP-1", negate(g.spoken))
        g.spoken = True
        g.calls, g.called, g.answered = calls, 0, 0
        g.owes = g.concluded = False

    def tool_call(self, m: Sight, event: e.ToolCall) -> None:
        """
        Log a call: the next in order.

        Rules: C-STEP-2
        """
        g = m.g
        m.check("C-STEP-2", both(g.step_open, g.called < g.calls, m.call_number(event.call_id) == g.called))
        g.called = g.called + 1

    def returns(self, m: Sight, contexts: Any, concludes: Truth) -> None:
        """Note what a result brings along: it enters next-step behind the result, and concludes if it is a success."""
        m.brought = (m.laid(contexts), concludes)

    def tool_result(self, m: Sight, event: e.ToolResult) -> None:
        """
        Answer a logged call, the next in order.

        Rules: C-STEP-2, C-STEP-5
        """
        g = m.g
        count = m.call_count(event.call_id)
        m.check("C-STEP-2", both(g.step_open, m.call_number(event.call_id) == g.answered))
        if m.repairing:
            m.check("C-STEP-2", event.is_error)
            g.answered = g.answered + count
            g.called = choice(g.called < g.answered, g.answered, g.called)
            return
        m.check("C-STEP-2", g.answered < g.called)
        if event.code == "ABORTED":
            m.check("C-STEP-2", cause(g))
        if event.code == "ABORTED_BEFORE_DISPATCH":
            m.check("C-STEP-2", either(cause(g), g.failing, g.brings))
        g.answered = g.answered + 1
        (n, a, b), concludes = m.brought
        g.concluded = either(g.concluded, both(concludes, not event.is_error))
        g.owes = negate(g.concluded)
        g.brings = either(g.brings, n > 0)
        g.context_a, g.context_b, g.context_ab = a >= 0, b >= 0, a < b
        free_a, free_b = free(g, "A"), free(g, "B")
        g.first_a, g.first_b = both(a == 0, free_a), both(b == 0, free_b)
