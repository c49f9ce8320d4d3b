"""
Defects of when the `window` agent wakes and rests, and of what it tells about that and its window.
"""

from __future__ import annotations

import asyncio

from turnproof_reference.faults.books import WINDOW
from turnproof_reference.messages import NEXT_TURN, Message, Target
from turnproof_reference.status import IDLE, RUNNING
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.steps import Turn


@WINDOW.enter("quiet-wakes", "W-WAKE-2", origin="rejected: a queued message always wakes")
class QuietWakes(Agent):
    """
    A prompt that was queued without waking the agent starts a turn anyway.

    Whoever wanted to add it to the next occasion pays for a turn of its own.
    """

    def _enqueue(self, message: Message, *, waking: bool) -> None:  # noqa: ARG002 - the defect is not to look at it
        super()._enqueue(message, waking=True)


@WINDOW.enter("lost-wakeup", "W-WAKE-4", origin="case dsh-wake-in-cancel-convergence-window")
class LostWakeup(Agent):
    """
    A prompt that is sent while the last turn is being saved wakes nobody.

    Its sender waits until somebody else sends something.
    """

    def _enqueue(self, message: Message, *, waking: bool) -> None:
        settling = self.status == RUNNING and not self.accepts_next_step
        super()._enqueue(message, waking=waking and not settling)


@WINDOW.enter("wake-lost-while-converging", "W-WAKE-4", origin="case dsh-wake-in-cancel-convergence-window")
class WakeLostWhileConverging(Agent):
    """
    A prompt that is sent after a cancel and before the turn has closed wakes nobody.

    The user stops an answer, asks something else at once, and gets no answer at all.
    """

    def _enqueue(self, message: Message, *, waking: bool) -> None:
        converging = self._window is not None and self._window.aborted
        super()._enqueue(message, waking=waking and not converging)


@WINDOW.enter("idle-by-status", "W-WAKE-1", origin="case cloudflare-waitforidle-single-promise")
class IdleByStatus(Agent):
    """
    A waiter for idle is released although a prompt has been accepted and not yet begun.

    A script that sends and waits reads the answer before there is one.
    """

    def _resting(self) -> bool:
        return self.status == IDLE


@WINDOW.enter("idle-context-runs", "W-ROUTE-4", "W-STAT-1", origin="case claude-code-notification-appended-no-turn")
class IdleContextRuns(Agent):
    """
    An injection into an idle agent makes it running for a moment.

    A supervisor that counts activity sees work that nobody asked for.
    """

    def inject(self, message: Message) -> None:
        """Deliver supplementary input, as work."""
        resting = self.status == IDLE and not self._disposed
        if resting:
            self._status.become(RUNNING)
        super().inject(message)
        if resting:
            self._status.become(IDLE)


@WINDOW.enter("parked-overtaken", "W-WAKE-3", "W-FIFO-3", origin="case fx-late-steer-appended-behind-queue")
class ParkedOvertaken(Agent):
    """
    A waking prompt is served before a parked one that was there first.

    The later question is answered without what was queued to come before it.
    """

    async def _admit(self) -> None:
        while not self._inbox.queued[0].waking:
            self._inbox.queued.rotate(-1)
        await super()._admit()


@WINDOW.enter("waiter-forgotten", "W-STAT-2", origin="case cloudflare-waitforidle-single-promise")
class WaiterForgotten(Agent):
    """
    Whoever begins to wait for idle while a turn is being saved is never released.

    A shutdown script hangs although the agent has long come to rest.
    """

    def when_idle(self) -> asyncio.Future[None]:
        """Answer what to await, hopefully."""
        saving = self.status == RUNNING and not self.accepts_next_step
        return self._loop.create_future() if saving else super().when_idle()


@WINDOW.enter(
    "window-open-at-checkpoint",
    "W-WIN-1",
    "W-WIN-2",
    "W-ROUTE-2",
    "W-ROUTE-3",
    origin="case openclaw-result-after-run-cleared",
)
class OpenAtCheckpoint(Agent):
    """
    The window is open again while the turn that has ended is being saved.

    Steering joins a turn that will never read it.
    """

    async def _make_durable(self, turn: Turn) -> None:
        self._window = turn.signal
        await super()._make_durable(turn)
        self._close_window()


@WINDOW.enter("window-told-by-status", "W-WIN-2", origin="family: acceptance read off a broader status")
class WindowToldByStatus(Agent):
    """
    Whether steering would join is answered by the status, which is broader.

    A user interface promises "joins the running turn" for what then waits for another one.
    """

    _routing = False

    @property
    def accepts_next_step(self) -> bool:
        """Tell what the status suggests, except to the agent itself."""
        return super().accepts_next_step if self._routing else self.status == RUNNING

    def send(self, message: Message, *, target: Target = NEXT_TURN, wakeup: bool = True) -> None:
        """Deliver a message where it belongs."""
        self._routing = True
        try:
            super().send(message, target=target, wakeup=wakeup)
        finally:
            self._routing = False
