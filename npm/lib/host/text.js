// Turns whatever plugin code returns or throws into text, without ever failing.

import { inspect } from 'node:util'

/** The longest text of a thrown value, in UTF-16 units. */
const ERROR_LIMIT = 16_384

/** The longest JSON text of a value that a plugin hands over, in UTF-16 units. */
export const JSON_LIMIT = 32 * 1024 * 1024

/**
 * The JSON text of a value; `null` where JSON has no form for it.
 *
 * @param {unknown} value
 * @returns {string}
 * @throws {Error} saying why there is none: a cycle, a BigInt, a `toJSON` that throws, too long
 */
export function jsonOf(value) {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length > JSON_LIMIT) {
    throw new RangeError(`the value is longer than ${JSON_LIMIT} characters as JSON`)
  }
  return text
}

/**
 * The text of a thrown value: an error's message, or the value as a developer reads it.
 *
 * @param {unknown} thrown
 * @returns {string}
 */
export function textOfThrown(thrown) {
  const text = messageOf(thrown)
  return text.length > ERROR_LIMIT ? `${text.slice(0, ERROR_LIMIT)}… (cut)` : text
}

/** @param {unknown} thrown */
function messageOf(thrown) {
  try {
    if (typeof thrown === 'string') return thrown
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { message } = /** @type {{ message?: unknown }} */ (thrown)
    if (typeof message === 'string' && message !== '') return message
    if (thrown instanceof Error) return thrown.name
    return inspect(thrown, { depth: 2, customInspect: false, maxStringLength: 1000 })
  } catch {
    return 'a value that cannot be shown'
  }
}
