"""
JSON-RPC 2.0 over standard input and output, one message a line.

Each lane has a driver of its own, with its own agent and its own loop, so that none can know of another.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

from turnproof_reference.driver.driver import Driver
from turnproof_reference.driver.errors import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, ProtocolError


class Lanes:
    """
    Keep one driver for each lane.

    Args:
        make: makes a driver.
    """

    def __init__(self, make: Callable[[], Driver]) -> None:
        self._make = make
        self._drivers: dict[int, Driver] = {0: make()}

    def perform(self, lane: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """
        Perform one request on a lane; `shutdown` ends all of them.

        Returns:
            its answer.

        Raises:
            ProtocolError: when the request is not of the protocol; nothing was changed.
        """
        if lane not in self._drivers:
            self._drivers[lane] = self._make()
        driver = self._drivers[lane]
        answer = driver.perform(method, params)
        if method == "initialize" and answer is not None:
            return {**answer, "capabilities": {**answer["capabilities"], "lanes": True}}
        if method == "shutdown":
            self.close()
        return driver.observe() if answer is None else answer

    def close(self) -> None:
        """Drop the agents; nothing of them is seen again."""
        for driver in self._drivers.values():
            driver.close()


def serve(lanes: Lanes, requests: IO[bytes], answers: IO[bytes]) -> None:
    """
    Answer requests until `shutdown`, or until there are no more.

    Args:
        lanes: perform them.
        requests: UTF-8 lines.
        answers: one line each, flushed.
    """
    for line in requests:
        if not line.strip():
            continue
        answer, more = respond(lanes, line)
        answers.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        answers.flush()
        if not more:
            return
    lanes.close()


def respond(lanes: Lanes, line: bytes) -> tuple[dict[str, Any], bool]:
    """
    Perform one request.

    Returns:
        the answer, and whether further requests may follow.
    """
    identity: Any = None
    try:
        request = _parse(line)
        identity = request["id"]
        method = request["method"]
        result = lanes.perform(request["lane"], method, request["params"])
    except ProtocolError as error:
        return _error(identity, error.code, error.message), True
    except Exception as error:  # noqa: BLE001 - the runner is to see it as a fault of this driver
        sys.excepthook(type(error), error, error.__traceback__)
        return _error(identity, INTERNAL_ERROR, f"{type(error).__name__}: {error}"), True
    return {"jsonrpc": "2.0", "id": identity, "result": result}, method != "shutdown"


def _parse(line: bytes) -> Mapping[str, Any]:
    try:
        request = json.loads(line)
    except ValueError as error:
        raise ProtocolError(PARSE_ERROR, f"a request must be one line of JSON ({error})") from None
    if not isinstance(request, dict) or not isinstance(request.get("method"), str) or "id" not in request:
        raise ProtocolError(INVALID_REQUEST, "a request must be an object with 'id' and 'method'")
    params = request.get("params")
    if params is not None and not isinstance(params, dict):
        raise ProtocolError(INVALID_REQUEST, "the params of a request must be an object")
    lane = request.get("lane", 0)
    if type(lane) is not int or lane < 0:
        raise ProtocolError(INVALID_REQUEST, f"'lane' must be a whole number >= 0 (got {lane!r})")
    return {**request, "params": params or {}, "lane": lane}


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
