/**
 * Makes, resumes and drops the sessions of one lane. The agent's services are composed once (with or without the
 * checkpoint policy) and serve every session of the lane; a reset costs one agent, not one process.
 */
import { Context, Logger } from '@deepseek-ai/cordis'
import LlmRuntime from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId, SessionPreparation, interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import * as checkpointPolicy from '@deepseek-ai/dsh-session-checkpoint-policy'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import { FAILED, INVALID_PARAMS, RequestError, Unsupported, invalid } from './errors.mjs'
import { GATED_KINDS } from './gates.mjs'
import { ROUTE, Worlds, install } from './participants.mjs'
import { World, settingsOf } from './world.mjs'

const SERVICES = [LlmRuntime, SessionStore, SystemPrompt, ToolRuntime, AgentRegistry]
/** The logger's rank of warnings: it counts error, info, warn, debug from 0. */
const WARNINGS = 2
const UNDECLARED_MODES = ['fork', 'compact']

export class Stage {
  #worlds = new Worlds()
  /** {with checkpoint policy: composition} */
  #compositions = new Map()
  #world
  #sessions = 0
  /** The log that the persistence service hands to a resume, while one is under way. */
  #stored

  /** The running session. */
  get world() {
    if (this.#world === undefined) throw new RequestError(INVALID_PARAMS, "there is no session yet; send 'reset' first")
    return this.#world
  }

  /** Let the running session, if there is one, publish what happened around it. */
  report(event) {
    this.#world?.publish(event)
  }

  /**
   * Make a brand-new agent on a new, empty session; the old one is never seen again.
   * @param params - see the protocol.
   */
  async reset(params) {
    checkSettings(params)
    this.#leave()
    const world = new World(settingsOf(params))
    const { agents } = await this.#composition(world)
    const sessionId = SessionId(`session-${++this.#sessions}`)
    await this.#enter(world, setup => agents.create({ sessionId, agentOptions: ROUTE, setup }))
  }

  /**
   * Go on with a new agent over the log so far.
   * @param params - `mode`: "crash" cuts the old agent off as it stands; "clean" disposes of it first.
   */
  async resume({ mode }) {
    if (UNDECLARED_MODES.includes(mode)) throw new Unsupported(`resume mode '${mode}'`, mode)
    if (mode !== 'crash' && mode !== 'clean') invalid(`'mode' must be crash or clean (got ${JSON.stringify(mode)})`)
    const old = this.world
    old.disarm()
    if (mode === 'clean') {
      letGo(old)
      // A gate that ignores the abort holds the disposal up; what is still open then is cut off like in a crash.
      await old.settle()
    }
    const ctx = await this.#composition(old)
    const { header, events } = structuredClone({ header: old.agent.session.header, events: old.agent.session.events })
    const world = new World(old.settings, old.messages, old.take())
    this.#leave()
    await old.settle()
    if (ctx.sessions.get(header.id) !== undefined)
      throw new RequestError(FAILED, `the agent did not give session '${header.id}' back`)
    this.#stored = { header, events: [...events, ...interruptedTurnClosers(events)] }
    await this.#enter(world, setup => ctx.agents.resume({ resumeSessionId: header.id, agentOptions: ROUTE, setup }))
  }

  /** Cut off the running session, if there is one, and let its agent end in the dark. */
  #leave() {
    const old = this.#world
    this.#world = undefined
    if (old === undefined) return
    old.drop()
    letGo(old)
  }

  async #enter(world, create) {
    const handle = await create(agentCtx => {
      world.adopt(agentCtx.agent)
      this.#worlds.bind(world)
    })
    world.own(handle)
    this.#world = world
  }

  #composition({ settings }) {
    const withPolicy = settings.gates.has('flush')
    if (!this.#compositions.has(withPolicy)) this.#compositions.set(withPolicy, this.#compose(withPolicy))
    return this.#compositions.get(withPolicy)
  }

  async #compose(withPolicy) {
    const ctx = new Context()
    reportWarnings(ctx)
    for (const service of SERVICES) await ctx.plugin(service)
    ctx.provide('sessionPersistence', { prepare: async () => this.#restored(ctx) })
    if (withPolicy) await ctx.plugin(checkpointPolicy)
    await ctx.plugin(AgentLoop, { agents: [] })
    install(ctx, this.#worlds)
    return ctx
  }

  /** The one thing that a resume asks of a persistence backend. */
  #restored(ctx) {
    const { header, events } = this.#stored
    return SessionPreparation.create(
      ctx.sessions.prepare(header.id, { seed: events, meta: header, seedSource: 'persistence' }),
    )
  }
}

/** Start a disposal that nobody waits for; one that the agent refused before stays refused. */
function letGo(world) {
  world.handle.dispose().catch(() => {})
}

function checkSettings({ gates = [], onAbort = {} }) {
  if (!Array.isArray(gates)) invalid(`'gates' must be a list of kinds (got ${JSON.stringify(gates)})`)
  for (const kind of [...gates, ...Object.keys(onAbort)]) {
    if (!GATED_KINDS.includes(kind))
      invalid(`a gate's kind must be one of ${GATED_KINDS.join(', ')} (got ${JSON.stringify(kind)})`)
  }
  for (const [kind, reaction] of Object.entries(onAbort)) {
    if (reaction !== 'park' && reaction !== 'settle')
      invalid(`'onAbort.${kind}' must be settle or park (got ${JSON.stringify(reaction)})`)
  }
}

/** Send the agent's own log to stderr, warnings included; stdout belongs to the protocol. */
function reportWarnings(ctx) {
  const exporter = {
    colors: 0,
    levels: { default: WARNINGS },
    export: message => process.stderr.write(`${message.type} ${message.name}: ${Logger.format(exporter, message)}\n`),
  }
  ctx.logger.exporter(exporter)
}
