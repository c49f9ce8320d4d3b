"""
Defects of what the `claim` agent does with input: delivery, waking, lateness, edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.interval import Interval
from turnproof_reference.claim.pending import Entry, Lists, PendingInput
from turnproof_reference.faults.books import CLAIM
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target
from turnproof_reference.session import Session


@CLAIM.enter("inject-wakes", "C-SEND-4", origin="rejected: a one-off turn for idle injection")
class InjectWakes(Agent):
    """
    Supplementary input starts the model as if it were a prompt.

    A plugin that reports now and then keeps an idle agent talking to itself.
    """

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        super()._deliver(command, message, target, wakeup=wakeup or target == NEXT_STEP, snapshot=snapshot)


class _TakingAllIds(PendingInput):
    def check_free(self, command: str, messages: Iterable[Message], leaving: Sequence[Entry] = ()) -> None:
        """Find every id free."""


@CLAIM.enter("duplicate-accepted", "C-SEND-3", origin="case claude-code-enqueue-remove")
class DuplicateAccepted(Agent):
    """
    A message that waits already is accepted again.

    A client that repeats a delivery after a lost answer has its prompt run twice.
    """

    pending_type: ClassVar[type[PendingInput]] = _TakingAllIds


@CLAIM.enter("wake-lost-in-discard", "C-WAKE-3", origin="dsh wake-during-discard-lost")
class WakeLostInDiscard(Agent):
    """
    A prompt that a listener of a discard sends, while the cancel is still under way, wakes nobody.

    Its sender watches an idle agent until somebody else sends something.
    """

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        interval = self._interval
        unheard = interval is not None and interval.discarding > 0
        super()._deliver(command, message, target, wakeup=wakeup and not unheard, snapshot=snapshot)


@CLAIM.enter("late-bit", "C-WAKE-3", origin="dsh removed-wake-runs-parked-input")
class LateBit(Agent):
    """
    One bit says that some waking input came late, and stays set when that input is removed.

    Quiet context that still waits then starts a turn that nobody asked for.
    """

    _late = False

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        self._late |= wakeup and self._interval is not None and self._interval.too_late
        super()._deliver(command, message, target, wakeup=wakeup, snapshot=snapshot)

    def _owes_start(self, interval: Interval) -> bool:  # noqa: ARG002 - the defect is to look at the bit
        late, self._late = self._late, False
        return late and self._parts.pending.any()


class _ForgettingHeirs(PendingInput):
    def _heir(self, entry: Entry, message: Message) -> Entry:  # noqa: ARG002 - the defect is not to look at it
        return Entry(message)


@CLAIM.enter("replacement-not-late", "C-WAKE-3", origin="family: a wake lost while converging after a cancel")
class ReplacementNotLate(Agent):
    """
    A late prompt that its sender corrects while the canceled turn closes is left waiting.

    Correcting a typing error costs the answer.
    """

    pending_type: ClassVar[type[PendingInput]] = _ForgettingHeirs


@CLAIM.enter("restart-is-idle", "C-STAT-1", origin="case dsh-whenidle-early-after-cancel-requeue")
class RestartIsIdle(Agent):
    """
    Whoever waits for idle is let go although the agent starts again in the same breath.

    A script reads the answer to a prompt that is only just being asked.
    """

    def _owes_start(self, interval: Interval) -> bool:
        self._waiters.release()
        return super()._owes_start(interval)


class _Silent(PendingInput):
    def _tell_discarded(self, entries: Iterable[Entry]) -> None:
        """Tell nobody."""


@CLAIM.enter("silent-discard", "C-CLAIM-4", origin="case vellum-cancel-clears-queue-no-events")
class SilentDiscard(Agent):
    """
    What is discarded leaves the inbox without a word.

    A user interface shows a message as waiting that is gone.
    """

    pending_type: ClassVar[type[PendingInput]] = _Silent


@CLAIM.enter("steer-apart", "C-SEND-1", "C-SEND-2", origin="family: a preset that does more than it abbreviates")
class SteerApart(Agent):
    """
    Steering through its own command joins the prompts, while the send that it abbreviates doesn't.

    Whoever moves from one spelling to the other changes what the agent does.
    """

    def steer(self, message: Message) -> None:
        """Deliver a prompt."""
        self.followup(message)


class _Pushy(PendingInput):
    def insert(self, command: str, target: Target, entry: Entry, start: int | None = None) -> None:
        super().insert(command, target, entry, 0 if target == NEXT_STEP else start)


@CLAIM.enter(
    "newest-steering-first", "C-SEND-2", "C-CLAIM-1", "C-STEP-3", origin="case openclaw-later-overtakes-queued-steer"
)
class NewestSteeringFirst(Agent):
    """
    What is sent for the next step goes ahead of what was sent before.

    A correction of a correction is read first.
    """

    pending_type: ClassVar[type[PendingInput]] = _Pushy


@CLAIM.enter("wake-deferred", "C-WAKE-1", origin="case claudette-steer-races-idle-dispatch")
class WakeDeferred(Agent):
    """
    A wake starts the agent a little later, not before the send returns.

    What is sent next in the same breath shares the first step, and nobody can tell whether it will.
    """

    def _wake(self) -> None:
        self._extensions.loop.call_soon(super()._wake)


@CLAIM.enter("quiet-prompt-wakes", "C-WAKE-2", "C-STAT-1", origin="rejected: a queued message always wakes")
class QuietPromptWakes(Agent):
    """
    A prompt that was parked without waking the agent starts a turn anyway.

    Whoever wanted to add it to the next occasion pays for a turn of its own.
    """

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        super()._deliver(command, message, target, wakeup=wakeup or target == NEXT_TURN, snapshot=snapshot)


class _Reordering(PendingInput):
    def replace(self, message_id: str, message: Message) -> bool:
        place = self._find(message_id)
        if place is None or not self.remove(message_id):
            return False
        self.insert("replace", place[0], Entry(message))
        return True


@CLAIM.enter(
    "replacement-at-the-end", "C-EDIT-1", "C-EDIT-2", origin="case roo-deleted-queued-message-duplicate-results"
)
class ReplacementAtTheEnd(Agent):
    """
    A corrected prompt loses its place in the queue.

    Correcting a typing error costs the turn, in the other sense of the word.
    """

    pending_type: ClassVar[type[PendingInput]] = _Reordering


@CLAIM.enter(
    "order-lost-on-resume",
    "C-EDIT-2",
    "C-LOG-3",
    "C-CLAIM-1",
    "C-CLAIM-4",
    origin="family: accepted input forgotten on resume",
)
class OrderLostOnResume(Agent):
    """
    A resumed agent sees what waits in another order than its log tells.

    The replayed queue and the real one disagree about what comes next.
    """

    def _pending_in(self, session: Session) -> Lists:
        return {target: messages[::-1] for target, messages in super()._pending_in(session).items()}


@CLAIM.enter("snapshot-sent-ahead", "C-XREF-1", origin="rejected: references travel by themselves")
class SnapshotSentAhead(Agent):
    """
    The snapshot of another session waits by itself, whatever becomes of the prompt that refers to it.

    A rejected prompt leaves behind what was to be rejected with it.
    """

    def reference(self, message: Message, snapshot: Message) -> None:
        """Deliver a snapshot, then a prompt."""
        if self._interval is not None:
            super().reference(message, snapshot)
        else:
            self.inject(snapshot)
            self.followup(message)
