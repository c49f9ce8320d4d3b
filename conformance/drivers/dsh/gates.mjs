/**
 * The gates of one session: everything the agent waits for, parked until the runner releases it.
 *
 * A gate hears of an abort only after its `gate/open` was published, and one that was released inside that publication
 * never hears of it. That is why the abort listener is attached last.
 */
import { invalid } from './errors.mjs'
import { checkContexts, checkMessages } from './messages.mjs'

const isText = value => value === undefined || typeof value === 'string'
const isCall = call => typeof call?.id === 'string' && typeof call?.name === 'string'
const isCalls = value => Array.isArray(value) && value.every(isCall)

/** {kind: {outcome: check or null}}: what each kind of gate may be released with; the first outcome is the default. */
const OUTCOMES = {
  'pre-step': {
    enter: (out, known) => out.messages === undefined || checkMessages(out.messages, known),
    reject: null,
    throw: null,
  },
  model: {
    text: out => isText(out.text),
    tools: out => isCalls(out.calls) && isText(out.text),
    'max-tokens': out => (out.calls === undefined || isCalls(out.calls)) && isText(out.text),
    error: out => isText(out.message),
    partial: out => typeof out.text === 'string',
  },
  tool: { result: out => checkContexts(out.additionalContexts), error: out => checkContexts(out.additionalContexts) },
  'turn-stopping': { continue: null, throw: null },
  'request-error': { 'give-up': null, retry: null, throw: null },
  flush: { ok: null, fail: null },
}

/** Kinds that can be gated, and those gated when a reset names none. */
export const GATED_KINDS = Object.keys(OUTCOMES)
export const DEFAULT_KINDS = GATED_KINDS.filter(kind => kind !== 'flush')

/** Outcomes that a cooperative gate settles with by itself on an abort; a kind without one throws. */
const ON_ABORT = { tool: { kind: 'result' }, 'request-error': { kind: 'give-up' } }

const defaultOutcome = kind => ({ kind: Object.keys(OUTCOMES[kind])[0] })

/** Raised into whatever still waits when its session is dropped. */
export class Dropped extends Error {
  constructor() {
    super('the session was dropped')
  }
}

export class Gates {
  /** {id: {gate, resolve, reject}} in opening order. */
  #open = new Map()
  #count = 0
  #dropped = false

  /**
   * @param settings - `gates`: Set of gated kinds; `onAbort`: {kind: "settle" or "park"}.
   * @param publish - receives driver events.
   * @param known - {id: message} of the messages sent before, for outcomes that name one by its id.
   */
  constructor(settings, publish, known) {
    this.settings = settings
    this.publish = publish
    this.known = known
  }

  /** Open gates as the observation shows them. */
  get open() {
    return [...this.#open.values()].map(entry => entry.gate)
  }

  /**
   * Wait for the runner; a kind that is not gated takes its default outcome after a scheduler break.
   * @param kind - kind of gate.
   * @param details - what the runner needs to choose an outcome.
   * @param signal - the agent's abort signal, if this participant is given one.
   * @returns the outcome.
   */
  park(kind, details, signal) {
    if (this.#dropped) return Promise.reject(new Dropped())
    if (!this.settings.gates.has(kind)) return Promise.resolve(defaultOutcome(kind))
    const { promise, resolve, reject } = Promise.withResolvers()
    const id = `g${++this.#count}`
    const onAbort = () => this.#abort(id)
    const settledBy = settle => value => {
      this.#open.delete(id)
      signal?.removeEventListener('abort', onAbort)
      settle(value)
    }
    this.#open.set(id, { gate: { id, kind, ...details }, resolve: settledBy(resolve), reject: settledBy(reject) })
    this.publish({ kind: 'driver', type: 'gate/open', gate: id, gateKind: kind })
    if (this.#open.has(id)) {
      if (signal?.aborted) onAbort()
      else signal?.addEventListener('abort', onAbort, { once: true })
    }
    return promise
  }

  /**
   * Settle one open gate.
   * @param target - `{gate}` (its id) or `{kind}` (the oldest open one of that kind).
   * @param outcome - the outcome; absent means the default.
   * @throws when no such gate is open or it does not take that outcome; the gate stays open.
   */
  release({ gate: id, kind, outcome }) {
    const entry = id === undefined ? this.#oldest(kind) : this.#open.get(id)
    if (entry === undefined)
      invalid(id === undefined ? `no gate of kind '${kind}' is open` : `gate '${id}' is not open`)
    const { gate } = entry
    const chosen = outcome ?? defaultOutcome(gate.kind)
    const accepted = OUTCOMES[gate.kind]
    if (!Object.hasOwn(accepted, chosen.kind)) {
      invalid(`gate '${gate.id}' takes ${Object.keys(accepted).join(', ')} (got '${chosen.kind}')`)
    }
    const check = accepted[chosen.kind]
    if (check !== null && !check(chosen, this.known)) {
      invalid(`outcome '${chosen.kind}' of gate '${gate.id}' is malformed (got ${JSON.stringify(chosen)})`)
    }
    entry.resolve(chosen)
  }

  /** Fail everything that waits, and everything that will. */
  drop() {
    this.#dropped = true
    for (const entry of [...this.#open.values()]) entry.reject(new Dropped())
  }

  #oldest(kind) {
    return [...this.#open.values()].find(entry => entry.gate.kind === kind)
  }

  #abort(id) {
    const entry = this.#open.get(id)
    const { kind } = entry.gate
    if (this.settings.onAbort[kind] === 'park') {
      entry.gate.aborted = true
      return
    }
    if (Object.hasOwn(ON_ABORT, kind)) entry.resolve(ON_ABORT[kind])
    else entry.reject(new DOMException('aborted', 'AbortError'))
    this.publish({ kind: 'driver', type: 'gate/aborted', gate: id, gateKind: kind })
  }
}
