"""
The agent of the `claim` contract: whatever is sent waits in one durable inbox, and steps claim from it.

Here is what a caller can do. When things happen is told in `loop`, `turn` and `step`; where the inbox changes, in
`pending`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import ClassVar

from turnproof_reference.claim.checkpoints import Checkpoint
from turnproof_reference.claim.errors import AgentGone
from turnproof_reference.claim.extensions import Extensions, with_checkpoints
from turnproof_reference.claim.inbox import Inbox
from turnproof_reference.claim.interval import Interval
from turnproof_reference.claim.loop import AgentLoop
from turnproof_reference.claim.pending import Entry, Lists, PendingInput, replay
from turnproof_reference.claim.state import Parts
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target
from turnproof_reference.model import Model
from turnproof_reference.publish import Publisher
from turnproof_reference.session import Session, SessionLog
from turnproof_reference.tools import Tool


class Agent(AgentLoop):
    """
    Run turns of a model over a durable inbox.

    Listeners of its events subscribe to `events`; whoever wants a say in a turn adds a hook to `pre_step`,
    `request_error` or `turn_stopping`.

    Args:
        session: to go on with; one that was cut off in a turn has to be repaired before.
        model: answers requests.
        tools: by name.
        checkpoint: makes the log durable, see `checkpoints`; none where no such policy is installed.
        loop: to run in; the running one if none is given.

    Rules: C-LOG-3, C-LOG-4
    """

    pending_type: ClassVar[type[PendingInput]] = PendingInput

    def __init__(
        self,
        session: Session,
        model: Model,
        tools: Mapping[str, Tool] | None = None,
        checkpoint: Checkpoint | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.events = Publisher()
        log = SessionLog(self.events, session)
        pending = self.pending_type(log, self.events, self._pending_in(session))
        extensions = _extensions(model, tools or {}, loop or asyncio.get_running_loop(), checkpoint)
        super().__init__(Parts(log, self.events, pending), extensions)
        self.pre_step = extensions.pre_step
        self.request_error = extensions.request_error
        self.turn_stopping = extensions.turn_stopping
        self.inbox = Inbox(pending, self.events, self._check_open)

    @property
    def log(self) -> SessionLog:
        """Answer the log of the session."""
        return self._parts.log

    def followup(self, message: Message) -> None:
        """
        Deliver a prompt: it gets a turn of its own.

        Rules: C-SEND-1
        """
        self.send(message, target=NEXT_TURN, wakeup=True)

    def steer(self, message: Message) -> None:
        """
        Deliver input for the next step boundary; idle, the agent starts for it.

        Rules: C-SEND-1
        """
        self.send(message, target=NEXT_STEP, wakeup=True)

    def inject(self, message: Message) -> None:
        """
        Deliver supplementary input for the next step boundary, whenever that comes.

        Rules: C-SEND-1, C-SEND-4
        """
        self.send(message, target=NEXT_STEP, wakeup=False)

    def send(self, message: Message, *, target: Target, wakeup: bool) -> None:
        """
        Let a message wait in the inbox and, on demand, see to it that the agent runs.

        Args:
            message: its id must not be pending.
            target: the list that it joins; a waking message that finds the running turn aborted joins `next-turn`.
            wakeup: whether the agent is to run for it.

        Raises:
            AgentGone: when the agent was disposed of.
            AlreadyPending: when the id is pending already.
            LogIsPublishing: when called from a listener of a durable event.

        Rules: C-SEND-2, C-SEND-3, C-SEND-4, C-WAKE-1, C-WAKE-2
        """
        self.events.catch_up()
        self._check_open("send")
        self._deliver("send", message, target, wakeup=wakeup)

    def reference(self, message: Message, snapshot: Message) -> None:
        """
        Deliver a prompt together with what it refers to, as that is now.

        Idle, the snapshot joins the step that the prompt enters, behind everything else. Running, the snapshot is
        injected, then the prompt steers.

        Raises:
            AgentGone: when the agent was disposed of.
            AlreadyPending: when an id is pending already.
            LogIsPublishing: when called from a listener of a durable event.

        Rules: C-XREF-1
        """
        command = "reference"
        self.events.catch_up()
        self._check_open(command)
        if self._interval is None:
            self._deliver(command, message, NEXT_TURN, wakeup=True, snapshot=snapshot)
            return
        self._parts.pending.check_free(command, (snapshot, message))
        self._deliver(command, snapshot, NEXT_STEP, wakeup=False)
        self._deliver(command, message, NEXT_STEP, wakeup=True)

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """
        Abort what runs now and, unless told otherwise, discard what waits.

        Args:
            cause: `user` or `parent`; the first one of a turn stands.
            keep_inbox: whether what waits goes on waiting, for the next waking message.

        Raises:
            LogIsPublishing: when called from a listener of a durable event and there is something to discard.

        Rules: C-CAN-1, C-CAN-2, C-CAN-3
        """
        self.events.catch_up()
        interval = self._interval
        if not keep_inbox:
            self._discard_pending("cancel", interval)
        if interval is not None:
            interval.signal.abort(cause)

    def dispose(self) -> asyncio.Future[None]:
        """
        Cancel for good; a second call changes nothing.

        Returns:
            what to await for the end of everything.

        Raises:
            LogIsPublishing: when called from a listener of a durable event and there is something to discard.

        Rules: C-DIS-1
        """
        self.events.catch_up()
        if self._disposal is not None:
            return self._disposal
        self._parts.pending.check_discardable("dispose")
        interval = self._interval
        disposal = self._disposal = self._extensions.loop.create_future()
        self._discard_pending("dispose", interval)
        if interval is None:
            self._extensions.loop.call_soon(self._vanish, disposal)
        else:
            interval.signal.abort("disposed")
        return disposal

    def _pending_in(self, session: Session) -> Lists:
        """
        Answer what waits when the agent goes on with a session.

        Rules: C-LOG-3
        """
        return replay(session.events)

    def _check_open(self, command: str) -> None:
        if self._disposal is not None:
            raise AgentGone(command)

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        """
        Insert a message, remember whether it comes too late for the running interval, and wake.

        Rules: C-SEND-2, C-WAKE-1, C-WAKE-3
        """
        interval = self._interval if wakeup else None
        if interval is not None and interval.aborted:
            target = NEXT_TURN
        late_for = interval if interval is not None and interval.too_late else None
        self._parts.pending.insert(command, target, Entry(message, late_for, snapshot))
        if wakeup:
            self._wake()

    def _discard_pending(self, command: str, interval: Interval | None) -> None:
        """
        Empty the inbox; what listeners send meanwhile comes too late for the interval that is being canceled.

        Rules: C-CAN-1, C-WAKE-3
        """
        if interval is None:
            self._parts.pending.discard_all(command)
            return
        interval.discarding += 1
        try:
            self._parts.pending.discard_all(command)
        finally:
            interval.discarding -= 1


def _extensions(
    model: Model, tools: Mapping[str, Tool], loop: asyncio.AbstractEventLoop, checkpoint: Checkpoint | None
) -> Extensions:
    if checkpoint is None:
        return Extensions(model, tools, loop)
    return with_checkpoints(model, tools, loop, checkpoint)
