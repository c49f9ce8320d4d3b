"""
Run asyncio code without letting anything but the caller decide what happens when.

A ``ControlledLoop`` is a line of callbacks in order of arrival and nothing else. It has no sockets, no threads and no
clock of its own, so the same calls always run in the same order, and it knows when nothing is runnable any more: then
all that still waits, waits for the caller. Tasks, futures, locks, queues and events of asyncio work on it unchanged.

Declined: subclassing ``asyncio.BaseEventLoop`` (it opens a socket pair and reads the clock), and letting time-outs
fire when nothing else can run (a time-out around a gate would then always win). Timers are refused, or, with
``timers="park"``, wait for ``advance``.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, suppress
from contextvars import Context
from typing import Any, Literal, TypeAlias, TypeVarTuple

from turnproof.sealed import CallbackFailedError, LoopError, NeverQuiescentError, SealedLoop

Ts = TypeVarTuple("Ts")
ExceptionHandler: TypeAlias = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]

_Surroundings: TypeAlias = tuple[asyncio.AbstractEventLoop | None, Any]
"""The loop that ran before and its hooks for asynchronous generators."""


class _Entered:
    """Let a loop be the running one for a while; a generator in its place would cost several times as much."""

    __slots__ = ("_before", "_loop")

    def __init__(self, loop: ControlledLoop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        self._before = self._loop._enter()

    def __exit__(self, *_: object) -> None:
        self._loop._leave(self._before)


class ControlledLoop(SealedLoop):
    """
    Run callbacks in order of arrival until there are none.

    Args:
        callbacks: callbacks that one ``run_until_quiescent`` may take before it is said never to come to rest (≥ 1).
        timers: ``refuse`` makes every delayed call raise; ``park`` lets it wait for ``advance``.
    """

    def __init__(self, *, callbacks: int = 100_000, timers: Literal["refuse", "park"] = "refuse") -> None:
        self._limit = callbacks
        self._timers = timers
        self._ready: deque[asyncio.Handle] = deque()
        self._parked: list[tuple[float, int, asyncio.TimerHandle]] = []  # a heap of (when, order, handle)
        self._order = 0
        self._now = 0.0
        self._running = False
        self._draining = False
        self._closed = False
        self._task_factory: Any = None
        self._on_exception: ExceptionHandler | None = None

    # ---------------------------------------------------------------------------------------- the caller's side
    def run_until_quiescent(self) -> None:
        """
        Run what is runnable, and what that makes runnable.

        Raises:
            NeverQuiescentError: more callbacks ran than one call may take.
            UncontrolledError: code asked for the outside world since the last call, even if it swallowed the refusal.
            CallbackFailedError: a callback raised, and no exception handler is set.
        """
        if self._running and not self._draining:
            self._drain()  # code called directly, which is not a callback, may let things settle in between
        else:
            with self.entered():
                self._drain()
        if self.broken is not None:
            broken, self.broken = self.broken, None
            raise broken

    def _drain(self) -> None:
        ready = self._ready
        left = self._limit
        self._draining = True
        try:
            while ready and self.broken is None:
                if left == 0:
                    raise NeverQuiescentError(
                        f"the loop must come to rest after a request ({self._limit} callbacks ran, and the next is "
                        f"{ready[0]!r}); code that polls must await what it polls for"
                    )
                left -= 1
                handle = ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            self._draining = False

    def entered(self) -> AbstractContextManager[None]:
        """
        Be the running loop of this thread, so that code called directly can make tasks.

        Raises:
            LoopError: this loop runs already.
        """
        return _Entered(self)

    def _enter(self) -> _Surroundings:
        if self._running:
            raise LoopError("a controlled loop can't be entered from its own callbacks; let them return first")
        before = events._get_running_loop(), sys.get_asyncgen_hooks()
        events._set_running_loop(self)
        sys.set_asyncgen_hooks(firstiter=None, finalizer=self._finalize)
        self._running = True
        return before

    def _leave(self, before: _Surroundings) -> None:
        outer, hooks = before
        self._running = False
        sys.set_asyncgen_hooks(*hooks)
        events._set_running_loop(outer)

    def advance(self, seconds: float) -> None:
        """
        Move virtual time and make due timers runnable, in order of their time, then of their making.

        Args:
            seconds: how far; ≥ 0.
        """
        self._now += seconds
        while self._parked and self._parked[0][0] <= self._now:
            self._ready.append(heapq.heappop(self._parked)[2])

    def close(self) -> None:
        """Cancel all tasks, run them out as far as one call may take, and forget what is left."""
        if self._closed:
            return
        for task in asyncio.all_tasks(self):
            task.cancel()
        self.broken = None
        self._on_exception = self._hear_nothing
        with suppress(NeverQuiescentError), self.entered():
            self._drain()
        self._closed = True
        self._ready.clear()
        self._parked.clear()

    def _hear_nothing(self, *_: object) -> None:
        """Take no notice of what a candidate does while it is dropped."""

    # ---------------------------------------------------------------------------------------- what asyncio asks for
    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Put a callback at the end of the line; a closed loop never runs it."""
        handle = asyncio.Handle(callback, args, self, context)
        if not self._closed:
            self._ready.append(handle)
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call back when virtual time has moved on by ``delay`` seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """
        Call back at a virtual time.

        Raises:
            UncontrolledError: timers are refused.
        """
        if self._timers == "refuse":
            self.refuse("timers (sleeping, time-outs, delayed calls)")
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._order += 1
        heapq.heappush(self._parked, (when, self._order, handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leave a cancelled timer where it is: it is skipped when its time comes."""

    def time(self) -> float:
        """Tell virtual time, in seconds since the loop was made."""
        return self._now

    def create_future(self) -> asyncio.Future[Any]:
        """Make a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:  # type: ignore[override]  # options grow with each Python
        """Make a task of this loop; ``options`` are those of ``asyncio.Task``."""
        if self._task_factory is not None:
            return self._task_factory(self, coro, **options)  # type: ignore[no-any-return]  # the factory's promise
        return asyncio.Task(coro, loop=self, **options)

    def set_task_factory(self, factory: Any) -> None:
        """Make tasks in another way."""
        self._task_factory = factory

    def get_task_factory(self) -> Any:
        """Tell how tasks are made, if not in the usual way."""
        return self._task_factory

    def get_debug(self) -> bool:
        """Say no: asyncio's debugging reads the clock."""
        return False

    def is_running(self) -> bool:
        """Tell whether callbacks run."""
        return self._running

    def is_closed(self) -> bool:
        """Tell whether the loop was closed."""
        return self._closed

    def set_exception_handler(self, handler: ExceptionHandler | None) -> None:
        """Tell ``handler`` of exceptions that nobody awaits, instead of failing."""
        self._on_exception = handler

    def get_exception_handler(self) -> ExceptionHandler | None:
        """Tell who hears of exceptions that nobody awaits."""
        return self._on_exception

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """
        Report an exception that nobody awaits.

        Without a handler, a failed callback stops the loop. Reports that come from the garbage collector (a task's
        exception was never retrieved) don't: when they come depends on the collector.
        """
        if self._on_exception is not None:
            self._on_exception(self, context)
        elif "handle" in context and self.broken is None:
            self.broken = CallbackFailedError(
                f"a callback raised {context.get('exception')!r} in {context['handle']!r}"
            )

    default_exception_handler = call_exception_handler

    def _finalize(self, generator: Any) -> None:
        """Close an abandoned asynchronous generator on this loop, as asyncio does."""
        if not self._closed:
            self.call_soon(self.create_task, generator.aclose())
