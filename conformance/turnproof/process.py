"""
Keep one driver process: its pipes, its process group, and the limits that hold against anything it may do.

One line goes out, one line comes back. All waiting is a ``poll`` over the pipes with a deadline of the monotonic clock,
which guards against hanging and decides nothing else. What is kept of the output is bounded, so no flood fills memory.

The process leads a session of its own, and its group is ended as a whole: asked first, then killed. The group is killed
*before* its leader is waited for: until then the leader's number can't be given to a stranger. POSIX only, because
Windows has neither process groups that can be signalled so nor pipes that can be polled.
"""

from __future__ import annotations

import atexit
import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from turnproof.faults import Breakdown, Exit, UsageError
from turnproof.limits import Limits

_waitid = getattr(os, "waitid", None)  # macOS has it from Python 3.13 on; before, the leader's number is not kept
POSIX = os.name == "posix"
CHUNK = 1 << 16
"""Bytes that one read takes: what a pipe holds on Linux."""

PAUSE = 0.001
"""Seconds between two looks at a process that is asked to end; the operating system has no wait with a deadline."""


class DriverProcess:
    """
    Start a driver, send lines to it and receive lines from it.

    Args:
        argv: the command line; the program is looked up in ``PATH``.
        cwd: where it runs; ``None`` is here.
        env: variables set on top of the inherited ones.
        limits: see ``Limits``.

    Raises:
        Breakdown: it can't be started.
        UsageError: there is no POSIX here.
    """

    def __init__(self, argv: Sequence[str], cwd: str | None, env: Mapping[str, str], limits: Limits) -> None:
        if not POSIX:
            raise UsageError(
                "a driver as a child process needs POSIX process groups and pipes (this is Windows); "
                "run turnproof under WSL, or give a candidate in the same process"
            )
        self._limits = limits
        self._buffer = bytearray()
        self._tail = bytearray()
        self._stderr_room = limits.stderr_bytes
        self._stderr_open = True
        self._owner = os.getpid()
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=cwd,
                env={**os.environ, **env} if env else None,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise Breakdown("spawn-failed", f"the driver {argv[0]!r} can't be started: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout, self._stderr = (
            pipe.fileno() for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe, False)
        self._pipes = select.poll()
        self._pipes.register(self._stdout, select.POLLIN)
        self._pipes.register(self._stderr, select.POLLIN)
        _LIVE.add(self)

    # ---------------------------------------------------------------------------------------- lines
    def send(self, line: bytes, deadline: float) -> None:
        """
        Send one line.

        Args:
            line: with its line feed.
            deadline: of the monotonic clock, in seconds.

        Raises:
            Breakdown: the process hung or flooded.
        """
        self._stderr_room = self._limits.stderr_bytes
        self._write(line, deadline)

    def receive(self, deadline: float) -> bytes:
        """
        Wait for one line.

        Args:
            deadline: of the monotonic clock, in seconds; what has come by then is read in any case.

        Returns:
            The line that came, without its line feed.

        Raises:
            Breakdown: the process ended, hung or flooded.
        """
        buffer = self._buffer
        searched = 0
        while (end := buffer.find(b"\n", searched)) < 0:
            searched = len(buffer)
            try:
                self._read_stdout()  # it often came while another driver's answer was judged
            except BlockingIOError:
                self._wait(deadline)
        answer = bytes(buffer[:end])
        del buffer[: end + 1]
        return answer

    def _write(self, line: bytes, deadline: float) -> None:
        """Write all of a line; a driver that writes before it reads on must not block us both."""
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BlockingIOError:
                self._wait_until_writable(deadline)
            except BrokenPipeError:
                return  # it closed its input; what it still says, or how it ended, tells more

    def _wait_until_writable(self, deadline: float) -> None:
        self._pipes.register(self._stdin, select.POLLOUT)
        try:
            self._wait(deadline)
        finally:
            self._pipes.unregister(self._stdin)

    def _wait(self, deadline: float) -> None:
        """Wait until something can be read or written, and read what there is."""
        ready = self._pipes.poll(max(0, math.ceil((deadline - time.monotonic()) * 1000)))
        if not ready and self.ended(0):
            raise Breakdown("exited", "the driver ended, but what it started holds its output open", self.rest())
        if not ready:
            raise Breakdown("hung", "the driver didn't answer before its deadline", self.rest())
        for pipe, _ in ready:
            if pipe == self._stderr:
                self._read_stderr()
            elif pipe == self._stdout:
                self._read_stdout()

    def _read_stdout(self) -> None:
        chunk = os.read(self._stdout, CHUNK)
        if not chunk:
            raise Breakdown("exited", self._why_silent(), self.rest())
        self._buffer += chunk
        if len(self._buffer) > self._limits.line_bytes:
            limit = self._limits.line_bytes
            raise Breakdown("flooded", f"the driver wrote more than {limit} bytes and no whole answer", self.rest())

    def _why_silent(self) -> str:
        how = "left half an answer and " if self._buffer else ""
        if self.ended(self._limits.grace_seconds):
            return f"the driver {how}ended before it answered"
        return f"the driver {how}closed its output but goes on running"

    def _read_stderr(self) -> None:
        chunk = os.read(self._stderr, CHUNK)
        if not chunk and self._stderr_open:
            self._pipes.unregister(self._stderr)
            self._stderr_open = False
        self._tail += chunk
        del self._tail[: -self._limits.stderr_tail]
        self._stderr_room -= len(chunk)
        if self._stderr_room < 0:
            limit = self._limits.stderr_bytes
            raise Breakdown("flooded", f"the driver wrote more than {limit} bytes to stderr during one request")

    def rest(self) -> str:
        """Show the beginning of what came and was not asked for, or is not whole yet."""
        return self._buffer[: self._limits.stderr_tail].decode("utf-8", "replace")

    def stderr(self) -> str:
        """Show the tail of the free text that has come by now; an answer doesn't wait for it to be read."""
        self._drain_stderr()
        return self._tail.decode("utf-8", "replace")

    # ---------------------------------------------------------------------------------------- the end
    def finish(self) -> Exit:
        """
        Let a driver that has answered ``shutdown`` end by itself.

        Raises:
            Breakdown: it doesn't, or it wrote behind its last answer.
        """
        deadline = time.monotonic() + self._limits.grace_seconds
        try:
            while True:
                self._wait(deadline)
        except Breakdown as end:
            if end.kind != "exited":
                raise Breakdown(end.kind, "the driver didn't end after shutdown", self.rest()) from None
        if self._buffer:
            raise Breakdown("malformed-line", "the driver wrote behind its answer to shutdown", self.rest())
        if not self.ended(0):
            raise Breakdown("hung", "the driver closed its output after shutdown but didn't end")
        return self.end()

    def ended(self, seconds: float) -> bool:
        """Tell whether the process ends within some seconds, without taking its status: that keeps its number."""
        deadline = time.monotonic() + seconds
        while self._is_running():
            if time.monotonic() >= deadline:
                return False
            time.sleep(PAUSE)
        return True

    def _is_running(self) -> bool:
        if self._process.returncode is not None:
            return False
        if _waitid is None:
            return self._process.poll() is None
        return _waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def end(self) -> Exit:
        """End the whole group: ask, wait a little, kill; then take the leader's status."""
        if self not in _LIVE:
            return Exit.from_returncode(self._process.returncode)
        self._signal(signal.SIGTERM)
        self.ended(self._limits.grace_seconds)
        self._signal(signal.SIGKILL)
        status = self._process.wait()
        _LIVE.discard(self)  # only now: an interrupt above leaves the rest to the interpreter's exit
        self._drain_stderr()
        self._stderr_open = False
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()
        return Exit.from_returncode(status)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # nobody of the group is left; macOS says so with EPERM for a group of zombies

    def _drain_stderr(self) -> None:
        """Read what there is; a stranger that holds the pipe of an ended process open, or floods it, can't keep us."""
        self._stderr_room = self._limits.stderr_bytes
        with suppress(BlockingIOError, Breakdown):
            while self._stderr_open:
                self._read_stderr()

    def abandon(self) -> None:
        """Kill the group at once, for an interpreter that exits; a fork of it owns nothing."""
        if os.getpid() == self._owner:
            self._signal(signal.SIGKILL)
            self._process.wait()


_LIVE: set[DriverProcess] = set()
"""Processes that were started and not ended."""


def _end_all() -> None:
    for process in tuple(_LIVE):
        process.abandon()


atexit.register(_end_all)
