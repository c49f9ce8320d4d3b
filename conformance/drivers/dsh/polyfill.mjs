/**
 * Two language features that the agent's packages use and Node 20 lacks. Imported first by the entry, before any of them loads.
 */
Promise.withResolvers ??= function withResolvers() {
  let resolve
  let reject
  const promise = new this((onResolve, onReject) => { resolve = onResolve; reject = onReject })
  return { promise, resolve, reject }
}

if (Symbol.dispose === undefined) Object.defineProperty(Symbol, 'dispose', { value: Symbol.for('Symbol.dispose') })
