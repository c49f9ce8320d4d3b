// A small agent that keeps contract `window`: queued prompts, steering, context, turns, tools, cancel.
//
// It knows nothing of turnproof. Whatever it waits for it asks of its `world`: the model, the tools, and the hooks of
// whoever embeds it. Everything else happens at once, in the caller's stack.

export class Agent {
  queue = []; // {message, waking}, in order of acceptance
  outbox = []; // {message, steering}, accepted while the window is open
  retained = []; // the same, left behind by earlier turns and rejected admissions
  history = []; // what the model is shown
  status = "idle";
  window = false;
  aborted = false;
  turn = 0;
  step = 0;
  running = null;

  /** `world.ask(kind, view)` answers a promise for what the agent waits for; `publish` is told of each event. */
  constructor(world, publish) {
    this.world = world;
    this.publish = publish;
  }

  // ------------------------------------------------------------------------------------------ what callers do
  /** Accept a message; where it goes is decided now and not looked at again. */
  send(message, target, waking) {
    if (target === "next-turn" || (waking && !this.window)) {
      this.queue.push({ message, waking });
      this.live("agent/inbox/enqueue", { id: message.id, placement: "queued" });
      if (waking) this.running ??= Promise.resolve().then(() => this.run());
    } else if (this.window) {
      this.outbox.push({ message, steering: waking });
      if (waking) this.live("agent/inbox/enqueue", { id: message.id, placement: "steering" });
    } else {
      this.commit(message);
    }
  }

  /** Abort what is running, and drop what is pending unless it is to be kept. */
  cancel(cause, keepInbox) {
    const first = this.window && !this.aborted;
    const staged = [...this.retained, ...this.outbox];
    if (!first && (keepInbox || this.queue.length + staged.length === 0)) return;
    this.aborted ||= first;
    this.live("agent/cancel-requested", { cause });
    if (!keepInbox) {
      const dropped = [...this.queue, ...staged.filter((entry) => entry.steering)].map((entry) => entry.message.id);
      this.queue = [];
      this.retained = [];
      this.outbox = [];
      if (dropped.length > 0) this.live("agent/inbox/discard", { ids: dropped });
    }
    if (first) this.world.abort();
  }

  // ------------------------------------------------------------------------------------------ the loop
  /** Serve the queue from its head while a waking prompt is in it. */
  async run() {
    while (this.queue.some((entry) => entry.waking)) await this.admit();
    this.running = null;
    this.showStatus("idle");
  }

  /** Claim one prompt and ask whether it may have a turn. */
  async admit() {
    const { message } = this.queue.shift();
    this.retained.push(...this.outbox.splice(0));
    this.window = true;
    this.aborted = false;
    this.showStatus("running");
    const asked = this.world.ask("prompt-submit", { message: message.id });
    this.live("agent/inbox/dequeue", { id: message.id, placement: "queued" });
    const decision = await asked;
    if (this.aborted || decision.kind !== "allow") {
      this.reject();
      return;
    }
    let prompt = { message, content: decision.content, contexts: decision.additionalContexts ?? [] };
    while (await this.takeTurn(prompt)) prompt = null;
  }

  /** Keep steering and what stands beside it for the next turn; commit context that stands alone. */
  reject() {
    this.window = false;
    const left = [...this.retained.splice(0), ...this.outbox.splice(0)];
    if (left.some((entry) => entry.steering)) this.retained = left;
    else for (const { message } of left) this.commit(message);
  }

  /** Run one turn, for a prompt or again after an error; say whether its request is to be tried again. */
  async takeTurn(prompt) {
    this.turn += 1;
    this.step = 0;
    this.window = true;
    this.aborted = false;
    this.durable("turn/start", { turn: this.turn, trigger: prompt ? "message" : "retry" });
    this.takeIn(this.retained);
    if (prompt) {
      this.commit(prompt.message, prompt.content);
      for (const context of prompt.contexts) this.commit(context);
    }
    this.takeIn(this.outbox);
    let { reason, retry } = await this.takeSteps();
    if (this.aborted) [reason, retry] = ["aborted", false];
    if (reason === "error") this.live("agent/error", { turn: this.turn, step: this.step, message: "the turn failed" });
    this.window = false;
    this.durable("turn/end", { turn: this.turn, reason });
    if (!retry) this.live("agent/settled", { turn: this.turn, reason: reason === "max-tokens" ? "completed" : reason });
    return retry;
  }

  /** Ask the model until nothing is left to say; give the turn's reason, and whether to try again. */
  async takeSteps() {
    let reason = "completed";
    while (!this.aborted) {
      this.step += 1;
      this.showStep("step/start");
      const reply = await this.world.ask("model", { messages: [...this.history] });
      if (this.aborted) {
        this.showStep("step/end");
        break;
      }
      if (!["text", "tools", "max-tokens"].includes(reply.kind)) {
        this.showStep("step/end");
        const answer = await this.world.ask("request-error", { turn: this.turn, step: this.step });
        return { reason: "error", retry: answer.kind === "retry" };
      }
      const calls = reply.kind === "tools" ? reply.calls : [];
      if (reply.kind === "max-tokens") reason = "max-tokens";
      this.say(reply.text ?? (calls.length > 0 ? "" : "reply"), calls);
      const concluded = await this.useTools(calls);
      const steered = !this.aborted && this.takeIn(this.outbox);
      this.showStep("step/end");
      if (this.aborted || concluded) break;
      if (calls.length > 0 || steered) continue;
      const answer = await this.world.ask("turn-stopping", { turn: this.turn });
      if (!this.aborted && answer.kind === "throw") return { reason: "error", retry: false };
      if (this.aborted || !this.takeIn(this.outbox)) break;
    }
    return { reason, retry: false };
  }

  /** Run calls and commit their results in the order of the calls; say whether one concluded the turn. */
  async useTools(calls) {
    let concluded = false;
    const started = new Map();
    for (const [number, call] of calls.entries()) {
      if (this.aborted && !started.has(call.id)) {
        this.durable("tool/call", { callId: call.id });
        this.answer(call, { code: "ABORTED_BEFORE_DISPATCH" });
        continue;
      }
      for (const other of this.together(calls.slice(number))) {
        if (!started.has(other.id)) started.set(other.id, this.start(other));
      }
      if (started.get(call.id) === null) {
        this.answer(call, { code: "UNKNOWN_TOOL" });
        continue;
      }
      const outcome = await started.get(call.id);
      if (outcome.kind === "error") this.answer(call, { failed: true });
      else if (this.aborted) this.answer(call, { code: "ABORTED" });
      else {
        this.answer(call, {});
        concluded ||= outcome.concludes ?? false;
      }
      for (const message of outcome.additionalContexts ?? []) this.outbox.push({ message, steering: false });
    }
    return concluded;
  }

  /** Take the calls that run at once: the first, and parallel ones that follow a parallel one. */
  together(calls) {
    const end = calls.findIndex((call) => this.world.tools[call.name] !== "parallel");
    return calls.slice(0, Math.max(end < 0 ? calls.length : end, 1));
  }

  /** Record a call and start it; nothing is started for a name that no tool has. */
  start(call) {
    this.durable("tool/call", { callId: call.id });
    return call.name in this.world.tools ? this.world.ask("tool", { callId: call.id, name: call.name }) : null;
  }

  // ------------------------------------------------------------------------------------------ the log
  /** Commit what is staged, in order of acceptance; say whether any of it was steering. */
  takeIn(staged) {
    const entries = staged.splice(0);
    for (const { message, steering } of entries) {
      if (!steering) {
        this.commit(message);
        continue;
      }
      this.live("agent/inbox/dequeue", { id: message.id, placement: "steering" });
      this.history.push({ role: "user", id: message.id, text: message.text });
      this.durable("steering/message", { turn: this.turn, id: message.id });
    }
    return entries.some((entry) => entry.steering);
  }

  /** Append input to the log, perhaps with other content than was sent. */
  commit(message, content) {
    this.history.push({ role: "user", id: message.id, text: content ?? message.text });
    const text = content === undefined ? {} : { text: content };
    this.durable("user/message", { id: message.id, source: message.source.kind, ...text });
  }

  /** Append what the model said. */
  say(text, calls) {
    const toolCalls = calls.map((call) => call.id);
    this.history.push({ role: "assistant", toolCalls, text });
    this.durable("assistant/message", { turn: this.turn, step: this.step, toolCalls, text });
  }

  /** Append the result of a call. */
  answer(call, { code, failed = false }) {
    const isError = failed || code !== undefined;
    this.history.push({ role: "user", toolResult: call.id, isError });
    this.durable("tool/result", { callId: call.id, isError, ...(code && { code }) });
  }

  showStep(type) {
    this.durable(type, { turn: this.turn, step: this.step });
  }

  showStatus(status) {
    if (status === this.status) return;
    this.status = status;
    this.live("agent/status", { status });
  }

  live(type, fields) {
    this.publish({ kind: "live", type, ...fields });
  }

  durable(type, fields) {
    this.publish({ kind: "session", type, ...fields });
  }
}
