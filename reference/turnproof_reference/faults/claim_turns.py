"""
Defects of the turns and steps of the `claim` agent, its tools and its requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.interval import Interval
from turnproof_reference.claim.pending import Entry
from turnproof_reference.claim.step import Step
from turnproof_reference.claim.turn import ABORTED, COMPLETED, MAX_TOKENS, Turn
from turnproof_reference.events import ABORTED_BEFORE_DISPATCH, TurnEnd, UserMessage
from turnproof_reference.faults.books import CLAIM
from turnproof_reference.faults.models import forgetful
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message, Target, ToolCall
from turnproof_reference.model import Model
from turnproof_reference.session import Session
from turnproof_reference.tools import ToolOutcome


class _OwingNothingAfterCeiling(Turn):
    def _goes_on(self) -> bool:
        self._owes_request = self._owes_request and not self._hit_ceiling
        return super()._goes_on()


@CLAIM.enter("ceiling-ends-turn", "C-STEP-4", origin="dsh result-after-max-tokens-unanswered")
class CeilingEndsTurn(Agent):
    """
    In a turn in which one answer was cut off, the results of later tools are never shown to the model.

    The tools have acted, and the conversation ends without a word about it.
    """

    turn_type: ClassVar[type[Turn]] = _OwingNothingAfterCeiling


class _Deaf(Turn):
    def _goes_on(self) -> bool:
        return self._owes_request


@CLAIM.enter("steering-waits-for-turn", "C-STEP-4", origin="case openclaw-late-steer-misses-final-drain")
class SteeringWaitsForTurn(Agent):
    """
    Steering that comes while the last answer is being written waits for another turn.

    The correction arrives after the work that it was to correct has been declared done.
    """

    turn_type: ClassVar[type[Turn]] = _Deaf


class _Interleaving(Step):
    def _stage(self, context: Message) -> None:
        self._parts.log.append(UserMessage(context))


class _InterleavingTurn(Turn):
    step_type: ClassVar[type[Step]] = _Interleaving


@CLAIM.enter("context-in-batch", "C-STEP-2", origin="case openclaw-steer-between-call-and-result")
class ContextInBatch(Agent):
    """
    The context of a tool is written right behind its result, whatever results are still to come.

    Providers refuse a conversation in which something stands between a call and its result.
    """

    turn_type: ClassVar[type[Turn]] = _InterleavingTurn


class _Unclosed(Turn):
    def _close(self, reason: str) -> None:
        if reason == ABORTED and self.steps == 0:
            self.reason = reason
        else:
            super()._close(reason)


@CLAIM.enter("turn-left-open", "C-TURN-1", "C-CAN-1", "C-STAT-1", origin="case dsh-throw-after-turn-start-never-closed")
class TurnLeftOpen(Agent):
    """
    A turn that is aborted before its first step is never closed.

    To every reader of the log it runs for ever, and the next one runs inside it.
    """

    turn_type: ClassVar[type[Turn]] = _Unclosed


@CLAIM.enter(
    "idle-context-logged", "C-TURN-2", "C-SEND-2", "C-SEND-4", origin="rejected: idle injection goes to the log"
)
class IdleContextLogged(Agent):
    """
    Context that is injected into an idle agent is part of the conversation at once.

    It can't be taken back any more, and no step has let it in.
    """

    def _deliver(
        self, command: str, message: Message, target: Target, *, wakeup: bool, snapshot: Message | None = None
    ) -> None:
        if self._interval is None and target == NEXT_STEP and not wakeup:
            self._parts.log.append(UserMessage(message))
        else:
            super()._deliver(command, message, target, wakeup=wakeup, snapshot=snapshot)


class _Overlapping(Turn):
    held: TurnEnd | None = None

    def _close(self, reason: str) -> None:
        if reason == COMPLETED and self._parts.pending.any():
            self.reason, self.held = reason, TurnEnd(self.number, reason)
        else:
            super()._close(reason)


@CLAIM.enter(
    "next-turn-opened-first", "C-TURN-4", "C-TURN-1", origin="case strands-parallel-invocations-corrupt-history"
)
class NextTurnOpenedFirst(Agent):
    """
    The next turn starts before the last one has ended.

    Their events can't be told apart any more.
    """

    turn_type: ClassVar[type[Turn]] = _Overlapping
    _last: _Overlapping | None = None

    def _goes_on(self, turn: Turn) -> bool:
        self._last = turn if isinstance(turn, _Overlapping) else None
        return super()._goes_on(turn)

    def _open_turn(self, interval: Interval) -> Turn | None:
        last, self._last = self._last, None
        turn = super()._open_turn(interval)
        if last is not None and last.held is not None:
            self._parts.log.append(last.held)
        return turn


class _Forgiving(Turn):
    async def _step(self, entered: Sequence[Message]) -> None:
        self._hit_ceiling = False
        await super()._step(entered)


@CLAIM.enter("ceiling-forgotten", "C-TURN-5", origin="family: the end of a turn reported by its last step")
class CeilingForgotten(Agent):
    """
    A turn in which an answer was cut off ends as completed because a later step went well.

    Nobody learns that text is missing.
    """

    turn_type: ClassVar[type[Turn]] = _Forgiving


@CLAIM.enter(
    "queue-waits-for-wake", "C-TURN-6", "C-STAT-2", "C-STAT-1", origin="case dsh-wake-in-cancel-convergence-window"
)
class QueueWaitsForWake(Agent):
    """
    A turn that went well is followed by idleness, whatever waits.

    The second of two prompts is answered when somebody sends a third.
    """

    def _goes_on(self, turn: Turn) -> bool:  # noqa: ARG002 - the defect is not to look
        return False


@CLAIM.enter("ceiling-parks-queue", "C-STAT-2", "C-TURN-6", "C-STAT-1", origin="dsh result-after-max-tokens-unanswered")
class CeilingParksQueue(Agent):
    """
    After a turn in which an answer was cut off, the prompts behind it are parked.

    They were not asked whether they wanted to wait.
    """

    def _goes_on(self, turn: Turn) -> bool:
        return turn.reason != MAX_TOKENS and super()._goes_on(turn)


@CLAIM.enter("steps-counted-on", "C-STEP-1", origin="family: numbers that go on where they should begin")
class StepsCountedOn(Agent):
    """
    Steps are numbered on from those of the turn before.

    Whoever looks a step up by turn and number finds nothing.
    """

    _made = 0

    def _goes_on(self, turn: Turn) -> bool:
        self._made = turn.steps
        return super()._goes_on(turn)

    def _open_turn(self, interval: Interval) -> Turn | None:
        turn = super()._open_turn(interval)
        if turn is not None:
            turn.steps = self._made
        return turn


class _LosingCalls(Step):
    def answered(self, call: ToolCall, outcome: ToolOutcome) -> None:
        if outcome.code != ABORTED_BEFORE_DISPATCH:
            super().answered(call, outcome)


class _LosingCallsTurn(Turn):
    step_type: ClassVar[type[Step]] = _LosingCalls


@CLAIM.enter("unstarted-call-unanswered", "C-STEP-2", origin="dsh duplicate-context-leaves-call-unanswered")
class UnstartedCallUnanswered(Agent):
    """
    A call that a cancel kept from starting gets no result.

    Providers refuse the conversation from then on.
    """

    turn_type: ClassVar[type[Turn]] = _LosingCallsTurn


class _Misfiling(Step):
    def _stage(self, context: Message) -> None:
        self._parts.pending.insert("a context of a tool", NEXT_TURN, Entry(context))


class _MisfilingTurn(Turn):
    step_type: ClassVar[type[Step]] = _Misfiling


@CLAIM.enter("tool-context-as-prompt", "C-STEP-3", "C-SEND-2", origin="case wuu-parallel-batch-drops-hook-context")
class ToolContextAsPrompt(Agent):
    """
    The context of a tool waits among the prompts.

    It gets a turn of its own, long after the step that it was to inform.
    """

    turn_type: ClassVar[type[Turn]] = _MisfilingTurn


class _Inconclusive(Step):
    async def _answer(self, calls: tuple[ToolCall, ...]) -> bool:
        await super()._answer(calls)
        return False


class _InconclusiveTurn(Turn):
    step_type: ClassVar[type[Step]] = _Inconclusive


@CLAIM.enter("conclusion-ignored", "C-STEP-5", "C-STEP-4", origin="family: a request with nothing new to say")
class ConclusionIgnored(Agent):
    """
    A result that concludes the turn is followed by another request.

    A tool that hands over to a person is talked over by the model.
    """

    turn_type: ClassVar[type[Turn]] = _InconclusiveTurn


@CLAIM.enter("request-keeps-last-of-each-run", "C-REQ-1", origin="case hermes-queue-mode-newline-join")
class RequestKeepsLast(Agent):
    """
    Of several messages in a row the model is shown the last one only.

    It answers half of what was said.
    """

    def __init__(self, session: Session, model: Model, *rest: Any) -> None:
        super().__init__(session, forgetful(model), *rest)
