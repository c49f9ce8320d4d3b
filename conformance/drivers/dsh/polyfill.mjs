/**
 * Two language features that the agent's packages use and an older Node may lack. The entry imports this first, before
 * any of them loads.
 */
Promise.withResolvers ??= function withResolvers() {
  let resolve
  let reject
  const promise = new this((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

if (Symbol.dispose === undefined) Object.defineProperty(Symbol, 'dispose', { value: Symbol.for('Symbol.dispose') })
