"""
An agent that keeps contract `window`.

    idle → admission (prompt-submit) → turn → checkpoint → next admission or idle

Input for a running turn is accepted from just before its prompt is admitted until just before the turn ends; at any
other time steering is a prompt of its own, and supplementary input goes straight to the log.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from turnproof_reference.errors import Refused
from turnproof_reference.events import UserMessage
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target
from turnproof_reference.window.admission import Admissions
from turnproof_reference.window.core import DISPOSED
from turnproof_reference.window.events import CancelRequested


class Agent(Admissions):
    """
    Take commands from any caller, at any time, re-entrantly too.

    The arguments are those of `Core`. Hooks are added to `prompt_submit`, `before_step`, `turn_stopping` and
    `request_error`; listeners of events to `publisher`.
    """

    @property
    def status(self) -> str:
        """Answer `idle` or `running`; `running` covers admission and checkpoint too."""
        return self._status.current

    def pending(self) -> tuple[tuple[Message, ...], tuple[tuple[Message, str], ...]]:
        """Answer what waits: queued prompts, then staged input, each with `steering` or `context`."""
        staged = tuple((item.message, "steering" if item.steering else "context") for item in self._inbox.outbox)
        return tuple(item.message for item in self._inbox.queued), staged

    def followup(self, message: Message) -> None:
        """
        Deliver a prompt that gets a turn of its own.

        Raises:
            Refused: after the disposal.

        Rules: W-SEND-1
        """
        self.send(message, target=NEXT_TURN, wakeup=True)

    def steer(self, message: Message) -> None:
        """
        Deliver input that makes the running turn take another step; outside a turn, a prompt.

        Raises:
            Refused: after the disposal.

        Rules: W-SEND-1
        """
        self.send(message, target=NEXT_STEP, wakeup=True)

    def inject(self, message: Message) -> None:
        """
        Deliver supplementary input that makes nothing run.

        Raises:
            Refused: after the disposal.

        Rules: W-SEND-1, W-ROUTE-4
        """
        self.send(message, target=NEXT_STEP, wakeup=False)

    def send(self, message: Message, *, target: Target = NEXT_TURN, wakeup: bool = True) -> None:
        """
        Deliver a message; its place is decided now and never again.

        Args:
            message: what to deliver.
            target: `next-turn` or `next-step`.
            wakeup: whether the model is to run because of it.

        Raises:
            Refused: after the disposal.
            ValueError: when there is no such target.

        Rules: W-ROUTE-1, W-ROUTE-2, W-ROUTE-3, W-ROUTE-5, W-DIS-2
        """
        if target not in {NEXT_TURN, NEXT_STEP}:
            raise ValueError(f"target must be 'next-turn' or 'next-step' (got {target!r})")
        if self._disposed:
            raise Refused("send", f"the agent must not be disposed (it is); message {message.id!r} was not accepted")
        if target == NEXT_STEP and self.accepts_next_step:
            self._stage(message, steering=wakeup)
        elif target == NEXT_STEP and not wakeup:
            self.log.append(UserMessage(message))
        else:
            self._enqueue(message, waking=wakeup)

    def reference(self, prompt: Message, snapshot: Message) -> None:
        """
        Deliver a prompt together with the snapshot of another session.

        Raises:
            Refused: after the disposal.

        Rules: W-XREF-1
        """
        if self.accepts_next_step:
            self.inject(snapshot)
            self.steer(prompt)
            return
        mine = replace(prompt)  # an equal prompt without a snapshot may be queued too
        self._snapshots.hold(mine, snapshot)
        try:
            self.followup(mine)
        except Refused:
            self._snapshots.take(mine)
            raise

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """
        Abort what runs and drop what waits; with nothing to do, do nothing.

        Args:
            cause: who wants it, `user` or `parent`.
            keep_inbox: whether to leave alone what waits.

        Rules: W-CAN-1, W-CAN-2, W-CAN-3, W-CAN-4, W-CAN-5, W-CAN-7
        """
        window = self._window
        first = window is not None and not window.aborted
        if not (first or self._retry or (self._inbox.pending and not keep_inbox)):
            return
        if window is not None and first:
            window.mark(cause)
        self._retry = False
        self.publisher.publish(CancelRequested(cause))
        self._drop_unless(keep_inbox=keep_inbox)
        if window is not None and first:
            window.tell()

    def _drop_unless(self, *, keep_inbox: bool) -> None:
        """
        Drop what waits, unless it is to be kept.

        Rules: W-CAN-2, W-CAN-3
        """
        if not keep_inbox:
            self._drop()

    def dispose(self) -> asyncio.Future[None]:
        """
        Cancel for good.

        Takes effect at once, whether or not the answer is awaited.

        Returns:
            what to await for the end: no turn is open, and the last checkpoint is over.

        Rules: W-DIS-1, W-DIS-2
        """
        if not self._disposing:
            self._disposing = True
            window = self._window
            first = window is not None and window.mark(DISPOSED)
            self._retry = False
            self._drop()
            if window is not None and first:
                window.tell()
            self._wake()
        return self._end.wait(resting=self._disposed)

    def when_idle(self) -> asyncio.Future[None]:
        """
        Answer what to await for the agent to come to rest; done already if it rests now.

        Rules: W-STAT-2, W-WAKE-1
        """
        return self._idle.wait(resting=self._resting())

    def abandon(self) -> None:
        """Cut the agent off where it stands, as a crash does: it never runs again and tells nobody."""
        if self._driver is not None:
            self._driver.cancel()
