"""
Record what an agent does under random schedules, and write it down in every format that a check reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, TypeAlias

from attrs import define, field

from turnproof.check.convert import traces_of
from turnproof.check.lines import Lines
from turnproof.check.sessions import Exchange
from turnproof.engine import Engine
from turnproof.trial import Asks, Trial
from turnproof_model import events as e
from turnproof_model.observation import Observation, Profile
from turnproof_model.vocabulary import Command, Contract, Resume
from turnproof_model.wire import to_wire

Document: TypeAlias = list[dict[str, Any]]
"""The lines of a log as JSON objects, its header first."""


@define
class Recorder:
    """Be a client that writes down what another one is asked and answers."""

    client: Asks
    exchanges: list[Exchange] = field(factory=list)

    def initialize(self) -> Profile:
        """Open the conversation."""
        return self.client.initialize()

    def ask(self, request: Command) -> Observation:
        """Perform one request."""
        observation = self.client.ask(request)
        self.exchanges.append(Exchange(len(self.exchanges) + 2, request, observation))
        return observation


def recorded(client: Asks, contract: Contract, schedules: Sequence[bytes]) -> Iterator[tuple[Profile, list[Exchange]]]:
    """
    Play schedules on an agent, and give the exchanges of each.

    Args:
        client: of the agent.
        contract: that the agent must declare.
        schedules: bytes that are read as choices; see ``turnproof.engine``.

    Raises:
        ValueError: the agent declares another contract.
        DriverFault: its driver broke down.
    """
    recorder = Recorder(client)
    trial = Trial.open(recorder, contract)
    for data in schedules:
        recorder.exchanges = []
        Engine(trial, lambda _: True, 1 << 60).play(data)
        yield trial.profile, recorder.exchanges


# ------------------------------------------------------------------------------------------------ writing
def as_session(profile: Profile, exchanges: Sequence[Exchange]) -> Document:
    """Write a driver session."""
    opened = {"request": {"method": "initialize", "params": {"protocol": 1}}, "observation": to_wire(profile)}
    return [opened, *({"request": to_wire(x.command), "observation": to_wire(x.observation)} for x in exchanges)]


def as_trace(profile: Profile, exchanges: Sequence[Exchange]) -> Document:
    """Write a trace; empty where nothing happened in the schedule."""
    lines = Lines(BytesIO(text_of(as_session(profile, exchanges))))
    return next(([json.loads(line) for line in trace.lines()] for trace in traces_of(lines)), [])


def as_log(profile: Profile, exchanges: Sequence[Exchange], *, numbered: bool) -> Document:
    """
    Write a session log of the durable events, up to a resume that cuts the agent off or rewrites its log.

    Args:
        profile: of the agent.
        exchanges: of one schedule.
        numbered: whether each event has its sequence number.
    """
    header = {"type": "session", "version": 1, "contract": profile.contract, "id": "recorded"}
    return [header, *_numbered(_durable(exchanges), numbered=numbered)]


def _durable(exchanges: Sequence[Exchange]) -> Iterator[dict[str, Any]]:
    for exchange in exchanges:
        if isinstance(exchange.command, Resume) and exchange.command.mode != "clean":
            return
        for event in exchange.observation.events:
            if event.kind == "session":
                yield {"type": event.type, "data": _data(event)}


def _numbered(lines: Iterator[dict[str, Any]], *, numbered: bool) -> Iterator[dict[str, Any]]:
    for seq, line in enumerate(lines):
        yield {"type": line["type"], "seq": seq, "data": line["data"]} if numbered else line


def _data(event: e.Event) -> dict[str, Any]:
    """Lay an event out as a session log does."""
    place = {name: getattr(event, name) for name in ("turn", "step") if hasattr(event, name)}
    match event:
        case e.TurnStart(trigger=trigger) if trigger is not None:
            return {**place, "trigger": {"kind": trigger}}
        case e.TurnEnd(reason=reason):
            return {**place, "reason": {"kind": reason}}
        case e.UserMessage(name, source):
            return _message(name, source or "user")
        case e.SteeringMessage(id=name):
            return {**place, "message": _message(name, "user")}
        case e.AssistantMessage(tool_calls=calls):
            blocks = [{"type": "tool-call", "id": call, "name": "tool", "arguments": ""} for call in calls]
            return {**place, "message": {"role": "assistant", "content": blocks}}
        case e.ToolCall(call):
            return {"callId": call}
        case e.ToolResult(call, failed, code):
            block = {"type": "tool-result", "toolCallId": call, "content": [], "isError": failed}
            error = {} if code is None else {"error": {"code": code}}
            return {"message": {"role": "user", "content": [block]}, **error}
        case e.Spliced(target, start, removed, inserted, outcome):
            put = [_message(name, None) for name in inserted]
            canceled = {} if outcome is None else {"outcome": outcome}
            return {"target": target, "start": start, "removedCount": removed, "inserted": put, **canceled}
        case _:
            return place


def _message(name: str, source: str | None) -> dict[str, Any]:
    """Lay a message out; an observation doesn't show the source of what waits."""
    message = {"id": name, "role": "user", "content": [{"type": "text", "text": name}]}
    return message if source is None else {**message, "source": {"kind": source}}


def text_of(document: Document) -> bytes:
    """Write a document as JSON Lines."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in document)
