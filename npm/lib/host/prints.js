// Keeps what plugins print off standard output, their secrets out of it, and the streams open.

'use strict'

const { StringDecoder } = require('node:string_decoder')

const { usesStreams } = require('../streams.js')
const { currentCall, outside } = require('./plugin-call.js')

/** @typedef {InstanceType<typeof import('./plugin-call.js').PluginCall>} PluginCall */
/** @typedef {[chunk: any, encoding?: any, callback?: any]} Printed arguments of a stream's `write` */

let installed = false

/**
 * Diverts writes to standard output to standard error while plugin code runs. Console methods of
 * Node.js write through the stream, so they follow. What the host prints passes as it came.
 */
function divertPrints() {
  if (installed) return
  installed = true
  usesStreams()
  const { stdout, stderr } = process
  const toStdout = stdout.write
  const toStderr = stderr.write

  stdout.write = (/** @type {Printed} */ ...printed) => {
    const call = currentCall()
    if (!call) return toStdout.apply(stdout, printed)
    const shown = outside(() => shownOf(call, printed))
    return outside(() => process.stderr.write(...shown))
  }
  stderr.write = (/** @type {Printed} */ ...printed) => {
    const call = currentCall()
    return toStderr.apply(stderr, call ? outside(() => shownOf(call, printed)) : printed)
  }
  keepOpen(stdout)
  keepOpen(stderr)
  if (process.versions.bun || process.versions.deno) divertConsole()
}

/**
 * Keeps a stream of the process usable for everybody: plugin code that ends it prints its last text
 * and is told that this is done, and it holds back no one else's by corking.
 *
 * @param {NodeJS.WriteStream} stream
 */
function keepOpen(stream) {
  const methods = /** @type {Record<string, any>} */ (/** @type {unknown} */ (stream))
  const { end, destroy, cork, uncork } = methods
  const done = () => {
    stream.emit('finish')
    stream.emit('close')
  }
  methods.end = (/** @type {any[]} */ ...given) => {
    if (!currentCall()) return end.apply(stream, given)
    const callback = given.find((argument) => typeof argument === 'function')
    const [chunk, encoding] = given.filter((argument) => argument !== callback)
    if (callback) stream.once('finish', callback)
    stream.write(chunk ?? '', encoding ?? 'utf8', done)
    return stream
  }
  methods.destroy = (/** @type {any[]} */ ...given) => {
    if (!currentCall()) return destroy.apply(stream, given)
    stream.write('', done)
    return stream
  }
  methods.cork = () => (currentCall() ? undefined : cork.call(stream))
  methods.uncork = () => (currentCall() ? undefined : uncork.call(stream))
}

/** The console of Bun and that of Deno write past the stream: for plugin code one that does not takes their place. */
function divertConsole() {
  const { Console } = require('node:console')
  const { stdout, stderr } = process
  const methods = /** @type {Record<string, any>} */ (/** @type {unknown} */ (console))
  const through = /** @type {Record<string, any>} */ (
    /** @type {unknown} */ (new Console({ stdout, stderr }))
  )
  for (const [name, method] of Object.entries(methods)) {
    if (typeof method !== 'function' || typeof through[name] !== 'function') continue
    methods[name] = (/** @type {unknown[]} */ ...given) =>
      currentCall() ? through[name](...given) : method.apply(console, given)
  }
}

/**
 * Shows what was kept back of a call's prints, as the beginning of a secret that did not follow.
 *
 * @param {PluginCall} call
 */
function showRest(call) {
  const rest = call.prints?.release()
  if (rest) outside(() => process.stderr.write(rest))
}

/** @type {WeakMap<PluginCall, StringDecoder>} */
const decoders = new WeakMap()

/**
 * What may be shown now of what a call printed, as arguments of a stream's `write`.
 *
 * @param {PluginCall} call
 * @param {Printed} printed
 * @returns {Printed}
 */
function shownOf(call, printed) {
  const [chunk, encoding, callback] = printed
  const isBytes = ArrayBuffer.isView(chunk)
  if (!call.prints || !(isBytes || typeof chunk === 'string')) return printed
  const decoder = decoders.get(call) ?? new StringDecoder()
  decoders.set(call, decoder)
  const shown = call.prints.print(textOf(decoder, chunk, encoding))
  return shown === null
    ? printed
    : [shown, 'utf8', typeof encoding === 'function' ? encoding : callback]
}

/**
 * @param {StringDecoder} decoder
 * @param {string | ArrayBufferView} chunk
 * @param {unknown} encoding
 */
function textOf(decoder, chunk, encoding) {
  if (typeof chunk !== 'string') {
    return decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  }
  const isCoded = typeof encoding === 'string' && !/^utf-?8$/i.test(encoding)
  return isCoded && Buffer.isEncoding(encoding)
    ? decoder.write(Buffer.from(chunk, encoding))
    : chunk
}

module.exports = { divertPrints, showRest }
