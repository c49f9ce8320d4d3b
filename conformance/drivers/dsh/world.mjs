/**
 * One session as the runner sees it: what was published since the last answer, the open gates, the armed operations.
 *
 * A world belongs to exactly one agent. Once dropped it publishes nothing, fires nothing and parks nothing, so whatever
 * its agent still does is never seen again.
 */
import { isDeepStrictEqual } from 'node:util'
import { RequestError, textOf } from './errors.mjs'
import { DEFAULT_KINDS, GATED_KINDS, Gates } from './gates.mjs'
import { Messages } from './messages.mjs'
import { perform } from './operations.mjs'
import { pendingLists } from './projection.mjs'

/** How a gate answers an abort unless a reset says otherwise. */
const DEFAULT_REACTIONS = Object.fromEntries(GATED_KINDS.map(kind => [kind, kind === 'flush' ? 'park' : 'settle']))

const macrotask = () => new Promise(resolve => setImmediate(resolve))
const hasTimers = () => process.getActiveResourcesInfo().includes('Timeout')

/**
 * Resolve the parameters of a reset.
 * @param params - `gates?`: kinds to park; `onAbort?`: {kind: "settle" or "park"}.
 * @returns the settings of a world.
 */
export const settingsOf = ({ gates = DEFAULT_KINDS, onAbort = {} }) => ({
  gates: new Set(gates),
  onAbort: { ...DEFAULT_REACTIONS, ...onAbort },
})

export class World {
  /** The agent under test and the handle that owns it; set by {@link adopt} and {@link own}. */
  agent
  handle
  #events = []
  /** Set of {on, where, left, defer, ops} in the order of arming. */
  #arms = new Set()
  #activity = 0
  #dropped = false
  /** Counts the times that everything deferred was forgotten. */
  #era = 0

  /**
   * @param settings - see {@link settingsOf}.
   * @param messages - what the session was given so far; a resumed one goes on with it.
   * @param events - what was published before and is not answered yet.
   */
  constructor(settings, messages = new Messages(), events = []) {
    this.settings = settings
    this.messages = messages
    this.gates = new Gates(settings, event => this.publish(event), messages)
    this.#events = events
  }

  /** Take the agent while it is still unpublished, so that the first thing it does is seen. */
  adopt(agent) {
    this.agent = agent
  }

  /** Take the capability to dispose of the agent. */
  own(handle) {
    this.handle = handle
  }

  /**
   * Record one event and perform what was armed on it, synchronously.
   * @param event - in wire form.
   */
  publish(event) {
    if (this.#dropped) return
    this.#activity++
    this.#events.push(event)
    for (const arm of [...this.#arms]) {
      if (this.#arms.has(arm) && matches(arm, event) && --arm.left === 0) this.#fire(arm)
    }
  }

  /**
   * Remember operations to perform inside a later event.
   * @param arm - `on`, `where?`, `nth?`, `defer?`, `ops`.
   */
  arm({ on, where = {}, nth = 1, defer = 0, ops }) {
    this.#arms.add({ on, where, left: nth, defer, ops })
  }

  /**
   * Perform one operation inside others; what the agent refuses becomes an event.
   * @param operation - `{method, params}`.
   */
  attempt({ method, params }) {
    try {
      perform(this, method, params)
    } catch (error) {
      this.refuse(method, error)
    }
  }

  /** Publish that an operation was refused. */
  refuse(method, error) {
    this.publish({ kind: 'driver', type: 'op-threw', method, error: textOf(error) })
  }

  /** Start the disposal; its end is an event of its own. */
  dispose() {
    this.handle.dispose().then(
      () => this.publish({ kind: 'driver', type: 'dispose/resolved' }),
      error => this.refuse('dispose', error),
    )
  }

  /**
   * Let the agent run until nothing is runnable: a whole turn of the event loop, which drains every microtask, in which
   * nothing happened, and no timer left.
   */
  async settle() {
    let before
    do {
      before = this.#activity
      await macrotask()
    } while (before !== this.#activity || hasTimers())
  }

  /**
   * Run one request's operation to quiescence.
   * @param operation - performed at once; what the agent throws is the refusal.
   * @returns the observation.
   * @throws RequestError when the runner asked for what there is not; nothing has changed.
   */
  async observe(operation) {
    const extra = {}
    try {
      const answer = operation()
      if (answer !== undefined) extra.answer = answer
    } catch (error) {
      if (error instanceof RequestError) throw error
      extra.refused = textOf(error)
    }
    let whenIdle = false
    this.agent.whenIdle().then(() => {
      whenIdle = true
    })
    await this.settle()
    return {
      events: this.take(),
      gates: this.gates.open,
      status: this.agent.status,
      acceptsNextStep: null,
      inbox: pendingLists(this.agent.inbox),
      whenIdle,
      ...extra,
    }
  }

  /** Hand over what was published since the last answer. */
  take() {
    const events = this.#events
    this.#events = []
    return events
  }

  /** Forget what is armed, deferred operations included. */
  disarm() {
    this.#arms.clear()
    this.#era++
  }

  /** Cut the session off as it stands: it is never seen again, and everything it waits for fails. */
  drop() {
    this.#dropped = true
    this.disarm()
    this.gates.drop()
  }

  #fire(arm) {
    this.#arms.delete(arm)
    if (arm.defer === 0) this.#performAll(arm.ops)
    else void this.#performLater(arm, this.#era)
  }

  async #performLater({ defer, ops }, era) {
    for (let breaks = 0; breaks < defer; breaks++) await null
    if (era === this.#era) this.#performAll(ops)
  }

  #performAll(ops) {
    this.#activity++
    for (const operation of ops) this.attempt(operation)
  }
}

/** Whether an event is one that the arm waits for. */
function matches({ on, where }, event) {
  const name = event.type === 'gate/open' && on.startsWith('gate:') ? `gate:${event.gateKind}` : event.type
  return name === on && Object.entries(where).every(([field, value]) => isDeepStrictEqual(event[field], value))
}
