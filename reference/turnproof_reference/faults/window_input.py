"""
Defects of what the `window` agent does with input: where it goes, and the ledger of it.
"""

from __future__ import annotations

from turnproof_reference.faults.books import WINDOW
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target
from turnproof_reference.status import IDLE
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.events import QUEUED, STEERING, Dequeued, Discarded, Enqueued, SteeringMessage
from turnproof_reference.window.inbox import Queued, Staged


@WINDOW.enter("placement-guessed", "W-FIFO-4", origin="case kirocrew-steer-identity-by-text")
class PlacementGuessed(Agent):
    """
    The dequeue of a prompt names the list that the window suggests now, not the one it had entered.

    A mirror takes it out of the wrong list and shows it as waiting for ever.
    """

    def _tell_claim(self, prompt: Message) -> None:
        if self.accepts_next_step:
            self.publisher.publish(Dequeued(prompt, STEERING))
        else:
            super()._tell_claim(prompt)


@WINDOW.enter("silent-drop", "W-FIFO-2", origin="case vellum-cancel-clears-queue-no-events")
class SilentDrop(Agent):
    """
    A cancel empties the inbox without a discard event.

    Every mirror of the inbox shows prompts that will never run.
    """

    def _drop(self) -> None:
        self._inbox.clear()


@WINDOW.enter("steer-apart", "W-SEND-1", "W-ROUTE-2", origin="family: a preset that does more than it abbreviates")
class SteerApart(Agent):
    """
    Steering through its own command always waits for a turn of its own, while the send that it abbreviates doesn't.

    Whoever moves from one spelling to the other changes what the agent does.
    """

    def steer(self, message: Message) -> None:
        """Deliver a prompt."""
        self.followup(message)


@WINDOW.enter(
    "prompt-joins-turn", "W-ROUTE-1", "W-SEND-1", origin="case opengeni-message-committed-inside-running-turn"
)
class PromptJoinsTurn(Agent):
    """
    A prompt that comes while a turn runs steers that turn.

    A new question is read as a correction of the old one, and gets no answer of its own.
    """

    def send(self, message: Message, *, target: Target = NEXT_TURN, wakeup: bool = True) -> None:
        """Deliver a message where something runs already, if it may."""
        joins = target == NEXT_TURN and wakeup and self.accepts_next_step
        super().send(message, target=NEXT_STEP if joins else target, wakeup=wakeup)


@WINDOW.enter("idle-steer-parked", "W-ROUTE-2", "W-WAKE-1", origin="case claudette-steer-races-idle-dispatch")
class IdleSteerParked(Agent):
    """
    Steering that finds no turn to join is queued without waking anybody.

    The user's word waits for a second one.
    """

    def send(self, message: Message, *, target: Target = NEXT_TURN, wakeup: bool = True) -> None:
        """Deliver a message, quietly where it comes too late to steer."""
        missed = target == NEXT_STEP and wakeup and not self.accepts_next_step
        super().send(message, target=NEXT_TURN if missed else target, wakeup=wakeup and not missed)


@WINDOW.enter("idle-context-staged", "W-ROUTE-3", origin="rejected: idle injection waits for the next turn")
class IdleContextStaged(Agent):
    """
    Context that is injected into an idle agent is staged instead of written to the log.

    Whoever reads the session, or resumes it, doesn't find what was supplied.
    """

    def send(self, message: Message, *, target: Target = NEXT_TURN, wakeup: bool = True) -> None:
        """Deliver a message."""
        if target == NEXT_STEP and not wakeup and not self._disposed:
            self._stage(message, steering=False)
        else:
            super().send(message, target=target, wakeup=wakeup)


@WINDOW.enter("idle-steers-merged", "W-ROUTE-5", "W-ROUTE-2", "W-WIN-2", origin="case hermes-queue-mode-newline-join")
class IdleSteersMerged(Agent):
    """
    A prompt that was accepted counts as a turn at once, so that what is steered in the same breath joins it.

    Two prompts that were sent as two get one answer.
    """

    @property
    def accepts_next_step(self) -> bool:
        """Tell whether a turn is at hand, or soon will be."""
        return super().accepts_next_step or (self.status == IDLE and self._inbox.waking)


@WINDOW.enter("steering-unannounced", "W-FIFO-1", "W-FIFO-2", origin="case openclaw-compact-deletes-queued")
class SteeringUnannounced(Agent):
    """
    Steering enters the outbox without a word, and is announced only when it leaves.

    A user interface can't show what waits to be read.
    """

    def _stage(self, message: Message, *, steering: bool) -> None:
        self._inbox.outbox.append(Staged(message, steering))


@WINDOW.enter("newest-first", "W-FIFO-3", origin="case openclaw-later-overtakes-queued-steer")
class NewestFirst(Agent):
    """
    The prompt that was queued last is served first.

    Under load the first question is answered last, or never.
    """

    async def _admit(self) -> None:
        self._inbox.queued.rotate(1)
        await super()._admit()


@WINDOW.enter("context-announced", "W-FIFO-5", "W-FIFO-2", origin="rejected: one lifecycle for prompts and context")
class ContextAnnounced(Agent):
    """
    Staged context is announced like steering, but never told to have left.

    A mirror of the inbox fills with entries that nobody takes out.
    """

    def _stage(self, message: Message, *, steering: bool) -> None:
        super()._stage(message, steering=steering)
        if not steering:
            self.publisher.publish(Enqueued(message, STEERING))


@WINDOW.enter("dequeued-lost-to-abort", "W-FIFO-6", origin="case codex-exec-queue-popped-then-aborted")
class DequeuedLostToAbort(Agent):
    """
    Steering that was taken from the outbox is not written when an abort comes in that very moment.

    It is in no list any more and not in the conversation either.
    """

    def _commit_next(self, turn: int) -> bool:
        if not self._inbox.outbox[0].steering:
            return super()._commit_next(turn)
        message = self._inbox.outbox.popleft().message
        self.publisher.publish(Dequeued(message, STEERING))
        if self._window is None or not self._window.aborted:
            self.log.append(SteeringMessage(turn, message))
        return True


@WINDOW.enter("context-hidden", "W-FIFO-7", origin="family: input that nobody sees waiting")
class ContextHidden(Agent):
    """
    Staged context is not among what is shown as pending.

    Its sender takes it for lost and sends it again.
    """

    def pending(self) -> tuple[tuple[Message, ...], tuple[tuple[Message, str], ...]]:
        """Answer what waits, as far as it has a ledger."""
        queued, staged = super().pending()
        return queued, tuple((message, kind) for message, kind in staged if kind == STEERING)


@WINDOW.enter("steering-discarded-first", "W-FIFO-8", "W-FIFO-3", origin="family: a ledger told in another order")
class SteeringDiscardedFirst(Agent):
    """
    A discard lists steering before what was queued.

    Whoever gives dropped input back to its author hands it out in the wrong order.
    """

    def _drop(self) -> None:
        queued = len(self._inbox.queued)
        dropped = self._inbox.clear()
        if dropped:
            self.publisher.publish(Discarded(dropped[queued:] + dropped[:queued]))


@WINDOW.enter(
    "told-before-done", "W-PUB-1", "W-CAN-2", "W-FIFO-2", origin="case dsh-reentrant-send-from-discard-listener"
)
class ToldBeforeDone(Agent):
    """
    A prompt is announced before it is in the queue.

    A listener that cancels at once doesn't reach it, and it runs in spite of that.
    """

    def _enqueue(self, message: Message, *, waking: bool) -> None:
        self.publisher.publish(Enqueued(message, QUEUED))
        self._inbox.queued.append(Queued(message, waking))
        if waking:
            self._wake()


@WINDOW.enter(
    "cleared-after-telling", "W-FIFO-2", "W-PUB-1", "W-CAN-4", origin="case dsh-reentrant-send-from-discard-listener"
)
class ClearedAfterTelling(Agent):
    """
    The inbox is emptied after the discard was announced, not before.

    What a listener of the discard sends is gone with the rest, and no event tells of it.
    """

    def _drop(self) -> None:
        queued, staged = self.pending()
        lost = (*queued, *(message for message, kind in staged if kind == STEERING))
        if lost:
            self.publisher.publish(Discarded(lost))
        self._inbox.clear()
