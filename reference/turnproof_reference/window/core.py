"""
The state of an agent of contract `window`, and the few moves that everything else is made of.

State changes first, then it is published: a listener that issues commands of its own always finds the truth.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import UserMessage
from turnproof_reference.hooks import Waterfall
from turnproof_reference.messages import Message
from turnproof_reference.model import BeforeStep, Model, Recovery, RequestFailure, TurnStopping
from turnproof_reference.publish import Publisher
from turnproof_reference.session import Session, SessionLog
from turnproof_reference.status import IdleWaiters, StatusBoard
from turnproof_reference.tools import Tool
from turnproof_reference.window.decision import PromptDecision, PromptSubmit
from turnproof_reference.window.events import QUEUED, STEERING, Dequeued, Discarded, Enqueued, SteeringMessage
from turnproof_reference.window.inbox import Inbox, Queued, Staged
from turnproof_reference.window.snapshots import Snapshots

DISPOSED: Final = "disposed"

_log = logging.getLogger(__name__)


class Core:
    """
    Hold the state of one agent and its collaborators.

    Args:
        model: answers requests.
        tools: by name.
        checkpoint: awaited after each turn to make the log durable; None if nobody cares.
        session: what to go on with; a new one if none is given.
        loop: the running one if none is given.
    """

    def __init__(
        self,
        model: Model,
        *,
        tools: Mapping[str, Tool] | None = None,
        checkpoint: Callable[[], Awaitable[object]] | None = None,
        session: Session | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.model = model
        self.tools = {} if tools is None else tools
        self.checkpoint = checkpoint
        self.publisher = Publisher()
        self.log = SessionLog(self.publisher, Session("session") if session is None else session)
        self.prompt_submit: Waterfall[PromptSubmit, PromptDecision] = Waterfall(lambda _question: PromptDecision())
        self.before_step: Waterfall[BeforeStep, None] = Waterfall(_nothing)
        self.turn_stopping: Waterfall[TurnStopping, None] = Waterfall(_nothing)
        self.request_error: Waterfall[RequestFailure, Recovery] = Waterfall(lambda _question: Recovery.GIVE_UP)
        self._loop = asyncio.get_running_loop() if loop is None else loop
        self._status = StatusBoard(self.publisher)
        self._idle = IdleWaiters(self._loop)
        self._inbox = Inbox()
        self._snapshots = Snapshots()
        self._window: AbortSignal | None = None  # the window is open while there is one; it is the one abort slot
        self._retry = False  # a failed request is to be asked again in a turn of its own
        self._driver: asyncio.Task[None] | None = None
        self._disposing = False

    @property
    def accepts_next_step(self) -> bool:
        """
        Tell whether a next-step send would join the turn or admission at hand.

        Rules: W-WIN-1, W-WIN-2
        """
        return self._window is not None

    def _open_window(self) -> AbortSignal:
        """Begin to accept input for the turn at hand, which may be aborted from now on."""
        self._window = AbortSignal()
        return self._window

    def _close_window(self) -> None:
        """
        Stop accepting input for the turn at hand; what is still staged is left for a later one.

        Rules: W-WIN-1, W-WIN-5, W-CAN-4
        """
        self._window = None
        self._inbox.retain()

    def _enqueue(self, message: Message, *, waking: bool) -> None:
        """
        Let a prompt wait for a turn of its own.

        Rules: W-ROUTE-1, W-FIFO-1, W-WAKE-1, W-WAKE-2
        """
        self._inbox.queued.append(Queued(message, waking))
        if waking:
            self._wake()
        self.publisher.publish(Enqueued(message, QUEUED))

    def _stage(self, message: Message, *, steering: bool) -> None:
        """
        Let input wait for the next boundary of the turn at hand.

        Rules: W-ROUTE-2, W-ROUTE-3, W-FIFO-1, W-FIFO-5
        """
        self._inbox.outbox.append(Staged(message, steering))
        if steering:
            self.publisher.publish(Enqueued(message, STEERING))

    def _commit_next(self, turn: int) -> bool:
        """
        Write the first staged item to the log.

        Returns:
            whether it was steering.

        Rules: W-STEP-2, W-FIFO-4, W-FIFO-6
        """
        item = self._inbox.outbox.popleft()
        if item.steering:
            self.publisher.publish(Dequeued(item.message, STEERING))
            self.log.append(SteeringMessage(turn, item.message))
        else:
            self.log.append(UserMessage(item.message))
        return item.steering

    def _drop(self) -> None:
        """
        Drop everything that waits.

        Rules: W-CAN-2, W-FIFO-8
        """
        dropped = self._inbox.clear()
        for message in dropped:
            self._snapshots.take(message)
        if dropped:
            self.publisher.publish(Discarded(dropped))

    def _wake(self) -> None:
        """
        Own the agent's rest from now on, and drive it once the caller's stack has returned.

        Rules: W-WAKE-1
        """
        if self._driver is None:
            self._driver = self._loop.create_task(self._drive())
            self._driver.add_done_callback(self._report)

    async def _drive(self) -> None:
        """Serve what there is, then come to rest."""
        raise NotImplementedError

    def _report(self, driver: asyncio.Task[None]) -> None:
        """Tell the loop at once, not when the task is collected, that the agent itself has broken down."""
        if not driver.cancelled() and (error := driver.exception()) is not None:
            self._loop.call_exception_handler({"message": "the agent broke down", "exception": error, "task": driver})

    def _warn(self, what: str, error: Exception) -> None:
        """Leave a trace of a failure that the contract has no event for."""
        _log.warning("%s: %r", what, error)


def _nothing(_question: Any) -> None:
    """Go on."""
