/**
 * What the runner may ask of a running agent, each with its check of the parameters and the one call it makes.
 *
 * All are synchronous, so any of them may stand in a batch or be armed inside an event. A check runs before anything
 * changes; what the agent itself refuses is thrown by the call.
 */
import { MessageId } from '@deepseek-ai/dsh-llm'
import { UNKNOWN_METHOD, RequestError, Unsupported, invalid } from './errors.mjs'
import { checkMessage } from './messages.mjs'

const TARGETS = ['next-turn', 'next-step']
const CAUSES = ['user', 'parent']

const oneOf = (name, allowed, value) => {
  if (!allowed.includes(value)) invalid(`'${name}' must be ${allowed.join(' or ')} (got ${JSON.stringify(value)})`)
}
const typed = (name, type, value) => {
  if (typeof value !== type) invalid(`'${name}' must be a ${type} (got ${JSON.stringify(value)})`)
}
const count = (name, least, value) => {
  if (!Number.isSafeInteger(value) || value < least)
    invalid(`'${name}' must be a whole number >= ${least} (got ${JSON.stringify(value)})`)
}
const onlyMessage = ({ message }) => checkMessage(message)
const onlyId = ({ id }) => typed('id', 'string', id)

function checkRelease({ gate, kind, outcome }) {
  if ((gate === undefined) === (kind === undefined)) invalid("release takes either 'gate' or 'kind'")
  typed('gate or kind', 'string', gate ?? kind)
  if (outcome !== undefined) typed('outcome.kind', 'string', outcome?.kind)
}

function checkArm({ on, where = {}, nth = 1, defer = 0, ops }) {
  typed('on', 'string', on)
  if (where === null || typeof where !== 'object')
    invalid(`'where' must be an object of fields (got ${JSON.stringify(where)})`)
  count('nth', 1, nth)
  count('defer', 0, defer)
  checkNested(ops)
}

/** Check the operations of a batch or an arm; a nested batch has no meaning of its own. */
function checkNested(ops) {
  if (!Array.isArray(ops)) invalid(`'ops' must be a list of operations (got ${JSON.stringify(ops)})`)
  for (const operation of ops) {
    if (operation?.method === 'batch' || operation?.method === 'inspect')
      invalid(`'${operation.method}' is not allowed inside batch and arm`)
    check(operation?.method, operation?.params)
  }
}

const undeclared = (subject, capability) => ({
  check: () => {
    throw new Unsupported(subject, capability)
  },
})

/** {method: {check, run}}; `run` returns what the observation shows as `answer`, if anything. */
const OPERATIONS = {
  send: {
    check: ({ message, target, wakeup }) => {
      checkMessage(message)
      oneOf('target', TARGETS, target)
      typed('wakeup', 'boolean', wakeup)
    },
    run: (world, { message, target, wakeup }) => world.agent.send(world.messages.accept(message), target, wakeup),
  },
  followup: { check: onlyMessage, run: (world, { message }) => world.agent.followup(world.messages.accept(message)) },
  steer: { check: onlyMessage, run: (world, { message }) => world.agent.steer(world.messages.accept(message)) },
  inject: { check: onlyMessage, run: (world, { message }) => world.agent.inject(world.messages.accept(message)) },
  cancel: {
    check: ({ cause, keepInbox = false }) => {
      oneOf('cause', CAUSES, cause)
      typed('keepInbox', 'boolean', keepInbox)
    },
    run: (world, { cause, keepInbox = false }) => world.agent.cancel({ kind: cause }, { keepInbox }),
  },
  remove: { check: onlyId, run: (world, { id }) => world.agent.inbox.remove(MessageId(id)) },
  replace: {
    check: ({ id, message }) => {
      typed('id', 'string', id)
      checkMessage(message)
    },
    run: (world, { id, message }) => world.agent.inbox.replace(MessageId(id), world.messages.accept(message)),
  },
  prepend: {
    check: ({ target, message }) => {
      oneOf('target', TARGETS, target)
      checkMessage(message)
    },
    run: (world, { target, message }) => world.agent.inbox.prepend(target, world.messages.accept(message)),
  },
  release: { check: checkRelease, run: (world, params) => world.gates.release(params) },
  dispose: { check: () => {}, run: world => world.dispose() },
  arm: { check: checkArm, run: (world, params) => world.arm(params) },
  batch: {
    check: ({ ops }) => checkNested(ops),
    run: (world, { ops }) => {
      for (const operation of ops) world.attempt(operation)
    },
  },
  inspect: { check: () => {}, run: () => {} },
  reference: undeclared("'reference'", 'reference'),
  goal: undeclared("'goal'", 'goal'),
}

/**
 * Refuse an operation that is unknown, undeclared or malformed.
 * @param method - its name.
 * @param params - its parameters.
 */
export function check(method, params = {}) {
  if (!Object.hasOwn(OPERATIONS, method))
    throw new RequestError(UNKNOWN_METHOD, `'${method}' is not a method of this driver`)
  if (params === null || typeof params !== 'object')
    invalid(`params of '${method}' must be an object (got ${JSON.stringify(params)})`)
  OPERATIONS[method].check(params)
}

/**
 * Make the one call that a checked operation stands for.
 * @param world - the session.
 * @param method - its name.
 * @param params - its parameters.
 * @returns the agent's answer, for the operations that have one.
 */
export const perform = (world, method, params = {}) => OPERATIONS[method].run(world, params)
