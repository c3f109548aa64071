// Turns what the native engine refuses into errors with a stable code.

/**
 * An operation was refused or could not be finished. `code` is stable, `hint` says what to do.
 */
export class WarplineError extends Error {
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
export function fromNative(thrown) {
  try {
    const { code, message, hint } = JSON.parse(/** @type {Error} */ (thrown).message)
    return new WarplineError(message, code, hint ?? undefined)
  } catch {
    return thrown
  }
}

/**
 * What a native promise resolves to, its rejections turned into errors with a code.
 *
 * @template T
 * @param {() => Promise<T>} operation
 * @returns {Promise<T>}
 */
export async function awaitNative(operation) {
  try {
    return await operation()
  } catch (thrown) {
    throw fromNative(thrown)
  }
}
