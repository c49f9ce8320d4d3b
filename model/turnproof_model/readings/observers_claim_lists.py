"""
Watch the lists of contract ``claim``: splices, and the live events that follow them.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model.readings.observers import Frame, Line, Observer, Sight, is_cancel, neither
from turnproof_model.readings.terms import Number, Truth, both, choice, either, implies, negate, number
from turnproof_model.vocabulary import (
    Dispose,
    Prepend,
    Reference,
    Remove,
    Replace,
    Send,
)


def cause(g: Any) -> Truth:
    """Tell whether the activity is aborted."""
    return either(g.by_user, g.by_parent, g.by_disposal)


def free(g: Any, tag: str) -> Truth:
    """Tell whether the id of a tagged message is pending nowhere."""
    turns, steps = Line(g, "turns"), Line(g, "steps")
    return neither(turns.has_a, steps.has_a) if tag == "A" else neither(turns.has_b, steps.has_b)


def late(s: Any) -> Number:
    """Count the late messages that are pending."""
    total: Number = s.next_turn.counts["late"] + s.next_step.counts["late"]
    return total


def begin_boundary(g: Any) -> None:
    """Forget the batch of the boundary before."""
    g.may_ask, g.entered, g.announced = True, False, 0
    Line(g, "batch").clear()
    Line(g, "entering").clear()


def ends_command(frame: Frame | None) -> bool:
    """Tell whether a cancel or a disposal is under way."""
    return frame is not None and (is_cancel(frame.op) or isinstance(frame.op, Dispose))


def _same(m: Sight, name: Any, op: Any) -> Truth:
    """Tell whether an id is that of a command's message, as far as tags tell."""
    return both(*(m.bears(name, tag) == m.bears(op.message.id, tag) for tag in ("A", "B")))


class Lists(Observer):
    """Replay the splices, and keep the ledger."""

    def spliced(self, m: Sight, event: e.Spliced) -> None:
        """
        Replay a splice, which lies in range: an insertion, a claim, or a removal.

        Rules: C-EDIT-2
        """
        g = m.g
        line = Line(g, "turns" if event.target == "next-turn" else "steps")
        m.check("C-EDIT-2", both(event.start >= 0, event.removed_count >= 0))
        m.check("C-EDIT-2", event.start + event.removed_count <= line.n)
        if event.inserted:
            m.check("C-CLAIM-4", negate(g.inserting))
        if event.outcome == "canceled":
            self._remove(m, event, line)
        elif event.inserted:
            m.check("C-EDIT-2", event.removed_count == 0)
        else:
            self._claim(m, event, line)
        if event.inserted:
            self._insert(m, event, line)

    def _insert(self, m: Sight, event: e.Spliced, line: Line) -> None:
        """
        Insert a message for a command or a tool: at the end, in front, or in the place of another.

        Rules: C-SEND-2, C-SEND-3, C-EDIT-1, C-STEP-3
        """
        g = m.g
        a, b = m.bears(event.inserted[0], "A"), m.bears(event.inserted[0], "B")
        m.check("C-SEND-3", both(implies(a, free(g, "A")), implies(b, free(g, "B"))))
        if not m.frames:
            m.check("C-STEP-3", both(event.target == "next-step", event.start == line.n, g.calls > 0))
            m.check("C-STEP-3", both(implies(a, g.context_a), implies(b, g.context_b)))
            overtaken = both(b, g.context_a, g.context_ab, free(g, "A"))
            m.check("C-STEP-3", negate(overtaken))
            m.check("C-STEP-3", both(implies(g.first_a, a), implies(g.first_b, b)))
            g.first_a = g.first_b = False
            g.context_a, g.context_b = both(g.context_a, negate(a)), both(g.context_b, negate(b))
        else:
            self._insert_for(m, event, line)
        line.insert(event.start, a, b)
        g.inserting, g.inserting_a, g.inserting_b = True, a, b
        g.in_a, g.in_b = g.in_a + number(a), g.in_b + number(b)

    def _insert_for(self, m: Sight, event: e.Spliced, line: Line) -> None:
        g = m.g
        frame = m.frames[-1]
        op = frame.op
        m.check("C-SEND-2", both(frame.enters, either(isinstance(op, Reference), _same(m, event.inserted[0], op))))
        if isinstance(op, Prepend):
            m.check("C-EDIT-2", both(event.start == 0, event.target == op.target))
        elif isinstance(op, Send):
            late = both(op.wakeup, g.running, cause(g))
            expected = (
                event.target == "next-turn" if op.target == "next-turn" else late == (event.target == "next-turn")
            )
            m.check("C-SEND-2", both(event.start == line.n, expected))
        elif isinstance(op, Reference):
            m.check("C-SEND-2", event.start == line.n)
        else:
            m.check("C-EDIT-1", isinstance(op, Replace))
        frame.enters = isinstance(op, Reference)

    def _remove(self, m: Sight, event: e.Spliced, line: Line) -> None:
        """
        Remove for a cause: an edit removes its message, a cancel or a disposal a whole list, next-step first.

        Rules: C-EDIT-1, C-CAN-1, C-CAN-2, C-DIS-1, C-CLAIM-4
        """
        g = m.g
        frame = m.frames[-1] if m.frames else Frame(None)
        if isinstance(frame.op, (Remove, Replace)):
            a, b = m.bears(frame.op.id, "A"), m.bears(frame.op.id, "B")
            m.check("C-EDIT-1", both(event.removed_count == 1, frame.drops))
            m.check("C-EDIT-1", both((line.a == event.start) == a, (line.b == event.start) == b))
            m.check("C-EDIT-1", bool(event.inserted) == isinstance(frame.op, Replace))
            frame.drops = False
        else:
            m.check("C-CAN-1", both(event.start == 0, event.removed_count == line.n, line.n > 0, not event.inserted))
            m.check("C-CAN-1", either(event.target == "next-step", frame.disturbed, g.steps_n == 0))
            m.check("C-CAN-2", frame.drops)
        m.check("C-CLAIM-4", g.dropped_n == 0)
        self._leaves(g, event, line, "dropped")
        g.waiting = choice(g.waiting > g.steps_n, g.steps_n, g.waiting)
        g.prompt_due = both(g.prompt_due, g.turns_n > 0)

    def _claim(self, m: Sight, event: e.Spliced, line: Line) -> None:
        """
        Claim at a boundary: all of next-step, then, first in a turn, the head of next-turn.

        Rules: C-CLAIM-1, C-CLAIM-2, C-TURN-3, C-CAN-5
        """
        g = m.g
        m.check("C-CLAIM-2", both(g.turn_open, negate(g.step_open), g.may_ask, not m.frames))
        # both lists are claimed in one stack: a cancel inside the first splice comes too late for the second
        m.check("C-CAN-5", either(negate(cause(g)), both(event.target == "next-turn", g.batch_n > 0)))
        m.check("C-CLAIM-1", both(event.start == 0, event.removed_count > 0, g.announced == 0))
        if event.target == "next-step":
            m.check("C-CLAIM-1", both(event.removed_count == line.n, g.batch_n == 0))
            g.waiting = 0
        else:
            m.check("C-TURN-3", both(event.removed_count == 1, negate(g.prompt)))
            m.check("C-CLAIM-1", g.step == 0)
            g.prompt, g.prompt_due = True, False
        self._leaves(g, event, line, "batch")

    def _leaves(self, g: Any, event: e.Spliced, line: Line, to: str) -> None:
        """Move a stretch of a list behind another one, and keep the ledger."""
        start, count = event.start, event.removed_count
        end = start + count
        a, b = (choice(both(p >= start, p < end), p - start, -1) for p in (line.a, line.b))
        Line(g, to).extend((count, a, b))
        kind = "lost" if to == "dropped" else "out"
        places: tuple[tuple[str, Any], ...] = (("a", a), ("b", b))
        for tag, place in places:
            name = f"{kind}_{tag}"
            setattr(g, name, getattr(g, name) + number(place >= 0))
        line.cut(start, count)

    def inserted(self, m: Sight, event: e.Inserted) -> None:
        """
        Announce the insertion that is in the log.

        Rules: C-SEND-2
        """
        g = m.g
        a, b = m.bears(event.id, "A"), m.bears(event.id, "B")
        m.check("C-SEND-2", both(g.inserting, g.inserting_a == a, g.inserting_b == b, g.dropped_n == 0))
        g.inserting = g.inserting_a = g.inserting_b = False

    def discarded(self, m: Sight, event: e.Discarded) -> None:
        """
        Announce what a splice removed, in order.

        Rules: C-CLAIM-4
        """
        g = m.g
        dropped = Line(g, "dropped")
        if m.many(event.id):
            m.check("C-CLAIM-4", both(m.size(event.id) == dropped.n, dropped.n > 0))
            m.check("C-CLAIM-4", both(m.place(event.id, "A") == dropped.a, m.place(event.id, "B") == dropped.b))
            dropped.clear()
        else:
            m.check("C-CLAIM-4", dropped.begins_with(m.bears(event.id, "A"), m.bears(event.id, "B")))
            dropped.pop()

    def claimed(self, m: Sight, event: e.Claimed) -> None:
        """
        Announce what a boundary claimed, in order, and with its turn.

        Rules: C-CLAIM-2
        """
        g = m.g
        a, b = m.bears(event.id, "A"), m.bears(event.id, "B")
        m.check("C-CLAIM-2", both(g.announced < g.batch_n, event.turn == g.last, g.turn_open))
        m.check("C-CLAIM-2", both((g.batch_a == g.announced) == a, (g.batch_b == g.announced) == b))
        g.announced = g.announced + 1
