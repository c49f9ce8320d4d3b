"""
An event loop that knows when nothing is runnable any more.

Behind the driver protocol there is no clock, no socket and no thread: everything the agent waits for is a gate. So
the loop is a line of callbacks and nothing else, which makes it deterministic by construction, cheap, and able to say
that all is quiet.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any


class QuietLoop(asyncio.AbstractEventLoop):
    """
    Run callbacks in order of arrival until there are none.

    Time-outs, input and output are refused by the base class: a participant that needs them can't be scheduled by
    the runner.
    """

    def __init__(self) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self._running = False
        self._closed = False
        self._on_exception: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None = None

    def run_until_quiescent(self) -> None:
        """
        Run what is runnable, and what that makes runnable, until all that waits waits for the outside.

        Raises:
            RuntimeError: when the loop is running already.
        """
        if self._running:
            raise RuntimeError("the loop must not be running already (it is); settle from outside its callbacks")
        outer = events._get_running_loop()
        self._running = True
        events._set_running_loop(self)
        ready = self._ready
        try:
            while ready:
                handle = ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            events._set_running_loop(outer)
            self._running = False

    def call_soon(  # type: ignore[override] # one signature for all callbacks
        self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Put a callback at the end of the line."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        """Make a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:  # type: ignore[override]
        """Make a task of this loop; the options are those of `asyncio.Task`."""
        return asyncio.Task(coro, loop=self, **options)

    def get_debug(self) -> bool:
        """Answer false: the checks of asyncio's debug mode read the clock."""
        return False

    def is_running(self) -> bool:
        """Tell whether callbacks are being run."""
        return self._running

    def is_closed(self) -> bool:
        """Tell whether the loop was closed."""
        return self._closed

    def close(self) -> None:
        """Forget what is waiting and refuse to be run again."""
        self._ready.clear()
        self._closed = True

    def set_exception_handler(
        self, handler: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None
    ) -> None:
        """Tell the handler, instead of standard error, of exceptions that nobody awaits."""
        self._on_exception = handler

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Report an exception that nobody awaits."""
        if self._on_exception is not None:
            self._on_exception(self, context)
        else:
            sys.stderr.write(f"{context.get('message')}: {context.get('exception')!r}\n")


def quiet_loop() -> QuietLoop:
    """Make a `QuietLoop`."""
    return QuietLoop()  # type: ignore[abstract] # what it leaves out is refused on purpose
