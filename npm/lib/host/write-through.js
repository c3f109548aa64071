// Standard error of a process that may be killed at any time.

'use strict'

const { writeSync } = require('node:fs')

const { from } = Buffer
const { wait } = Atomics
const { nextTick } = process

const DESCRIPTOR = 2
const PAUSE_MS = 1

/** Nobody ever wakes who waits here. */
const never = new Int32Array(new SharedArrayBuffer(4))

/**
 * Has what is written to standard error lie in the pipe before the write returns. By itself Node.js keeps
 * what a slow reader has not taken, and that would be lost with the process.
 */
function writeThrough() {
  const { stderr } = process
  const { write } = stderr
  stderr.write = (/** @type {any[]} */ ...given) => {
    const [chunk, encoding, callback] = given
    const isText = typeof chunk === 'string'
    if (!isText && !(chunk instanceof Uint8Array))
      return write.apply(stderr, /** @type {any} */ (given))
    writeAll(isText ? from(chunk, codeOf(encoding)) : chunk)
    const written = typeof encoding === 'function' ? encoding : callback
    if (typeof written === 'function') nextTick(written)
    return true
  }
}

/**
 * @param {unknown} encoding
 * @returns {BufferEncoding}
 */
function codeOf(encoding) {
  return typeof encoding === 'string' ? /** @type {BufferEncoding} */ (encoding) : 'utf8'
}

/** @param {Uint8Array} bytes */
function writeAll(bytes) {
  let done = 0
  while (done < bytes.length) {
    try {
      done += writeSync(DESCRIPTOR, bytes, done)
    } catch (error) {
      // Anything else means that nobody reads it.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN') return
      wait(never, 0, 0, PAUSE_MS)
    }
  }
}

module.exports = { writeThrough }
