// A driver for the agent in `agent.mjs`: it plays the world around the agent, and lets turnproof decide what happens.
//
// turnproof starts this program and writes one JSON-RPC request a line. After each one the driver lets the agent run
// until nothing moves any more, then answers with what happened. Each thing that the agent waits for is a *gate*: a
// promise that stays open until turnproof releases it.

import { createInterface } from "node:readline";
import { Agent } from "./agent.mjs";

const OUTCOMES = {
  "prompt-submit": ["allow", "block", "throw"],
  model: ["text", "tools", "max-tokens", "error"],
  tool: ["result", "error"],
  "turn-stopping": ["continue", "throw"],
  "request-error": ["give-up", "retry", "throw"],
};
const ABORT_OUTCOMES = { tool: "result", "request-error": "give-up" }; // all other kinds throw
const CAPABILITIES = [
  ...["inbox", "acceptsNextStep", "keepInbox", "request-error", "tools.parallel", "tools.exclusive"],
  ...["tool.contexts", "tool.concludes", "prompt.content", "prompt.contexts"],
];
const PRESETS = { followup: ["next-turn", true], steer: ["next-step", true], inject: ["next-step", false] };

/** Answer a request that this driver can't do. */
class Refused extends Error {}

const demand = (holds, words) => {
  if (!holds) throw new Refused(words);
};

class Driver {
  tools = { par: "parallel", exc: "exclusive" };

  constructor() {
    this.reset();
  }

  reset() {
    this.events = [];
    this.gates = new Map();
    this.count = 0;
    const events = this.events; // an agent of before goes on publishing into its own list, which nobody reads
    this.agent = new Agent(this, (event) => events.push(event));
  }

  // ------------------------------------------------------------------------------------------ the world
  /** Open a gate and give the promise that the agent waits for. */
  ask(kind, { messages, ...view }) {
    if (kind === "model") this.events.push({ kind: "request", type: "request", messages });
    const id = `g${(this.count += 1)}`;
    const { promise, resolve } = Promise.withResolvers?.() ?? withResolvers();
    this.gates.set(id, { view: { id, kind, ...view }, resolve });
    this.events.push({ kind: "driver", type: "gate/open", gate: id, gateKind: kind });
    return promise;
  }

  /** Let every open gate hear of an abort: it settles by itself. */
  abort() {
    for (const [id, { view, resolve }] of this.gates) {
      this.gates.delete(id);
      resolve({ kind: ABORT_OUTCOMES[view.kind] ?? "throw" });
      this.events.push({ kind: "driver", type: "gate/aborted", gate: id, gateKind: view.kind });
    }
  }

  // ------------------------------------------------------------------------------------------ what turnproof asks
  /** Do one operation; only `initialize` and `shutdown` have an answer of their own. */
  perform(method, params) {
    switch (method) {
      case "initialize":
        demand(params.protocol === 1, `this driver speaks protocol 1 (got ${params.protocol})`);
        return this.introduce();
      case "shutdown":
        return {};
      case "inspect":
        return undefined;
      case "reset":
        demand(Object.keys(params).length === 0, "this driver's gates can't be chosen");
        return this.reset();
      case "followup":
      case "steer":
      case "inject":
        return this.agent.send(messageOf(params), ...PRESETS[method]);
      case "send":
        demand(["next-turn", "next-step"].includes(params.target), "a send has a target");
        demand(typeof params.wakeup === "boolean", "a send says whether it wakes");
        return this.agent.send(messageOf(params), params.target, params.wakeup);
      case "cancel":
        demand(["user", "parent"].includes(params.cause), "a cancel has a cause");
        demand(typeof (params.keepInbox ?? false) === "boolean", "a cancel keeps the inbox or doesn't");
        return this.agent.cancel(params.cause, params.keepInbox ?? false);
      case "release":
        return this.release(params);
      default:
        throw new Refused(`this driver doesn't offer ${method}`);
    }
  }

  introduce() {
    return {
      protocol: 1,
      implementation: { name: "small-agent", version: "1.0", language: "javascript", runtime: `node ${process.version}` },
      contract: "window",
      capabilities: Object.fromEntries(CAPABILITIES.map((name) => [name, true])),
      gates: Object.keys(OUTCOMES),
      tools: this.tools,
    };
  }

  /** Settle the gate that is named, or the oldest of a kind. */
  release({ gate, kind, outcome }) {
    demand(gate !== undefined || kind !== undefined, "a release names a gate or a kind");
    const fits = ({ view }) => view.id === (gate ?? view.id) && view.kind === (kind ?? view.kind);
    const open = [...this.gates.values()].find(fits);
    demand(open !== undefined, `no such gate is open: ${gate ?? kind}`);
    const takes = OUTCOMES[open.view.kind];
    demand(takes.includes(outcome?.kind), `gate ${open.view.kind} takes ${takes} (got ${JSON.stringify(outcome)})`);
    this.gates.delete(open.view.id);
    open.resolve(outcome);
  }

  /** Tell what happened since the last call, and what can be seen now. */
  observe() {
    const { agent } = this;
    const staged = [...agent.retained, ...agent.outbox];
    const ids = (entries) => entries.map((entry) => entry.message.id);
    const kinds = staged.map((entry) => (entry.steering ? "steering" : "context"));
    return {
      events: this.events.splice(0),
      gates: [...this.gates.values()].map((open) => open.view),
      status: agent.status,
      acceptsNextStep: agent.window,
      inbox: { nextTurn: ids(agent.queue), nextStep: ids(staged), ...(kinds.length > 0 && { nextStepKinds: kinds }) },
      whenIdle: null,
    };
  }
}

function withResolvers() {
  const out = {};
  out.promise = new Promise((resolve) => (out.resolve = resolve));
  return out;
}

/** Take the message of a request; one without its parts is refused before anything happens. */
function messageOf({ message }) {
  const parts = [message?.id, message?.text, message?.source?.kind];
  demand(parts.every((part) => typeof part === "string"), "a message has an id, a text and a source in words");
  return message;
}

/** Let the agent run until nothing moves any more: all promises that can go on have gone on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

const driver = new Driver();
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  let answer;
  try {
    const result = driver.perform(method, params);
    await settle();
    answer = { result: method === "initialize" || method === "shutdown" ? result : driver.observe() };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    answer = { error: { code: -32600, message: error.message } };
  }
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  if (method === "shutdown") break;
}
process.stdin.destroy();
