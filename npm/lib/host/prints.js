// Keeps what plugins print off standard output, and hands it to whoever keeps a transcript.

import { StringDecoder } from 'node:string_decoder'

import { currentCall, outside } from './plugin-call.js'

/** @typedef {[chunk: any, encoding?: any, callback?: any]} Printed arguments of a stream's `write` */

let installed = false

/**
 * Diverts writes to standard output to standard error while plugin code runs. Console methods write
 * through the stream, so they follow. What the host prints passes as it came.
 */
export function divertPrints() {
  if (installed) return
  installed = true
  const { stdout, stderr } = process
  const toStdout = stdout.write
  const toStderr = stderr.write
  /** @type {WeakMap<object, StringDecoder>} */
  const decoders = new WeakMap()

  /** @param {Printed} printed */
  const capture = ([chunk, encoding]) => {
    const call = currentCall()
    if (!call?.capture) return
    const decoder = decoders.get(call) ?? new StringDecoder()
    decoders.set(call, decoder)
    const text = textOf(decoder, chunk, encoding)
    outside(() => call.capture?.(text))
  }

  stdout.write = (/** @type {Printed} */ ...printed) => {
    if (!currentCall()) return toStdout.apply(stdout, printed)
    capture(printed)
    return outside(() => process.stderr.write(...printed))
  }
  stderr.write = (/** @type {Printed} */ ...printed) => {
    capture(printed)
    return toStderr.apply(stderr, printed)
  }
}

/**
 * @param {StringDecoder} decoder
 * @param {unknown} chunk
 * @param {unknown} [encoding]
 */
function textOf(decoder, chunk, encoding) {
  if (chunk instanceof Uint8Array) return decoder.write(Buffer.from(chunk))
  if (typeof chunk !== 'string') return ''
  const isCoded = typeof encoding === 'string' && !/^utf-?8$/i.test(encoding)
  return isCoded && Buffer.isEncoding(encoding)
    ? decoder.write(Buffer.from(chunk, encoding))
    : chunk
}
