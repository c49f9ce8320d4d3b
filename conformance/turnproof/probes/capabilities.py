"""
Probe what is declared: each capability works mechanically, whatever the agent makes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from turnproof.probes.bench import (
    UNKNOWN_GATE,
    Bench,
    ProbeSpec,
    Probing,
    demand,
    mentions,
    message,
    opens,
    position,
    quiet,
    threw,
)
from turnproof_model import vocabulary as v
from turnproof_model.events import DisposeResolved, UserMessage
from turnproof_model.observation import Observation

_PROBES: Final[list[ProbeSpec]] = []

CALLS: Final = (v.Call("c1", "par"), v.Call("c2", "par"))


def works(capability: str, title: str, *needs: str) -> Callable[[Probing], Probing]:
    """Make a probe of a capability; ``needs`` are others that it takes."""

    def register(run: Probing) -> Probing:
        _PROBES.append(ProbeSpec(f"declared/{capability}", f"{capability}: {title}", run, (capability, *needs)))
        return run

    return register


# ---------------------------------------------------------------------------------------------------- what can be seen
@works("inbox", "pending messages are listed")
def inbox(bench: Bench) -> None:
    """Queue a prompt that wakes nobody."""
    bench.reset()
    seen = bench.do(quiet("q"))
    demand(seen.inbox is not None, "inbox must be shown (it is null)")
    demand(seen.inbox and "q" in seen.inbox.next_turn, f"a queued prompt must be listed in nextTurn (got {seen.inbox})")


@works("acceptsNextStep", "the acceptance window is shown")
def accepts_next_step(bench: Bench) -> None:
    """Look at rest and in a turn."""
    for seen in (bench.reset(), bench.send("p")):
        demand(seen.accepts_next_step is not None, "acceptsNextStep must be true or false (it is null)")


@works("whenIdle", "a waiter is probed with every request")
def when_idle(bench: Bench) -> None:
    """Look at rest and in a turn."""
    for seen in (bench.reset(), bench.send("p")):
        demand(seen.when_idle is not None, "whenIdle must be true, false or would-spin (it is null)")


# ---------------------------------------------------------------------------------------------------- commands
@works("keepInbox", "a cancel can keep what is pending")
def keep_inbox(bench: Bench) -> None:
    """Cancel a turn with input pending."""
    bench.reset()
    bench.reach("model")
    bench.do(quiet("q"))
    bench.do(v.Cancel(keep_inbox=True))


@works("dispose", "a disposal is published when it resolves")
def dispose(bench: Bench) -> None:
    """Dispose at rest, and in a turn."""
    for busy in (False, True):
        bench.reset()
        if busy:
            bench.reach("model")
        bench.run_out(bench.do(v.Dispose()))
        position(bench.trail, lambda event: isinstance(event, DisposeResolved), "dispose/resolved")


def resumed(bench: Bench, mode: v.ResumeMode) -> None:
    """Resume from a finished turn and from the middle of one; choices stay, arms die, gate ids start again."""
    bench.reset()
    bench.turn("a")
    bench.do(v.Resume(mode))
    bench.reach("model", "b")
    if bench.profile.has("arm"):
        bench.do(v.Arm("gate:turn-stopping", (UNKNOWN_GATE,)))
    seen = bench.do(v.Resume(mode))
    demand(not seen.gates, f"a resumed agent must have no open gates (got {seen.gates})")
    gate, _ = bench.go_on(bench.first, bench.send("c"))
    demand(gate.id == "g1", f"gate ids must start again at g1 (got '{gate.id}')")
    bench.run_out(bench.do(v.Inspect()))
    demand(not any(map(threw, bench.trail)), "an arm must not outlive a resume (it fired)")


@works("resume", "a new agent goes on over the log, after a crash or a clean end")
def resume(bench: Bench) -> None:
    """Resume both ways."""
    resumed(bench, "crash")
    resumed(bench, "clean")


@works("fork", "a new agent goes on over a copy of the log")
def fork(bench: Bench) -> None:
    """Resume by a fork."""
    resumed(bench, "fork")


@works("compact", "a new agent goes on over the compacted log")
def compact(bench: Bench) -> None:
    """Resume by a compaction."""
    resumed(bench, "compact")


@works("inbox.remove", "a pending message can be taken out")
def remove(bench: Bench) -> None:
    """Remove one that is pending, and again when it is not."""
    bench.reset()
    bench.do(quiet("q"))
    for pending in (True, False):
        answer = bench.do(v.Remove("q")).answer
        demand(answer is pending, f"remove must answer whether the message was pending ({pending}, got {answer})")


@works("inbox.replace", "a pending message can be swapped")
def replace(bench: Bench) -> None:
    """Replace one that is pending, and again when it is not."""
    bench.reset()
    bench.do(quiet("q"))
    for pending in (True, False):
        answer = bench.do(v.Replace("q", message("r"))).answer
        demand(answer is pending, f"replace must answer whether the message was pending ({pending}, got {answer})")


@works("inbox.prepend", "a message can be put at the head of a list")
def prepend(bench: Bench) -> None:
    """Put one before another."""
    bench.reset()
    bench.do(quiet("q"))
    seen = bench.do(v.Prepend("next-turn", message("head")))
    shown = seen.inbox.next_turn[:1] if seen.inbox else ("head",)
    demand(shown == ("head",), f"a prepended message must be the first of its list (got {seen.inbox})")


@works("goal", "the goal state is folded from the log")
def goal(bench: Bench) -> None:
    """Ask an agent that was never given a goal."""
    bench.reset()
    seen = bench.do(v.Goal())
    demand(
        seen.goal is not None and set(seen.goal) >= {"state", "rounds"},
        f"goal must show state and rounds (got {seen.goal})",
    )


@works("reference", "a prompt is delivered with the snapshot of another session")
def reference(bench: Bench) -> None:
    """Deliver one at rest and one in a turn."""
    for busy in (False, True):
        bench.reset()
        if busy:
            bench.reach("model")
        bench.run_out(bench.do(v.Reference(message("asked"), message("snapshot", "session"))))
        for name in ("asked", "snapshot"):
            position(bench.trail, partial(mentions, name=name), f"message '{name}'")


# ---------------------------------------------------------------------------------------------------- gates, outcomes
def gated(bench: Bench, kind: v.GateKind, outcomes: tuple[v.Outcome, ...]) -> None:
    """Gate an optional kind beside the default ones, and settle it in every way."""
    for outcome in outcomes:
        bench.reset(gates=(*bench.default_kinds, kind))
        bench.run_out(bench.release(bench.reach(kind), outcome))


@works("flush", "the durability checkpoint can be gated", "gates.select")
def flush(bench: Bench) -> None:
    """Let it succeed and fail."""
    gated(bench, "flush", (v.Ok(), v.Fail()))


@works("step-gate", "the hook before a step can be gated", "gates.select")
def step_gate(bench: Bench) -> None:
    """Let it pass and throw."""
    gated(bench, "step", (v.Continue(), v.Throw()))


@works("request-error", "a failed request is asked about")
def request_error(bench: Bench) -> None:
    """Give up, throw, and retry, which asks the model again."""
    for outcome in (v.GiveUp(), v.Throw()):
        bench.reset()
        bench.run_out(bench.release(bench.reach("request-error"), outcome))
    bench.reset()
    bench.go_on("model", bench.release(bench.reach("request-error"), v.Retry()))


@works("model.partial", "text can be streamed before the answer")
def partial_text(bench: Bench) -> None:
    """Stream twice; each opens a new gate that shows what was streamed so far."""
    bench.reset()
    gate = bench.reach("model")
    for text, streamed in (("one ", "one "), ("two", "one two")):
        after, seen = bench.go_on("model", bench.release(gate, v.Partial(text)))
        demand(after.id != gate.id, "partial text must park on a new model gate (it is the same)")
        demand(
            after.partial == streamed, f"the model gate must show the text so far ({streamed!r}, got {after.partial!r})"
        )
        gate = after
    bench.run_out(seen)


def called(bench: Bench, tool: str) -> Observation:
    """Let the model call a tool twice in one message."""
    bench.reset()
    return bench.release(bench.reach("model"), v.Tools((v.Call("c1", tool), v.Call("c2", tool))))


@works("tools.parallel", "calls of a parallel tool run side by side")
def parallel(bench: Bench) -> None:
    """Call it twice in one message."""
    count = len(called(bench, "par").gates)
    demand(count == 2, f"two calls of 'par' must open two gates at once ({count} opened)")


@works("tools.exclusive", "calls of an exclusive tool run one after the other")
def exclusive(bench: Bench) -> None:
    """Call it twice in one message."""
    seen = called(bench, "exc")
    for call in ("c1", "c2"):
        shown = [gate.call_id for gate in seen.gates]
        demand(shown == [call], f"calls of 'exc' must open one gate at a time, in order ('{call}', got {shown})")
        seen = bench.release(seen.gates[0])


@works("tool.contexts", "a tool can return messages beside its result")
def tool_contexts(bench: Bench) -> None:
    """Return one; it is committed in the end."""
    bench.reset()
    bench.run_out(bench.release(bench.reach("tool"), v.Result((message("ctx", "tool"),))))
    position(bench.trail, lambda event: isinstance(event, UserMessage) and event.id == "ctx", "the context, committed,")


@works("tool.concludes", "a tool can conclude the turn")
def tool_concludes(bench: Bench) -> None:
    """Conclude: the model is not asked again."""
    bench.reset()
    gate = bench.reach("tool")
    before = len(bench.trail)
    bench.run_out(bench.release(gate, v.Result(concludes=True)))
    demand(
        not any(map(opens("model"), bench.trail[before:])),
        "a concluding result must end the turn (the model was asked)",
    )


def admitted(bench: Bench, outcome: v.Outcome) -> list[UserMessage]:
    """Admit a prompt by an outcome and return what was committed."""
    bench.reset()
    bench.run_out(bench.release(bench.reach("prompt-submit"), outcome))
    return [event for event in bench.trail if isinstance(event, UserMessage)]


@works("prompt.content", "admission can replace the content of a prompt")
def prompt_content(bench: Bench) -> None:
    """Replace it; the committed message shows its text."""
    texts = [event.text for event in admitted(bench, v.Allow("other")) if event.id == "p"]
    demand(texts == ["other"], f"a replaced text must be shown with the committed prompt (got {texts})")


@works("prompt.contexts", "admission can add messages to a prompt")
def prompt_contexts(bench: Bench) -> None:
    """Add one; it is committed too."""
    committed = [event.id for event in admitted(bench, v.Allow(additional_contexts=(message("ctx", "hook"),)))]
    demand("ctx" in committed, f"a context of the decision must be committed (committed were {committed})")


PROBES: Final = tuple(_PROBES)
