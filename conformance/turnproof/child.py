"""
Speak JSON-RPC 2.0 to a driver in a child process, one message a line::

    {"jsonrpc":"2.0","id":3,"method":"cancel","params":{"cause":"user"}}
    {"jsonrpc":"2.0","id":3,"result":{"events":[],"gates":[],"status":"idle",...}}

A request to another lane than 0 names it beside its method: ``"lane":1``. Answers come in the order of the requests and
are read strictly: anything that is not the one expected line is a fault, also when it comes late, since the next
request then finds it in place of its answer.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from turnproof.client import Conversation
from turnproof.faults import Breakdown, Exit, RpcError, UsageError
from turnproof.limits import DEFAULT_LIMITS, Limits
from turnproof.process import DriverProcess
from turnproof_model.wire import shorten


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_decode = json.JSONDecoder(parse_constant=_no_constant).decode


class ChildClient(Conversation):
    """
    Hold a conversation with a driver in a child process.

    Close it, or use it in a ``with`` statement; what is left is ended when the interpreter exits.

    Args:
        argv: its command line.
        cwd: where it runs; ``None`` is here.
        env: variables set on top of the inherited ones.
        limits: see ``Limits``.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(limits)
        self._argv = tuple(argv)
        self._cwd = cwd
        self._env = dict(env or {})
        self._process: DriverProcess | None = None
        self._run_deadline: float | None = None
        self._id = 0
        self._due: deque[tuple[int, float, float]] = deque()  # (id, when sent, seconds it may take)
        self._free_since = 0.0

    def _begin(self) -> None:
        if self._run_deadline is None and self._limits.run_seconds is not None:
            self._run_deadline = time.monotonic() + self._limits.run_seconds
        self._id = 0
        self._due.clear()
        self._free_since = 0.0
        self._process = None
        self._process = DriverProcess(self._argv, self._cwd, self._env, self._limits)

    def _send(self, method: str, params: Mapping[str, Any], lane: int) -> None:
        assert self._process is not None
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        if lane:
            request["lane"] = lane
        try:
            line = f"{_encode(request)}\n".encode()
        except (TypeError, ValueError) as error:
            raise UsageError(f"params of {method!r} must be JSON ({error})") from error
        now, seconds = time.monotonic(), self._seconds(method)
        self._due.append((self._id, now, seconds))
        self._process.send(line, self._deadline(now + seconds))

    def _receive(self) -> Any:
        """Receive the next answer; the time of a request runs when the driver has answered the one before."""
        assert self._process is not None
        number, sent, seconds = self._due.popleft()
        line = self._process.receive(self._deadline(max(sent, self._free_since) + seconds))
        if self._due:
            self._free_since = time.monotonic()
        return read_answer(line, number)

    def _seconds(self, method: str) -> float:
        match method:
            case "initialize":
                return self._limits.start_seconds
            case "shutdown":
                return self._limits.grace_seconds
            case _:
                return self._limits.request_seconds

    def _deadline(self, due: float) -> float:
        return due if self._run_deadline is None else min(due, self._run_deadline)

    def _finish(self) -> Exit:
        assert self._process is not None
        return self._process.finish()

    def _end(self) -> Exit | None:
        if self._process is None:
            return None
        by_itself = self._process.ended(0)
        ended = self._process.end()
        return ended if by_itself else None

    def _testimony(self) -> str:
        return "" if self._process is None else self._process.stderr()


def read_answer(line: bytes, expected: int) -> Any:
    """
    Read one line as the answer to a request.

    Args:
        line: what came, without its line feed.
        expected: id of the request.

    Returns:
        The raw result, or the ``RpcError`` that came instead.

    Raises:
        Breakdown: the line is not JSON, not JSON-RPC 2.0, or answers another request.
    """
    try:
        answer = _decode(line.decode())
        if b"\\u" in line:
            _encode(answer).encode()  # half a surrogate pair is JSON, but no text
    except (ValueError, RecursionError) as error:
        raise Breakdown(
            "malformed-line", f"an answer must be a line of JSON ({shorten(error)})", _show(line)
        ) from error
    if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0" or ("result" in answer) == ("error" in answer):
        message = "an answer must be a JSON-RPC 2.0 object with either a result or an error"
        raise Breakdown("not-json-rpc", message, _show(line))
    number = answer.get("id")
    if type(number) is not int or number != expected:
        message = f"an answer must carry the id of its request, {expected} (got {shorten(number)})"
        raise Breakdown("wrong-id", message, _show(line))
    return answer["result"] if "result" in answer else _read_error(answer["error"], line)


def _read_error(error: Any, line: bytes) -> RpcError:
    if isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str):
        return RpcError(error["code"], error["message"])
    raise Breakdown("not-json-rpc", "an error must carry a whole-number code and a message", _show(line))


def _show(line: bytes, limit: int = 2000) -> str:
    text = line[:limit].decode("utf-8", "replace")
    return text if len(line) <= limit else f"{text}… ({len(line)} bytes)"
