"""
Drive the small agent soundly: gates, arms, batches and resets as the protocol has them, over its own line of callbacks.

Small methods, so that each defect of ``defects`` is one override. Parameters are checked by the wire's own reader.
"""

from __future__ import annotations

from collections import deque

from miniature_drivers.agent import ABORTED, Agent

from turnproof_model import vocabulary as v
from turnproof_model.wire import WireError, request_from_wire, to_wire


class RpcFailure(Exception):
    """Answer an error instead of a result."""

    code = -32602


class Driver:
    """
    Be a driver in this process; see ``turnproof.inprocess``.

    Args:
        loop: not needed, since the agent is a generator.
        contract: ``window`` or ``claim``.
        without: capabilities that are neither declared nor performed.
    """

    def __init__(self, loop=None, contract="claim", without=()):
        self.contract = contract
        mine = {"acceptsNextStep", "step-gate", "prompt.content", "prompt.contexts"}
        theirs = {"inbox.remove", "inbox.replace", "inbox.prepend"}
        absent = {*without, *(mine if contract == "claim" else theirs)}
        self.capabilities = {name: name not in absent for name in v.CAPABILITIES}
        self.world = None
        self.extra = {}

    # -------------------------------------------------------------------------------------------- the protocol
    def perform(self, method, params):
        if method == "initialize":
            return self.introduce(params)
        if method == "shutdown":
            return {}
        request = self.read(method, params)
        if self.world is None and method != "reset":
            raise RpcFailure("reset first")
        self.extra = {}
        try:
            self.do(request, method, params)
        except ValueError as refusal:
            self.extra["refused"] = str(refusal)
        return None

    def read(self, method, params):
        try:
            request = request_from_wire({"method": method, "params": params})
        except WireError as error:
            raise RpcFailure(str(error)) from error
        self.check(request)
        return request

    def check(self, request):
        """Refuse what isn't declared, and what the wire's reader lets pass."""
        for capability in self.needed(request):
            if not self.capabilities[capability]:
                raise RpcFailure(f"{capability} is not declared")
        if isinstance(request, v.Send) and request.message.id == "":
            raise RpcFailure("an id must not be empty")
        if isinstance(request, v.Release) and (request.gate is None) == (request.kind is None):
            raise RpcFailure("a release names a gate or a kind")
        if isinstance(request, v.Reset) and not set(request.gates or ()) <= set(self.kinds()):
            raise RpcFailure("no such kind")
        for op in getattr(request, "ops", ()):
            self.check(op)

    def needed(self, request):
        """List the capabilities that a request makes use of."""
        match request:
            case v.Reset(gates=gates, on_abort=on_abort):
                yield from ("gates.select",) * (gates is not None) + ("onAbort.select",) * bool(on_abort)
            case v.Arm(where=where, defer=defer):
                yield from ("arm",) + ("arm.where",) * bool(where) + ("arm.defer",) * bool(defer)
            case v.Cancel(keep_inbox=True):
                yield "keepInbox"
            case v.Resume(mode=mode):
                yield mode if mode in ("fork", "compact") else "resume"
            case v.Release(outcome=outcome):
                yield from self.needed_by(outcome)
            case v.Remove() | v.Replace() | v.Prepend():
                yield f"inbox.{request.method}"
            case v.Batch() | v.Dispose() | v.Goal() | v.Reference():
                yield request.method

    def needed_by(self, outcome):
        match outcome:
            case v.Partial():
                yield "model.partial"
            case v.Allow(content=content, additional_contexts=contexts):
                yield from ("prompt.content",) * (content is not None) + ("prompt.contexts",) * bool(contexts)
            case v.Result(additional_contexts=contexts, concludes=concludes):
                yield from ("tool.contexts",) * bool(contexts) + ("tool.concludes",) * concludes

    def introduce(self, params):
        if params.get("protocol") != 1:
            raise RpcFailure("protocol 1 is spoken here")
        return {
            "protocol": 1,
            "implementation": {"name": "miniature", "version": "1", "language": "python", "runtime": "any"},
            "contract": self.contract,
            "capabilities": self.capabilities,
            "gates": self.kinds(),
            "tools": {"par": "parallel", "exc": "exclusive"},
        }

    def kinds(self):
        optional = [kind for kind in v.OPTIONAL_GATES[self.contract] if self.capabilities[self.named_by(kind)]]
        kinds = [*v.TURN_GATES[self.contract], *optional]
        return kinds if self.capabilities["request-error"] else [kind for kind in kinds if kind != "request-error"]

    def named_by(self, kind):
        return "step-gate" if kind == "step" else kind

    def observe(self):
        world = self.world
        idle = self.run_out()
        agent = world.agent
        ids = [[m["id"] for m in pending] for pending in (agent.next_turn, agent.next_step)]
        return {
            "events": world.take(),
            "gates": [{"id": name, **gate} for name, gate in world.gates.items()],
            "status": agent.status,
            "acceptsNextStep": agent.accepts_next_step if self.capabilities["acceptsNextStep"] else None,
            "inbox": {"nextTurn": ids[0], "nextStep": ids[1]} if self.capabilities["inbox"] else None,
            "whenIdle": idle if self.capabilities["whenIdle"] else None,
            **self.extra,
        }

    def run_out(self):
        """Let the agent run until nothing is runnable; tell whether it is idle then."""
        while self.world.ready:
            self.world.ready.popleft()()
        return self.world.agent.status == "idle"

    # -------------------------------------------------------------------------------------------- operations
    def do(self, request, method, params):
        agent = self.world and self.world.agent
        match request:
            case v.Reset():
                gates = self.default_kinds() if request.gates is None else request.gates
                self.replace_world(World(self, Agent, gates, {"flush": "park", **request.on_abort}))
            case v.Resume():
                self.resume(request.mode)
            case v.Batch():
                for op in params["ops"]:
                    self.world.attempt(op)
            case v.Send():
                agent.send(params["message"], request.target, request.wakeup)
            case v.Release():
                self.world.release(request.gate, request.kind, params["outcome"])
            case v.Arm():
                self.world.arm(request, params["ops"])
            case v.Cancel():
                self.world.cancel(request.cause, request.keep_inbox)
            case v.Dispose():
                self.world.dispose()
            case v.Remove() | v.Replace():
                self.edit(agent, request, params)
            case v.Prepend():
                agent.prepend(params["message"], request.target)
            case v.Reference():
                agent.send(params["snapshot"], "next-step", wakeup=False)
                agent.send(params["message"], "next-turn", wakeup=True)
            case v.Goal():
                self.extra["goal"] = {"state": None, "rounds": 0}
        if self.world.agent.woken:
            self.world.wake()

    def edit(self, agent, request, params):
        self.extra["answer"] = agent.remove(request.id)
        if self.extra["answer"] and isinstance(request, v.Replace):
            agent.prepend(params["message"], "next-turn")

    def default_kinds(self):
        return [kind for kind in self.kinds() if kind in v.TURN_GATES[self.contract]]

    def replace_world(self, world):
        if self.world is not None:
            self.world.dropped = True
        self.world = world

    def resume(self, mode):
        old = self.world
        if mode in ("clean", "compact"):
            old.dispose()
            self.run_out()
        events = old.take() if mode in ("clean", "compact") else []
        agent = old.agent
        self.replace_world(
            World(
                self,
                lambda contract, publish: Agent(contract, publish, agent.turn, agent.history),
                old.gated,
                old.on_abort,
            )
        )
        self.world.events += events


class World:
    """
    Surround one agent.

    Args:
        driver: for whom operations of arms are performed.
        make: makes the agent from a contract and a publisher.
        gated: kinds that wait for the runner.
        on_abort: ``settle`` or ``park`` by kind.
    """

    def __init__(self, driver, make, gated, on_abort):
        self.driver = driver
        self.gated = gated
        self.on_abort = on_abort
        self.events = []
        self.gates = {}
        self.waiting = {}
        self.count = 0
        self.arms = []
        self.ready = deque()
        self.dropped = False
        self.disposing = False
        self.loop = None
        self.agent = make(driver.contract, self.publish)

    def take(self):
        events, self.events = self.events, []
        return events

    def publish(self, event):
        if self.dropped:
            return
        self.events.append(event)
        names = {event["type"], f"gate:{event.get('gateKind')}" if event["type"] == "gate/open" else event["type"]}
        for arm in list(self.arms):
            if arm["on"] in names and all(event.get(key) == value for key, value in arm["where"].items()):
                self.hit(arm)

    def hit(self, arm):
        arm["left"] -= 1
        if arm["left"] == 0:
            self.arms.remove(arm)
            self.later(arm["defer"], lambda: [self.attempt(op) for op in arm["ops"]])

    def later(self, breaks, act):
        if self.dropped:
            return
        if breaks == 0:
            act()
        else:
            self.ready.append(lambda: self.later(breaks - 1, act))

    def arm(self, request, ops):
        where = dict(request.where)
        self.arms.append({"on": request.on, "where": where, "left": request.nth, "defer": request.defer, "ops": ops})

    def attempt(self, op):
        params = op.get("params", {})
        try:
            self.driver.do(self.driver.read(op["method"], params), op["method"], params)
        except (ValueError, RpcFailure) as error:
            self.publish({"kind": "driver", "type": "op-threw", "method": op["method"], "error": str(error)})

    # -------------------------------------------------------------------------------------------- the agent's loop
    def wake(self):
        if self.loop is None and not self.dropped:
            self.loop = self.agent.run()
            self.ready.append(lambda: self.go_on(None))

    def go_on(self, outcome):
        if self.dropped:
            return
        try:
            asked = self.loop.send(outcome)
        except StopIteration:
            self.loop = None
            self.settle_disposal()
            return
        gates = asked if isinstance(asked, list) else [asked]
        results = [None] * len(gates)
        for place, gate in enumerate(gates):
            self.ask(gate, lambda result, place=place: self.fill(results, place, result, alone=asked is not gates))

    def fill(self, results, place, result, *, alone):
        results[place] = result
        if None not in results:
            self.ready.append(lambda: self.go_on(results[0] if alone else results))

    def ask(self, gate, settle):
        """Open a gate, or settle it by its default."""
        if gate["kind"] not in self.gated:
            default = to_wire(v.DEFAULT_OUTCOME[gate["kind"]])
            self.ready.append(lambda: settle(default))
            return
        self.count += 1
        name = f"g{self.count}"
        self.gates[name] = gate
        self.waiting[name] = settle
        self.publish({"kind": "driver", "type": "gate/open", "gate": name, "gateKind": gate["kind"]})
        if self.agent.cause is not None and name in self.gates:
            self.abort(name)

    def release(self, name, kind, outcome):
        if kind is not None:
            name = next((each for each, gate in self.gates.items() if gate["kind"] == kind), None)
        if name not in self.gates:
            raise ValueError("no such gate is open")
        taken = {cls.kind for cls in v.OUTCOMES[self.gates[name]["kind"]]}
        if outcome["kind"] not in taken:
            raise ValueError(f"a gate of this kind takes {taken}")
        self.settle(name, outcome)

    def settle(self, name, outcome):
        del self.gates[name]
        self.waiting.pop(name)(outcome)

    def cancel(self, cause, keep):
        if self.agent.cancel(cause, keep):
            for name in list(self.gates):
                self.abort(name)

    def abort(self, name):
        kind = self.gates[name]["kind"]
        if self.on_abort.get(kind, "settle") == "park":
            self.gates[name]["aborted"] = True
            return
        self.settle(name, ABORTED)
        self.publish({"kind": "driver", "type": "gate/aborted", "gate": name, "gateKind": kind})

    def dispose(self):
        self.agent.disposed = self.disposing = True
        self.cancel("disposed", keep=False)
        self.settle_disposal()

    def settle_disposal(self):
        if self.disposing and self.loop is None:
            self.disposing = False
            self.ready.append(lambda: self.publish({"kind": "driver", "type": "dispose/resolved"}))
