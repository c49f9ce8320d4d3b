/**
 * How the agent's events and messages look on the wire: one small function per type. A type that is not listed is a
 * plugin's and is not shown.
 */
import { messageText } from './messages.mjs'

const callIds = message => message.content.filter(block => block.type === 'tool-call').map(block => block.id)
const idsOf = messages => messages.map(message => message.id)

/** {durable type: (data, messages) => fields} */
const DURABLE = {
  'turn/start': data => ({ turn: data.turn }),
  'turn/end': ({ turn, reason }) => ({
    turn,
    reason: reason.kind,
    ...(reason.kind === 'aborted' ? { cause: reason.reason.kind } : {}),
  }),
  'step/start': data => ({ turn: data.turn, step: data.step }),
  'step/end': data => ({ turn: data.turn, step: data.step }),
  'user/message': (data, messages) => ({ id: data.id, source: data.source.kind, ...messages.alteredText(data) }),
  'assistant/message': ({ turn, step, message, interrupted }) => ({
    turn,
    step,
    text: messageText(message),
    toolCalls: callIds(message),
    ...(interrupted ? { interrupted } : {}),
  }),
  'tool/call': data => ({ callId: data.callId }),
  'tool/result': ({ message, error }) => ({
    callId: message.source.callId,
    isError: message.content[0].isError === true,
    ...(error === undefined ? {} : { code: error.code }),
  }),
  'agent/inbox/spliced': ({ target, start, removedCount = 0, inserted, outcome }) => ({
    target,
    start,
    removedCount,
    inserted: idsOf(inserted),
    ...(outcome === undefined ? {} : { outcome }),
  }),
}

/** {live type: payload => fields} */
export const LIVE = {
  'agent/status': payload => ({ status: payload.status }),
  'agent/error': ({ turn, step, error }) => ({ turn, step, message: String(error?.message ?? error) }),
  'agent/disposed': () => ({}),
  'agent/inbox/inserted': payload => ({ id: payload.message.id }),
  'agent/inbox/claimed': payload => ({ id: payload.message.id, turn: payload.turn }),
  'agent/inbox/discarded': payload => ({ id: payload.message.id }),
}

/**
 * Project one durable event.
 * @param event - the agent's session event.
 * @param messages - the messages this session was given.
 * @returns the wire event, or undefined for a type that belongs to a plugin.
 */
export function durableEvent({ type, data }, messages) {
  const project = DURABLE[type]
  return project === undefined ? undefined : { kind: 'session', type, ...project(data, messages) }
}

/**
 * Project one model request.
 * @param request - what the adapter was asked.
 * @param messages - the messages this session was given.
 * @returns the wire event.
 */
export function requestEvent(request, messages) {
  return { kind: 'request', type: 'request', messages: request.messages.map(message => shown(message, messages)) }
}

/** One message as the model sees it. */
function shown(message, messages) {
  const result = message.content.find(block => block.type === 'tool-result')
  if (result !== undefined)
    return { role: message.role, toolResult: result.toolCallId, isError: result.isError === true }
  if (message.role === 'assistant')
    return { role: 'assistant', text: messageText(message), toolCalls: callIds(message) }
  return { role: message.role, id: message.id, ...messages.alteredText(message) }
}

/**
 * Show the pending lists.
 * @param inbox - the agent's inbox.
 * @returns `{nextTurn, nextStep}`, ids in order.
 */
export const pendingLists = inbox => ({ nextTurn: idsOf(inbox.nextTurn), nextStep: idsOf(inbox.nextStep) })
