"""
Watch what contract ``claim`` is asked and asks: commands, gates, outcomes, status, disposal.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model.policies import WAKE_AFTER_ABORT
from turnproof_model.readings.observers import Frame, Line, Observer, Sight, is_cancel, neither
from turnproof_model.readings.observers_claim_lists import cause, ends_command, free, late
from turnproof_model.readings.terms import Truth, both, either, implies, negate, number
from turnproof_model.vocabulary import (
    Dispose,
    Enter,
    GateKind,
    MaxTokens,
    Prepend,
    Reference,
    Reject,
    Remove,
    Replace,
    Retry,
    Send,
    Throw,
)

HALF_DONE = ("inserting", "inserting_a", "inserting_b", "dropped_n", "dropped_a", "dropped_b")
"""What a splice leaves to be announced."""


class Asked(Observer):
    """Watch commands, gates and their outcomes, the status and the end."""

    def issued(self, m: Sight, op: Any) -> None:
        """Look at a command that begins; what the loop or a command around it has half done is no matter of its own."""
        kept = {name: getattr(m.g, name) for name in HALF_DONE}
        for name in kept:
            setattr(m.g, name, self.ghosts[name])
        super().issued(m, op)
        m.frames[-1].kept = kept

    def done(self, m: Sight, op: Any, refused: bool) -> None:
        """
        Look at a command that has returned: it has left nothing half done.

        Rules: C-CLAIM-4
        """
        kept = m.frames[-1].kept
        super().done(m, op, refused)
        m.check("C-CLAIM-4", both(negate(m.g.inserting), m.g.dropped_n == 0))
        for name, value in kept.items():
            setattr(m.g, name, value)

    def begins(self, m: Sight, frame: Frame) -> None:
        """Note what a command has to do."""
        s, g = m.s, m.g
        op = frame.op
        frame.was_running = g.running
        if isinstance(op, (Send, Prepend, Reference)):
            frame.a, frame.b = m.bears(op.message.id, "A"), m.bears(op.message.id, "B")
            frame.enters = True
            frame.pending = self._pending(g, frame.a, frame.b)
            frame.late = late(s)
        elif isinstance(op, (Remove, Replace)):
            frame.a, frame.b = m.bears(op.id, "A"), m.bears(op.id, "B")
            frame.pending = self._pending(g, frame.a, frame.b)
            frame.drops, frame.enters = True, isinstance(op, Replace)
        elif is_cancel(op):
            frame.drops = not op.keep_inbox
        else:
            frame.drops = negate(g.disposing)

    def _pending(self, g: Any, a: Truth, b: Truth) -> Truth:
        """Tell whether it is a tagged message that is pending."""
        return either(both(a, negate(free(g, "A"))), both(b, negate(free(g, "B"))))

    def ends(self, m: Sight, frame: Frame) -> None:
        """
        Check that a command has done what it had to.

        Rules: C-SEND-2, C-SEND-3, C-WAKE-1, C-WAKE-2, C-WAKE-3, C-CAN-1, C-CAN-2, C-EDIT-1
        """
        g = m.g
        op = frame.op
        if isinstance(op, Send):
            self._send_ends(m, frame)
        elif isinstance(op, Prepend):
            m.check("C-SEND-2", negate(frame.enters))
            m.check("C-SEND-3", negate(frame.pending))
        elif is_cancel(op):
            m.check("C-CAN-1", either(op.keep_inbox, frame.disturbed, self._emptied(frame, g)))
            self._aborts(m, frame)
        elif isinstance(op, Dispose):
            m.check("C-DIS-1", either(g.disposing, frame.disturbed, self._emptied(frame, g)))
            self._aborts(m, frame)
            g.disposing = True

    def _aborts(self, m: Sight, frame: Frame) -> None:
        """Note who aborts the activity that was running when the command began, unless it is aborted already."""
        g, op = m.g, frame.op
        first = both(frame.was_running, negate(cause(g)))
        if is_cancel(op):
            g.by_user = either(g.by_user, both(first, m.cause(op) == "user"))
            g.by_parent = either(g.by_parent, both(first, m.cause(op) == "parent"))
        else:
            g.by_disposal = either(g.by_disposal, both(first, negate(g.disposing)))

    def _emptied(self, frame: Frame, g: Any) -> Truth:
        """Tell whether nothing is pending but what is being logged: a listener of that still sees the old lists."""
        return g.turns_n + g.steps_n <= number(frame.kept["inserting"])  # type: ignore[no-any-return]

    def _send_ends(self, m: Sight, frame: Frame) -> None:
        s, g = m.s, m.g
        wakes = frame.op.wakeup
        m.check("C-SEND-2", negate(frame.enters))
        m.check("C-SEND-3", negate(frame.pending))
        if frame.disturbed:
            return  # who woke whom is no longer told apart
        if wakes:
            closes = any(isinstance(outer.op, Dispose) for outer in m.frames)
            m.check("C-WAKE-1", either(g.running, g.disposing, closes))
            discards = any(ends_command(outer) and not getattr(outer.op, "keep_inbox", False) for outer in m.frames)
            stays = both(g.turn_open, negate(cause(g)), not discards)
            m.check("C-WAKE-3", implies(both(stays, frame.was_running), late(s) == frame.late))
            m.check("C-WAKE-3", implies(both(stays, negate(frame.was_running)), late(s) == 0))
            m.check("C-WAKE-3", implies(both(frame.was_running, cause(g)), late(s) == frame.late + 1))
        else:
            m.check(
                "C-WAKE-2" if frame.op.target == "next-turn" else "C-SEND-4",
                both(g.running == frame.was_running, late(s) == frame.late),
            )

    def replied(self, m: Sight, answer: bool) -> None:
        """
        Answer whether an edit found its message.

        Rules: C-EDIT-1
        """
        frame = m.frames[-1]
        m.check("C-EDIT-1", implies(either(frame.a, frame.b), frame.pending == answer))
        m.check("C-EDIT-1", frame.drops if not answer else neither(frame.drops, frame.enters))

    def gate_opened(self, m: Sight, event: e.GateOpened) -> None:
        """
        Ask somebody: each gate has its place.

        Rules: C-PRE-1, C-STEP-1, C-STEP-2, C-STEP-4, C-CLAIM-1, C-CAN-4
        """
        g = m.g
        abort = cause(g)
        match event.gate_kind:
            case "pre-step":
                m.check("C-PRE-1", both(g.turn_open, negate(g.step_open), g.may_ask))
                m.check("C-CAN-4", negate(abort))
                m.check("C-CLAIM-2", g.announced == g.batch_n)
                m.check("C-CLAIM-1", both(g.waiting == 0, negate(both(g.prompt_due, g.turns_n > 0))))
                g.may_ask = False
            case "model":
                m.check("C-STEP-1", both(g.step_open, g.asked))
            case "tool":
                m.check("C-STEP-2", both(g.step_open, g.answered < g.called, neither(abort, g.failing)))
            case "request-error":
                m.check("C-STEP-1", both(g.step_open, g.asked, negate(abort)))
            case _:
                m.check("C-STEP-4", both(g.turn_open, negate(g.step_open), g.steps_n == 0, negate(g.owes)))
                m.check("C-STEP-4", both(g.step > 0, g.may_ask, negate(abort)))

    def gate_aborted(self, m: Sight, _: e.GateAborted) -> None:
        """
        Let a gate hear of an abort: of a cancel or disposal under way, or of one that came while it opened.

        Rules: C-CAN-1
        """
        g = m.g
        frame = m.frames[-1] if m.frames else Frame(None)
        under_way = ends_command(frame)
        m.check("C-CAN-1", either(cause(g), both(under_way, g.running)))
        if under_way:
            self._aborts(m, frame)

    def takes(self, m: Sight, kind: GateKind, outcome: Any) -> None:
        """Note what an outcome means; after an abort no decision means anything."""
        g = m.g
        lives = negate(cause(g))
        throws = both(lives, isinstance(outcome, Throw))
        match kind:
            case "pre-step":
                self._decided(m, outcome, lives)
                g.failing = either(g.failing, throws)
            case "model":
                g.ceiling = either(g.ceiling, both(lives, isinstance(outcome, MaxTokens)))
            case "request-error":
                retries = both(lives, isinstance(outcome, Retry))
                g.asked = both(g.asked, negate(retries))
                g.failing = either(g.failing, both(lives, negate(retries)))
            case _:
                g.failing = either(g.failing, throws)
                g.stopping = both(lives, negate(throws))
                g.waiting = g.steps_n

    def _decided(self, m: Sight, outcome: Any, lives: Truth) -> None:
        """Let the decided batch in; what was claimed is settled by that, either way."""
        s, g = m.s, m.g
        entering, batch = Line(g, "entering"), Line(g, "batch")
        entering.clear()
        if isinstance(outcome, Enter):
            whole, brought = m.decided(s, outcome)
            entering.extend(batch.laid, both(lives, whole))
            entering.extend(brought, lives)
            g.entered = both(lives, either(entering.n > 0, g.owes))
            g.emptied = both(lives, negate(g.entered))
        g.blocked = both(lives, isinstance(outcome, Reject))
        batch.clear()
        g.announced = 0

    def status_changed(self, m: Sight, event: e.StatusChanged) -> None:
        """
        Change the status: an activity begins, or ends outside any turn.

        Rules: C-STAT-1, C-DIS-1
        """
        s, g = m.s, m.g
        m.check("C-STAT-1", negate(g.running) if event.status == "running" else g.running)
        m.check("C-STAT-1", negate(g.turn_open))
        if event.status == "running":
            m.check("C-DIS-1", negate(g.disposing))
        else:
            parks = m.choose(WAKE_AFTER_ABORT) == "parked"
            g.excused = either(g.excused, cause(g), both(parks, late(s) > 0))
        g.running = event.status == "running"
        g.by_user = g.by_parent = g.by_disposal = False

    def is_gone(self, m: Sight, _: e.Disposed) -> None:
        """
        Be gone: once, after a disposal and the last idle.

        Rules: C-DIS-1
        """
        g = m.g
        m.check("C-DIS-1", both(g.disposing, neither(g.gone, g.running, g.turn_open)))
        g.gone = True

    def disposal_resolved(self, m: Sight, _: e.DisposeResolved) -> None:
        """
        Resolve a disposal, after the agent is gone.

        Rules: C-DIS-1
        """
        g = m.g
        m.check("C-DIS-1", g.gone)
