/**
 * The wire: one line in, one line out. Knows methods and errors, nothing of the agent.
 *
 *     {"jsonrpc": "2.0", "id": 1, "method": "reset", "params": {}}
 *     {"jsonrpc": "2.0", "id": 1, "result": {"events": [], "gates": [], "status": "idle", ...}}
 */
import { PROTOCOL, introduction } from './capabilities.mjs'
import { FAILED, INVALID_REQUEST, PARSE_ERROR, RequestError, invalid, textOf } from './errors.mjs'
import { check, perform } from './operations.mjs'
import { Services } from './services.mjs'
import { Stage } from './stage.mjs'

/**
 * Answer requests until the input ends or a shutdown is asked for.
 * @param input - readable stream of lines.
 * @param output - writable stream.
 */
export async function serve(input, output) {
  const stages = new Stages()
  reportRejections(stages)
  for await (const line of linesOf(input)) {
    const { request, reply } = await answer(stages, line)
    output.write(`${JSON.stringify(reply)}\n`)
    if (request?.method === 'shutdown' && reply.error === undefined) break
  }
  await new Promise(resolve => output.end(resolve))
}

/** One stage for each lane; nothing of the agent runs on a lane between its requests. */
class Stages {
  #byLane = new Map()
  #services = new Services()
  /** The one whose request is under way, or was the last. */
  current

  /** Go to a lane's stage, which is made when its first request comes. */
  enter(lane) {
    if (!this.#byLane.has(lane)) this.#byLane.set(lane, new Stage(this.#services))
    this.current = this.#byLane.get(lane)
    return this.current
  }
}

/** Split a stream at line feeds only: other separators of Unicode may stand inside a JSON string. */
async function* linesOf(input) {
  let rest = ''
  input.setEncoding('utf8')
  for await (const chunk of input) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    yield* lines.filter(line => line.trim() !== '')
  }
}

async function answer(stages, line) {
  let request
  try {
    request = parse(line)
    return { request, reply: { jsonrpc: '2.0', id: request.id ?? null, result: await dispatch(stages, request) } }
  } catch (error) {
    const code = error instanceof RequestError ? error.code : FAILED
    const message = error instanceof RequestError ? error.message : String(error?.stack ?? error)
    return { request, reply: { jsonrpc: '2.0', id: request?.id ?? null, error: { code, message } } }
  }
}

function parse(line) {
  let request
  try {
    request = JSON.parse(line)
  } catch (error) {
    throw new RequestError(PARSE_ERROR, `a request must be one line of JSON (${textOf(error)})`)
  }
  if (typeof request?.method !== 'string') throw new RequestError(INVALID_REQUEST, "a request must carry a 'method'")
  const { params = {}, lane = 0 } = request
  if (params === null || typeof params !== 'object' || Array.isArray(params))
    invalid(`'params' must be an object (got ${JSON.stringify(params)})`)
  if (!Number.isSafeInteger(lane) || lane < 0)
    invalid(`'lane' must be a whole number >= 0 (got ${JSON.stringify(lane)})`)
  return { ...request, params, lane }
}

async function dispatch(stages, { method, params, lane }) {
  const stage = stages.enter(lane)
  switch (method) {
    case 'initialize':
      if (params.protocol !== PROTOCOL)
        invalid(`'protocol' must be ${PROTOCOL} (got ${JSON.stringify(params.protocol)})`)
      return introduction()
    case 'shutdown':
      return {}
    case 'reset':
    case 'resume':
      await stage[method](params)
      return stage.world.observe(() => {})
    default:
      check(method, params)
      return stage.world.observe(() => perform(stage.world, method, params))
  }
}

/** A rejection that nobody handled belongs to the observation; it must not end the process. */
function reportRejections(stages) {
  process.on('unhandledRejection', error => {
    process.stderr.write(`unhandled rejection: ${error?.stack ?? error}\n`)
    stages.current?.report({ kind: 'driver', type: 'unhandled-rejection', error: textOf(error) })
  })
}
