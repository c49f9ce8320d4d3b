"""
Watch what contract ``window`` is asked and asks: commands, gates, outcomes, status, disposal.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model.policies import CLAIMED_ON_KEEP, LATE_SEND, WINDOW_AT_ERROR
from turnproof_model.readings.observers import Frame, Line, Observer, Sight, is_cancel, neither
from turnproof_model.readings.observers_window_input import cause, drop, take
from turnproof_model.readings.terms import Truth, both, choice, either, implies, negate
from turnproof_model.vocabulary import (
    Allow,
    Dispose,
    Error,
    Fail,
    GateKind,
    MaxTokens,
    Reference,
    Retry,
    Send,
    Throw,
)


class Asked(Observer):
    """Watch commands, gates and their outcomes, the status and the end."""

    def begins(self, m: Sight, frame: Frame) -> None:
        """
        Note what a command has to do: where its message goes, and whether a cancel has any effect.

        Rules: W-ROUTE-1, W-ROUTE-2, W-ROUTE-3, W-CAN-4
        """
        g = m.g
        op = frame.op
        if isinstance(op, (Send, Reference)):
            self._send_begins(m, frame)
        elif is_cancel(op):
            pending = either(g.queued_n > 0, g.outbox_n > 0)
            returns = both(g.kept, m.choose(CLAIMED_ON_KEEP) == "requeued")
            aborts = both(self._abortable(g), negate(cause(g)))
            drops = both(not op.keep_inbox, either(pending, returns))
            frame.drops = not op.keep_inbox
            frame.effect = either(g.retry, aborts, drops)
        elif isinstance(op, Dispose):
            self._dispose_begins(g, frame)

    def _send_begins(self, m: Sight, frame: Frame) -> None:
        g = m.g
        op = frame.op
        frame.a, frame.b = m.bears(op.message.id, "A"), m.bears(op.message.id, "B")
        if isinstance(op, Send) and op.target == "next-turn":
            frame.enters = True
            return
        shut = m.choose(WINDOW_AT_ERROR) == "closed"
        open_ = both(g.window, negate(both(shut, g.fixed)))
        if isinstance(op, Reference) or op.wakeup:
            frame.enters, frame.steers = negate(open_), open_
        else:
            frame.writes, frame.stages = negate(open_), open_
            frame.injects = frame.writes

    def _dispose_begins(self, g: Any, frame: Frame) -> None:
        first = negate(g.disposing)
        frame.drops = frame.asked = first
        g.disposed = either(g.disposed, both(first, self._abortable(g), negate(g.aborted)))
        g.retry = g.kept = False
        g.disposing = True

    def ends(self, m: Sight, frame: Frame) -> None:
        """
        Check that a command has done what it had to.

        Rules: W-FIFO-1, W-ROUTE-3, W-CAN-2, W-CAN-4
        """
        if isinstance(frame.op, (Send, Reference)):
            self._send_ends(m, frame)
            return
        if is_cancel(frame.op):
            m.check("W-CAN-4", frame.effect == frame.asked)
        self._drops_silently(m, frame)

    def _drops_silently(self, m: Sight, frame: Frame) -> None:
        """Let context go without a word; what would have to be announced, isn't there."""
        g = m.g
        silent = both(frame.drops, frame.asked, negate(frame.dropped))
        m.check("W-CAN-2", implies(silent, both(g.queued_n == 0, g.steering == 0)))
        drop(g, silent)
        frame.dropped = either(frame.dropped, silent)

    def _send_ends(self, m: Sight, frame: Frame) -> None:
        s, g = m.s, m.g
        late = m.choose(LATE_SEND) == "discarded" if s.life == "closing" else False
        m.check("W-FIFO-1", either(g.gone, neither(frame.enters, frame.steers)))
        m.check("W-ROUTE-3", either(g.gone, late, negate(frame.writes)))
        Line(g, "outbox").append(frame.a, frame.b, both(frame.stages, negate(late)))
        silent = both(late, frame.stages, negate(frame.dropped))
        m.check("W-DIS-1", implies(silent, both(g.queued_n == 0, g.steering == 0)))
        drop(g, silent)

    def cancel_requested(self, m: Sight, _: e.CancelRequested) -> None:
        """
        Announce a cancel, once, if it has anything to do, and note what it aborts.

        Rules: W-CAN-4, W-CAN-7
        """
        g = m.g
        frame = m.frames[-1] if m.frames else Frame(None)
        m.check("W-CAN-4", both(is_cancel(frame.op), frame.effect, negate(frame.asked)))
        frame.asked = True
        first = both(self._abortable(g), negate(cause(g)))
        keeps = is_cancel(frame.op) and frame.op.keep_inbox
        g.aborted = either(g.aborted, first)
        g.kept = both(keeps, either(g.kept, both(first, either(g.claimed, g.taken))))
        g.retry = False

    def _abortable(self, g: Any) -> Truth:
        """Tell whether an admission or a turn is active whose outcome isn't fixed (W-CAN-4)."""
        return both(either(g.admission, g.turn_open, g.taken), negate(g.fixed))

    def gate_opened(self, m: Sight, event: e.GateOpened) -> None:
        """
        Ask somebody: each gate has its place.

        Rules: W-ADM-1, W-ADM-2, W-WAKE-3, W-TURN-4, W-TURN-6, W-STEP-1, W-STEP-3, W-STEP-5, W-STEP-6, W-STEP-8, W-WIN-1
        """
        s, g = m.s, m.g
        abort = cause(g)
        between = neither(g.turn_open, g.checkpoint)
        match event.gate_kind:
            case "prompt-submit":
                m.check("W-TURN-4", both(between, neither(g.retry, g.unsettled)))
                m.check("W-ADM-1", both(g.running, neither(g.admission, g.claimed)))
                m.check("W-WIN-1", s.window)
                m.check("W-WAKE-3", either(g.taken, self._wakes(s)))
                take(g)
                g.admission = True
                g.aborted = g.disposed = g.kept = g.fixed = g.allowed = False
            case "model":
                m.check("W-STEP-1", both(g.step_open, g.asked))
            case "tool":
                m.check("W-STEP-3", both(g.step_open, g.answered < g.called, negate(abort)))
            case "turn-stopping":
                m.check("W-STEP-8", both(g.turn_open, negate(g.step_open), negate(g.concluded)))
                m.check("W-STEP-5", both(negate(g.owed), g.steering == 0))
                m.check("W-STEP-6", negate(g.answers))
            case "request-error":
                m.check("W-TURN-6", both(g.turn_open, negate(g.step_open), g.failing, negate(abort)))
            case "flush":
                m.check("W-TURN-4", both(g.checkpoint, negate(g.turn_open)))
            case _:
                m.check("W-STEP-1", both(g.turn_open, negate(g.step_open)))

    def gate_aborted(self, m: Sight, _: e.GateAborted) -> None:
        """
        Let a gate hear of an abort, of which there must be a cause.

        Rules: W-CAN-5
        """
        g = m.g
        m.check("W-CAN-5", either(g.aborted, g.disposed))
        if m.frames and (is_cancel(m.frames[-1].op) or isinstance(m.frames[-1].op, Dispose)):
            self._drops_silently(m, m.frames[-1])  # gates hear last: what a listener sends now isn't dropped

    def takes(self, m: Sight, kind: GateKind, outcome: Any) -> None:
        """Note what an outcome means; after an abort no decision means anything."""
        g = m.g
        lives = negate(cause(g))
        match kind:
            case "prompt-submit":
                self._decided(m, outcome, lives)
            case "step":
                g.failing = either(g.failing, both(lives, isinstance(outcome, Throw)))
                g.due = choice(both(lives, not isinstance(outcome, Throw)), g.outbox_n, g.due)
            case "model":
                g.failing = either(g.failing, both(lives, isinstance(outcome, (Error, Throw))))
                g.ceiling = either(g.ceiling, both(lives, isinstance(outcome, MaxTokens)))
            case "request-error":
                g.retry = both(lives, isinstance(outcome, Retry))
            case "turn-stopping":
                g.failing = either(g.failing, both(lives, isinstance(outcome, Throw)))
                g.stopping = either(g.stopping, both(lives, not isinstance(outcome, Throw)))
                g.due = choice(g.stopping, g.outbox_n, g.due)
            case _:
                g.checkpoint, g.lapsed = False, isinstance(outcome, Fail)

    def moves(self, m: Sight, at: str) -> None:  # noqa: ARG002  # there is one such position
        """Note that an admission ends which a listener aborted before anybody was asked."""
        self._decided(m, Throw(), False)

    def _decided(self, m: Sight, outcome: Any, lives: Truth) -> None:
        """Let an allowed prompt into its turn; else close the window and let context go that stands alone."""
        s, g = m.s, m.g
        allows = isinstance(outcome, Allow)
        g.allowed = both(lives, allows)
        if allows:
            Line(g, "decision").extend(m.laid(outcome.additional_contexts), g.allowed)
            Line(g, "decision").extend(m.laid(s.claimed.attached if s.claimed is not None else ()), g.allowed)
        rejects = negate(g.allowed)
        alone = both(rejects, g.steering == 0)
        outbox = Line(g, "outbox")
        Line(g, "released").extend(outbox.laid, alone)
        outbox.clear(alone)
        back = both(rejects, g.kept, m.choose(CLAIMED_ON_KEEP) == "requeued")
        g.kept = both(g.kept, either(g.allowed, back))
        for name in ("claimed", "claimed_a", "claimed_b"):
            setattr(g, name, both(getattr(g, name), either(g.allowed, back)))
        for name in ("admission", "window", "aborted", "disposed"):
            setattr(g, name, both(getattr(g, name), g.allowed))
        g.retained = choice(rejects, 0, g.retained)

    def status_changed(self, m: Sight, event: e.StatusChanged) -> None:
        """
        Change the status; idle is quiescence.

        Rules: W-STAT-1, W-WAKE-2, W-WAKE-3, W-WAKE-4, W-ADM-6
        """
        s, g = m.s, m.g
        m.check("W-STAT-1", negate(g.running) if event.status == "running" else g.running)
        if event.status == "running":
            m.check("W-WAKE-2", self._wakes(s))
            m.check("W-WAKE-3", self._wakes(s))
            take(g)
            g.aborted = g.disposed = g.kept = g.fixed = g.allowed = False
        else:
            m.check("W-STAT-1", neither(g.turn_open, g.checkpoint, g.admission, g.claimed, g.unsettled, g.retry))
            m.check("W-WAKE-4", negate(s.queued.has_waking))
            m.check("W-ADM-6", g.released_n == 0)
        g.running = event.status == "running"

    def _wakes(self, s: Any) -> Truth:
        """Tell whether the prompt that has just been taken is a waking one, or one of those behind it."""
        return either(s.claimed is not None and s.claimed.waking, s.queued.has_waking)

    def is_gone(self, m: Sight, _: e.Disposed) -> None:
        """
        Be gone: once, after a disposal, with nothing active.

        Rules: W-DIS-2
        """
        g = m.g
        active = either(g.turn_open, g.checkpoint, g.admission, g.unsettled, g.running)
        m.check("W-DIS-2", both(g.disposing, negate(g.gone), negate(active)))
        g.gone = True

    def disposal_resolved(self, m: Sight, _: e.DisposeResolved) -> None:
        """
        Resolve a disposal, after the agent is gone.

        Rules: W-DIS-2
        """
        g = m.g
        m.check("W-DIS-2", g.gone)
