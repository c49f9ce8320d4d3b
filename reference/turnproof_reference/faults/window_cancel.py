"""
Defects of how the `window` agent takes cancels and disposals.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from turnproof_reference.faults.books import WINDOW
from turnproof_reference.messages import Message
from turnproof_reference.model import Model, ModelRequest, Reply
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.core import DISPOSED
from turnproof_reference.window.steps import Turn


@WINDOW.enter("keep-inbox-ignored", "W-CAN-3", origin="case openclaw-compact-deletes-queued")
class KeepInboxIgnored(Agent):
    """
    A cancel that is to keep the inbox drops it.

    The user stops one answer and loses all further questions.
    """

    def _drop_unless(self, *, keep_inbox: bool) -> None:  # noqa: ARG002 - the defect is not to look at it
        self._drop()


@WINDOW.enter("drain-ignores-abort", "W-CAN-6", origin="family: a message taken from a queue and lost to an abort")
class DrainIgnoresAbort(Agent):
    """
    An abort in the middle of a drain doesn't stop it.

    Input that the user wanted to keep for later is consumed by a turn that never answers it.
    """

    def _drain(self, turn: Turn) -> bool:
        steered = False
        for _ in range(0 if turn.cut() else len(self._inbox.outbox)):
            steered = bool(self._inbox.outbox) and (self._commit_next(turn.number) or steered)
        return steered


@WINDOW.enter("stale-cancel", "W-CAN-4", "W-CAN-5", origin="case paseo-session-abort-kills-replacement")
class StaleCancel(Agent):
    """
    A cancel that came too late for one turn aborts the next one.

    The user presses stop once and loses the following question too.
    """

    _stale = False

    def _open_turn(self, turn: Turn, prompt: Message | None, contexts: tuple[Message, ...]) -> None:
        super()._open_turn(turn, prompt, contexts)
        if self._stale:
            self._stale = False
            turn.signal.abort("user")

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """Cancel, and remember it if no turn is there to hear it."""
        self._stale = not self.accepts_next_step
        super().cancel(cause, keep_inbox=keep_inbox)


@WINDOW.enter("late-reply-kept", "W-CAN-1", origin="case uxnan-second-turn-overwrites-first")
class LateReplyKept(Agent):
    """
    An answer that arrives after the cancel is written all the same.

    The user reads what was stopped.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        async def heard(request: ModelRequest) -> Reply:
            reply = await model(request)
            self._said = reply.text
            return reply

        super().__init__(heard, **options)
        self._said = ""

    def _keep_streamed(self, turn: Turn, text: str) -> None:
        super()._keep_streamed(turn, text if turn.failure else self._said)


@WINDOW.enter("context-survives-cancel", "W-CAN-2", origin="case roo-deleted-queued-message-duplicate-results")
class ContextSurvivesCancel(Agent):
    """
    A cancel drops prompts and steering, but leaves the context that came with them.

    The next prompt is answered with leftovers of one that was taken back.
    """

    def _drop(self) -> None:
        context = [item for item in self._inbox.outbox if not item.steering]
        self._inbox.outbox = deque(item for item in self._inbox.outbox if item.steering)
        super()._drop()
        self._inbox.outbox.extendleft(reversed(context))


@WINDOW.enter("discarded-and-delivered", "W-FIFO-2", "W-CAN-2", origin="case claude-code-enqueue-remove")
class DiscardedAndDelivered(Agent):
    """
    What is told to have been discarded runs nevertheless.

    The author sends it again, and it is answered twice.
    """

    def _drop(self) -> None:
        queued = tuple(self._inbox.queued)
        super()._drop()
        self._inbox.queued.extendleft(reversed(queued))


@WINDOW.enter("last-cause-wins", "W-CAN-5", "W-DIS-1", "W-TURN-5", origin="case bobbit-dispatch-while-aborting")
class LastCauseWins(Agent):
    """
    A disposal takes over the turn that a user has canceled.

    The turn is reported as ended by whoever came last.
    """

    def dispose(self) -> asyncio.Future[None]:
        """Cancel for good, in the name of the disposal."""
        end = super().dispose()
        if self._window is not None:
            self._window.cause = DISPOSED
        return end


@WINDOW.enter("retry-survives-cancel", "W-CAN-7", origin="family: work that is canceled and done")
class RetrySurvivesCancel(Agent):
    """
    A cancel between a failed turn and its retry doesn't take the retry back.

    The user has stopped it, and it starts again.
    """

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """Cancel everything but a retry."""
        retry = self._retry
        super().cancel(cause, keep_inbox=keep_inbox)
        self._retry = retry


@WINDOW.enter("disposal-keeps-queue", "W-DIS-1", "W-DIS-2", origin="family: an owner that is gone and work that isn't")
class DisposalKeepsQueue(Agent):
    """
    A disposal doesn't discard what is queued.

    Its authors never learn that nobody will answer.
    """

    def _drop(self) -> None:
        if not self._disposing:
            super()._drop()


@WINDOW.enter("late-send-gets-turn", "W-DIS-2", "W-DIS-1", origin="dsh idle-listener-restarts-disposed-agent")
class LateSendGetsTurn(Agent):
    """
    A prompt that is sent while the agent is being disposed of revives it.

    The disposal never ends, and its owner waits for it.
    """

    def _tell_claim(self, prompt: Message) -> None:
        super()._tell_claim(prompt)
        self._disposing = False
