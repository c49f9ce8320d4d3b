/**
 * What this driver declares. The agent's own entries follow the packages' READMEs and type declarations, never its
 * behaviour; the scheduling entries (batch, arm, gates, onAbort) are the driver's own promise.
 */
import { createRequire } from 'node:module'
import { GATED_KINDS } from './gates.mjs'
import { TOOLS } from './participants.mjs'

export const PROTOCOL = 1

const PACKAGE = '@deepseek-ai/dsh-agent-loop'

const CAPABILITIES = {
  batch: true,
  arm: true,
  'arm.defer': true,
  'arm.where': true,
  'gates.select': true,
  'onAbort.select': true,
  inbox: true, // Agent.inbox.nextTurn and nextStep
  acceptsNextStep: false, // no such query: input always waits in the inbox
  whenIdle: true,
  keepInbox: true, // CancelOptions.keepInbox
  dispose: true, // AgentHandle.dispose
  resume: true, // ctx.agents.resume over a persistence backend; the driver keeps the log
  fork: false, // sessions.fork wants a prefix outside an open turn: another operation than the protocol's
  compact: false, // owned by plugins that are not part of this composition
  flush: true, // session/flush, asked for by dsh-session-checkpoint-policy
  'step-gate': false, // the hook before a step is pre-step
  'request-error': true,
  'model.partial': true,
  'tools.parallel': true,
  'tools.exclusive': true,
  'tool.contexts': true, // ToolExecution.deferContext
  'tool.concludes': true, // ToolExecution.concludeTurn
  'prompt.content': false, // belongs to the prompt-submit gate of the other contract
  'prompt.contexts': false,
  'inbox.remove': true,
  'inbox.replace': true,
  'inbox.prepend': true,
  sessionReentry: false, // "reentrant attached-session appends reject"
  goal: false, // owned by plugins that are not part of this composition
  reference: false,
  lanes: true, // the services serve many sessions at once
}

/**
 * Answer `initialize`.
 * @returns the implementation's identity, its capabilities, the kinds of gate it can park and the tools it offers.
 */
export function introduction() {
  const { version } = createRequire(import.meta.url)(`${PACKAGE}/package.json`)
  return {
    protocol: PROTOCOL,
    implementation: { name: PACKAGE, version, language: 'javascript', runtime: `node ${process.versions.node}` },
    contract: 'claim',
    capabilities: CAPABILITIES,
    gates: GATED_KINDS,
    tools: TOOLS,
  }
}
