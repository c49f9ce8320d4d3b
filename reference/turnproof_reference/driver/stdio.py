"""JSON-RPC 2.0 over standard input and output, one message a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import IO, Any

from turnproof_reference.driver.driver import Driver
from turnproof_reference.driver.errors import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, ProtocolError


def serve(driver: Driver, requests: IO[bytes], answers: IO[bytes]) -> None:
    """
    Answer requests until `shutdown`, or until there are no more.

    Args:
        driver: performs them.
        requests: UTF-8 lines.
        answers: one line each, flushed.
    """
    for line in requests:
        if not line.strip():
            continue
        answer, more = respond(driver, line)
        answers.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        answers.flush()
        if not more:
            return
    driver.close()


def respond(driver: Driver, line: bytes) -> tuple[dict[str, Any], bool]:
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
        result = driver.perform(method, request["params"])
        if result is None:
            result = driver.observe()
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
    return {**request, "params": params or {}}


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
