"""The `claim` agent behind the driver protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from turnproof_reference.claim.agent import Agent
from turnproof_reference.claim.decisions import Decision, Enter, PreStep, Reject
from turnproof_reference.claim.events import InboxSpliced, MessageClaimed, MessageDiscarded, MessageInserted
from turnproof_reference.driver.adapter import Adapter, Candidate, Operator, Params
from turnproof_reference.driver.errors import bad_params
from turnproof_reference.driver.gates import GateKind, Outcome
from turnproof_reference.driver.outcomes import Reader, ScriptedError, messages, unknown_outcome
from turnproof_reference.driver.projection import Accepted, project
from turnproof_reference.events import Event
from turnproof_reference.hooks import Next
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN
from turnproof_reference.session import Session

if TYPE_CHECKING:
    from turnproof_reference.driver.record import WireEvent
    from turnproof_reference.driver.world import World

OFFERED: Final = (
    *("batch", "arm", "arm.defer", "arm.where", "gates.select", "onAbort.select", "inbox", "whenIdle", "keepInbox"),
    *("dispose", "resume", "fork", "flush", "request-error", "model.partial", "tools.parallel", "tools.exclusive"),
    *("tool.contexts", "tool.concludes", "inbox.remove", "inbox.replace", "inbox.prepend", "goal", "reference"),
)
DECLINED: Final = ("acceptsNextStep", "compact", "step-gate", "prompt.content", "prompt.contexts", "sessionReentry")


class ClaimAdapter(Adapter):
    """Build the `claim` agent around the gates of a world."""

    contract: ClassVar[str] = "claim"
    default_gates: ClassVar[tuple[str, ...]] = ("pre-step", "model", "tool", "turn-stopping", "request-error")
    capabilities: ClassVar[Mapping[str, bool]] = {**dict.fromkeys(OFFERED, True), **dict.fromkeys(DECLINED, False)}

    def kinds(self, accept: Reader) -> dict[str, GateKind]:
        """Answer the gates of this contract by name."""
        pre_step = GateKind({"kind": "enter"}, lambda outcome: read_pre_step(outcome, accept))
        return {"pre-step": pre_step, **super().kinds(accept)}

    def start(self, world: World, session: Session) -> Candidate:
        """
        Build the agent on a session.

        The checkpoint policy counts as installed where its gate is chosen.
        """
        made: type[Agent] = Agent if self.fault is None else self.fault.agent
        checkpoint = world.checkpoint if "flush" in world.gated else None
        agent = made(session, world.model, world.tools, checkpoint, world.loop)
        agent.events.subscribe(world.hear)
        agent.request_error.add(world.request_error)
        agent.turn_stopping.add(world.turn_stopping)

        async def decide(question: PreStep, inner: Next[Decision]) -> Decision:
            claimed = [message.id for message in question.claimed]
            info = {"turn": question.turn, "step": question.step, "claimed": claimed}
            decision: Decision | None = await world.gates.ask("pre-step", info, question.signal)
            return await inner() if decision is None else decision

        agent.pre_step.add(decide)
        return agent

    def position(self, agent: Candidate) -> Mapping[str, Any]:
        """Answer what waits; the contract has no acceptance window."""
        assert isinstance(agent, Agent)
        inbox = agent.inbox
        return {
            "acceptsNextStep": None,
            "inbox": {
                "nextTurn": [message.id for message in inbox.next_turn],
                "nextStep": [message.id for message in inbox.next_step],
            },
        }

    def operations(self) -> Mapping[str, Operator]:
        """Answer the edits of the inbox and the delivery with a reference."""
        return {"remove": _remove, "replace": _replace, "prepend": _prepend, "reference": _reference}

    def project(self, event: Event, accepted: Accepted) -> WireEvent:
        """Answer the wire form of an event."""
        wire = project(event, accepted)
        match event:
            case InboxSpliced():
                wire |= {"target": event.target, "start": event.start, "removedCount": event.removed_count}
                wire["inserted"] = [message.id for message in event.inserted]
                if event.outcome is not None:
                    wire["outcome"] = event.outcome
            case MessageInserted() | MessageDiscarded():
                wire["id"] = event.message.id
            case MessageClaimed():
                wire |= {"id": event.message.id, "turn": event.turn}
            case _:
                pass
        return wire


def read_pre_step(outcome: Outcome, accept: Reader) -> Decision | ScriptedError | None:
    """Read a decision; None enters what was claimed."""
    match outcome.get("kind"):
        case "enter":
            batch = outcome.get("messages")
            return None if batch is None else Enter(messages(batch, accept.named))
        case "reject":
            return Reject()
        case "throw":
            return ScriptedError("scripted pre-step failure")
        case _:
            raise unknown_outcome("pre-step", outcome, "enter", "reject", "throw")


def _agent(world: World) -> Agent:
    assert isinstance(world.agent, Agent)
    return world.agent


def _id(params: Params) -> str:
    message_id = params.get("id")
    if not isinstance(message_id, str):
        raise bad_params("id", "a string", message_id)
    return message_id


def _remove(world: World, params: Params) -> dict[str, Any]:
    return {"answer": _agent(world).inbox.remove(_id(params))}


def _replace(world: World, params: Params) -> dict[str, Any]:
    return {"answer": _agent(world).inbox.replace(_id(params), world.accept(params.get("message")))}


def _prepend(world: World, params: Params) -> None:
    target = params.get("target")
    if target not in {NEXT_TURN, NEXT_STEP}:
        raise bad_params("target", "'next-turn' or 'next-step'", target)
    _agent(world).inbox.prepend(target, world.accept(params.get("message")))


def _reference(world: World, params: Params) -> None:
    _agent(world).reference(world.accept(params.get("message")), world.accept(params.get("snapshot")))
