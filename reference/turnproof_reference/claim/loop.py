"""
The agent's own cycle: turn after turn, and the rest in between.

    idle → running → turn → turn → … → idle → running, if late input still waits

From `running` to `idle` there is one interval. A cancel belongs to the interval that it found: it sets the cause,
which ends the open turn and keeps the loop from opening another. Input that an interval can no longer serve remembers
for which one it came too late; once idle, the loop looks whether any such input still waits, and if so starts anew.
That decision is made once, at one place, and about messages that are really there.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar, Final

from turnproof_reference.claim.extensions import Extensions
from turnproof_reference.claim.interval import Interval
from turnproof_reference.claim.state import Parts
from turnproof_reference.claim.turn import COMPLETED, MAX_TOKENS, Turn
from turnproof_reference.events import AgentDisposed
from turnproof_reference.status import IDLE, RUNNING, IdleWaiters, StatusBoard

SUCCESSES: Final = frozenset((COMPLETED, MAX_TOKENS))


class AgentLoop:
    """
    Open turns while there is something to do.

    Args:
        parts: log, listeners and waiting input.
        extensions: everything outside that is asked.
    """

    turn_type: ClassVar[type[Turn]] = Turn

    def __init__(self, parts: Parts, extensions: Extensions) -> None:
        self._parts = parts
        self._extensions = extensions
        self._status = StatusBoard(parts.publisher)
        self._waiters = IdleWaiters(extensions.loop)
        self._interval: Interval | None = None
        self._resting = True
        self._disposal: asyncio.Future[None] | None = None

    @property
    def status(self) -> str:
        """Answer `idle` or `running`."""
        return self._status.current

    def when_idle(self) -> asyncio.Future[None]:
        """
        Answer what to await for the agent to come to rest; a restart in the same stack is no rest.

        Rules: C-STAT-1, C-STAT-2
        """
        return self._waiters.wait(resting=self._resting)

    def abandon(self) -> None:
        """Stop where the agent stands, as a crash would; nothing is logged or told any more."""
        if self._interval is not None and self._interval.task is not None:
            self._interval.task.cancel()

    def _wake(self) -> None:
        """
        Start to run, unless the agent runs or is disposed of; the first claim is made before this returns.

        Rules: C-WAKE-1, C-DIS-1
        """
        if self._interval is not None or self._disposal is not None:
            return
        self._resting = False
        interval = self._interval = Interval()
        self._status.become(RUNNING)
        turn = self._open_turn(interval)
        interval.task = self._extensions.loop.create_task(self._run(interval, turn))

    async def _run(self, interval: Interval, turn: Turn | None) -> None:
        while turn is not None:
            await turn.run()
            turn = self._open_turn(interval) if self._goes_on(turn) else None
        self._rest(interval)

    def _open_turn(self, interval: Interval) -> Turn | None:
        """
        Open a turn, unless a cancel came before.

        Rules: C-CAN-1, C-TURN-4
        """
        if interval.aborted:
            return None
        turn = self.turn_type(self._parts, self._extensions, interval.signal, self._next_number())
        turn.open()
        return turn

    def _next_number(self) -> int:
        """
        Answer the number of the next turn.

        Rules: C-TURN-1, C-LOG-4
        """
        return self._parts.log.last_turn + 1

    def _goes_on(self, turn: Turn) -> bool:
        """
        Tell whether what waits gets a turn now: after a success anything does, after a failure nothing.

        A turn that was emptied before its first step parks what waits like a failed one.

        Rules: C-TURN-6, C-PRE-3, C-PRE-5
        """
        return turn.reason in SUCCESSES and turn.steps > 0 and self._parts.pending.any()

    def _rest(self, interval: Interval) -> None:
        """
        Become idle, and running again at once if input that came too late still waits.

        Rules: C-WAKE-3, C-STAT-1, C-STAT-2, C-DIS-1
        """
        self._interval = None
        self._status.become(IDLE)
        if self._is_running():
            return  # a listener of idle has started another interval, which comes to rest by itself
        if self._disposal is not None:
            self._vanish(self._disposal)
        elif self._owes_start(interval):
            self._wake()
        if not self._is_running():
            self._resting = True
            self._waiters.release()

    def _is_running(self) -> bool:
        return self._interval is not None

    def _owes_start(self, interval: Interval) -> bool:
        return self._parts.pending.any_late_for(interval)

    def _vanish(self, disposal: asyncio.Future[None]) -> None:
        """Tell once that the agent is gone."""
        if not disposal.done():
            disposal.set_result(None)
            self._parts.publisher.publish(AgentDisposed())
