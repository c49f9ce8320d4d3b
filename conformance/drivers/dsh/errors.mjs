/** The three ways a request can go wrong before the agent sees it, in JSON-RPC's own codes. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const UNKNOWN_METHOD = -32601
export const INVALID_PARAMS = -32602
export const FAILED = -32000

/** A request that this driver can't carry out; nothing has changed when it is thrown. */
export class RequestError extends Error {
  /**
   * @param code - JSON-RPC error code.
   * @param message - subject, what must hold, what came.
   */
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

/** An operation of a capability that is not declared. */
export class Unsupported extends RequestError {
  constructor(subject, capability) {
    super(UNKNOWN_METHOD, `${subject} needs the capability '${capability}', which this driver does not declare`)
  }
}

/**
 * Refuse malformed parameters.
 * @param message - subject, what must hold, what came.
 */
export function invalid(message) {
  throw new RequestError(INVALID_PARAMS, message)
}

/** Text of anything that was thrown. */
export const textOf = error => String(error?.message ?? error)
