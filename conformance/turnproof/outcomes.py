"""
Make the outcome of an open gate: the default one most often, else any that the gate takes.
"""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.making import Maker
from turnproof_model import vocabulary as v
from turnproof_model.observation import GateView

PLAIN: Mapping[str, v.Outcome] = {
    outcome.kind: outcome for outcome in (v.Retry(), v.GiveUp(), v.Throw(), v.Ok(), v.Fail(), v.Continue())
}
"""Outcomes that bring nothing along, by the option of the same name."""


def outcome(make: Maker, gate: GateView) -> v.Outcome:
    """Make an outcome that the gate takes."""
    match gate.kind:
        case "prompt-submit":
            return _admission(make)
        case "pre-step":
            return _pre_step(make, gate)
        case "model":
            return _reply(make)
        case "tool":
            return _result(make)
        case "request-error":
            return PLAIN[make.choose("request-error")]
        case "flush":
            return PLAIN[make.choose("flush")]
        case "step" | "turn-stopping":
            return PLAIN[make.choose("stopping")]


def _admission(make: Maker) -> v.Outcome:
    contexts = make.profile.has("prompt.contexts")
    match make.choose("admission"):
        case "change":
            content = "changed" if make.profile.has("prompt.content") and make.chance(2) else None
            return v.Allow(content, make.some_contexts() if contexts else ())
        case "block":
            return v.Block(make.some_contexts() if contexts else ())
        case "throw":
            return v.Throw()
        case _:
            return v.Allow()


def _pre_step(make: Maker, gate: GateView) -> v.Outcome:
    match make.choose("pre-step"):
        case "change":
            kept: list[v.Message | str] = [name for name in gate.claimed or () if make.pick((True, True, False))]
            return v.Enter((*kept, *make.some_contexts()))
        case "empty":
            return v.Enter(())
        case "reject":
            return v.Reject()
        case "throw":
            return v.Throw()
        case _:
            return v.Enter()


def _reply(make: Maker) -> v.Outcome:
    match make.choose(_reply_choice(make)):
        case "tools":
            return v.Tools(_calls(make, make.pick((1, 1, 2, 2, 3))))
        case "max-tokens":
            return v.MaxTokens("reply", _calls(make, make.pick((0, 1, 2))) if make.chance(3) else ())
        case "error":
            return v.Error()
        case "partial":
            return v.Partial("p")
        case _:
            return v.Text()


def _reply_choice(make: Maker) -> str:
    """Tell whether this turn has hit the ceiling, or will go on whatever the model says: rare, and worth more."""
    state = make.machine().s
    if state.ceiling:
        return "cut-model"
    waiting = state.outbox if make.window else state.next_step
    return "steered-model" if waiting.occupied else "model"


def _calls(make: Maker, count: int) -> tuple[v.Call, ...]:
    names = [*(["par"] * 4 if make.profile.has("tools.parallel") else []), "exc", "exc", "nope"]
    return tuple(make.call(make.pick(names)) for _ in range(count))


def _result(make: Maker) -> v.Outcome:
    contexts = make.some_contexts() if make.profile.has("tool.contexts") else ()
    match make.choose("tool"):
        case "error":
            return v.Error(None, contexts)
        case "conclude":
            return v.Result(contexts, concludes=True)
        case "conclude-error":
            return v.Error(None, contexts, concludes=True)
        case _:
            return v.Result(contexts)
