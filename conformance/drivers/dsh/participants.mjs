/**
 * Everybody whom the agent waits for, each reduced to a gate: the model, two tools and the listeners of its extension
 * points.
 *
 * Each participant finds the session it works for by the agent that asks, never by what is current: the agent of a
 * dropped session meets its own dropped world and fails there.
 */
import { CallId, LlmAdapter, LlmError } from '@deepseek-ai/dsh-llm'
import { Dropped } from './gates.mjs'
import { LIVE, durableEvent, requestEvent } from './projection.mjs'

/** The one provider route that the scripted model serves. */
export const ROUTE = { provider: 'scripted', model: 'scripted' }

/** {name: how its calls may overlap}; any other name is unknown to the agent. */
export const TOOLS = { par: 'parallel', exc: 'exclusive' }

const DEFAULT_TEXT = 'reply'
/** Index of the one text block of a response; its calls follow. */
const TEXT = 0
const FINISH = { text: 'stop', tools: 'tool-calls', 'max-tokens': 'max-tokens' }

/** Worlds by agent and by session; neither keeps the other alive. */
export class Worlds {
  #byOwner = new WeakMap()

  /** Tie a world to its agent. */
  bind(world) {
    this.#byOwner.set(world.agent, world)
    this.#byOwner.set(world.agent.session, world)
  }

  /**
   * Find whom an agent or a session works for.
   * @param owner - agent or session.
   */
  of(owner) {
    return this.#byOwner.get(owner)
  }
}

/** A model that says what the runner tells it to. */
export class ScriptedModel extends LlmAdapter {
  constructor(ctx, worlds) {
    super()
    this.ctx = ctx
    this.worlds = worlds
  }

  async *stream(request) {
    const world = this.worlds.of(this.ctx.agents.requireInitiator())
    world.publish(requestEvent(request, world.messages))
    let streamed = ''
    for (;;) {
      const outcome = await world.gates.park('model', streamed === '' ? {} : { partial: streamed }, request.signal)
      if (outcome.kind === 'error') throw new LlmError(outcome.message ?? 'scripted model failure', 'SCRIPTED')
      if (outcome.kind !== 'partial') {
        yield* finishing(outcome)
        return
      }
      yield { type: 'text-delta', index: TEXT, text: outcome.text }
      streamed += outcome.text
    }
  }
}

/** The rest of a response: what is left of its text, its calls, its end. Deltas alone make a complete stream. */
function* finishing(outcome) {
  const text = outcome.text ?? (outcome.kind === 'tools' ? '' : DEFAULT_TEXT)
  if (text !== '') yield { type: 'text-delta', index: TEXT, text }
  for (const [position, { id, name }] of (outcome.calls ?? []).entries()) {
    yield { type: 'tool-call-delta', index: TEXT + 1 + position, id: CallId(id), name, argumentsDelta: '{}' }
  }
  yield { type: 'finish', reason: { kind: FINISH[outcome.kind] } }
}

/**
 * A tool whose body is a gate. After an abort a cooperative body returns, and the agent's own tool runtime turns that
 * into the aborted result.
 */
const scriptedTool = (name, worlds) => ({
  name,
  description: `scripted ${TOOLS[name]} tool`,
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  output: { schema: { type: 'string' }, render: (_arguments, value) => [{ type: 'text', text: value }] },
  isConcurrencySafe: () => TOOLS[name] === 'parallel',
  async execute(_arguments, execution) {
    const world = worlds.of(execution.agent)
    const outcome = await world.gates.park('tool', { callId: execution.callId, name }, execution.signal)
    for (const context of outcome.additionalContexts ?? []) execution.deferContext(world.messages.accept(context))
    if (outcome.concludes) execution.concludeTurn()
    if (outcome.kind === 'error') throw new Error('scripted tool failure')
    return 'ok'
  },
})

const failing = point => new Error(`scripted ${point} failure`)

/** The waterfalls and checkpoints of a turn. */
const LISTENERS = {
  async 'agent/pre-step'(world, { turn, step, messages, signal }, next) {
    const outcome = await world.gates.park(
      'pre-step',
      { turn, step, claimed: messages.map(message => message.id) },
      signal,
    )
    if (outcome.kind === 'throw') throw failing('pre-step')
    if (outcome.kind === 'reject') return { kind: 'reject' }
    return outcome.messages === undefined
      ? next()
      : { kind: 'enter', messages: outcome.messages.map(spec => world.messages.accept(spec)) }
  },
  async 'agent/turn-stopping'(world, { turn, signal }) {
    const outcome = await world.gates.park('turn-stopping', { turn }, signal)
    if (outcome.kind === 'throw') throw failing('turn-stopping')
  },
  async 'agent/request-error'(world, { turn, step, signal }, next) {
    const outcome = await world.gates.park('request-error', { turn, step }, signal)
    if (outcome.kind === 'throw') throw failing('request-error')
    return outcome.kind === 'retry' ? { kind: 'retry' } : next()
  },
}

/** The durability checkpoint. A session that is being dropped has nothing to keep. */
const flush = worlds => async session => {
  const outcome = await worlds.of(session)?.gates.park('flush', {}).catch(unlessDropped)
  if (outcome?.kind === 'fail') throw failing('flush')
}

function unlessDropped(error) {
  if (!(error instanceof Dropped)) throw error
}

/**
 * Install the participants and the observers.
 * @param ctx - the composition.
 * @param worlds - where each agent's world is found.
 */
export function install(ctx, worlds) {
  ctx.llm.registerAdapter([ROUTE.provider], new ScriptedModel(ctx, worlds))
  for (const name of Object.keys(TOOLS)) ctx.tools.register(scriptedTool(name, worlds))
  for (const [point, listener] of Object.entries(LISTENERS)) {
    ctx.on(point, (payload, next) => listener(worlds.of(payload.agent), payload, next))
  }
  ctx.on('session/flush', flush(worlds))
  ctx.on('session/event', (session, event) => {
    const world = worlds.of(session)
    const shown = world && durableEvent(event, world.messages)
    if (shown !== undefined) world.publish(shown)
  })
  for (const [type, project] of Object.entries(LIVE)) {
    ctx.on(type, payload => worlds.of(payload.agent)?.publish({ kind: 'live', type, ...project(payload) }))
  }
}
