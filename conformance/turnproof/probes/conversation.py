"""
Probe the conversation itself: who answers, how errors are told, what text survives, what a reset leaves behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnproof.probes.bench import (
    MOST_RELEASES,
    UNKNOWN_GATE,
    Bench,
    demand,
    mentions,
    message,
    probe,
)
from turnproof_model import vocabulary as v
from turnproof_model.wire import shorten, to_wire

TOOLS: Final = {"par": "parallel", "exc": "exclusive"}
"""The tools that every driver offers."""

GATED_BY: Final[Mapping[str, v.GateKind]] = {"flush": "flush", "step-gate": "step", "request-error": "request-error"}
"""The capabilities that stand for a kind of gate."""

ANY_TEXT: Final = 'quote " backslash \\ feed \n tab \t nul \0 line \u2028 paragraph \u2029 ü ☃ \U0001f600'
LONG: Final = 1 << 18
"""Characters of a long text: several times what a pipe holds."""


@probe("initialize/form", "initialize says who the candidate is and what it can do, in the protocol's words")
def initialize_form(bench: Bench) -> None:
    """Check the profile beyond its form: known names, and declarations that fit together."""
    profile = bench.profile
    demand(profile.implementation.name, "the implementation must have a name (it is empty)")
    demand(profile.implementation.version, "the implementation must have a version (it is empty)")
    unknown = sorted(set(profile.capabilities) - {*v.CAPABILITIES, v.LANES})
    demand(not unknown, f"capabilities must be the protocol's (got {', '.join(unknown)})")
    known = {*v.TURN_GATES[profile.contract], *v.OPTIONAL_GATES[profile.contract]}
    for kind in profile.gates:
        demand(kind in known, f"gates must be those of contract '{profile.contract}' (got '{kind}')")
    missing = sorted(set(bench.default_kinds) - set(profile.gates))
    demand(not missing, f"the kinds that a plain reset gates must be listed in gates ({', '.join(missing)} not)")
    for capability, kind in GATED_BY.items():
        declared, listed = profile.has(capability), kind in profile.gates
        demand(declared == listed, f"capability '{capability}' and gate '{kind}' must be declared together")
    offered = {name: profile.tools.get(name) for name in TOOLS}
    demand(offered == TOOLS, f"tools must offer par as parallel and exc as exclusive (got {dict(profile.tools)})")


@probe("initialize/version", "initialize with another protocol version is an error")
def initialize_version(bench: Bench) -> None:
    """Ask for versions that there are not."""
    bench.reset()
    for version in (0, v.Initialize().protocol + 1, "1"):
        bench.denied("initialize", {"protocol": version}, refusal=False)


@probe("errors/unknown-method", "an unknown method is an error and changes nothing")
def unknown_method(bench: Bench) -> None:
    """Send methods that there are not, at rest and in a turn."""
    bench.reset()
    bench.denied("no-such-method", {}, refusal=False)
    bench.reach("model")
    bench.denied("Followup", {"message": to_wire(message("x"))}, refusal=False)
    bench.denied("", {}, refusal=False)


def bad_params() -> list[tuple[str, Mapping[str, Any]]]:
    """List requests whose parameters don't have their form, and where nothing left out could be filled in."""
    good = to_wire(message("x"))
    return [
        ("followup", {}),
        ("followup", {"message": "x"}),
        ("followup", {"message": {key: good[key] for key in good if key != "id"}}),
        ("steer", {"message": good | {"id": 7}}),
        ("inject", {"message": good | {"text": None}}),
        ("send", {"message": good, "target": "nowhere", "wakeup": True}),
        ("send", {"message": good, "target": "next-turn", "wakeup": "yes"}),
        ("cancel", {"cause": "weather"}),
        ("release", {"outcome": {"kind": "text"}}),
        ("release", {"kind": "model", "outcome": "text"}),
        ("reset", {"gates": "model"}),
        ("reset", {"gates": ["no-such-kind"]}),
        ("reset", {"onAbort": {"model": "perhaps"}}),
    ]


def bad_params_of(capability: str) -> list[tuple[str, Mapping[str, Any]]]:
    """List those of the operations that a capability stands for."""
    inspect: Mapping[str, Any] = {"method": "inspect", "params": {}}
    unnamed: Mapping[str, Any] = {"params": {}}
    bad: Mapping[str, list[tuple[str, Mapping[str, Any]]]] = {
        "batch": [("batch", {}), ("batch", {"ops": "inspect"}), ("batch", {"ops": [unnamed]})],
        "arm": [("arm", {"ops": []}), ("arm", {"on": 7, "ops": []}), ("arm", {"on": "turn/end", "ops": inspect})],
        "arm.defer": [("arm", {"on": "turn/end", "ops": [], "defer": -1})],
        "keepInbox": [("cancel", {"cause": "user", "keepInbox": "yes"})],
        "resume": [("resume", {"mode": "perhaps"})],
    }
    return bad.get(capability, [])


@probe("errors/bad-params", "parameters of another form are an error and change nothing")
def bad_parameters(bench: Bench) -> None:
    """Send malformed parameters while a model gate is open, so that a change would show."""
    bench.reset()
    bench.reach("model")
    for method, params in bad_params():
        bench.denied(method, params, refusal=False)
    for capability in filter(bench.profile.has, v.CAPABILITIES):
        for method, params in bad_params_of(capability):
            bench.denied(method, params, refusal=False)


@probe("errors/unknown-gate", "a gate that isn't open can't be released")
def unknown_gate(bench: Bench) -> None:
    """Release gates that never were, that were settled, of a kind that isn't open, and of a dropped agent."""
    bench.reset()
    gate = bench.reach(bench.first)
    for release in (UNKNOWN_GATE, v.Release(v.Continue(), kind="turn-stopping")):
        bench.denied("release", to_wire(release)["params"])
    bench.denied("release", to_wire(v.Release(v.Retry(), gate=gate.id))["params"])
    bench.release(gate)
    again = to_wire(v.Release(v.DEFAULT_OUTCOME[gate.kind], gate=gate.id))["params"]
    bench.denied("release", again)
    bench.reset()
    bench.denied("release", again)


@probe("text/any", "ids and texts of any characters come back as they were")
def any_text(bench: Bench) -> None:
    """Use every character that line-based readers stumble over."""
    bench.reset()
    seen = bench.send(ANY_TEXT)
    demand(any(mentions(event, ANY_TEXT) for event in seen.events), "an id must come back as it was sent (it did not)")
    bench.run_out(seen)


@probe("text/long", "a long message is read whole")
def long_text(bench: Bench) -> None:
    """Send a text that fits in no pipe."""
    bench.reset()
    seen = bench.do(v.followup(v.Message("long", "x" * LONG)))
    bench.run_out(seen)


@probe("settled", "an answer comes when nothing is runnable any more")
def settled(bench: Bench) -> None:
    """Look again after each request of a turn: nothing may have happened meanwhile."""
    seen = bench.reset()
    bench.settled(seen, "a reset must be answered when all is quiet")
    seen = bench.send("p")
    while seen.gates:
        bench.settled(seen, "a request must be answered when nothing is runnable")
        seen = bench.release(seen.gates[0])
    bench.settled(seen, "a request must be answered when nothing is runnable")


@probe("reset/empty", "a reset is answered by an empty observation, and gate ids start again")
def reset_empty(bench: Bench) -> None:
    """Reset in the middle of a turn with input pending."""
    bench.reset()
    bench.reach("model")
    bench.send("pending")
    seen = bench.reset()
    demand(not seen.events, f"the observation of a reset must show no events (got {shorten(seen.events)})")
    demand(not seen.gates, f"a new agent must have no open gates (got {shorten(seen.gates)})")
    demand(seen.status == "idle", f"a new agent must be idle (got '{seen.status}')")
    pending = seen.inbox is not None and (*seen.inbox.next_turn, *seen.inbox.next_step)
    demand(not pending, f"a new agent must have an empty inbox (got {seen.inbox})")
    gate = bench.reach(bench.first)
    demand(gate.id == "g1", f"gate ids must start again at g1 (got '{gate.id}')")


@probe("lanes/apart", "agents on two lanes are asked in turns and know nothing of each other", v.LANES)
def lanes_apart(bench: Bench) -> None:
    """Run a turn alone, then on two lanes at once, both requests sent before either is answered."""
    commands: list[v.Command] = [v.Reset(), v.followup(message("p"))]
    alone = [bench.do(command) for command in commands]
    while (gates := alone[-1].gates) and len(commands) < MOST_RELEASES:
        commands.append(v.Release(v.DEFAULT_OUTCOME[gates[0].kind], gate=gates[0].id))
        alone.append(bench.do(commands[-1]))
    for command, expected in zip(commands, alone, strict=True):
        for lane, seen in enumerate(bench.side_by_side(command, 2)):
            demand(
                seen == expected,
                f"lane {lane} must show what an agent alone does ({shorten(expected)}; it showed {shorten(seen)})",
            )
