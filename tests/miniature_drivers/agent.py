"""
Be a very small agent: just enough of a turn to open every gate, and nobody's idea of a good one.

It keeps the driver protocol's mechanics and not the contract. The loop is a generator that yields gates, alone or
several at once, and is resumed with their outcomes; an outcome of kind ``aborted`` stands for an abort.
"""

from __future__ import annotations

from collections import deque

ABORTED = {"kind": "aborted"}


class Agent:
    """
    Take prompts in turns.

    Args:
        contract: ``window`` or ``claim``; decides which gate a prompt meets and which events tell of it.
        publish: takes an event.
        turn: number of the last turn so far.
        history: what the model is shown so far.
    """

    def __init__(self, contract, publish, turn=0, history=()):
        self.contract = contract
        self.publish = publish
        self.turn = turn
        self.step = 0
        self.history = list(history)
        self.next_turn = deque()
        self.next_step = []
        self.status = "idle"
        self.cause = None
        self.disposed = False
        self.woken = False

    # -------------------------------------------------------------------------------------------- commands
    def send(self, message, target, wakeup):
        if self.disposed:
            raise ValueError("the agent is disposed")
        steering = self.contract == "claim" or self.accepts_next_step
        if target == "next-step" and not steering and not wakeup:
            self.commit(message)
            return
        queued = target == "next-turn" or not steering
        (self.next_turn if queued else self.next_step).append(message)
        self.tell_accepted(message, "next-turn" if queued else "next-step", wakeup)
        self.woken = self.woken or wakeup

    def tell_accepted(self, message, target, wakeup):
        if self.contract == "claim":
            self.tell_splice(target, 0, [message])
            self.live("agent/inbox/inserted", id=message["id"])
        elif target == "next-turn" or wakeup:
            placement = "queued" if target == "next-turn" else "steering"
            self.live("agent/inbox/enqueue", id=message["id"], placement=placement)

    def tell_splice(self, target, removed, inserted):
        ids = [message["id"] for message in inserted]
        self.durable("agent/inbox/spliced", target=target, start=0, removedCount=removed, inserted=ids)

    def prepend(self, message, target):
        (self.next_turn.appendleft if target == "next-turn" else lambda m: self.next_step.insert(0, m))(message)
        self.tell_accepted(message, target, wakeup=False)

    def remove(self, name):
        for pending in (self.next_turn, self.next_step):
            for message in list(pending):
                if message["id"] == name:
                    pending.remove(message)
                    return True
        return False

    def cancel(self, cause, keep):
        if not keep:
            self.next_turn.clear()
            self.next_step.clear()
        if self.status == "running":
            self.cause = self.cause or cause
            return True
        return False

    @property
    def accepts_next_step(self):
        return self.status == "running"

    # -------------------------------------------------------------------------------------------- events
    def durable(self, event, **fields):
        self.publish({"kind": "session", "type": event, **fields})

    def live(self, event, **fields):
        self.publish({"kind": "live", "type": event, **fields})

    def commit(self, message, text=None):
        self.history.append({"role": "user", "id": message["id"]})
        shown = {} if text is None else {"text": text}
        self.durable("user/message", id=message["id"], source=message["source"]["kind"], **shown)

    def set_status(self, status):
        self.status = status
        self.live("agent/status", status=status)

    # -------------------------------------------------------------------------------------------- the loop
    def run(self):
        """Serve what is pending until nothing wakes it."""
        while self.woken:
            self.woken = False
            self.set_status("running")
            while self.next_turn or self.next_step:
                self.cause = None
                yield from self.one_turn()
            self.set_status("idle")
        if self.disposed:
            self.live("agent/disposed")

    def one_turn(self):
        entering = self.admit if self.contract == "window" else self.claim
        reason = "blocked"
        if (yield from entering()):
            reason = yield from self.steps()
        elif self.contract == "window":
            return
        ended = {"cause": self.cause} if self.cause and self.contract == "claim" else {}
        self.durable("turn/end", turn=self.turn, reason="aborted" if self.cause else reason, **ended)
        yield {"kind": "flush"}

    def admit(self):
        """Ask about the prompt before its turn; then open the turn and commit."""
        if not self.next_turn:
            self.next_step.clear()
            return False
        prompt = self.next_turn.popleft()
        decision = yield {"kind": "prompt-submit", "message": prompt["id"]}
        if decision["kind"] != "allow":
            return False
        self.open_turn(trigger="message")
        self.commit(prompt, decision.get("content"))
        for context in decision.get("additionalContexts", ()):
            self.commit(context)
        return True

    def claim(self):
        """Open the turn; then ask about what it claims."""
        self.open_turn()
        return (yield from self.boundary(1))

    def open_turn(self, **fields):
        self.turn += 1
        self.step = 0
        self.durable("turn/start", turn=self.turn, **fields)

    def boundary(self, prompts=0):
        """Enter what is pending into the next step; of the window, without being asked."""
        batch, self.next_step = self.next_step, []
        batch += [self.next_turn.popleft() for _ in range(min(prompts, len(self.next_turn)))]
        if self.contract == "claim":
            ids = [message["id"] for message in batch]
            gate = {"kind": "pre-step", "turn": self.turn, "step": self.step + 1, "claimed": ids}
            if (yield gate)["kind"] != "enter":
                return False
        for message in batch:
            self.commit(message)
        return True

    def steps(self):
        """Ask the model until it owes nothing and nothing is pending; return why the turn ended."""
        while True:
            self.step += 1
            if self.contract == "window":
                yield {"kind": "step", "turn": self.turn, "step": self.step}
            self.durable("step/start", turn=self.turn, step=self.step)
            owes = yield from self.ask_model()
            self.durable("step/end", turn=self.turn, step=self.step)
            if self.cause or owes is None:
                return "error"
            if not owes and not self.next_step:
                yield {"kind": "turn-stopping", "turn": self.turn}
                if self.cause or not self.next_step:
                    return "completed"
            if not (yield from self.boundary()):
                return "blocked"

    def ask_model(self):
        """Ask until there is an answer; return whether a result awaits another request, ``None`` on failure."""
        streamed = ""
        while True:
            if not streamed:
                self.publish({"kind": "request", "type": "request", "messages": list(self.history)})
            answer = yield {"kind": "model", **({"partial": streamed} if streamed else {})}
            if answer["kind"] == "partial":
                streamed += answer["text"]
            elif answer["kind"] == "error":
                where = {"turn": self.turn, "step": self.step}
                if (yield {"kind": "request-error", **where})["kind"] != "retry":
                    self.live("agent/error", message="failed", **where)
                    return None
            else:
                break
        if answer == ABORTED:
            return False
        calls = answer.get("calls", [])
        ids = [call["id"] for call in calls]
        self.history.append({"role": "assistant", "toolCalls": ids})
        self.durable("assistant/message", turn=self.turn, step=self.step, toolCalls=ids)
        return (yield from self.run_tools(calls))

    def run_tools(self, calls):
        """Run parallel calls at once and exclusive ones alone; return whether the model must see their results."""
        concluded = False
        while calls:
            count = next((n for n, call in enumerate(calls) if call["name"] != "par"), len(calls)) or 1
            group, calls = calls[:count], calls[count:]
            gates = [
                {"kind": "tool", "callId": c["id"], "name": c["name"]} for c in group if c["name"] in ("par", "exc")
            ]
            results = (yield gates) if gates else [{"kind": "error"}]
            for call, result in zip(group, results, strict=True):
                self.durable("tool/call", callId=call["id"])
                self.durable("tool/result", callId=call["id"], isError=result["kind"] != "result")
                self.history.append({"role": "user", "toolResult": call["id"], "isError": False})
                self.next_step += result.get("additionalContexts", ())
                concluded = concluded or result.get("concludes", False)
        return bool(self.history[-1].get("toolResult")) and not concluded
