"""
Watch input of contract ``window``: how it enters a FIFO, leaves it, is dropped, and is written into the log.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model.policies import BESIDE_LATE_SEND
from turnproof_model.readings.observers import Frame, Line, Observer, Sight, is_cancel, neither
from turnproof_model.readings.terms import Truth, both, choice, either, implies, negate, number
from turnproof_model.vocabulary import (
    Reference,
)


def cause(g: Any) -> Truth:
    """Tell whether an admission or a turn is aborted."""
    return either(g.aborted, g.disposed)


def places(queued: Line, outbox: Line, tag: str) -> tuple[Any, Any]:
    """Tell where a tagged message is pending: in the queue, in the outbox."""
    return (queued.a, outbox.a) if tag == "A" else (queued.b, outbox.b)


def drop(g: Any, when: Truth = True) -> None:
    """Take everything pending out of the lists; context goes silently."""
    Line(g, "queued").clear(when)
    Line(g, "outbox").clear(when)
    for name in ("steering", "retained", "due"):
        setattr(g, name, choice(when, 0, getattr(g, name)))
    g.alone = either(g.alone, both(when, g.step_open))


def take(g: Any) -> None:
    """Take the head of the queue for an admission: it counts as dequeued before that is announced."""
    queued = Line(g, "queued")
    first = negate(g.taken)
    g.retained = choice(first, g.outbox_n, g.retained)
    g.taken_a, g.taken_b = choice(first, queued.a == 0, g.taken_a), choice(first, queued.b == 0, g.taken_b)
    queued.pop(first)
    g.taken = g.window = True


def _closes_batch(g: Any) -> Truth:
    """Tell whether context may be appended behind an aborted batch: its results are in, no steering is beside it."""
    return both(g.step_open, g.calls > 0, g.answered == g.calls, g.alone)


class Input(Observer):
    """Keep the ledger of the FIFOs, and watch what is written."""

    def user_message(self, m: Sight, event: e.UserMessage) -> None:
        """
        Write input: directly, released, or at its place in the turn; the order is that of acceptance.

        Rules: W-ROUTE-3, W-ADM-3, W-ADM-4, W-ADM-6, W-ADM-7, W-STEP-2, W-CAN-6, W-FIFO-5, W-FIFO-6
        """
        g = m.g
        a, b = m.bears(event.id, "A"), m.bears(event.id, "B")
        outbox, decision, released = Line(g, "outbox"), Line(g, "decision"), Line(g, "released")
        frame = m.frames[-1] if m.frames else Frame(None)
        direct = frame.writes
        frees = both(negate(direct), negate(g.turn_open))
        inside = both(negate(direct), g.turn_open)
        retained = both(inside, g.opening, g.retained > 0)
        prompt = both(inside, g.retained == 0, g.prompt)
        decided = both(inside, g.retained == 0, negate(g.prompt), g.decision_n > 0)
        staged = both(inside, neither(retained, prompt, decided))
        m.check("W-ROUTE-3", implies(direct, both(frame.a == a, frame.b == b)))
        m.check("W-ADM-6", implies(frees, released.begins_with(a, b)))
        m.check("W-ADM-7", implies(retained, outbox.begins_with(a, b)))
        m.check("W-ADM-3", implies(prompt, both(g.prompt_a == a, g.prompt_b == b)))
        m.check("W-ADM-4", implies(decided, decision.begins_with(a, b)))
        m.check("W-STEP-2", implies(staged, outbox.begins_with(a, b)))
        from_outbox = either(retained, staged)
        m.check("W-FIFO-5", implies(from_outbox, neither(both(a, g.steers_a), both(b, g.steers_b))))
        m.check("W-CAN-6", implies(both(staged, cause(g)), _closes_batch(g)))
        if event.replaced:
            m.check("W-ADM-4", prompt)
        frame.writes = False
        released.pop(frees)
        outbox.pop(from_outbox)
        decision.pop(decided)
        g.retained = choice(retained, g.retained - 1, g.retained)
        g.due = choice(both(from_outbox, g.due > 0), g.due - 1, g.due)
        g.prompt = both(g.prompt, negate(prompt))

    def steering_message(self, m: Sight, event: e.SteeringMessage) -> None:
        """
        Write steering: what was dequeued just before.

        Rules: W-FIFO-6, W-TURN-2
        """
        g = m.g
        m.check("W-FIFO-6", both(g.bound, g.bound_a == m.bears(event.id, "A"), g.bound_b == m.bears(event.id, "B")))
        m.check("W-TURN-2", both(g.turn_open, event.turn == g.last))
        g.bound = g.bound_a = g.bound_b = False
        g.owed = True

    def enqueue(self, m: Sight, event: e.Enqueue) -> None:
        """
        Enter a FIFO: what a send has just been accepted for, or a claimed prompt that is put back.

        Rules: W-FIFO-1, W-ROUTE-1, W-ROUTE-2, W-CAN-3, W-XREF-1
        """
        g = m.g
        a, b = m.bears(event.id, "A"), m.bears(event.id, "B")
        if not m.frames:
            m.check("W-CAN-3", both(g.claimed, g.kept, g.claimed_a == a, g.claimed_b == b, negate(g.admission)))
            m.check("W-FIFO-1", event.placement == "queued")
            Line(g, "queued").put_first(a, b)
            g.claimed = g.claimed_a = g.claimed_b = g.kept = False
        else:
            frame = m.frames[-1]
            m.check("W-FIFO-1", both(frame.a == a, frame.b == b))
            if isinstance(frame.op, Reference):
                snapshot = frame.op.snapshot.id
                Line(g, "outbox").append(m.bears(snapshot, "A"), m.bears(snapshot, "B"), frame.steers)
            if event.placement == "queued":
                m.check("W-ROUTE-1", frame.enters)
                Line(g, "queued").append(a, b)
            else:
                m.check("W-ROUTE-2", frame.steers)
                Line(g, "outbox").append(a, b)
                g.steering = g.steering + 1
                g.steers_a, g.steers_b = either(g.steers_a, a), either(g.steers_b, b)
            if isinstance(frame.op, Reference) and len(m.frames) == 1 and m.s.life == "live":
                m.check("W-XREF-1", m.s.due.join(m.s.outbox).size == Line(g, "outbox").n)
            frame.enters = frame.steers = False
        g.in_a, g.in_b = g.in_a + number(a), g.in_b + number(b)

    def dequeue(self, m: Sight, event: e.Dequeue) -> None:
        """
        Leave a FIFO: its head, for an admission or into the turn.

        Rules: W-FIFO-2, W-FIFO-3, W-FIFO-4, W-ADM-1, W-TURN-4, W-CAN-6, W-STEP-2
        """
        g = m.g
        a, b = m.bears(event.id, "A"), m.bears(event.id, "B")
        if event.placement == "queued":
            m.check("W-FIFO-3", both(g.taken, g.taken_a == a, g.taken_b == b))
            m.check("W-ADM-1", both(negate(g.claimed), either(g.admission, cause(g)), g.running))
            m.check("W-TURN-4", both(negate(g.turn_open), negate(g.checkpoint)))
            m.check("W-ADM-6", g.released_n == 0)
            g.claimed, g.claimed_a, g.claimed_b = True, a, b
            g.taken = g.taken_a = g.taken_b = False
            self._abort_late(m)
        else:
            retained = both(g.opening, g.retained > 0)
            m.check("W-STEP-2", both(g.turn_open, Line(g, "outbox").begins_with(a, b)))
            m.check("W-FIFO-4", both(implies(a, g.steers_a), implies(b, g.steers_b), g.steering > 0))
            m.check("W-ADM-3", either(retained, both(negate(g.prompt), g.decision_n == 0)))
            m.check("W-CAN-6", either(retained, negate(cause(g))))
            Line(g, "outbox").pop()
            g.steering = g.steering - 1
            g.retained = choice(retained, g.retained - 1, g.retained)
            g.due = choice(g.due > 0, g.due - 1, g.due)
            g.bound, g.bound_a, g.bound_b = True, a, b
        g.out_a, g.out_b = g.out_a + number(a), g.out_b + number(b)

    def _abort_late(self, m: Sight) -> None:
        """Note the abort of an admission that begins during a disposal; context beside it may go with it unseen."""
        s, g = m.s, m.g
        late = both(g.disposing, negate(cause(g)))
        g.disposed = either(g.disposed, late)
        beside = m.choose(BESIDE_LATE_SEND) == "discarded" if s.life == "closing" else False
        Line(g, "outbox").clear(both(late, beside, g.queued_n == 0, g.steering == 0))
        g.retained = choice(g.outbox_n == 0, 0, g.retained)

    def discard(self, m: Sight, event: e.Discard) -> None:
        """
        Drop all that is pending, for a cause: queued first, then steering, each in order, and not for nothing.

        Rules: W-FIFO-2, W-FIFO-3, W-FIFO-5, W-FIFO-8, W-CAN-2, W-CAN-4
        """
        g = m.g
        frame = m.frames[-1] if m.frames else Frame(None)
        cancels = both(frame.drops, either(not is_cancel(frame.op), frame.asked))
        m.check("W-FIFO-8", both(either(cancels, g.disposing), m.size(event.ids) > 0))
        m.check("W-CAN-2", m.size(event.ids) == g.queued_n + g.steering)
        outbox, queued = Line(g, "outbox"), Line(g, "queued")
        for tag, steers in (("A", g.steers_a), ("B", g.steers_b)):
            in_queue, in_outbox = places(queued, outbox, tag)
            place = m.place(event.ids, tag)
            m.check("W-FIFO-3", implies(in_queue >= 0, place == in_queue))
            m.check("W-FIFO-8", implies(both(in_outbox >= 0, steers), place >= g.queued_n))
            m.check("W-FIFO-5", implies(neither(in_queue >= 0, both(in_outbox >= 0, steers)), place < 0))
        both_steer = both(outbox.has_a, outbox.has_b, g.steers_a, g.steers_b)
        ordered = (m.place(event.ids, "A") < m.place(event.ids, "B")) == (outbox.a < outbox.b)
        m.check("W-FIFO-3", implies(both_steer, ordered))
        g.lost_a = g.lost_a + number(m.bears(event.ids, "A"))
        g.lost_b = g.lost_b + number(m.bears(event.ids, "B"))
        frame.dropped = True
        drop(g)
