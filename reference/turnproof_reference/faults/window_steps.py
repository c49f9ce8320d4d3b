"""
Defects of the steps of a `window` turn: drains, requests, tool batches, and whether another step follows.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from turnproof_reference.events import ABORTED, ABORTED_BEFORE_DISPATCH, UserMessage
from turnproof_reference.faults.books import WINDOW
from turnproof_reference.faults.models import forgetful
from turnproof_reference.messages import ToolCall
from turnproof_reference.model import Model, Reply
from turnproof_reference.tools import ToolOutcome
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.steps import Turn


@WINDOW.enter("context-inside-batch", "W-STEP-3", origin="case goclaw-warning-between-parallel-results")
class ContextInBatch(Agent):
    """
    The context of a tool is written right behind its result, whatever results are still to come.

    Providers refuse such a conversation, and the session can't be continued.
    """

    def _commit_result(self, turn: Turn, call: ToolCall, outcome: ToolOutcome) -> None:
        super()._commit_result(turn, call, outcome)
        while self._inbox.outbox and not self._inbox.steered:
            self.log.append(UserMessage(self._inbox.outbox.popleft().message))


@WINDOW.enter("context-forces-step", "W-STEP-5", origin="rejected: supplementary input keeps a turn going")
class ContextForcesStep(Agent):
    """
    Supplementary input makes the model run again.

    A plugin that reports after each answer keeps the turn going for ever.
    """

    def _drain(self, turn: Turn) -> bool:
        waiting = len(self._inbox.outbox)
        return super()._drain(turn) or len(self._inbox.outbox) < waiting


@WINDOW.enter("steps-counted-on", "W-STEP-1", origin="family: numbers that go on where they should begin")
class StepsCountedOn(Agent):
    """
    Steps are numbered on from those of the turn before.

    Whoever looks a step up by turn and number finds nothing.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        super().__init__(model, **options)
        self._steps_made = 0

    async def _run_steps(self, turn: Turn) -> None:
        turn.step = self._steps_made
        try:
            await super()._run_steps(turn)
        finally:
            self._steps_made = turn.step


@WINDOW.enter("one-at-a-boundary", "W-STEP-2", "W-WIN-4", origin="case zed-queued-prompt-ends-tool-turn-early")
class OneAtABoundary(Agent):
    """
    A boundary takes only the first of what is staged.

    Three corrections cost three requests, and the first of them is answered without the others.
    """

    def _drain(self, turn: Turn) -> bool:
        if turn.cut() or not self._inbox.outbox:
            return False
        return self._commit_next(turn.number)


@WINDOW.enter("steering-first", "W-WIN-4", "W-STEP-2", origin="case oculith-transcript-sorted-by-enqueue-time")
class SteeringFirst(Agent):
    """
    Steering is written before the context that was staged ahead of it.

    The model reads "this" before it reads what "this" is.
    """

    def _drain(self, turn: Turn) -> bool:
        self._inbox.outbox = deque(sorted(self._inbox.outbox, key=lambda item: not item.steering))
        return super()._drain(turn)


@WINDOW.enter("unstarted-call-unanswered", "W-STEP-3", origin="case pydantic-ai-first-tool-cancel-unresumable")
class UnstartedCallUnanswered(Agent):
    """
    A call that a cancel kept from starting gets no result.

    Providers refuse the conversation from then on.
    """

    def _commit_result(self, turn: Turn, call: ToolCall, outcome: ToolOutcome) -> None:
        if outcome.code != ABORTED_BEFORE_DISPATCH:
            super()._commit_result(turn, call, outcome)


@WINDOW.enter("sibling-result-lost", "W-STEP-3", origin="case bike4mind-abort-drops-finished-sibling-results")
class SiblingResultLost(Agent):
    """
    A cancel jumps over the code that stores what running tools have returned.

    The calls stay unanswered in the log, one that had finished among them.
    """

    def _commit_result(self, turn: Turn, call: ToolCall, outcome: ToolOutcome) -> None:
        if outcome.code != ABORTED:
            super()._commit_result(turn, call, outcome)


@WINDOW.enter(
    "tool-context-jumps-queue",
    "W-STEP-4",
    "W-WIN-4",
    "W-STEP-2",
    origin="case oculith-transcript-sorted-by-enqueue-time",
)
class ToolContextJumpsQueue(Agent):
    """
    The context of a tool is staged before what callers had staged.

    The order in which the model reads isn't the order in which things happened.
    """

    def _commit_result(self, turn: Turn, call: ToolCall, outcome: ToolOutcome) -> None:
        super()._commit_result(turn, call, outcome)
        self._inbox.outbox.rotate(len(outcome.contexts))


@WINDOW.enter("error-result-ends-turn", "W-STEP-6", "W-STEP-7", origin="family: results that the model is never shown")
class ErrorResultEndsTurn(Agent):
    """
    A tool that fails ends the turn, and the model never learns of it.

    The user is left without an answer, and without a reason.
    """

    _failed = False

    def _commit_result(self, turn: Turn, call: ToolCall, outcome: ToolOutcome) -> None:
        self._failed = self._failed or outcome.is_error
        super()._commit_result(turn, call, outcome)

    async def _run_tools(self, turn: Turn, calls: tuple[ToolCall, ...]) -> bool:
        self._failed = False
        return await super()._run_tools(turn, calls) or self._failed


@WINDOW.enter("steering-read-by-nobody", "W-STEP-7", "W-STEP-5", origin="case openclaw-late-steer-misses-final-drain")
class SteeringReadByNobody(Agent):
    """
    Steering that is written behind an answer doesn't make the model run again.

    It stands in the conversation, and the turn ends without a word about it.
    """

    def _drain_after(self, turn: Turn, reply: Reply) -> bool:
        super()._drain_after(turn, reply)
        return False


@WINDOW.enter("stopping-steer-ignored", "W-STEP-8", "W-STEP-7", origin="case openclaw-late-steer-misses-final-drain")
class StoppingSteerIgnored(Agent):
    """
    Steering that arrives when the turn is about to stop doesn't keep it going.

    The last chance to say something is offered and then ignored.
    """

    async def _steered_at_stopping(self, turn: Turn) -> bool:
        await super()._steered_at_stopping(turn)
        return False


@WINDOW.enter("request-keeps-last-of-each-run", "W-REQ-1", origin="case hermes-queue-mode-newline-join")
class RequestKeepsLast(Agent):
    """
    Of several messages in a row the model is shown the last one only.

    It answers half of what was said.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        super().__init__(forgetful(model), **options)
