/**
 * The entry: JSON-RPC 2.0, one message a line, over stdin and stdout. Requests are answered one after the other.
 */
import './polyfill.mjs'

console.log = console.info = console.debug = console.error // stdout belongs to the protocol

const { serve } = await import('./protocol.mjs')
await serve(process.stdin, process.stdout)
process.exit(0)
