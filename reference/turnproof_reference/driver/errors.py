"""What the runner is told when it breaks the protocol; a refusal by the agent is another thing, and no error."""

from __future__ import annotations

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class ProtocolError(Exception):
    """
    Tell the runner that it broke the protocol; nothing was changed.

    Args:
        code: of JSON-RPC 2.0.
        message: what must hold, what came, what to do.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def bad_params(subject: str, wanted: str, got: object) -> ProtocolError:
    """Answer the error for a parameter of another shape."""
    return ProtocolError(INVALID_PARAMS, f"{subject} must be {wanted} (got {got!r}); see the driver protocol")
