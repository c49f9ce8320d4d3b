"""
Between turns: which prompt comes next, whether it may have a turn, and when the agent comes to rest.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from turnproof_reference.abort import AbortSignal
from turnproof_reference.events import AgentDisposed, UserMessage
from turnproof_reference.messages import Message
from turnproof_reference.status import IDLE, RUNNING, IdleWaiters
from turnproof_reference.window.core import DISPOSED
from turnproof_reference.window.decision import PromptDecision, PromptSubmit
from turnproof_reference.window.events import QUEUED, Dequeued
from turnproof_reference.window.turns import Turns


class Admissions(Turns):
    """Admit prompts one by one and give each its turn."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._end = IdleWaiters(self._loop)
        self._disposed = False

    async def _drive(self) -> None:
        """
        Serve the queue from its head while a waking prompt is in it, then come to rest.

        Rules: W-WAKE-3, W-WAKE-4, W-ADM-8, W-TURN-4, W-TURN-6
        """
        while self._retry or self._inbox.waking:
            if self._retry:
                self._retry = False
                await self._run_turn(self._open_window(), None)
            else:
                await self._admit()
        self._rest()

    def _rest(self) -> None:
        """
        Be idle and release who waits for it, unless a listener sets the agent going again.

        Rules: W-STAT-1, W-STAT-2, W-DIS-2
        """
        self._driver = None
        self._status.become(IDLE)
        if not self._resting():
            return
        self._idle.release()
        if self._disposing and not self._disposed:
            self._disposed = True
            self.publisher.publish(AgentDisposed())
            self._end.release()

    def _resting(self) -> bool:
        """Tell whether nothing is under way: no admission, no turn, no checkpoint, no waking prompt."""
        return self._driver is None

    async def _admit(self) -> None:
        """
        Claim the head of the queue and ask whether it may have a turn.

        Rules: W-ADM-1, W-ADM-2, W-DIS-2
        """
        prompt = self._inbox.queued.popleft().message
        snapshot = self._snapshots.take(prompt)
        signal = self._open_window()
        self._status.become(RUNNING)
        asked = None if signal.aborted else self._ask(PromptSubmit(prompt, signal))
        self._tell_claim(prompt)
        if self._disposing and signal.mark(DISPOSED):
            self._drop()
            signal.tell()
        decision = await self._decision(asked, signal)
        if decision is None:
            self._reject()
        else:
            await self._run_turn(signal, decision.admitted(prompt), decision.contexts + snapshot)

    def _tell_claim(self, prompt: Message) -> None:
        """
        Publish that a prompt was claimed.

        Rules: W-FIFO-2, W-FIFO-4
        """
        self.publisher.publish(Dequeued(prompt, QUEUED))

    def _ask(self, question: PromptSubmit) -> Awaitable[PromptDecision]:
        """Ask now, so that the question is out before the claim is told; a listener that raises at once has failed."""
        try:
            return self.prompt_submit.ask(question)
        except Exception as error:  # noqa: BLE001 - whatever a hook raises ends its admission, never the agent
            return _failed(error)

    async def _decision(self, asked: Awaitable[PromptDecision] | None, signal: AbortSignal) -> PromptDecision | None:
        """
        Wait for the decision.

        Returns:
            None if the prompt is blocked, the hook failed or the admission was aborted.

        Rules: W-ADM-5, W-CAN-1
        """
        if asked is None:
            return None
        try:
            decision = await asked
        except Exception as error:  # noqa: BLE001 - as above
            if not signal.aborted:
                self._warn("prompt admission failed", error)
            return None
        return decision if decision.allow and not signal.aborted else None

    def _reject(self) -> None:
        """
        End an admission without a turn: context alone goes to the log, beside steering all stays staged.

        Rules: W-ADM-5, W-ADM-6, W-ADM-7, W-WIN-1
        """
        self._close_window()
        if self._inbox.steered:
            return
        context = [item.message for item in self._inbox.outbox]
        self._inbox.outbox.clear()
        for message in context:
            self.log.append(UserMessage(message))


async def _failed(error: Exception) -> PromptDecision:
    raise error
