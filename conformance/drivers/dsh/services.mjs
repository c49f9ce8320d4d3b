/**
 * The agent's services, composed once per process (with or without the checkpoint policy): they serve every session of
 * every lane, so that a reset costs one agent and a lane no more than that.
 */
import { Context, Logger } from '@deepseek-ai/cordis'
import LlmRuntime from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId, SessionPreparation } from '@deepseek-ai/dsh-session'
import * as checkpointPolicy from '@deepseek-ai/dsh-session-checkpoint-policy'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import { Worlds, install } from './participants.mjs'

const SERVICES = [LlmRuntime, SessionStore, SystemPrompt, ToolRuntime, AgentRegistry]
/** The logger's rank of warnings: it counts error, info, warn, debug from 0. */
const WARNINGS = 2

export class Services {
  worlds = new Worlds()
  /** The log that the persistence service hands to a resume, while one is under way: {header, events}. */
  stored
  /** {with checkpoint policy: composition} */
  #compositions = new Map()
  #sessions = 0

  /** Name a session that there was not yet. */
  newSession() {
    return SessionId(`session-${++this.#sessions}`)
  }

  /**
   * Find the services for a session.
   * @param settings - those of its world.
   */
  composition(settings) {
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
    install(ctx, this.worlds)
    return ctx
  }

  /** The one thing that a resume asks of a persistence backend. */
  #restored(ctx) {
    const { header, events } = this.stored
    return SessionPreparation.create(
      ctx.sessions.prepare(header.id, { seed: events, meta: header, seedSource: 'persistence' }),
    )
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
