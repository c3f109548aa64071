// Turns what the native engine refuses into errors with a stable code.

'use strict'

const { parse } = require('./intrinsics.js')

/**
 * An operation was refused or could not be finished. `code` is stable, `hint` says what to do.
 */
class WarplineError extends Error {
  /**
   * @param {string} message
   * @param {string} code
   * @param {string | undefined} hint
   */
  constructor(message, code, hint) {
    super(message)
    this.name = 'WarplineError'
    this.code = code
    this.hint = hint
  }
}

/**
 * The error that a native rejection stands for; its message is JSON `{code, message, hint}`.
 *
 * @param {unknown} thrown
 * @returns {unknown}
 */
function fromNative(thrown) {
  try {
    return refusal(parse(/** @type {Error} */ (thrown).message))
  } catch {
    return thrown
  }
}

/** @param {{ code: string, message: string, hint?: string | null }} told */
function refusal({ code, message, hint }) {
  return new WarplineError(message, code, hint ?? undefined)
}

/**
 * What a native promise resolves to, its rejections turned into errors with a code.
 *
 * @template T
 * @param {() => Promise<T>} operation
 * @returns {Promise<T>}
 */
async function awaitNative(operation) {
  try {
    return await operation()
  } catch (thrown) {
    throw fromNative(thrown)
  }
}

module.exports = { WarplineError, awaitNative, fromNative, refusal }
