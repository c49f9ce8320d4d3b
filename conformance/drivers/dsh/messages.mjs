/**
 * Messages between the wire form `{id, text, source}` and the agent's frozen values.
 */
import { MessageId, freezeMessage } from '@deepseek-ai/dsh-llm'
import { invalid } from './errors.mjs'

const isMessage = value =>
  typeof value?.id === 'string' &&
  value.id !== '' &&
  typeof value.text === 'string' &&
  typeof value.source?.kind === 'string'

/**
 * Refuse anything that is not a message in wire form.
 * @param value - what came.
 */
export function checkMessage(value) {
  if (!isMessage(value)) invalid(`a message must be {id, text, source: {kind}} (got ${JSON.stringify(value)})`)
}

/**
 * Tell whether these are messages, or ids of messages sent before.
 * @param values - what came.
 * @param known - {id: message} of the messages sent before.
 */
export const checkMessages = (values, known) =>
  Array.isArray(values) && values.every(value => (typeof value === 'string' ? known.has(value) : isMessage(value)))

/** Tell whether this is a list of messages or absent. */
export const checkContexts = values => values === undefined || (Array.isArray(values) && values.every(isMessage))

/** Text of a message in the agent's own form. */
export const messageText = message =>
  message.content
    .filter(block => block.type === 'text')
    .map(block => block.text)
    .join('')

/** The messages that one session was given, by id; an id that is used again names its latest value. */
export class Messages {
  /** {id: frozen message} */
  #latest = new Map()
  /** {id: Set of texts} */
  #texts = new Map()

  /** Whether a message of this id was given before. */
  has(id) {
    return this.#latest.has(id)
  }

  /**
   * Make the agent's value of a message and remember it.
   * @param spec - a message in wire form, or the id of one given before.
   * @returns the frozen message.
   */
  accept(spec) {
    if (typeof spec === 'string') return this.#latest.get(spec)
    const { id, text, source } = spec
    const message = freezeMessage({ id: MessageId(id), role: 'user', content: [{ type: 'text', text }], source })
    this.#latest.set(id, message)
    this.#texts.set(id, (this.#texts.get(id) ?? new Set()).add(text))
    return message
  }

  /**
   * Show the text of a message only where it is not one that was given under its id.
   * @param message - a user message from the log or a request.
   * @returns `{text}` or nothing.
   */
  alteredText(message) {
    const text = messageText(message)
    return this.#texts.get(message.id)?.has(text) ? {} : { text }
  }
}
