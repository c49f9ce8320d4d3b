/**
 * Makes, resumes and drops the sessions of one lane.
 */
import { interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import { FAILED, INVALID_PARAMS, RequestError, Unsupported, invalid } from './errors.mjs'
import { GATED_KINDS } from './gates.mjs'
import { ROUTE } from './participants.mjs'
import { World, settingsOf } from './world.mjs'

const UNDECLARED_MODES = ['fork', 'compact']

export class Stage {
  #services
  #world

  /** @param services - those of all lanes. */
  constructor(services) {
    this.#services = services
  }

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
    const { agents } = await this.#services.composition(world.settings)
    const sessionId = this.#services.newSession()
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
    const ctx = await this.#services.composition(old.settings)
    const { header, events } = structuredClone({ header: old.agent.session.header, events: old.agent.session.events })
    const world = new World(old.settings, old.messages, old.take())
    this.#leave()
    await old.settle()
    if (ctx.sessions.get(header.id) !== undefined)
      throw new RequestError(FAILED, `the agent did not give session '${header.id}' back`)
    this.#services.stored = { header, events: [...events, ...interruptedTurnClosers(events)] }
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
      this.#services.worlds.bind(world)
    })
    world.own(handle)
    this.#world = world
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
