"""
A driver for the agent in ``agent.py``: it plays the world around the agent, and lets turnproof decide what happens.

turnproof makes a ``Driver`` with an event loop of its own, calls ``perform`` for each request, runs the loop until
nothing moves any more, and calls ``observe``. Each thing that the agent waits for is a *gate*: a future that stays open
until turnproof releases it.
"""

from agent import Agent

OUTCOMES = {
    "prompt-submit": ("allow", "block", "throw"),
    "model": ("text", "tools", "max-tokens", "error"),
    "tool": ("result", "error"),
    "turn-stopping": ("continue", "throw"),
    "request-error": ("give-up", "retry", "throw"),
}
ABORT_OUTCOMES = {"tool": {"kind": "result"}, "request-error": {"kind": "give-up"}}  # all other kinds throw
THROWN = {"kind": "throw"}
CAPABILITIES = [
    *("inbox", "acceptsNextStep", "keepInbox", "request-error", "tools.parallel", "tools.exclusive"),
    *("tool.contexts", "tool.concludes", "prompt.content", "prompt.contexts"),
]
PRESETS = {"followup": ("next-turn", True), "steer": ("next-step", True), "inject": ("next-step", False)}


class Refused(Exception):
    """Answer a request that this driver can't do; turnproof reads the code."""

    code = -32600


def message_of(params):
    """Take the message of a request; one without its parts is refused before anything happens."""
    message = params["message"]
    if not all(isinstance(part, str) for part in (message["id"], message["text"], message["source"]["kind"])):
        raise Refused(f"a message has an id, a text and a source in words (got {message})")
    return message


class Driver:
    """Speak for one agent after another."""

    tools = {"par": "parallel", "exc": "exclusive"}

    def __init__(self, loop):
        self.loop = loop
        self.reset()

    def reset(self):
        self.events, self.gates, self.count = [], {}, 0
        self.agent = Agent(self, self.publish, self.loop)

    def publish(self, **event):
        self.events.append(event)

    # ------------------------------------------------------------------------------------------ the world
    def ask(self, kind, **view):
        """Open a gate and give the future that the agent waits for."""
        if kind == "model":
            self.publish(kind="request", type="request", messages=view.pop("messages"))
        self.count += 1
        gate = {"id": f"g{self.count}", "kind": kind, **view}
        future = self.loop.create_future()
        self.gates[gate["id"]] = (gate, future)
        self.publish(kind="driver", type="gate/open", gate=gate["id"], gateKind=kind)
        return future

    def abort(self):
        """Let every open gate hear of an abort: it settles by itself."""
        for name, (gate, future) in list(self.gates.items()):
            del self.gates[name]
            future.set_result(ABORT_OUTCOMES.get(gate["kind"], THROWN))
            self.publish(kind="driver", type="gate/aborted", gate=name, gateKind=gate["kind"])

    # ------------------------------------------------------------------------------------------ what turnproof asks
    def perform(self, method, params):
        """Do one operation; only ``initialize`` and ``shutdown`` have an answer of their own."""
        try:
            return self.answer(method, params)
        except (KeyError, TypeError) as error:
            raise Refused(f"{method} can't be read: {error}") from error

    def answer(self, method, params):
        match method:
            case "initialize" if params["protocol"] == 1:
                return self.introduce()
            case "shutdown":
                return {}
            case "inspect":
                pass
            case "reset" if not params:
                self.reset()
            case "followup" | "steer" | "inject":
                self.agent.send(message_of(params), *PRESETS[method])
            case "send" if params["target"] in ("next-turn", "next-step") and isinstance(params["wakeup"], bool):
                self.agent.send(message_of(params), params["target"], params["wakeup"])
            case "cancel" if params["cause"] in ("user", "parent") and params.get("keepInbox", False) in (True, False):
                self.agent.cancel(params["cause"], params.get("keepInbox", False))
            case "release":
                self.release(params)
            case _:
                raise Refused(f"this driver doesn't offer {method} {params}")
        return None

    def introduce(self):
        return {
            "protocol": 1,
            "implementation": {"name": "small-agent", "version": "1.0", "language": "python", "runtime": "asyncio"},
            "contract": "window",
            "capabilities": dict.fromkeys(CAPABILITIES, True),
            "gates": list(OUTCOMES),
            "tools": self.tools,
        }

    def release(self, params):
        """Settle the gate that is named, or the oldest of a kind."""
        if not params.keys() & {"gate", "kind"}:
            raise Refused("a release names a gate or a kind")
        fits = [
            name
            for name, (gate, _) in self.gates.items()
            if params.get("gate", name) == name and params.get("kind", gate["kind"]) == gate["kind"]
        ]
        if not fits:
            raise Refused(f"no such gate is open: {params}")
        gate, future = self.gates[fits[0]]
        outcome = params["outcome"]
        if outcome["kind"] not in OUTCOMES[gate["kind"]]:
            raise Refused(f"gate {gate['kind']} takes {', '.join(OUTCOMES[gate['kind']])} (got {outcome})")
        del self.gates[gate["id"]]
        future.set_result(outcome)

    def observe(self):
        """Tell what happened since the last call, and what can be seen now."""
        events, self.events = self.events, []
        agent = self.agent
        staged = agent.retained + agent.outbox
        inbox = {"nextTurn": [m["id"] for m, _ in agent.queue], "nextStep": [m["id"] for m, _ in staged]}
        if staged:
            inbox["nextStepKinds"] = ["steering" if steering else "context" for _, steering in staged]
        return {
            "events": events,
            "gates": [gate for gate, _ in self.gates.values()],
            "status": agent.status,
            "acceptsNextStep": agent.window,
            "inbox": inbox,
            "whenIdle": None,
        }
