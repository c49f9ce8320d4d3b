"""
Make the next command of a schedule from what the rules allow now, one small choice at a time.

A ``Generator`` asks a ``pick`` function for every choice, so that Hypothesis, a byte string or a random source can
stand behind it. What is open, pending or refused is read from the machine of the rules, never decided here again.
Weights are written as repetition. Ids are short and in order of making: ``a``, ``b``, … for input, ``x1`` for contexts
of hooks and tools, ``c1`` for calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attrs import define, field

from turnproof_model import vocabulary as v
from turnproof_model.goals import goal_text
from turnproof_model.observation import GateView, Profile

T = TypeVar("T")
Pick = Callable[[Sequence[Any]], Any]

PLUGIN = v.Source("plugin", {"plugin": "t"})
LETTERS = "abdefghijklmnopqrstuvwyz"  # without c and x, which number calls and contexts

EVENTS: dict[str, tuple[str, ...]] = {
    "window": (
        *("agent/inbox/enqueue", "agent/inbox/dequeue", "agent/inbox/discard", "agent/cancel-requested"),
        *("agent/status", "agent/status", "agent/settled", "agent/error", "gate/aborted", "request"),
        *("turn/start", "turn/end", "turn/end", "step/start", "step/end", "user/message", "steering/message"),
        *("assistant/message", "tool/call", "tool/result"),
        *("gate:prompt-submit", "gate:model", "gate:turn-stopping", "gate:tool", "gate:request-error"),
    ),
    "claim": (
        *("agent/inbox/inserted", "agent/inbox/claimed", "agent/inbox/discarded", "agent/inbox/spliced"),
        *("agent/status", "agent/status", "agent/error", "gate/aborted", "request"),
        *("turn/start", "turn/end", "turn/end", "step/start", "step/end", "user/message"),
        *("assistant/message", "tool/call", "tool/result"),
        *("gate:pre-step", "gate:model", "gate:turn-stopping", "gate:tool", "gate:request-error"),
    ),
}
"""Events that an arm may wait for."""


@define
class Generator:
    """Make commands for one candidate; ``machine`` answers what is open and pending now."""

    profile: Profile
    machine: Callable[[], Any]
    pick: Pick
    made: list[v.Message] = field(factory=list)
    contexts: int = 0
    calls: int = 0
    rounds: int = 0

    @property
    def window(self) -> bool:
        """Whether the candidate is of contract ``window``."""
        return self.profile.contract == "window"

    def chance(self, one_in: int) -> bool:
        """Decide yes once in so many times; no is the simpler choice."""
        return bool(self.pick((False,) * (one_in - 1) + (True,)))

    # -------------------------------------------------------------------------------------------- messages
    def message(self, source: v.Source = v.USER) -> v.Message:
        """Make a new message."""
        n = len(self.made)
        name = LETTERS[n % len(LETTERS)] + (str(n // len(LETTERS)) if n >= len(LETTERS) else "")
        message = v.Message(name, name, source)
        self.made.append(message)
        return message

    def context(self) -> v.Message:
        """Make a context as a hook or a tool returns it."""
        self.contexts += 1
        return v.Message(f"x{self.contexts}", f"x{self.contexts}", PLUGIN)

    def some_contexts(self) -> tuple[v.Message, ...]:
        """Make none, one or two contexts; rarely one that is made already."""
        if self.made and self.chance(20):
            return (self.pick(tuple(self.made)),)
        return tuple(self.context() for _ in range(self.pick((0, 0, 0, 1, 2))))

    def sent_message(self, source: v.Source = v.USER) -> v.Message:
        """Make a message to send; now and then one that was made before."""
        if self.made and self.chance(25):
            return self.pick(tuple(self.made))  # type: ignore[no-any-return]  # pick is untyped by design
        return self.message(source)

    # -------------------------------------------------------------------------------------------- operations
    def send(self) -> v.Send:
        """Send something over the whole matrix of target and wakeup."""
        how = self.pick(("followup", "followup", "steer", "steer", "inject", "inject", "send", "quiet", "goal"))
        if how == "goal":
            return self.goal_message()
        if how == "inject":
            return v.inject(self.sent_message(PLUGIN))
        if how == "quiet":
            return v.Send(self.sent_message(), "next-turn", wakeup=False)
        if how == "send":
            target = self.pick(("next-turn", "next-step"))
            return v.Send(self.sent_message(), target, wakeup=self.pick((True, False)))
        return v.followup(self.sent_message()) if how == "followup" else v.steer(self.sent_message())

    def goal_message(self) -> v.Send:
        """Send a goal's state change or a continuation round; rarely one that disagrees with itself."""
        if not self.profile.has("goal"):
            return v.inject(self.sent_message(PLUGIN))
        if self.chance(3):
            self.rounds += 1
            return v.followup(self.message(v.Source("goal", {"round": self.rounds})))
        change = {"objective": self.pick(("ship", "rest"))}
        message = self.message(v.Source("goal", {"round": 0, "change": change}))
        text = "goal {}" if self.chance(6) else goal_text(change)
        self.made[-1] = v.Message(message.id, text, message.source)
        return v.inject(self.made[-1])

    def cancel(self) -> v.Cancel:
        """Cancel, with and without keeping the inbox."""
        keep = self.profile.has("keepInbox") and self.pick((False, True))
        return v.Cancel(self.pick(("user", "user", "parent")), keep_inbox=keep)

    def edit(self) -> v.Operation:
        """Edit the inbox (claim)."""
        kinds = [kind for kind in ("remove", "replace", "prepend") if self.profile.has(f"inbox.{kind}")]
        if not kinds or not self.made:
            return self.send()
        kind = self.pick(tuple(kinds))
        if kind == "prepend":
            return v.Prepend(self.pick(("next-turn", "next-step")), self.sent_message())
        target = self.pick(self._pending() or tuple(m.id for m in self.made))
        return v.Remove(target) if kind == "remove" else v.Replace(target, self.sent_message())

    def _pending(self) -> tuple[str, ...]:
        inbox = self.machine().observation().inbox
        return () if inbox is None else inbox.next_turn + inbox.next_step

    def reference(self) -> v.Operation:
        """Send a prompt with a snapshot of another session."""
        if not self.profile.has("reference"):
            return self.send()
        return v.Reference(self.message(), self.message(v.Source("session", {"session": "s0"})))

    def small_op(self) -> v.Operation:
        """Make an operation for a stack or an event."""
        kinds = ["send"] * 20 + ["cancel"] * 10 + ["release"] * 4
        kinds += ["edit"] * 4 * (not self.window) + ["dispose"] * self.profile.has("dispose")
        kinds += ["reference"] * 2 * self.profile.has("reference")
        match self.pick(tuple(kinds)):
            case "cancel":
                return self.cancel()
            case "release":
                return self.release() or self.send()
            case "edit":
                return self.edit()
            case "dispose":
                return v.Dispose()
            case "reference":
                return self.reference()
            case _:
                return self.send()

    def batch(self) -> v.Batch:
        """Put two to four operations into one stack."""
        ops: list[v.Operation] = []
        released: set[str | None] = set()
        for _ in range(self.pick((2, 2, 3, 4))):
            op = self.small_op()
            if isinstance(op, v.Release):
                if op.gate in released:
                    continue
                released.add(op.gate)
            ops.append(op)
        return v.Batch(tuple(ops))

    def arm(self) -> v.Arm:
        """Arm one or two operations on an event."""
        ops = tuple(self.small_op() for _ in range(self.pick((1, 1, 1, 2))))
        on = self.pick(EVENTS[self.profile.contract])
        where: dict[str, object] = {}
        if on == "agent/status" and self.profile.has("arm.where"):
            where = {"status": self.pick(("idle", "running"))}
        defer = self.pick((0, 0, 0, 0, 1, 2, 3)) if self.profile.has("arm.defer") else 0
        return v.Arm(on, ops, where, self.pick((1, 1, 1, 2)), defer)

    def resume(self) -> v.Resume:
        """Go on over the log so far."""
        modes = ["crash", "crash", "clean", *(mode for mode in ("fork", "compact") if self.profile.has(mode))]
        return v.Resume(self.pick(tuple(modes)))

    def reset(self) -> v.Reset:
        """Begin a schedule: which kinds are gated, and which of them ignore an abort."""
        contract = self.profile.contract
        usual = v.TURN_GATES[contract]
        extra = [kind for kind in v.OPTIONAL_GATES[contract] if self.window and self.profile.has(_optional(kind))]
        gates: tuple[v.GateKind, ...] | None = None
        if self.profile.has("gates.select"):
            gates = self.pick((None, None, (*usual, *extra), (*usual, *extra[-1:]), ("model", "tool"), usual[:3]))
        parked: dict[v.GateKind, v.AbortStyle] = {}
        if self.profile.has("onAbort.select"):
            for kind in usual + tuple(kind for kind in extra if kind != "flush"):
                if self.chance(4):
                    parked[kind] = "park"
        return v.Reset(gates, parked)

    # -------------------------------------------------------------------------------------------- outcomes
    def release(self) -> v.Release | None:
        """Settle one of the open gates, or nothing if there is none."""
        gates = tuple(gate.view for gate in self.machine().gates)
        if not gates:
            return None
        gate = self.pick(gates)
        return v.Release(self.outcome(gate), gate=gate.id)

    def outcome(self, gate: GateView) -> v.Outcome:
        """Make an outcome that the gate takes; the default one most often."""
        match gate.kind:
            case "prompt-submit":
                return self._admission()
            case "pre-step":
                return self._pre_step(gate)
            case "model":
                return self._model()
            case "tool":
                return self._tool()
            case "request-error":
                return self.pick((v.Retry(), v.Retry(), v.GiveUp(), v.Throw()))  # type: ignore[no-any-return]
            case "flush":
                return self.pick((v.Ok(), v.Ok(), v.Ok(), v.Fail()))  # type: ignore[no-any-return]
            case "step" | "turn-stopping":
                return self.pick((*[v.Continue()] * 8, v.Throw()))  # type: ignore[no-any-return]

    def _admission(self) -> v.Outcome:
        match self.pick(("allow", "allow", "allow", "change", "block", "throw")):
            case "allow":
                return v.Allow()
            case "change":
                content = "changed" if self.profile.has("prompt.content") and self.chance(2) else None
                return v.Allow(content, self.some_contexts() if self.profile.has("prompt.contexts") else ())
            case "block":
                return v.Block(self.some_contexts() if self.profile.has("prompt.contexts") else ())
            case _:
                return v.Throw()

    def _pre_step(self, gate: GateView) -> v.Outcome:
        match self.pick(("enter",) * 6 + ("change", "change", "empty", "reject", "throw")):
            case "change":
                kept: list[v.Message | str] = [name for name in gate.claimed or () if self.pick((True, True, False))]
                kept.extend(self.context() for _ in range(self.pick((0, 1, 2))))
                return v.Enter(tuple(kept))
            case "empty":
                return v.Enter(())
            case "reject":
                return v.Reject()
            case "throw":
                return v.Throw()
            case _:
                return v.Enter()

    def _model(self) -> v.Outcome:
        match self.pick(("text",) * 5 + ("tools",) * 5 + ("max-tokens", "max-tokens", "error", "error", "partial")):
            case "tools":
                return v.Tools(self._calls(1))
            case "max-tokens":
                return v.MaxTokens("reply", self._calls(0) if self.chance(3) else ())
            case "error":
                return v.Error()
            case "partial" if self.profile.has("model.partial"):
                return v.Partial("p")
            case _:
                return v.Text()

    def _calls(self, fewest: int) -> tuple[v.Call, ...]:
        names = [*(["par"] * 4 if self.profile.has("tools.parallel") else []), "exc", "exc", "nope"]
        calls: list[v.Call] = []
        for _ in range(self.pick((1, 1, 2, 2, 3)) if fewest else self.pick((0, 1, 2))):
            self.calls += 1
            calls.append(v.Call(f"c{self.calls}", self.pick(tuple(names))))
        return tuple(calls)

    def _tool(self) -> v.Outcome:
        contexts = self.some_contexts() if self.profile.has("tool.contexts") else ()
        concludes = self.profile.has("tool.concludes") and self.chance(6)
        if self.chance(5):
            return v.Error(None, contexts, concludes)
        return v.Result(contexts, concludes)


def _optional(kind: v.GateKind) -> str:
    """Name the capability behind an optional gate."""
    return {"step": "step-gate", "flush": "flush"}[kind]
