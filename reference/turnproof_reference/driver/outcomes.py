"""
Outcomes of gates: from what the runner writes to what the agent awaits.

Each reader takes the object from the wire and answers a value, or an exception for the agent to find there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from turnproof_reference.driver.errors import ProtocolError, bad_params
from turnproof_reference.driver.gates import PARK, GateKind, Outcome
from turnproof_reference.driver.projection import Accepted
from turnproof_reference.events import ABORTED
from turnproof_reference.messages import Message, MessageError, ToolCall
from turnproof_reference.model import Finish, ModelError, Recovery, Reply
from turnproof_reference.tools import ToolOutcome

DEFAULT_TEXT = "reply"


class ScriptedError(Exception):
    """Be the failure that the runner asked for."""


@dataclass(frozen=True, slots=True)
class Partial:
    """Stream some text and go on waiting."""

    text: str


def message(params: Any) -> Message:
    """
    Read a message from the wire.

    Raises:
        ProtocolError: when it has another shape.
    """
    if not isinstance(params, Mapping):
        raise bad_params("message", "an object {id, text, source}", params)
    try:
        return Message(params["id"], params.get("text", ""), params.get("source", {"kind": "user"}))
    except KeyError:
        raise bad_params("message", "an object with an 'id'", dict(params)) from None
    except MessageError as error:
        raise bad_params("message", str(error), dict(params)) from None


class Reader:
    """
    Read messages from the wire.

    Args:
        accepted: remembers what was read.
    """

    __slots__ = ("_accepted",)

    def __init__(self, accepted: Accepted) -> None:
        self._accepted = accepted

    def __call__(self, wire: Any) -> Message:
        """
        Read a message and remember it as accepted.

        Raises:
            ProtocolError: when it has another shape.
        """
        accepted = message(wire)
        self._accepted.remember(accepted)
        return accepted

    def named(self, wire: Any) -> Message:
        """
        Read a message, or the id of one that was accepted before.

        Raises:
            ProtocolError: when it is neither.
        """
        if not isinstance(wire, str):
            return self(wire)
        known = self._accepted.recall(wire)
        if known is None:
            raise bad_params("message", "an object, or the id of a message that was sent before", wire)
        return known


def messages(values: Any, read: Callable[[Any], Message]) -> tuple[Message, ...]:
    """Read a list of messages; absent counts as empty."""
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise bad_params("messages", "a list", values)
    return tuple(read(value) for value in values)


def text_of(outcome: Outcome, default: str = "", *, field: str = "text") -> str:
    """Read a text of an outcome."""
    text = outcome.get(field, default)
    if not isinstance(text, str):
        raise bad_params(field, "a string", text)
    return text


def unknown_outcome(gate: str, outcome: Outcome, *legal: str) -> ProtocolError:
    """Answer the error for a kind of outcome that the gate doesn't take."""
    return bad_params(f"outcome of a {gate} gate", f"of kind {', '.join(legal)}", outcome.get("kind"))


def read_model(outcome: Outcome) -> Reply | Partial | Exception:
    """Read what a model does."""
    kind = outcome.get("kind")
    if kind == "text":
        return Reply(text_of(outcome, DEFAULT_TEXT))
    if kind == "tools":
        return Reply(text_of(outcome), _calls(outcome), Finish.TOOL_CALLS)
    if kind == "max-tokens":
        return Reply(text_of(outcome, DEFAULT_TEXT), _calls(outcome), Finish.MAX_TOKENS)
    if kind == "error":
        return ModelError(str(outcome.get("message", "scripted model failure")))
    if kind == "partial":
        return Partial(text_of(outcome, DEFAULT_TEXT))
    raise unknown_outcome("model", outcome, "text", "tools", "max-tokens", "error", "partial")


def read_recovery(outcome: Outcome) -> Recovery | Exception:
    """Read what is done about a failed request."""
    if outcome.get("kind") == "throw":
        return ScriptedError("scripted request-error failure")
    try:
        return Recovery(outcome.get("kind"))
    except ValueError:
        raise unknown_outcome("request-error", outcome, "give-up", "retry", "throw") from None


def read_tool(outcome: Outcome, read: Callable[[Any], Message] = message) -> ToolOutcome:
    """Read what a tool answers."""
    kind = outcome.get("kind")
    if kind not in {"result", "error"}:
        raise unknown_outcome("tool", outcome, "result", "error")
    return ToolOutcome(
        text_of(outcome, str(kind)),
        is_error=kind == "error",
        contexts=messages(outcome.get("additionalContexts"), read),
        concludes=bool(outcome.get("concludes")),
    )


def read_continue(gate: str, proceed: str = "continue", failure: str = "throw") -> Callable[[Outcome], Any]:
    """Answer the reader of a gate that only goes on or fails."""

    def read(outcome: Outcome) -> Any:
        if outcome.get("kind") == proceed:
            return None
        if outcome.get("kind") == failure:
            return ScriptedError(f"scripted {gate} failure")
        raise unknown_outcome(gate, outcome, proceed, failure)

    return read


def shared_kinds(read: Callable[[Any], Message]) -> dict[str, GateKind]:
    """
    Answer the gates that both contracts have.

    Args:
        read: reads a message from the wire and remembers it as accepted.
    """
    return {
        "model": GateKind({"kind": "text"}, read_model),
        "tool": GateKind({"kind": "result"}, lambda outcome: read_tool(outcome, read), _stopped),
        "request-error": GateKind({"kind": "give-up"}, read_recovery, lambda: Recovery.GIVE_UP),
        "turn-stopping": GateKind({"kind": "continue"}, read_continue("turn-stopping")),
        "flush": GateKind({"kind": "ok"}, read_continue("flush", "ok", "fail"), on_abort=PARK),
    }


def _stopped() -> ToolOutcome:
    return ToolOutcome("stopped", is_error=True, code=ABORTED)


def _calls(outcome: Outcome) -> tuple[ToolCall, ...]:
    calls = outcome.get("calls", ())
    if not isinstance(calls, list | tuple):
        raise bad_params("calls", "a list of {id, name}", calls)
    return tuple(_call(call) for call in calls)


def _call(call: Any) -> ToolCall:
    if not isinstance(call, Mapping) or not isinstance(call.get("id"), str) or not isinstance(call.get("name"), str):
        raise bad_params("call", "an object {id, name} of strings", call)
    return ToolCall(call["id"], call["name"])
