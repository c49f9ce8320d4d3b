"""Contract `window` behind the driver protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from turnproof_reference.compaction import compact
from turnproof_reference.driver.adapter import Adapter, Candidate, Operator, Params
from turnproof_reference.driver.gates import GateKind, Outcome
from turnproof_reference.driver.outcomes import (
    Reader,
    ScriptedError,
    messages,
    read_continue,
    text_of,
    unknown_outcome,
)
from turnproof_reference.driver.projection import Accepted
from turnproof_reference.driver.record import WireEvent
from turnproof_reference.driver.world import World
from turnproof_reference.events import Event
from turnproof_reference.hooks import Next
from turnproof_reference.model import BeforeStep
from turnproof_reference.session import Session
from turnproof_reference.window.agent import Agent
from turnproof_reference.window.decision import PromptDecision, PromptSubmit
from turnproof_reference.window.events import (
    CancelRequested,
    Dequeued,
    Discarded,
    Enqueued,
    Settled,
    SteeringMessage,
)

CAPABILITIES = (
    "batch", "arm", "arm.defer", "arm.where", "gates.select", "onAbort.select", "inbox", "acceptsNextStep", "whenIdle",
    "keepInbox", "dispose", "resume", "fork", "compact", "flush", "step-gate", "request-error", "model.partial",
    "tools.parallel", "tools.exclusive", "tool.contexts", "tool.concludes", "prompt.content", "prompt.contexts",
    "sessionReentry", "goal", "reference",
)  # fmt: skip


class WindowAdapter(Adapter):
    """Drive the reference agent of contract `window`."""

    contract: ClassVar[str] = "window"
    default_gates: ClassVar[tuple[str, ...]] = ("prompt-submit", "model", "tool", "turn-stopping", "request-error")
    capabilities: ClassVar[Mapping[str, bool]] = dict.fromkeys(CAPABILITIES, True)

    def kinds(self, accept: Reader) -> dict[str, GateKind]:
        """Answer the gates of this contract by name."""
        return {
            "prompt-submit": GateKind({"kind": "allow"}, lambda outcome: _read_decision(outcome, accept)),
            "step": GateKind({"kind": "continue"}, read_continue("step")),
            **super().kinds(accept),
        }

    def start(self, world: World, session: Session) -> Agent:
        """Build the agent on a session."""
        build: type[Agent] = Agent if self.fault is None else self.fault.agent
        agent = build(world.model, tools=world.tools, checkpoint=world.checkpoint, session=session, loop=world.loop)
        hooks = _Hooks(world)
        agent.prompt_submit.add(hooks.prompt_submit)
        agent.before_step.add(hooks.before_step)
        agent.turn_stopping.add(world.turn_stopping)
        agent.request_error.add(world.request_error)
        agent.publisher.subscribe(world.hear)
        return agent

    def position(self, agent: Candidate) -> Mapping[str, Any]:
        """Answer window and inbox."""
        here = cast("Agent", agent)
        queued, staged = here.pending()
        inbox: dict[str, Any] = {
            "nextTurn": [message.id for message in queued],
            "nextStep": [message.id for message, _kind in staged],
        }
        if staged:
            inbox["nextStepKinds"] = [kind for _message, kind in staged]
        return {"acceptsNextStep": here.accepts_next_step, "inbox": inbox}

    def operations(self) -> Mapping[str, Operator]:
        """Answer the operation `reference`."""
        return {"reference": _reference}

    def project(self, event: Event, accepted: Accepted) -> WireEvent:
        """Answer the wire form of an event."""
        wire = super().project(event, accepted)
        match event:
            case Enqueued() | Dequeued():
                wire |= {"id": event.message.id, "placement": event.placement}
            case Discarded():
                wire["ids"] = [message.id for message in event.messages]
            case SteeringMessage():
                wire |= {"turn": event.turn, "id": event.message.id, **accepted.text(event.message)}
            case CancelRequested():
                wire["cause"] = event.cause
            case Settled():
                wire |= {"turn": event.turn, "reason": event.reason}
            case _:
                pass
        return wire

    def resumed(self, session: Session, mode: str, new_id: str) -> Session:
        """Answer the session that the next agent goes on with."""
        session = super().resumed(session, mode, new_id)
        return compact(session) if mode == "compact" else session


class _Hooks:
    """Answer the agent's questions as the runner says."""

    def __init__(self, world: World) -> None:
        self._ask = world.gates.ask

    def prompt_submit(self, question: PromptSubmit, _next: Next[PromptDecision]) -> asyncio.Future[PromptDecision]:
        return self._ask("prompt-submit", {"message": question.message.id}, question.signal)

    def before_step(self, question: BeforeStep, _next: Next[None]) -> asyncio.Future[None]:
        return self._ask("step", {"turn": question.turn, "step": question.step}, question.signal)


def _reference(world: World, params: Params) -> None:
    prompt, snapshot = world.accept(params.get("message")), world.accept(params.get("snapshot"))
    cast("Agent", world.agent).reference(prompt, snapshot)


def _read_decision(outcome: Outcome, accept: Reader) -> PromptDecision | Exception:
    """Read what is decided about a prompt."""
    kind = outcome.get("kind")
    if kind == "throw":
        return ScriptedError("scripted prompt-submit failure")
    if kind not in {"allow", "block"}:
        raise unknown_outcome("prompt-submit", outcome, "allow", "block", "throw")
    contexts = messages(outcome.get("additionalContexts"), accept)
    content = text_of(outcome, field="content") if "content" in outcome else None
    return PromptDecision(kind == "allow", content, contexts)
