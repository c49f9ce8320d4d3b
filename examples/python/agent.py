"""
A small agent that keeps contract ``window``: queued prompts, steering, context, turns, tools, cancel.

It knows nothing of turnproof. Whatever it waits for it asks of its ``world``: the model, the tools, and the hooks of
whoever embeds it. Everything else happens at once, in the caller's stack.
"""

import asyncio

ABORTED = "ABORTED"
NOT_STARTED = "ABORTED_BEFORE_DISPATCH"


class Agent:
    """
    Take messages and work on them, one turn after another.

    Args:
        world: answers ``await world.ask(kind, ...)`` for each kind of thing that the agent waits for.
        publish: is told of each event, as keywords.
        loop: the event loop to run on.
    """

    def __init__(self, world, publish, loop):
        self.world, self.publish, self.loop = world, publish, loop
        self.queue = []  # (message, waking), in order of acceptance
        self.outbox = []  # (message, is it steering), accepted while the window is open
        self.retained = []  # the same, left behind by earlier turns and rejected admissions
        self.history = []  # what the model is shown
        self.status, self.window, self.aborted = "idle", False, False
        self.turn = self.step = 0
        self.running = None

    # ------------------------------------------------------------------------------------------ what callers do
    def send(self, message, target, waking):
        """Accept a message; where it goes is decided now and not looked at again."""
        if target == "next-turn" or (waking and not self.window):
            self.queue.append((message, waking))
            self.publish(kind="live", type="agent/inbox/enqueue", id=message["id"], placement="queued")
            if waking and self.running is None:
                self.running = self.loop.create_task(self.run())
        elif self.window:
            self.outbox.append((message, waking))
            if waking:
                self.publish(kind="live", type="agent/inbox/enqueue", id=message["id"], placement="steering")
        else:
            self.commit(message)

    def cancel(self, cause, keep_inbox):
        """Abort what is running, and drop what is pending unless it is to be kept."""
        first = self.window and not self.aborted
        pending = [] if keep_inbox else self.queue + self.retained + self.outbox
        if not first and not pending:
            return
        self.aborted = self.aborted or first
        self.publish(kind="live", type="agent/cancel-requested", cause=cause)
        if not keep_inbox:
            dropped = [message["id"] for message, _ in self.queue]
            dropped += [message["id"] for message, steering in self.retained + self.outbox if steering]
            self.queue, self.retained, self.outbox = [], [], []
            if dropped:
                self.publish(kind="live", type="agent/inbox/discard", ids=dropped)
        if first:
            self.world.abort()

    # ------------------------------------------------------------------------------------------ the loop
    async def run(self):
        """Serve the queue from its head while a waking prompt is in it."""
        while any(waking for _, waking in self.queue):
            await self.admit()
        self.running = None
        self.show_status("idle")

    async def admit(self):
        """Claim one prompt and ask whether it may have a turn."""
        message, _ = self.queue.pop(0)
        self.retained, self.outbox = self.retained + self.outbox, []
        self.window, self.aborted = True, False
        self.show_status("running")
        asked = self.world.ask("prompt-submit", message=message["id"])
        self.publish(kind="live", type="agent/inbox/dequeue", id=message["id"], placement="queued")
        decision = await asked
        if self.aborted or decision["kind"] != "allow":
            self.reject()
            return
        prompt = (message, decision.get("content"), decision.get("additionalContexts", []))
        while await self.take_turn(prompt):
            prompt = None

    def reject(self):
        """Keep steering and what stands beside it for the next turn; commit context that stands alone."""
        self.window = False
        left, self.retained, self.outbox = self.retained + self.outbox, [], []
        if any(steering for _, steering in left):
            self.retained = left
        else:
            for message, _ in left:
                self.commit(message)

    async def take_turn(self, prompt):
        """Run one turn, for a prompt or again after an error; say whether its request is to be tried again."""
        self.turn, self.step = self.turn + 1, 0
        self.window, self.aborted = True, False
        self.publish(kind="session", type="turn/start", turn=self.turn, trigger="message" if prompt else "retry")
        self.take_in("retained")
        if prompt:
            message, content, contexts = prompt
            self.commit(message, content)
            for context in contexts:
                self.commit(context)
        self.take_in("outbox")
        reason, retry = await self.take_steps()
        if self.aborted:
            reason, retry = "aborted", False
        if reason == "error":
            self.publish(kind="live", type="agent/error", turn=self.turn, step=self.step, message="the turn failed")
        self.window = False
        self.publish(kind="session", type="turn/end", turn=self.turn, reason=reason)
        if not retry:
            settled = "completed" if reason == "max-tokens" else reason
            self.publish(kind="live", type="agent/settled", turn=self.turn, reason=settled)
        return retry

    async def take_steps(self):
        """Ask the model until nothing is left to say; give the turn's reason, and whether to try again."""
        ceiling = False
        while not self.aborted:
            self.step += 1
            self.show_step("step/start")
            reply = await self.world.ask("model", messages=list(self.history))
            if self.aborted:
                self.show_step("step/end")
                break
            if reply["kind"] not in ("text", "tools", "max-tokens"):
                self.show_step("step/end")
                answer = await self.world.ask("request-error", turn=self.turn, step=self.step)
                return "error", answer["kind"] == "retry"
            calls = reply["calls"] if reply["kind"] == "tools" else []
            ceiling = ceiling or reply["kind"] == "max-tokens"
            self.say(reply.get("text") or ("" if calls else "reply"), calls)
            concluded = await self.use_tools(calls)
            steered = not self.aborted and self.take_in("outbox")
            self.show_step("step/end")
            if self.aborted or concluded:
                break
            if calls or steered:
                continue
            answer = await self.world.ask("turn-stopping", turn=self.turn)
            if not self.aborted and answer["kind"] == "throw":
                return "error", False
            if self.aborted or not self.take_in("outbox"):
                break
        return "max-tokens" if ceiling else "completed", False

    async def use_tools(self, calls):
        """Run calls and commit their results in the order of the calls; say whether one concluded the turn."""
        concluded = False
        started = {}
        for number, call in enumerate(calls):
            if self.aborted and call["id"] not in started:
                self.publish(kind="session", type="tool/call", callId=call["id"])
                self.answer(call, code=NOT_STARTED)
                continue
            for other in self.together(calls[number:]):
                if other["id"] not in started:
                    started[other["id"]] = self.start(other)
            if started[call["id"]] is None:
                self.answer(call, code="UNKNOWN_TOOL")
                continue
            outcome = await started[call["id"]]
            if outcome["kind"] == "error":
                self.answer(call, is_error=True)
            elif self.aborted:
                self.answer(call, code=ABORTED)
            else:
                self.answer(call)
                concluded = concluded or outcome.get("concludes", False)
            self.outbox += [(context, False) for context in outcome.get("additionalContexts", [])]
        return concluded

    def together(self, calls):
        """Take the calls that run at once: the first, and parallel ones that follow a parallel one."""
        ahead = 0
        while ahead < len(calls) and self.world.tools.get(calls[ahead]["name"]) == "parallel":
            ahead += 1
        return calls[: ahead or 1]

    def start(self, call):
        """Record a call and start it; nothing is started for a name that no tool has."""
        self.publish(kind="session", type="tool/call", callId=call["id"])
        known = call["name"] in self.world.tools
        return self.world.ask("tool", callId=call["id"], name=call["name"]) if known else None

    # ------------------------------------------------------------------------------------------ the log
    def take_in(self, source):
        """Commit what is staged, in order of acceptance; say whether any of it was steering."""
        staged = getattr(self, source)
        setattr(self, source, [])
        for message, steering in staged:
            if steering:
                self.publish(kind="live", type="agent/inbox/dequeue", id=message["id"], placement="steering")
                self.publish(kind="session", type="steering/message", turn=self.turn, id=message["id"])
                self.history.append({"role": "user", "id": message["id"], "text": message["text"]})
            else:
                self.commit(message)
        return any(steering for _, steering in staged)

    def commit(self, message, content=None):
        """Append input to the log, perhaps with other content than was sent."""
        event = {"id": message["id"], "source": message["source"]["kind"]}
        if content is not None:
            event["text"] = content
        text = message["text"] if content is None else content
        self.history.append({"role": "user", "id": message["id"], "text": text})
        self.publish(kind="session", type="user/message", **event)

    def say(self, text, calls):
        """Append what the model said."""
        ids = [call["id"] for call in calls]
        self.history.append({"role": "assistant", "toolCalls": ids, "text": text})
        self.publish(
            kind="session",
            type="assistant/message",
            turn=self.turn,
            step=self.step,
            toolCalls=ids,
            text=text,
        )

    def answer(self, call, *, code=None, is_error=False):
        """Append the result of a call."""
        failed = is_error or code is not None
        self.history.append({"role": "user", "toolResult": call["id"], "isError": failed})
        told = {} if code is None else {"code": code}
        self.publish(kind="session", type="tool/result", callId=call["id"], isError=failed, **told)

    def show_step(self, event):
        self.publish(kind="session", type=event, turn=self.turn, step=self.step)

    def show_status(self, status):
        if status != self.status:
            self.status = status
            self.publish(kind="live", type="agent/status", status=status)


async def when_idle(agent):
    """Wait until an agent has nothing to do."""
    while agent.running is not None:
        await asyncio.shield(agent.running)
